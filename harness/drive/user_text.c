/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/user_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/options.h"

#define NS_PER_MS 1000000u

/* " OPTION WORD" at the end of @buf, where it fits. */
static void add_option(char *buf, size_t size, const char *option, const char *word)
{
	struct assay_text t = { 0 };

	assay_text_addf(&t, " %s ", option);
	assay_text_add_word(&t, word);
	if (!t.failed && strlen(buf) + t.len < size)
		strcat(buf, t.s);
	assay_text_release(&t);
}

void assay_command_text(char *buf, size_t size, const char *command, const char *suite, const char *db)
{
	snprintf(buf, size, "assay %s", command);
	if (suite && strcmp(suite, ASSAY_DEFAULT_SUITE))
		add_option(buf, size, "--suite", suite);
	if (strcmp(db, ASSAY_DEFAULT_DB))
		add_option(buf, size, "--db", db);
}

/* Append @option and what it stands for. */
static void add_word(struct assay_text *t, const char *option, const char *word)
{
	assay_text_addf(t, " %s ", option);
	assay_text_add_word(t, word);
}

void assay_places_text(struct assay_text *t, const struct assay_request *q, const char *bench_dir, const char *suite)
{
	for (size_t i = 0; i < q->plugins.n; i++)
		add_word(t, "--plugin", q->plugins.v[i]);
	if (q->no_default_plugins)
		assay_text_add(t, " --no-default-plugins");
	if (bench_dir)
		add_word(t, "--bench-dir", bench_dir);
	if (suite && strcmp(suite, ASSAY_DEFAULT_SUITE))
		assay_text_addf(t, " --suite %s", suite);
}

/* Which cases of the suite, and how long and how often each; --only is last, so that it can be cut off. */
static void add_choice(struct assay_text *t, const struct assay_request *q)
{
	if (q->isa)
		add_word(t, "--isa", q->isa);
	for (size_t i = 0; i < q->plan.n_threads; i++) {
		assay_text_add(t, i ? "," : " --threads ");
		if (q->plan.threads[i] == ASSAY_THREADS_ALL)
			assay_text_add(t, "all");
		else
			assay_text_addf(t, "%u", q->plan.threads[i]);
	}
	if (q->plan.budget_ns % NS_PER_MS)
		assay_text_addf(t, " --budget %" PRIu64 "ns", q->plan.budget_ns);
	else if (q->plan.budget_ns)
		assay_text_addf(t, " --budget %" PRIu64 "ms", q->plan.budget_ns / NS_PER_MS);
	if (q->plan.rounds)
		assay_text_addf(t, " --rounds %u", q->plan.rounds);
	for (size_t i = 0; i < q->plan.only.n; i++)
		add_word(t, "--only", q->plan.only.v[i]);
}

void assay_options_keep(char options[ASSAY_PLACES_MAX], const struct assay_request *q, const char *own)
{
	struct assay_text t = { 0 };

	assay_places_text(&t, q, q->plan.bench_dir, NULL);
	assay_text_add(&t, own);
	add_choice(&t, q);
	snprintf(options, ASSAY_PLACES_MAX, "%s", t.s && !t.failed && t.len < ASSAY_PLACES_MAX ? t.s : "");
	assay_text_release(&t);
}

size_t assay_options_without_only(const char *options)
{
	const char *only = strstr(options, " --only ");

	return only ? (size_t)(only - options) : strlen(options);
}

int assay_case_names_add(struct assay_strings *names, const struct assay_case *c, struct assay_err *err)
{
	char portable[ASSAY_KEY_MAX], family[ASSAY_KEY_MAX];
	int rc = assay_strings_add(names, c->key, err);

	assay_case_portable_key(c, portable);
	snprintf(family, sizeof(family), "%.*s", (int)strcspn(c->op, "."), c->op);
	if (!rc && strcmp(portable, c->key) != 0)
		rc = assay_strings_add(names, portable, err);
	if (!rc && !assay_strings_has(names, c->op))
		rc = assay_strings_add(names, c->op, err);
	return rc || assay_strings_has(names, family) ? rc : assay_strings_add(names, family, err);
}

int assay_no_such_case(const struct assay_strings *names, const char *what, const char *pattern, const char *hint,
		       struct assay_err *err)
{
	const char *near = assay_nearest(pattern, (const char *const *)names->v, names->n);

	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "no %s matches '%s': did you mean '%s'?", what, pattern, near);
	return assay_err_set(err, ASSAY_EUSAGE, "no %s matches '%s': %s", what, pattern, hint);
}

int assay_user_path_error(int rc, struct assay_err *err)
{
	if (rc != ASSAY_EIO)
		return rc;
	if (err)
		err->code = ASSAY_EUSAGE;
	return ASSAY_EUSAGE;
}

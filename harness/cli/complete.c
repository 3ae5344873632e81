/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that may follow on a command line, for the shells' completion: `assay __complete WORD...` prints them for
 * the last word, a line each, with a tab and a help text behind it where there is one. All of it is made from the
 * tables of options and from the usage of commands; what their capital words stand for is looked up in the database,
 * the bench folder and git. A line ":files" asks the shell for names of files.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/isa_table.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/exchange/exchange.h"
#include "drive/gate/gate.h"
#include "drive/generate/generate.h"
#include "drive/profile/profile.h"
#include "drive/session.h"
#include "drive/show/show.h"

#define GIT_NS     UINT64_C(1000000000)
#define WORDS_MOST 32
#define FILES      ":files"

static bool completing;

bool assay_completing(void)
{
	return completing;
}

void assay_complete_begin(void)
{
	completing = true;
}

void assay_complete_say(const char *typed, const char *word, const char *help)
{
	size_t n = help ? strcspn(help, ";(") : 0; /* up to where details begin */

	while (n && help[n - 1] == ' ')
		n--;
	if (strncmp(typed, word, strlen(typed)))
		return;
	if (n)
		assay_cli_say("%s\t%.*s\n", word, (int)n, help);
	else
		assay_cli_say("%s\n", word);
}

/* ---- values ---- */

struct completion {
	const struct assay_settings *s;
	const char *typed; /* of the value */
	char before[512];  /* "--option=" and the first ones of a list, where these are part of the word */
	bool of_variants;  /* --variants was given, so that sides are variants */
	struct assay_strings *said;
	struct assay_store **store; /* opened when it is needed first */
};

static void say(const struct completion *c, const char *value, const char *help)
{
	char word[sizeof(c->before) + ASSAY_KEY_MAX];

	if (strncmp(c->typed, value, strlen(c->typed)) || assay_strings_has(c->said, value))
		return;
	assay_strings_add(c->said, value, NULL);
	snprintf(word, sizeof(word), "%s%s", c->before, value);
	assay_complete_say("", word, help);
}

static void say_files(const struct completion *c)
{
	if (assay_strings_has(c->said, FILES))
		return;
	assay_strings_add(c->said, FILES, NULL);
	assay_cli_say(FILES "\n");
}

static void say_suites(const struct completion *c)
{
	struct assay_strings names = { 0 };
	struct assay_err err = { 0 };

	if (!assay_session_suites(&c->s->r, &names, &err))
		for (size_t i = 0; i < names.n; i++)
			say(c, names.v[i], NULL);
	assay_strings_release(&names);
}

static void say_groups(const struct completion *c)
{
	struct assay_counter_groups g = { 0 };
	struct assay_err err = { 0 };

	if (!assay_session_groups(&g, c->s->r.plan.bench_dir, &err))
		for (size_t i = 0; i < g.n; i++)
			say(c, g.v[i].name, NULL);
	assay_counter_groups_release(&g);
}

/* Those that groups name: which others the machine has takes PAPI too long to say. */
static void say_events(const struct completion *c)
{
	struct assay_counter_groups g = { 0 };
	struct assay_err err = { 0 };

	if (!assay_session_groups(&g, c->s->r.plan.bench_dir, &err))
		for (size_t i = 0; i < g.n; i++)
			for (size_t k = 0; k < g.v[i].n_events; k++)
				for (size_t a = 0; a < g.v[i].events[k].names.n; a++)
					say(c, g.v[i].events[k].names.v[a], g.v[i].summary);
	assay_counter_groups_release(&g);
}

static void say_devices(const struct completion *c)
{
	struct assay_session s = { 0 };
	struct assay_err err = { 0 };
	char name[ASSAY_DEVICE_MAX];

	if (!assay_session_names(&s, &c->s->r, &err))
		for (size_t i = 0; i < s.catalog->n_devices; i++)
			for (int k = 0; k < s.catalog->devices[i].count; k++) {
				snprintf(name, sizeof(name), "%s:%d", s.catalog->devices[i].name, k);
				say(c, name, NULL);
			}
	assay_session_close(&s);
}

static void say_isas(const struct completion *c)
{
#define ISA_NAME(name, arch, vector_bits, flags, needs, also) #name,
	static const char *const names[] = { ASSAY_ISA_SETS(ISA_NAME) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		say(c, names[i], NULL);
}

/* Those of the suite that `generate` and `serve` take; a file is named by --model. */
static void say_models(const struct completion *c)
{
	struct assay_request q = c->s->r;
	struct assay_session s = { 0 };
	struct assay_err err = { 0 };

	q.plan.suite = ASSAY_GENERATE_SUITE;
	if (!assay_session_models(&s, &q, &err))
		for (size_t i = 0; i < s.plan.n_cases; i++) {
			const struct assay_case *of = &s.plan.cases[i];
			const struct assay_catalog_op *op = assay_catalog_op(s.catalog, of->op);

			for (unsigned k = 0; k < of->n_axes && op && !op->model_axis; k++)
				if (!strcmp(of->axes[k].name, "model"))
					say(c, of->axes[k].text, NULL);
		}
	assay_session_close(&s);
}

static void say_ops(const struct completion *c)
{
	struct assay_session s = { 0 };
	struct assay_err err = { 0 };

	if (!assay_session_names(&s, &c->s->r, &err))
		for (size_t i = 0; i < s.catalog->n_ops; i++)
			say(c, s.catalog->ops[i].name, s.catalog->ops[i].help);
	assay_session_close(&s);
}

static void say_variants(const struct completion *c)
{
	struct assay_session s = { 0 };
	struct assay_err err = { 0 };
	char name[ASSAY_KEY_MAX];

	if (!assay_session_names(&s, &c->s->r, &err))
		for (size_t i = 0; i < s.catalog->n_variants; i++) {
			const struct assay_catalog_variant *v = &s.catalog->variants[i];

			snprintf(name, sizeof(name), "%s/%s", v->op, v->name);
			if (!v->unavailable)
				say(c, name, v->help);
		}
	assay_session_close(&s);
}

static void say_revisions(const struct completion *c)
{
	static const char *const argv[] = { "git",        "for-each-ref", "--count=50",   "--sort=-committerdate",
					    "refs/heads", "refs/tags",    "refs/remotes", "--format=%(refname:short)",
					    NULL };
	struct assay_err err = { 0 };
	char *text = NULL, *at, *line;

	if (assay_process_capture(&(struct assay_capture){ .argv = argv, .timeout_ns = GIT_NS }, &text, &err))
		return;
	at = text;
	while ((line = strsep(&at, "\n")))
		if (line[0])
			say(c, line, NULL);
	say(c, "HEAD", NULL);
	free(text);
}

static void say_sides(const struct completion *c)
{
	if (c->of_variants) {
		say_variants(c);
		return;
	}
	say_revisions(c);
	say_files(c);
}

static void say_profile_kinds(const struct completion *c)
{
	const char *kind;

	for (size_t i = 0; (kind = assay_profile_kind(i)); i++)
		say(c, kind, NULL);
}

static void say_import_formats(const struct completion *c)
{
	const char *format;

	for (size_t i = 0; (format = assay_import_format(i)); i++)
		say(c, format, NULL);
}

static void say_export_formats(const struct completion *c)
{
	const char *format;

	for (size_t i = 0; (format = assay_export_format(i)); i++)
		say(c, format, NULL);
}

static void say_offered(const void *arg, const char *name, const char *help)
{
	say(arg, name, help);
}

static void say_stored(const struct completion *c, enum assay_offered what)
{
	struct assay_err err = { 0 };

	if (*c->store || !assay_offered_open(c->store, c->s->r.db, &err))
		assay_offered(*c->store, what, say_offered, c);
}

#define SAY_STORED(name, what)                                                                                         \
	static void name(const struct completion *c)                                                                   \
	{                                                                                                              \
		say_stored(c, ASSAY_OFFERED_##what);                                                                   \
	}
SAY_STORED(say_runs, RUNS)
SAY_STORED(say_comparisons, COMPARISONS)
SAY_STORED(say_profiles, PROFILES)
SAY_STORED(say_profile_names, PROFILE_NAMES)
SAY_STORED(say_baselines, BASELINES)
SAY_STORED(say_cases, CASES)
SAY_STORED(say_machines, MACHINES)
SAY_STORED(say_metrics, METRICS)
SAY_STORED(say_axes, AXES)

/* The meaning of a capital word of a usage, or of an option's value. */
static const struct {
	const char *command, *option, *word; /* NULL: any */
	void (*say)(const struct completion *c);
} meanings[] = {
	{ NULL, "kind", NULL, say_profile_kinds },
	{ "serve", "profile", NULL, say_profile_kinds },
	{ "profile", "name", NULL, say_profile_names },
	{ "generate", "profile", NULL, say_profile_names },
	{ "serve", "model", NULL, say_models },
	{ "generate", NULL, "MODEL", say_models },
	{ "export", NULL, "FORMAT", say_export_formats },
	{ NULL, NULL, "FORMAT", say_import_formats },
	{ NULL, "suite", NULL, say_suites },
	{ NULL, "isa", NULL, say_isas },
	{ NULL, "machine", NULL, say_machines },
	{ NULL, "metric", NULL, say_metrics },
	{ NULL, "axis", NULL, say_axes },
	{ NULL, "baseline", NULL, say_baselines },
	{ "baseline", NULL, "NAME", say_baselines },
	{ "diff", NULL, "BASE", say_runs },
	{ "diff", NULL, "HEAD", say_runs },
	{ NULL, NULL, "SUITE", say_suites },
	{ NULL, NULL, "CASE", say_cases },
	{ NULL, NULL, "GLOB", say_cases },
	{ NULL, NULL, "KEY", say_cases },
	{ NULL, NULL, "RUN", say_runs },
	{ NULL, NULL, "COMPARISON", say_comparisons },
	{ NULL, NULL, "PROFILE", say_profiles },
	{ NULL, NULL, "OP", say_ops },
	{ NULL, NULL, "GROUP,...", say_groups },
	{ NULL, NULL, "EVENT,...", say_events },
	{ NULL, NULL, "DEVICE,...", say_devices },
	{ NULL, NULL, "REV", say_revisions },
	{ NULL, NULL, "REVISION", say_revisions },
	{ NULL, NULL, "[REV..]REV", say_revisions },
	{ NULL, NULL, "BASE", say_sides },
	{ NULL, NULL, "HEAD", say_sides },
	{ NULL, NULL, "PLUGIN", say_files },
	{ NULL, NULL, "FILE", say_files },
	{ NULL, NULL, "FILE.html", say_files },
	{ NULL, NULL, "OTHER.db...", say_files },
	{ NULL, NULL, "FOLDER", say_files },
	{ NULL, NULL, "FILE.gguf", say_files },
	{ NULL, NULL, "COMMAND", say_files },
	{ NULL, NULL, "COMMAND...", say_files },
	{ NULL, NULL, "SHELL", say_files },
};

/* Words that are alternatives, such as "RUN|COMPARISON" or "fail|pass": those without capitals stand for themselves. */
static void say_words(const struct completion *c, const char *command, const char *option, const char *words)
{
	char all[256], *at = all, *word;

	snprintf(all, sizeof(all), "%s", words);
	while ((word = strsep(&at, "|"))) {
		size_t i = 0;

		if (islower((unsigned char)word[0])) {
			say(c, word, NULL);
			continue;
		}
		for (; i < sizeof(meanings) / sizeof(meanings[0]); i++)
			if ((!meanings[i].command || !strcmp(meanings[i].command, command)) &&
			    (!meanings[i].option || (option && !strcmp(meanings[i].option, option))) &&
			    (!meanings[i].word || !strcmp(meanings[i].word, word))) {
				meanings[i].say(c);
				break;
			}
	}
}

/* ---- arguments ---- */

static bool is_one_of(const char *word, const char *words)
{
	char all[256], *at = all, *w;

	snprintf(all, sizeof(all), "%s", words);
	while ((w = strsep(&at, "|")))
		if (isupper((unsigned char)w[0]) || !strcmp(w, word))
			return true;
	return false;
}

/* The word that follows @n arguments @v in one form of the usage, which is taken apart. */
static void say_next(const struct completion *c, const char *command, char *form, const char *const v[], size_t n)
{
	char *at = form, *word;
	size_t i = 0;

	for (char *p = form; *p; p++)
		if (*p == '[' || *p == ']')
			*p = ' ';
	while ((word = strsep(&at, " "))) {
		const size_t len = strlen(word);

		if (!len)
			continue;
		if (word[0] == '-')
			return;
		if (i == n) {
			say_words(c, command, NULL, word);
			return;
		}
		if (!is_one_of(v[i], word))
			return;
		/* the last one may be given again */
		if (len > 3 && !strcmp(word + len - 3, "...")) {
			say_words(c, command, NULL, word);
			return;
		}
		i++;
	}
}

static void say_arguments(const struct completion *c, const struct assay_command_line *line, const char *command,
			  const char *const v[], size_t n)
{
	char *usage = strdup(line->usage ? line->usage : ""), *at = usage, *form;

	while (usage && (form = strsep(&at, "\n")))
		say_next(c, command, form, v, n);
	free(usage);
}

/* ---- options ---- */

/* The option that @word names, whole, as "--name", "--name=value" or "-n"; *value: behind '='. */
static const struct assay_option *option_of(const struct assay_command_line *line, const char *word, size_t *at,
					    const char **value)
{
	const size_t len = strcspn(word, "=");

	*value = word[len] ? word + len + 1 : NULL;
	for (size_t k = 0; line->tables[k].options; k++)
		for (const struct assay_option *o = line->tables[k].options; o->name; o++) {
			const bool is_long = !strncmp(word, "--", 2) && strlen(o->name) == len - 2 &&
					     !strncmp(word + 2, o->name, len - 2);
			const bool is_short =
				word[0] == '-' && o->letter > ASSAY_RARELY && word[1] == o->letter && !word[2];

			*at = line->tables[k].at;
			if (is_long || is_short)
				return o;
		}
	return NULL;
}

static void say_options(const struct assay_command_line *line, const char *typed)
{
	char word[64];

	for (size_t k = 0; line->tables[k].options; k++)
		for (const struct assay_option *o = line->tables[k].options; o->name; o++) {
			snprintf(word, sizeof(word), "--%s", o->name);
			/* what few people need is offered to those who begin to type it */
			if (o->letter != ASSAY_RARELY || strlen(typed) > 2)
				assay_complete_say(typed, word, o->help);
		}
	assay_complete_say(typed, "--help", "Print the options that most people use");
	assay_complete_say(typed, "--help-all", "Print all options");
}

/* The value of @o is typed as far as @c says; in a list it is the last one that is looked for. */
static void say_values(struct completion *c, const char *command, const struct assay_option *o)
{
	const char *comma = strstr(o->arg, ",...") ? strrchr(c->typed, ',') : NULL;
	const size_t len = strlen(c->before), more = comma ? (size_t)(comma + 1 - c->typed) : 0;

	if (len + more >= sizeof(c->before))
		return;
	memcpy(c->before + len, c->typed, more);
	c->typed += more;
	say_words(c, command, o->name, o->arg);
}

void assay_complete_command(const struct assay_command_line *line, int argc, char **argv, void *args)
{
	const char *command = strrchr(argv[0], ' ') ? strrchr(argv[0], ' ') + 1 : argv[0];
	const char *last = argc > 1 ? argv[argc - 1] : "", *v[WORDS_MOST], *value;
	const struct assay_option *o = NULL;
	struct assay_strings said = { 0 };
	struct assay_store *store = NULL;
	struct completion c = { .s = args, .typed = last, .said = &said, .store = &store };
	struct assay_err ignored = { 0 };
	size_t n = 0, at;

	for (int i = 1; i < argc - 1; i++) {
		o = argv[i][0] == '-' ? option_of(line, argv[i], &at, &value) : NULL;
		if (o && o->arg && !value && i < argc - 2)
			value = argv[++i];
		else if (o && o->arg && !value)
			break; /* the last word is its value */
		/* the database and the folders that are named count here, too */
		if (o && o->arg && strstr("|db|bench-dir|plugin|", o->name))
			o->set((char *)args + at + o->at, value, o->name, &ignored);
		c.of_variants |= o && !strcmp(o->name, "variants");
		if (!o && argv[i][0] != '-' && n < WORDS_MOST)
			v[n++] = argv[i];
		o = NULL;
	}
	if (!o && last[0] == '-' && strchr(last, '=')) {
		o = option_of(line, last, &at, &value);
		if (!o || !o->arg)
			return;
		snprintf(c.before, sizeof(c.before), "%.*s", (int)(value - last), last);
		c.typed = value;
	}
	if (o)
		say_values(&c, command, o);
	else if (last[0] == '-')
		say_options(line, last);
	else
		say_arguments(&c, line, command, v, n);
	assay_offered_close(store);
	assay_strings_release(&said);
}

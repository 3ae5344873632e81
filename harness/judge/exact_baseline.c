/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the file of exact counts. */
#include "judge/exact_baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "model/exact.h"

#define TOTAL "(total)"
/* Which way it was counted, if not by callgrind, and lines of its source, "FILE:LINE FUNCTION": [counts]. */
#define HOW   "(how)"
#define LINES "(lines)"

static int bad(const char *path, struct assay_err *err, const char *what, const char *name)
{
	return assay_err_set(err, ASSAY_EUSAGE, "%s: %s%s%s%s", path, what, name ? " '" : "", name ? name : "",
			     name ? "'" : "");
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* Missing members are "". */
static void take_text(const json_t *o, const char *name, char *out, size_t size)
{
	const char *s = json_string_value(json_object_get(o, name));

	snprintf(out, size, "%s", s ? s : "");
}

static bool take_counts(const json_t *j, struct assay_exact_counts *out)
{
	if (!json_is_array(j) || json_array_size(j) != ASSAY_N_EXACT_EVENTS)
		return false;
	for (size_t e = 0; e < ASSAY_N_EXACT_EVENTS; e++) {
		const json_t *v = json_array_get(j, e);

		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return false;
		out->v[e] = (uint64_t)json_integer_value(v);
	}
	return true;
}

/* "name (object)" or "name" */
static void take_name(const char *s, struct assay_exact_function *f)
{
	const char *open = NULL;
	size_t len = strlen(s);

	for (const char *p = s; len && s[len - 1] == ')' && (p = strstr(p, " (")); p++)
		open = p;
	snprintf(f->name, sizeof(f->name), "%.*s", (int)(open ? open - s : (long)len), s);
	snprintf(f->object, sizeof(f->object), "%.*s", open ? (int)(s + len - 1 - (open + 2)) : 0,
		 open ? open + 2 : "");
}

/* "FILE:LINE FUNCTION" */
static bool take_line_name(const char *s, struct assay_exact_line *l)
{
	const char *colon = strchr(s, ':'), *blank = colon ? strchr(colon, ' ') : NULL;

	if (!blank)
		return false;
	snprintf(l->file, sizeof(l->file), "%.*s", (int)(colon - s), s);
	l->line = (unsigned)strtoul(colon + 1, NULL, 10);
	snprintf(l->function, sizeof(l->function), "%s", blank + 1);
	return !strpbrk(s, "\t\n");
}

static int take_lines(const char *path, json_t *lines, struct assay_exact_case *c, struct assay_err *err)
{
	struct assay_text detail = { 0 };
	const char *name;
	json_t *counts;
	int rc = 0;

	json_object_foreach(lines, name, counts)
	{
		struct assay_exact_line l = { .line = 0 };

		if (take_line_name(name, &l) && take_counts(counts, &l.counts))
			assay_exact_detail_add_line(&detail, &l);
		else if (!rc)
			rc = bad(path, err, "expected FILE:LINE FUNCTION and as many counts as events in", name);
	}
	if (!rc && !(c->detail = assay_text_take(&detail)))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_text_release(&detail);
	return rc;
}

/* Parse a field that is not the counts of a function; false where it is. */
static bool take_other(const char *path, const char *name, json_t *value, struct assay_exact_case *c, int *rc,
		       struct assay_err *err)
{
	if (!strcmp(name, HOW)) {
		const char *how = json_string_value(value);

		c->how = how && !strcmp(how, assay_exact_how_name(ASSAY_EXACT_STEPPED)) ? ASSAY_EXACT_STEPPED
											: ASSAY_EXACT_CALLGRIND;
		if (!how || strcmp(how, assay_exact_how_name(c->how)))
			*rc = bad(path, err, "expected callgrind or stepped for", HOW);
		return true;
	}
	if (!strcmp(name, LINES)) {
		*rc = take_lines(path, value, c, err);
		return true;
	}
	return false;
}

static int take_case(const char *path, const char *key, json_t *j, struct assay_exact_case *c, struct assay_err *err)
{
	struct assay_exact_counts total = { { 0 } };
	const char *name;
	bool summed = false;
	json_t *counts;

	*c = (struct assay_exact_case){ .status = ASSAY_STATUS_OK };
	snprintf(c->key, sizeof(c->key), "%s", key);
	json_object_foreach(j, name, counts)
	{
		struct assay_exact_function f;
		int rc = 0;

		if (take_other(path, name, counts, c, &rc, err)) {
			if (rc)
				return rc;
			continue;
		}
		if (!take_counts(counts, &f.counts))
			return bad(path, err, "expected as many counts as events for", name);
		if (!strcmp(name, TOTAL)) {
			total = f.counts;
			summed = true;
			continue;
		}
		take_name(name, &f);
		if (assay_exact_add_function(c, &f))
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	if (!summed || memcmp(&total, &c->total, sizeof(total)))
		return bad(path, err, "the " TOTAL " is not the sum of the functions of", key);
	return 0;
}

static int take_build(const char *path, json_t *j, struct assay_exact_run *run, struct assay_err *err)
{
	json_t *cases = json_object_get(j, "cases"), *one;
	struct assay_exact_setting *t = &run->setting;
	const char *key;
	int rc = 0;

	take_text(j, "arch", t->arch, sizeof(t->arch));
	take_text(j, "compiler", run->build.compiler, sizeof(run->build.compiler));
	take_text(j, "flags", run->build.flags, sizeof(run->build.flags));
	take_text(j, "cache", t->cache, sizeof(t->cache));
	take_text(j, "tool", t->tool, sizeof(t->tool));
	take_text(j, "libc", t->libc, sizeof(t->libc));
	take_text(j, "features", t->features, sizeof(t->features));
	take_text(j, "environment", t->environment, sizeof(t->environment));
	run->seed = (uint64_t)json_integer_value(json_object_get(j, "seed"));
	if (!t->arch[0] || !run->build.compiler[0] || !t->cache[0] || !json_is_object(cases))
		return bad(path, err, "a build lacks arch, compiler, cache or cases", NULL);
	run->cases = calloc(json_object_size(cases) + 1, sizeof(*run->cases));
	if (!run->cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	json_object_foreach(cases, key, one) if (!rc) rc = take_case(path, key, one, &run->cases[run->n_cases++], err);
	return rc;
}

static int check_events(const char *path, const json_t *root, struct assay_err *err)
{
	const json_t *events = json_object_get(root, "events");
	bool same = json_array_size(events) == ASSAY_N_EXACT_EVENTS;

	for (size_t e = 0; e < ASSAY_N_EXACT_EVENTS && same; e++) {
		const char *name = json_string_value(json_array_get(events, e));

		same = name && !strcmp(name, assay_exact_event_name((enum assay_exact_event)e));
	}
	if (json_integer_value(json_object_get(root, "schema")) != 1)
		return bad(path, err, "expected \"schema\": 1", NULL);
	return same ? 0 : bad(path, err, "its events are not those that this assay counts: record it again", NULL);
}

int assay_exact_baseline_load(struct assay_exact_baseline *out, const char *path, struct assay_err *err)
{
	struct assay_exact_baseline b = { 0 };
	json_error_t why;
	json_t *root, *builds, *one;
	char *text = NULL;
	size_t len, i;
	int rc = assay_file_read_as(path, ASSAY_FILE_EXACT, &text, &len, err);

	if (rc)
		return assay_file_exists(path) ? rc : ASSAY_ENOTFOUND;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	free(text);
	if (!root)
		return assay_err_set(err, ASSAY_EUSAGE, "%s:%d: %s", path, why.line, why.text);
	snprintf(b.path, sizeof(b.path), "%s", path);
	take_text(root, "suite", b.suite, sizeof(b.suite));
	builds = json_object_get(root, "builds");
	rc = check_events(path, root, err);
	b.builds = calloc(json_array_size(builds) + 1, sizeof(*b.builds));
	if (!b.builds)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	json_array_foreach(builds, i, one) if (!rc) rc = take_build(path, one, &b.builds[b.n_builds++], err);
	json_decref(root);
	if (rc)
		assay_exact_baseline_release(&b);
	else
		*out = b;
	return rc;
}

void assay_exact_baseline_release(struct assay_exact_baseline *b)
{
	for (size_t i = 0; i < b->n_builds; i++)
		assay_exact_run_release(&b->builds[i]);
	free(b->builds);
	*b = (struct assay_exact_baseline){ 0 };
}

/* ---- looking up ------------------------------------------------------------------------------------------------- */

/* Without the name it was called by: cc and gcc are one. */
static const char *compiler_of(const struct assay_exact_run *run)
{
	const char *s = run->build.compiler;

	return !strncmp(s, "cc (", 4) ? s + 3 : !strncmp(s, "gcc (", 5) ? s + 4 : s;
}

static bool same_build(const struct assay_exact_run *a, const struct assay_exact_run *b)
{
	return !strcmp(a->setting.arch, b->setting.arch) && !strcmp(compiler_of(a), compiler_of(b)) &&
	       !strcmp(a->build.flags, b->build.flags);
}

static struct assay_exact_run *find(const struct assay_exact_baseline *b, const struct assay_exact_run *run)
{
	for (size_t i = 0; i < b->n_builds; i++)
		if (same_build(&b->builds[i], run))
			return &b->builds[i];
	return NULL;
}

/* The first thing in which a build differs from the recorded one, since each of them makes other machine code. */
static void say_other_build(const struct assay_exact_run *recorded, const struct assay_exact_run *run,
			    const char *others, char *why, size_t size)
{
	const char *theirs = recorded->setting.arch, *ours = run->setting.arch;

	if (!strcmp(theirs, ours) && strcmp(compiler_of(recorded), compiler_of(run))) {
		theirs = recorded->build.compiler;
		ours = run->build.compiler;
	} else if (!strcmp(theirs, ours)) {
		theirs = recorded->build.flags;
		ours = run->build.flags;
	}
	snprintf(why, size, "counts are recorded for '%s'%s, and code for '%s' has others", theirs, others, ours);
}

const struct assay_exact_run *assay_exact_baseline_match(const struct assay_exact_baseline *b,
							 const struct assay_exact_run *run, char *why, size_t size)
{
	const struct assay_exact_run *base = find(b, run);

	why[0] = '\0';
	if (!base && !b->n_builds)
		snprintf(why, size, "no exact counts are recorded");
	else if (!base)
		say_other_build(&b->builds[0], run, b->n_builds > 1 ? " and others" : "", why, size);
	else if (strcmp(base->setting.cache, run->setting.cache))
		snprintf(why, size, "the recorded counts are of other caches: %s", base->setting.cache);
	else if (base->seed != run->seed)
		snprintf(why, size, "the recorded counts are of other inputs: seed %llu, and this run has seed %llu",
			 (unsigned long long)base->seed, (unsigned long long)run->seed);
	return why[0] ? NULL : base;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

static int compare_builds(const void *a, const void *b)
{
	const struct assay_exact_run *x = a, *y = b;
	int order = strcmp(x->setting.arch, y->setting.arch);

	if (!order)
		order = strcmp(compiler_of(x), compiler_of(y));
	return order ? order : strcmp(x->build.flags, y->build.flags);
}

static int copy_case(struct assay_exact_run *to, const struct assay_exact_case *c)
{
	struct assay_exact_case *n = &to->cases[to->n_cases++];

	*n = (struct assay_exact_case){ .status = ASSAY_STATUS_OK, .how = c->how };
	memcpy(n->key, c->key, sizeof(n->key));
	if (c->detail && !(n->detail = strdup(c->detail)))
		return ASSAY_ENOMEM;
	for (size_t k = 0; k < c->n_functions; k++)
		if (assay_exact_add_function(n, &c->functions[k]))
			return ASSAY_ENOMEM;
	return 0;
}

static bool has_counts(const struct assay_exact_run *run, const char *key)
{
	const struct assay_exact_case *c = assay_exact_case_find(run, key);

	return c && c->status == ASSAY_STATUS_OK;
}

/* The counts of @run, and those that @before, which may be NULL, has beside them. */
static int join_cases(struct assay_exact_run *to, const struct assay_exact_run *run,
		      const struct assay_exact_run *before, size_t *kept)
{
	int rc = 0;

	to->cases = calloc(run->n_cases + (before ? before->n_cases : 0) + 1, sizeof(*to->cases));
	if (!to->cases)
		return ASSAY_ENOMEM;
	for (size_t i = 0; i < run->n_cases && !rc; i++)
		if (run->cases[i].status == ASSAY_STATUS_OK)
			rc = copy_case(to, &run->cases[i]);
	*kept = 0;
	for (size_t i = 0; before && i < before->n_cases && !rc; i++)
		if (!has_counts(run, before->cases[i].key)) {
			rc = copy_case(to, &before->cases[i]);
			++*kept;
		}
	return rc;
}

int assay_exact_baseline_put(struct assay_exact_baseline *b, const struct assay_exact_run *run, bool prune,
			     size_t *kept, struct assay_err *err)
{
	struct assay_exact_run *at = find(b, run),
			       fresh = { .seed = run->seed, .setting = run->setting, .build = run->build };
	bool keep = at && !prune && at->seed == run->seed && !strcmp(at->setting.cache, run->setting.cache);

	snprintf(b->suite, sizeof(b->suite), "%s", run->suite);
	if (join_cases(&fresh, run, keep ? at : NULL, kept)) {
		assay_exact_run_release(&fresh);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	if (!at) {
		struct assay_exact_run *v = realloc(b->builds, (b->n_builds + 1) * sizeof(*v));

		if (!v) {
			assay_exact_run_release(&fresh);
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
		b->builds = v;
		at = &v[b->n_builds++];
		*at = (struct assay_exact_run){ 0 };
	}
	assay_exact_run_release(at);
	*at = fresh;
	qsort(b->builds, b->n_builds, sizeof(*b->builds), compare_builds);
	return 0;
}

/* As JSON writes it, with the quotes. */
static void add_string(struct assay_text *out, const char *s)
{
	json_t *j = json_string(s);
	char *text = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;

	if (text)
		assay_text_add(out, text);
	else
		out->failed = true;
	free(text);
	json_decref(j);
}

static void add_list(struct assay_text *out, const struct assay_exact_counts *c)
{
	assay_text_add(out, ": [");
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		assay_text_addf(out, "%s%llu", e ? ", " : "", (unsigned long long)c->v[e]);
	assay_text_add(out, "]");
}

static void add_counts(struct assay_text *out, const char *name, const char *object, const struct assay_exact_counts *c,
		       bool last)
{
	char full[ASSAY_EXACT_FUNCTION_MAX + ASSAY_NAME_MAX + 8];

	snprintf(full, sizeof(full), "%s%s%s%s", name, object[0] ? " (" : "", object, object[0] ? ")" : "");
	assay_text_add(out, "          ");
	add_string(out, full);
	add_list(out, c);
	assay_text_add(out, last ? "\n" : ",\n");
}

/* Those that tell which one grew. */
static void add_lines(struct assay_text *out, const struct assay_exact_case *c)
{
	struct assay_exact_line l;
	bool any = false;

	for (const char *at = c->detail; assay_exact_next_line(&at, &l);) {
		char name[2 * ASSAY_NAME_MAX + ASSAY_EXACT_FUNCTION_MAX];

		if (!assay_exact_line_matters(&l, &c->total))
			continue;
		snprintf(name, sizeof(name), "%s:%u %s", l.file, l.line, l.function);
		assay_text_add(out, any ? ",\n" : "          \"" LINES "\": {\n");
		assay_text_add(out, "            ");
		add_string(out, name);
		add_list(out, &l.counts);
		any = true;
	}
	assay_text_add(out, any ? "\n          },\n" : "");
}

static void add_case(struct assay_text *out, const struct assay_exact_case *c, bool last)
{
	assay_text_add(out, "        ");
	add_string(out, c->key);
	assay_text_add(out, ": {\n");
	if (c->how != ASSAY_EXACT_CALLGRIND)
		assay_text_addf(out, "          \"" HOW "\": \"%s\",\n", assay_exact_how_name(c->how));
	add_lines(out, c);
	add_counts(out, TOTAL, "", &c->total, !c->n_functions);
	for (size_t i = 0; i < c->n_functions; i++)
		add_counts(out, c->functions[i].name, c->functions[i].object, &c->functions[i].counts,
			   i + 1 == c->n_functions);
	assay_text_addf(out, "        }%s\n", last ? "" : ",");
}

static void add_member(struct assay_text *out, const char *name, const char *value)
{
	assay_text_addf(out, "      \"%s\": ", name);
	add_string(out, value);
	assay_text_add(out, ",\n");
}

static void add_build(struct assay_text *out, const struct assay_exact_run *run, bool last)
{
	const struct assay_exact_setting *t = &run->setting;

	assay_text_add(out, "    {\n");
	add_member(out, "arch", t->arch);
	add_member(out, "compiler", run->build.compiler);
	add_member(out, "flags", run->build.flags);
	add_member(out, "cache", t->cache);
	add_member(out, "tool", t->tool);
	add_member(out, "libc", t->libc);
	add_member(out, "features", t->features);
	add_member(out, "environment", t->environment);
	assay_text_addf(out, "      \"seed\": %llu,\n      \"cases\": {\n", (unsigned long long)run->seed);
	for (size_t i = 0; i < run->n_cases; i++)
		add_case(out, &run->cases[i], i + 1 == run->n_cases);
	assay_text_addf(out, "      }\n    }%s\n", last ? "" : ",");
}

int assay_exact_baseline_format(const struct assay_exact_baseline *b, struct assay_text *out, struct assay_err *err)
{
	assay_text_add(out, "{\n  \"schema\": 1,\n  \"suite\": ");
	add_string(out, b->suite);
	assay_text_add(out, ",\n  \"events\": [");
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		assay_text_addf(out, "%s\"%s\"", e ? ", " : "", assay_exact_event_name((enum assay_exact_event)e));
	assay_text_add(out, "],\n  \"builds\": [\n");
	for (size_t i = 0; i < b->n_builds; i++)
		add_build(out, &b->builds[i], i + 1 == b->n_builds);
	assay_text_add(out, "  ]\n}\n");
	return out->failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bench and suite files; must not know the catalog. */
#include "plan/benchfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/hash.h"
#include "model/exact.h"
#include "plan/options.h"

#define SUITE_ENDING ".suite"
#define BENCH_ENDING ".bench"

/* Each is planned by itself. */
#define MAX_USES 1000

#define COMMON_FIELDS                                                                                                  \
	{ "shapes", true }, { "sweep", true }, { "variants", true }, { "threads", true }, { "cache", true },           \
		{ "counters", true }, { "exact_shapes", true }, { "budget", false }, { "timeout", false },             \
		{ "memory", false },                                                                                   \
	{                                                                                                              \
		"own_threads", false                                                                                   \
	}

static const char *const field_names[ASSAY_BENCH_N_FIELDS] = {
	[ASSAY_BENCH_OP] = "op",
	[ASSAY_BENCH_SHAPES] = "shapes",
	[ASSAY_BENCH_SWEEP] = "sweep",
	[ASSAY_BENCH_VARIANTS] = "variants",
	[ASSAY_BENCH_THREADS] = "threads",
	[ASSAY_BENCH_CACHE] = "cache",
	[ASSAY_BENCH_BUDGET] = "budget",
	[ASSAY_BENCH_TIMEOUT] = "timeout",
	[ASSAY_BENCH_MEMORY] = "memory",
	[ASSAY_BENCH_OWN_THREADS] = "own_threads",
	[ASSAY_BENCH_COUNTERS] = "counters",
	[ASSAY_BENCH_EXACT_SHAPES] = "exact_shapes",
};

static const struct assay_conf_option bench_options[] = {
	{ "op", false }, { "command", false }, { "reads", false }, COMMON_FIELDS, { NULL, false }
};
static const struct assay_conf_option metric_options[] = {
	{ "pattern", false }, { "unit", false }, { "better", false }, { "kind", false }, { NULL, false }
};
static const struct assay_conf_option use_options[] = {
	{ "only", true },
	{ "skip", true },
	COMMON_FIELDS,
	{ NULL, false },
};
static const struct assay_conf_option suite_options[] = { { "summary", false }, { "rounds", false }, { NULL, false } };

static const struct assay_conf_grammar metric_sections[] = {
	{ .name = "metric", .titled = true, .options = metric_options },
	{ .name = NULL },
};
static const struct assay_conf_grammar bench_sections[] = {
	{ .name = "bench", .titled = true, .options = bench_options, .sections = metric_sections },
	{ .name = NULL },
};
static const struct assay_conf_grammar bench_grammar = { .sections = bench_sections };

static const struct assay_conf_option exact_options[] = {
	{ "cases", true }, { "small", true }, { "steps", false }, { "budget", false }, { NULL, false }
};

static const struct assay_conf_grammar use_sections[] = {
	{ .name = "use", .titled = true, .options = use_options },
	{ .name = "exact", .titled = true, .options = exact_options },
	{ .name = NULL },
};
static const struct assay_conf_grammar suite_sections[] = {
	{ .name = "suite", .titled = true, .options = suite_options, .sections = use_sections },
	{ .name = NULL },
};
static const struct assay_conf_grammar suite_grammar = { .sections = suite_sections };

/* ---- folders ---------------------------------------------------------------------------------------------------- */

static int list_names(const char *dir, const char *ending, struct assay_strings *out, struct assay_err *err)
{
	int rc = assay_file_list(dir, ending, out, err);

	if (rc == ASSAY_ENOTFOUND) {
		rc = ASSAY_EUSAGE;
		if (err)
			err->code = rc;
	}
	return rc;
}

static int path_of(char *buf, size_t size, struct assay_err *err, const char *dir, const char *sub, const char *name,
		   const char *ending)
{
	int n = snprintf(buf, size, "%s/%s%s%s", dir, sub, name, ending);

	if (n < 0 || (size_t)n >= size)
		return assay_err_set(err, ASSAY_EUSAGE, "the path of '%s' in '%s' is too long", name, dir);
	return 0;
}

int assay_plan_suites(const char *bench_dir, struct assay_strings *out, struct assay_err *err)
{
	char path[4096];
	int rc;

	rc = path_of(path, sizeof(path), err, bench_dir, "suites", "", "");
	return rc ? rc : list_names(path, SUITE_ENDING, out, err);
}

/* ---- benches ---------------------------------------------------------------------------------------------------- */

static void take_fields(const struct assay_conf_section *s, const struct assay_conf_entry **field)
{
	for (int f = 0; f < ASSAY_BENCH_N_FIELDS; f++)
		field[f] = assay_conf_entry(s, field_names[f]);
}

/* A setting that has no meaning for a kind of bench is refused, so that nobody believes that it has one. */
static int check_kind(const struct assay_conf *file, const struct assay_conf_section *s, struct assay_err *err)
{
	static const enum assay_bench_field of_ops[] = { ASSAY_BENCH_VARIANTS, ASSAY_BENCH_CACHE,
							 ASSAY_BENCH_MEMORY,   ASSAY_BENCH_OWN_THREADS,
							 ASSAY_BENCH_COUNTERS, ASSAY_BENCH_EXACT_SHAPES };
	const struct assay_conf_entry *command = assay_conf_entry(s, "command");

	if (!command && !assay_conf_entry(s, "op"))
		return assay_conf_fail(err, file->path, s->line,
				       "bench '%s' names no op, expected op = \"…\", or command = \"…\" of a program",
				       s->title);
	if (!command && s->n_sections)
		return assay_conf_fail(err, file->path, s->sections[0].line,
				       "bench '%s' has a metric and no command that prints it", s->title);
	if (!command && assay_conf_entry(s, "reads"))
		return assay_conf_fail(err, file->path, assay_conf_entry(s, "reads")->values[0].line,
				       "bench '%s' reads a format and has no command that writes it", s->title);
	if (command && assay_conf_entry(s, "op"))
		return assay_conf_fail(err, file->path, s->line, "bench '%s' has both an op and a command", s->title);
	for (size_t i = 0; command && i < sizeof(of_ops) / sizeof(of_ops[0]); i++) {
		const struct assay_conf_entry *e = assay_conf_entry(s, field_names[of_ops[i]]);

		if (e)
			return assay_conf_fail(err, file->path, e->values[0].line,
					       "bench '%s' runs a command, for which '%s' means nothing", s->title,
					       e->name);
	}
	return 0;
}

static int add_bench(struct assay_benches *b, struct assay_name_index *names, const struct assay_conf *file,
		     const struct assay_conf_section *s, struct assay_err *err)
{
	struct assay_bench *v;
	bool twice;
	size_t at;
	int rc;

	if (!s->title[0] || strpbrk(s->title, "*?[/ \t"))
		return assay_conf_fail(err, file->path, s->line,
				       "bad bench name '%s', expected one without blanks, '/', '*', '?' and '['",
				       s->title);
	rc = assay_name_index_put(names, s->title, b->n, &at, &twice, err);
	if (rc)
		return rc;
	if (twice)
		return assay_conf_fail(err, file->path, s->line, "bench '%s' is already defined in %s:%u", s->title,
				       b->v[at].path, b->v[at].line);
	rc = check_kind(file, s, err);
	if (rc)
		return rc;
	if (assay_grow(&b->v, b->n, sizeof(*v)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", file->path);
	v = &b->v[b->n++];
	*v = (struct assay_bench){ .name = s->title,
				   .path = file->path,
				   .line = s->line,
				   .command = assay_conf_entry(s, "command"),
				   .reads = assay_conf_entry(s, "reads"),
				   .section = s };
	take_fields(s, v->field);
	return 0;
}

int assay_benches_load(struct assay_benches *out, const char *dir, struct assay_err *err)
{
	struct assay_benches b = { 0 };
	struct assay_name_index index = { 0 };
	struct assay_strings names = { 0 };
	char path[4096];
	int rc;

	rc = list_names(dir, BENCH_ENDING, &names, err);
	if (!rc && !names.n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "no bench file in '%s', expected at least one NAME" BENCH_ENDING,
				   dir);
	if (!rc && !(b.files = calloc(names.n, sizeof(*b.files))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", dir);
	for (size_t i = 0; !rc && i < names.n; i++) {
		rc = path_of(path, sizeof(path), err, dir, "", names.v[i], BENCH_ENDING);
		if (!rc)
			rc = assay_conf_load(&b.files[i], path, &bench_grammar, err);
		if (rc)
			break;
		b.n_files++;
		for (size_t k = 0; !rc && k < b.files[i].root.n_sections; k++)
			rc = add_bench(&b, &index, &b.files[i], &b.files[i].root.sections[k], err);
	}
	if (!rc) {
		*out = b;
		memset(&b, 0, sizeof(b));
	}
	assay_benches_release(&b);
	assay_name_index_release(&index);
	assay_strings_release(&names);
	return rc;
}

void assay_benches_release(struct assay_benches *b)
{
	for (size_t i = 0; i < b->n_files; i++)
		assay_conf_release(&b->files[i]);
	free(b->files);
	free(b->v);
	memset(b, 0, sizeof(*b));
}

/* ---- suites ----------------------------------------------------------------------------------------------------- */

static int unknown_suite(const char *dir, const char *name, struct assay_err *err)
{
	struct assay_strings known = { 0 };
	char hint[256];
	int rc;

	rc = assay_plan_suites(dir, &known, err);
	if (!rc)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "unknown suite '%s'%s", name,
				   assay_conf_hint(name, (const char *const *)known.v, known.n, hint, sizeof(hint)));
	assay_strings_release(&known);
	return rc;
}

int assay_plan_suite_check(const char *bench_dir, const char *name, struct assay_err *err)
{
	struct assay_strings known = { 0 };
	int rc = assay_plan_suites(bench_dir, &known, err);
	bool is_there = !rc && assay_strings_has(&known, name);

	assay_strings_release(&known);
	return rc || is_there ? rc : unknown_suite(bench_dir, name, err);
}

static int read_exact(struct assay_suite *s, const struct assay_conf_section *sec, struct assay_err *err)
{
	const struct assay_conf_entry *steps = assay_conf_entry(sec, "steps");
	const struct assay_conf_entry *budget = assay_conf_entry(sec, "budget");
	struct assay_cache_model fixed;
	struct assay_err why = { 0 };

	if (s->exact.model)
		return assay_conf_fail(err, s->file.path, sec->line, "exact cases are already named in line %u",
				       s->exact.line);
	if (!assay_cache_model_find(sec->title, &fixed) && strcmp(sec->title, "host"))
		return assay_conf_fail(err, s->file.path, sec->line, "unknown cache model '%s', expected canon or host",
				       sec->title);
	s->exact = (struct assay_suite_exact){ .model = sec->title,
					       .line = sec->line,
					       .cases = assay_conf_entry(sec, "cases"),
					       .small = assay_conf_entry(sec, "small") };
	if (!s->exact.cases)
		return assay_conf_fail(err, s->file.path, sec->line,
				       "exact \"%s\" names no case, expected cases = {\"GLOB\"}", sec->title);
	if (steps && assay_parse_u64(steps->values[0].text, "steps", ASSAY_EXACT_STEPS_LEAST, ASSAY_EXACT_STEPS_MOST,
				     &s->exact.max_steps, &why))
		return assay_conf_fail(err, s->file.path, steps->values[0].line, "%.200s", why.text);
	if (budget && assay_parse_duration_ns(budget->values[0].text, "budget", &s->exact.budget_ns, &why))
		return assay_conf_fail(err, s->file.path, budget->values[0].line, "%.200s", why.text);
	return 0;
}

static int read_rounds(struct assay_suite *s, const struct assay_conf_entry *rounds, struct assay_err *err)
{
	struct assay_err why = { 0 };
	uint64_t n = ASSAY_DEFAULT_ROUNDS;

	if (rounds && assay_parse_u64(rounds->values[0].text, "rounds", 1, ASSAY_MAX_ROUNDS, &n, &why))
		return assay_conf_fail(err, s->file.path, rounds->values[0].line, "%.200s", why.text);
	s->rounds = (unsigned)n;
	return 0;
}

static int read_suite(struct assay_suite *s, const char *name, struct assay_err *err)
{
	const struct assay_conf_section *sec = s->file.root.sections;
	const struct assay_conf_entry *summary;
	int rc;

	if (s->file.root.n_sections != 1)
		return assay_conf_fail(err, s->file.path, s->file.root.n_sections ? sec[1].line : 1,
				       "%zu suites in one file, expected one: suite \"%s\" { … }",
				       s->file.root.n_sections, name);
	if (strcmp(sec->title, name))
		return assay_conf_fail(err, s->file.path, sec->line,
				       "suite '%s' in a file of another name, expected suite \"%s\"", sec->title, name);
	summary = assay_conf_entry(sec, "summary");
	s->name = sec->title;
	s->summary = summary ? summary->values[0].text : "";
	rc = read_rounds(s, assay_conf_entry(sec, "rounds"), err);
	if (rc)
		return rc;
	s->uses = calloc(sec->n_sections + 1, sizeof(*s->uses));
	if (!s->uses)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", s->file.path);
	for (size_t i = 0; i < sec->n_sections; i++) {
		const struct assay_conf_section *u = &sec->sections[i];

		if (strcmp(u->name, "exact")) {
			struct assay_suite_use *use = &s->uses[s->n_uses++];

			use->glob = u->title;
			use->line = u->line;
			use->only = assay_conf_entry(u, "only");
			use->skip = assay_conf_entry(u, "skip");
			take_fields(u, use->field);
		} else {
			rc = read_exact(s, u, err);
		}
		if (rc)
			return rc;
	}
	if (s->n_uses > MAX_USES)
		return assay_conf_fail(err, s->file.path, sec->line, "suite '%s' has more than %d parts", name,
				       MAX_USES);
	if (!s->n_uses)
		return assay_conf_fail(err, s->file.path, sec->line,
				       "suite '%s' uses no bench, expected use \"GLOB\" { … }", name);
	return 0;
}

int assay_suite_load(struct assay_suite *out, const char *dir, const char *name, struct assay_err *err)
{
	struct assay_suite s = { 0 };
	char path[4096];
	int rc;

	if (!name[0] || strchr(name, '/'))
		return unknown_suite(dir, name, err);
	rc = path_of(path, sizeof(path), err, dir, "suites/", name, SUITE_ENDING);
	if (!rc)
		rc = assay_conf_load(&s.file, path, &suite_grammar, err);
	if (rc == ASSAY_ENOTFOUND)
		return unknown_suite(dir, name, err);
	if (!rc)
		rc = read_suite(&s, name, err);
	if (!rc) {
		*out = s;
		memset(&s, 0, sizeof(s));
	}
	assay_suite_release(&s);
	return rc;
}

void assay_suite_release(struct assay_suite *s)
{
	assay_conf_release(&s->file);
	free(s->uses);
	memset(s, 0, sizeof(*s));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Understands commands and metrics of benches; nothing is started here. */
#include "plan/plan.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/histogram.h"
#include "model/quantity.h"
#include "plan/benchfile.h"
#include "plan/options.h"

/* A bench whose program is being added to the catalog. */
struct adding {
	const struct assay_bench *bench;
	struct assay_catalog_op *op;
	struct assay_program *program;
	const char *path; /* of the file, for messages */
	struct assay_err *err;
};

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the programs of the benches");
}

static int copy(char **out, const char *text, struct assay_err *err)
{
	*out = strdup(text);
	return *out ? 0 : no_memory(err);
}

/* ---- command ---- */

static int bad_command(const struct adding *a, const char *why)
{
	const struct assay_conf_value *v = &a->bench->command->values[0];

	return assay_conf_fail(a->err, a->path, v->line, "the command of bench '%s': %s", a->bench->name, why);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int read_command(const struct adding *a, struct assay_catalog_variant *v)
{
	struct assay_err why = { 0 };
	const char *name;
	int rc = assay_words_split(a->bench->command->values[0].text, &a->program->words, &why);

	if (rc)
		return bad_command(a, why.text);
	name = file_name(a->program->words.v[0]);
	if (!name[0] || strlen(name) >= ASSAY_NAME_MAX || strpbrk(name, "{}*?[,=/ "))
		return bad_command(a, "its first word names no program that a key could have, without blanks and any "
				      "of {}*?[,=");
	rc = copy(&v->op, a->bench->name, a->err);
	return rc ? rc : copy(&v->name, name, a->err);
}

/* ---- metrics ---- */

static const char *const of_process[] = { "time_s", "user_s", "system_s", "rss_peak_bytes" };

/* Does the harness measure @tag of every process, so that a bench may have it judged by its name alone? */
static bool plan_is_of_process(const char *tag)
{
	for (size_t i = 0; i < sizeof(of_process) / sizeof(of_process[0]); i++)
		if (!strcmp(of_process[i], tag))
			return true;
	return false;
}

static int bad_metric(const struct adding *a, const struct assay_conf_section *s, unsigned line, const char *why)
{
	return assay_conf_fail(a->err, a->path, line ? line : s->line, "metric '%s' of bench '%s' %s", s->title,
			       a->bench->name, why);
}

/* All that a bench names as a metric is judged, a histogram by its quantiles. */
static int judge_tag(const struct adding *a, const struct assay_conf_section *s, const char *tag)
{
	char *list = a->program->judged;
	const size_t len = strlen(list), room = sizeof(a->program->judged) - len;
	const int n = snprintf(list + len, room, "%s%s", len ? "," : "", tag);

	return n > 0 && (size_t)n < room ? 0 : bad_metric(a, s, 0, "is one too many");
}

static int judge(const struct adding *a, const struct assay_conf_section *s)
{
	return judge_tag(a, s, s->title);
}

static int read_kind(const struct adding *a, const struct assay_conf_section *s, struct assay_catalog_metric *m)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "kind");

	if (!e)
		return 0;
	if (strcmp(e->values[0].text, "histogram") != 0)
		return bad_metric(a, s, e->values[0].line, "has a kind other than \"histogram\"");
	m->kind = ASSAY_METRIC_HISTOGRAM;
	m->lo = 0;
	return 0;
}

/* Once all metrics are known. */
static int check_histogram(const struct adding *a, size_t i, const struct assay_conf_section *s)
{
	char why[256], text[320], tag[ASSAY_METRIC_TAG_MAX];
	int rc = 0;

	if (!assay_catalog_histogram_ok(a->op, i, why, sizeof(why))) {
		snprintf(text, sizeof(text), "cannot be a histogram: %s", why);
		return bad_metric(a, s, 0, text);
	}
	for (size_t k = 0; k < assay_n_histogram_metrics && !rc; k++)
		if (assay_histogram_metrics[k].q >= 0 &&
		    !assay_histogram_tag(s->title, assay_histogram_metrics[k].part, tag))
			rc = judge_tag(a, s, tag);
	return rc;
}

static int check_tag(const struct adding *a, const struct assay_conf_section *s)
{
	const char *tag = s->title;

	if (!tag[0] || strlen(tag) >= ASSAY_METRIC_TAG_MAX ||
	    strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(tag))
		return bad_metric(a, s, 0, "has a bad name, expected letters, digits and '_'");
	for (size_t i = 0; i < a->op->n_metrics; i++)
		if (!strcmp(a->op->metrics[i].tag, tag))
			return bad_metric(a, s, 0, "appears twice");
	return 0;
}

/* A group is needed to tell the number from what surrounds it. */
static int check_pattern(const struct adding *a, const struct assay_conf_section *s, const struct assay_conf_value *v)
{
	char why[256], text[320];
	regex_t regex;
	const int rc = regcomp(&regex, v->text, REG_EXTENDED | REG_NEWLINE);

	if (rc) {
		regerror(rc, &regex, why, sizeof(why));
		snprintf(text, sizeof(text), "has a pattern that is not a regular expression: %s", why);
		return bad_metric(a, s, v->line, text);
	}
	why[0] = '\0';
	if (!regex.re_nsub)
		snprintf(why, sizeof(why),
			 "has a pattern without a group: put the number in ( ), as in 'speed: "
			 "([0-9.]+)'");
	regfree(&regex);
	return why[0] ? bad_metric(a, s, v->line, why) : 0;
}

static int read_unit(const struct adding *a, const struct assay_conf_section *s, double *factor,
		     char unit[ASSAY_METRIC_UNIT_MAX])
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "unit");

	if (!e)
		return bad_metric(a, s, 0, "has no unit, expected one such as unit = \"MB/s\", or \"1\"");
	if (!assay_unit_read(s->title, e->values[0].text, factor, unit) || !unit[0])
		return bad_metric(a, s, e->values[0].line, "has no unit that can be shown");
	return 0;
}

static int read_better(const struct adding *a, const struct assay_conf_section *s, int *better)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "better");

	if (!e)
		return bad_metric(a, s, 0, "does not say what is better, expected better = \"higher\" or \"lower\"");
	*better = !strcmp(e->values[0].text, "higher") ? 1 : -1;
	return *better < 0 && strcmp(e->values[0].text, "lower") != 0
		       ? bad_metric(a, s, e->values[0].line, "is better neither \"higher\" nor \"lower\"")
		       : 0;
}

/* A metric that a benchmark reports by itself has a name and perhaps a direction. It is judged besides the time. */
static int add_reported(const struct adding *a, const struct assay_conf_section *s)
{
	struct assay_catalog_metric *m = &a->op->metrics[a->op->n_metrics];
	const struct assay_conf_entry *pattern = assay_conf_entry(s, "pattern");
	char unit[ASSAY_METRIC_UNIT_MAX] = "1";
	int rc = 0;

	if (pattern || assay_conf_entry(s, "kind"))
		return bad_metric(a, s, pattern ? pattern->values[0].line : 0,
				  "has a pattern or a kind, and the program writes a format that says what it is");
	*m = (struct assay_catalog_metric){ .lo = -INFINITY, .hi = INFINITY };
	if (assay_conf_entry(s, "unit"))
		rc = read_unit(a, s, &a->program->factors[a->op->n_metrics], unit);
	if (!rc && assay_conf_entry(s, "better"))
		rc = read_better(a, s, &m->better);
	if (rc)
		return rc;
	a->op->n_metrics++;
	rc = copy(&m->tag, s->title, a->err);
	if (!rc)
		rc = copy(&m->unit, unit, a->err);
	if (!rc && !a->program->judged[0])
		snprintf(a->program->judged, sizeof(a->program->judged), "time_s");
	return rc ? rc : judge(a, s);
}

static int add_metric(const struct adding *a, const struct assay_conf_section *s)
{
	const struct assay_conf_entry *pattern = assay_conf_entry(s, "pattern");
	struct assay_catalog_metric *m = &a->op->metrics[a->op->n_metrics];
	char unit[ASSAY_METRIC_UNIT_MAX];
	int rc = check_tag(a, s);

	if (rc || a->program->reads)
		return rc ? rc : add_reported(a, s);
	if (plan_is_of_process(s->title))
		return s->n_entries ? bad_metric(a, s, 0, "is measured by assay itself: metric \"…\" { } has it judged")
				    : judge(a, s);
	if (assay_metric_find(s->title))
		return bad_metric(a, s, 0, "has a name that assay gives to something else");
	if (!pattern)
		return bad_metric(a, s, 0, "has no pattern, expected a regular expression that finds it in the output");
	rc = check_pattern(a, s, &pattern->values[0]);
	if (!rc)
		rc = read_unit(a, s, &a->program->factors[a->op->n_metrics], unit);
	*m = (struct assay_catalog_metric){ .lo = -INFINITY, .hi = INFINITY };
	if (!rc)
		rc = read_better(a, s, &m->better);
	if (!rc)
		rc = read_kind(a, s, m);
	if (rc)
		return rc;
	a->op->n_metrics++;
	rc = copy(&m->tag, s->title, a->err);
	if (!rc)
		rc = copy(&m->unit, unit, a->err);
	if (!rc)
		rc = assay_strings_add(&a->program->patterns, pattern->values[0].text, a->err);
	return rc || m->kind == ASSAY_METRIC_HISTOGRAM ? rc : judge(a, s);
}

static int read_metrics(const struct adding *a)
{
	const struct assay_conf_section *s = a->bench->section;
	int rc = 0;

	a->op->metrics = calloc(s->n_sections + 1, sizeof(*a->op->metrics));
	a->program->factors = calloc(s->n_sections + 1, sizeof(*a->program->factors));
	if (!a->op->metrics || !a->program->factors)
		return no_memory(a->err);
	for (size_t i = 0; i < s->n_sections && !rc; i++)
		rc = add_metric(a, &s->sections[i]);
	for (size_t i = 0; i < s->n_sections && !rc; i++)
		for (size_t k = 0; k < a->op->n_metrics && !rc; k++)
			if (a->op->metrics[k].kind == ASSAY_METRIC_HISTOGRAM &&
			    !strcmp(a->op->metrics[k].tag, s->sections[i].title))
				rc = check_histogram(a, k, &s->sections[i]);
	return rc;
}

/* ---- axes ---- */

#define AXIS_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

static struct assay_catalog_axis *find_axis(const struct adding *a, const char *name)
{
	for (size_t i = 0; i < a->op->n_axes; i++)
		if (!strcmp(a->op->axes[i].name, name))
			return &a->op->axes[i];
	return NULL;
}

/* An axis that the command does not have would make cases that are all the same. */
static bool has_placeholder(const struct adding *a, const char *name)
{
	char text[ASSAY_NAME_MAX + 2];

	snprintf(text, sizeof(text), "{%s}", name);
	for (size_t i = 0; i < a->program->words.n; i++)
		if (strstr(a->program->words.v[i], text))
			return true;
	return false;
}

static int new_axis(const struct adding *a, const char *name, unsigned line, struct assay_catalog_axis **out)
{
	struct assay_catalog_axis *axis = &a->op->axes[a->op->n_axes];

	if (strlen(name) >= ASSAY_NAME_MAX || strspn(name, AXIS_LETTERS) != strlen(name) || !strcmp(name, "threads"))
		return assay_conf_fail(a->err, a->path, line,
				       "bench '%s' has an axis '%s', expected a name of a-z, 0-9 and '_' other than "
				       "'threads'",
				       a->bench->name, name);
	if (!has_placeholder(a, name))
		return assay_conf_fail(a->err, a->path, line,
				       "bench '%s' has an axis '%s', and its command has no {%s} that it could fill in",
				       a->bench->name, name, name);
	if (a->op->n_axes == ASSAY_MAX_AXES)
		return assay_conf_fail(a->err, a->path, line, "bench '%s' has more than %d axes", a->bench->name,
				       ASSAY_MAX_AXES);
	*axis = (struct assay_catalog_axis){ .min = INT64_MIN + 1, .max = INT64_MAX, .def = INT64_MIN };
	a->op->n_axes++;
	*out = axis;
	return copy(&axis->name, name, a->err);
}

static int add_value(const struct adding *a, struct assay_catalog_axis *axis, const char *text, unsigned line)
{
	if (!text[0] || strlen(text) >= ASSAY_NAME_MAX || strpbrk(text, "/,=*?[ \t"))
		return assay_conf_fail(a->err, a->path, line,
				       "axis '%s' of bench '%s' is '%s', expected a text without blanks and any of "
				       "/,=*?[",
				       axis->name, a->bench->name, text);
	return assay_strings_has(&axis->symbols, text) ? 0 : assay_strings_add(&axis->symbols, text, a->err);
}

/* "a=1,b=2" of shapes, "a=1,2" of a sweep. Axes are made by the bench alone; what is wrong is said when it is bound. */
static int scan_text(const struct adding *a, const char *text, unsigned line, bool may_add)
{
	struct assay_strings parts = { 0 };
	struct assay_catalog_axis *axis = NULL;
	int rc = text[0] ? assay_strings_split(&parts, text, ',', a->err) : 0;

	for (size_t i = 0; i < parts.n && !rc; i++) {
		char *value = strchr(parts.v[i], '=');

		if (value) {
			*value++ = '\0';
			axis = find_axis(a, parts.v[i]);
			if (!axis && may_add)
				rc = new_axis(a, parts.v[i], line, &axis);
		}
		if (axis && !rc)
			rc = add_value(a, axis, value ? value : parts.v[i], line);
	}
	assay_strings_release(&parts);
	return rc;
}

static int scan_fields(const struct adding *a, const struct assay_conf_entry *const *field, bool may_add)
{
	static const enum assay_bench_field of_axes[] = { ASSAY_BENCH_SHAPES, ASSAY_BENCH_SWEEP };
	int rc = 0;

	for (size_t f = 0; f < 2; f++) {
		const struct assay_conf_entry *e = field[of_axes[f]];

		for (size_t i = 0; e && i < e->n && !rc; i++)
			rc = scan_text(a, e->values[i].text, e->values[i].line, may_add);
	}
	return rc;
}

/* Numbers stay numbers, so that they have an order in plots, unless they would be written in another way. */
static void make_number(struct assay_catalog_axis *axis)
{
	for (size_t i = 0; i < axis->symbols.n; i++) {
		char *end, again[32];
		const long long v = strtoll(axis->symbols.v[i], &end, 10);

		snprintf(again, sizeof(again), "%lld", v);
		if (strcmp(again, axis->symbols.v[i]) != 0)
			return;
	}
	assay_strings_release(&axis->symbols);
	axis->symbols = (struct assay_strings){ 0 };
}

/* Suites may give an axis further values. One that cannot be read says so when it is used. */
static int scan_suites(const struct adding *a, const char *bench_dir)
{
	struct assay_strings names = { 0 };
	int rc = 0;

	if (assay_plan_suites(bench_dir, &names, NULL))
		return 0;
	for (size_t i = 0; i < names.n && !rc; i++) {
		struct assay_suite suite = { 0 };

		if (assay_suite_load(&suite, bench_dir, names.v[i], NULL))
			continue;
		for (size_t u = 0; u < suite.n_uses && !rc; u++) {
			const struct adding of_suite = { a->bench, a->op, a->program, suite.file.path, a->err };

			if (!fnmatch(suite.uses[u].glob, a->bench->name, 0))
				rc = scan_fields(&of_suite, suite.uses[u].field, false);
		}
		assay_suite_release(&suite);
	}
	assay_strings_release(&names);
	return rc;
}

static int no_such_axis(const struct adding *a, const char *name)
{
	struct assay_text known = { 0 };
	int rc;

	for (size_t i = 0; i < a->op->n_axes; i++)
		assay_text_addf(&known, "{%s}, ", a->op->axes[i].name);
	assay_text_add(&known, "{threads}");
	rc = assay_conf_fail(a->err, a->path, a->bench->command->values[0].line,
			     "the command of bench '%s' has {%s}, and the bench has no such axis, only %s; if the "
			     "program is to get it as it stands, put blanks inside the braces",
			     a->bench->name, name, known.s ? known.s : "");
	assay_text_release(&known);
	return rc;
}

/*
 * Refuse a {name} that is no axis: it was mistyped, and the program would get it unchanged. Scripts have braces, too;
 * blanks inside tell those apart, which awk, sed and jq accept. A '$' before the brace is a shell's variable.
 */
static int check_placeholders(const struct adding *a)
{
	for (size_t i = 0; i < a->program->words.n; i++) {
		const char *word = a->program->words.v[i];

		for (const char *p = word; (p = strchr(p, '{')); p++) {
			const size_t len = strspn(p + 1, AXIS_LETTERS);
			char name[ASSAY_NAME_MAX];

			if (!len || len >= sizeof(name) || p[1 + len] != '}' || (p > word && p[-1] == '$'))
				continue;
			memcpy(name, p + 1, len);
			name[len] = '\0';
			if (strcmp(name, "threads") != 0 && !find_axis(a, name))
				return no_such_axis(a, name);
		}
	}
	return 0;
}

static int read_axes(const struct adding *a, const char *bench_dir)
{
	int rc;

	a->op->axes = calloc(ASSAY_MAX_AXES, sizeof(*a->op->axes));
	if (!a->op->axes)
		return no_memory(a->err);
	rc = scan_fields(a, a->bench->field, true);
	if (!rc && a->op->n_axes)
		rc = scan_suites(a, bench_dir);
	for (size_t i = 0; i < a->op->n_axes && !rc; i++)
		make_number(&a->op->axes[i]);
	return rc ? rc : check_placeholders(a);
}

/* ---- the whole ---- */

/* Room for one more op and one more variant. */
static int make_room(struct assay_catalog *cat, struct assay_err *err)
{
	struct assay_catalog_op *ops = realloc(cat->ops, (cat->n_ops + 1) * sizeof(*ops));
	struct assay_catalog_variant *variants;

	if (!ops)
		return no_memory(err);
	cat->ops = ops;
	variants = realloc(cat->variants, (cat->n_variants + 1) * sizeof(*variants));
	if (!variants)
		return no_memory(err);
	cat->variants = variants;
	return 0;
}

static int add_program(const struct assay_bench *bench, const char *bench_dir, struct assay_catalog *cat,
		       struct assay_err *err)
{
	struct adding a = { .bench = bench, .path = bench->path, .err = err };
	struct assay_catalog_variant *v;
	int rc = make_room(cat, err);

	if (rc)
		return rc;
	/* of no plugin: an index behind all */
	a.op = &cat->ops[cat->n_ops++];
	*a.op = (struct assay_catalog_op){ .plugin = SIZE_MAX };
	v = &cat->variants[cat->n_variants++];
	*v = (struct assay_catalog_variant){ .plugin = SIZE_MAX };
	a.program = a.op->program = calloc(1, sizeof(*a.program));
	if (!a.program)
		return no_memory(err);
	rc = copy(&a.op->name, bench->name, err);
	if (!rc)
		rc = copy(&a.op->help, bench->command->values[0].text, err);
	if (!rc)
		rc = read_command(&a, v);
	if (!rc && bench->reads)
		rc = copy(&a.program->reads, bench->reads->values[0].text, err);
	if (!rc)
		rc = read_axes(&a, bench_dir);
	return rc ? rc : read_metrics(&a);
}

int assay_plan_programs(const char *bench_dir, struct assay_catalog *cat, struct assay_err *err)
{
	struct assay_benches benches = { 0 };
	int rc = assay_benches_load(&benches, bench_dir, err);

	for (size_t i = 0; i < benches.n && !rc; i++) {
		const struct assay_bench *b = &benches.v[i];
		const struct assay_catalog_op *have = b->command ? assay_catalog_op(cat, b->name) : NULL;

		if (have && !have->program)
			rc = assay_conf_fail(err, b->path, b->line,
					     "bench '%s' runs a command and has the name of an op: give it another one",
					     b->name);
		else if (b->command && !have)
			rc = add_program(b, bench_dir, cat, err);
	}
	assay_benches_release(&benches);
	return rc;
}

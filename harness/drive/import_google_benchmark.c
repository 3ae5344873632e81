/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Google Benchmark's JSON, of versions 1.0 to 1.9: {"context": {…}, "benchmarks": [{"name", "iterations", "real_time",
 * "cpu_time", "time_unit", …}]}. The repetitions of a benchmark are the samples of a case. They may lie anywhere in the
 * file (--benchmark_enable_random_interleaving), so a case is kept until as many were seen as it is said to have.
 *
 * No sample is: mean, median, stddev, cv; the two rows of a complexity (BigO, RMS). Where a benchmark has nothing else,
 * as with --benchmark_report_aggregates_only, it has no time.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "drive/importing.h"

#define NAME_MAX_BYTES 512

/* An element of "benchmarks", without its counters. */
struct row {
	char name[NAME_MAX_BYTES], run_name[NAME_MAX_BYTES], unit[8], error[256];
	double iterations, real_time, cpu_time, repetitions, threads;
	bool typed, aggregate, failed, skipped;
	struct assay_result r; /* its counters, as metrics */
};

/* A benchmark of which repetitions may follow. */
struct pending {
	char name[NAME_MAX_BYTES];
	size_t repetitions, seen;
	struct assay_result r;
};

/* What became of a name. */
enum { STORED, PENDING };

struct reading {
	struct assay_importing *im;
	struct pending **v;
	size_t n;
	struct assay_name_index known; /* all names of benchmarks so far, each STORED or PENDING + its place in @v */
};

/* ---- the whole ---- */

static void read_context(struct assay_importing *im)
{
	static const char *const facts[] = { "executable",          "num_cpus",           "mhz_per_cpu",
					     "cpu_scaling_enabled", "aslr_enabled",       "library_version",
					     "library_build_type",  "json_schema_version" };
	struct assay_json *j = im->j;

	assay_json_enter(j, ASSAY_JSON_OBJECT);
	while (assay_json_next(j)) {
		const enum assay_json_kind kind = assay_json_peek(j);
		bool fact = false;

		for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
			fact |= assay_json_is(j, facts[i]);
		if (assay_json_is(j, "date") && kind == ASSAY_JSON_TEXT)
			assay_importing_started(im, assay_json_take_text(j));
		else if (assay_json_is(j, "host_name") && kind == ASSAY_JSON_TEXT)
			assay_importing_machine(im, assay_json_take_text(j));
		/* --benchmark_context=commit=… is how people hand it on */
		else if (assay_json_is(j, "commit") && kind == ASSAY_JSON_TEXT)
			assay_importing_commit(im, assay_json_take_text(j));
		else if (fact)
			assay_importing_fact_here(im, assay_json_name(j));
		else
			assay_json_skip(j);
	}
}

static void head(struct assay_importing *im)
{
	bool found = false;

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		found |= assay_json_is(im->j, "benchmarks");
		if (assay_json_is(im->j, "context"))
			read_context(im);
		else
			assay_json_skip(im->j);
	}
	if (!found)
		assay_json_fail(im->j, "no 'benchmarks': this is not what Google Benchmark writes");
}

/* ---- names ---- */

/* "threads:4" of a name, which the key says in its own way. */
static bool take_threads(const char *part, struct assay_case *c)
{
	char *end;
	unsigned long n;

	if (strncmp(part, "threads:", strlen("threads:")) != 0 || !isdigit((unsigned char)part[strlen("threads:")]))
		return false;
	n = strtoul(part + strlen("threads:"), &end, 10);
	if (*end || !n || n > 1000000)
		return false;
	c->threads = (unsigned)n;
	return true;
}

/* "BM_Copy/1024/n:8/threads:4": the first part is the op, the others are axes. */
static void name_case(const char *run_name, struct assay_case *c)
{
	char name[NAME_MAX_BYTES], number[16], *part, *rest = name, *colon;
	unsigned n = 0;

	snprintf(name, sizeof(name), "%s", run_name);
	part = strsep(&rest, "/");
	assay_importing_word(part, c->op);
	while ((part = strsep(&rest, "/"))) {
		n++;
		if (take_threads(part, c))
			continue;
		colon = strchr(part, ':');
		snprintf(number, sizeof(number), "arg%u", n);
		/* "std::sort" is no name with a value */
		if (colon && colon > part && colon[1] && colon[1] != ':') {
			*colon = '\0';
			assay_importing_axis(c, part, colon + 1);
		} else {
			assay_importing_axis(c, number, part);
		}
	}
	snprintf(c->variant, sizeof(c->variant), "google-benchmark");
}

/* ---- a row ---- */

static double factor_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, unit))
			return units[i].ns;
	return NAN;
}

static void read_text(struct assay_json *j, char *buf, size_t size)
{
	if (assay_json_peek(j) == ASSAY_JSON_TEXT)
		snprintf(buf, size, "%s", assay_json_take_text(j));
	else
		assay_json_skip(j);
}

/* What is no measurement and no name: a counter of the user, or one of the library's own. */
static void read_counter(struct reading *rd, struct row *row)
{
	static const char *const passed_over[] = { "family_index", "per_family_instance_index", "repetition_index" };
	struct assay_json *j = rd->im->j;
	char name[ASSAY_JSON_NAME_MAX + 16];

	/* what the harness calls so means something of its own */
	snprintf(name, sizeof(name), "%s%s", assay_metric_find(assay_json_name(j)) ? "counter_" : "",
		 assay_json_name(j));
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++)
		if (!strcmp(passed_over[i], name)) {
			assay_json_skip(j);
			return;
		}
	if (assay_json_peek(j) != ASSAY_JSON_NUMBER)
		assay_json_skip(j);
	else if (!strcmp(name, "bytes_per_second"))
		assay_importing_metric(rd->im, &row->r, "bytes_per_s", "B/s", 1, assay_json_take_number(j));
	else if (!strcmp(name, "items_per_second"))
		assay_importing_metric(rd->im, &row->r, "items_per_s", "1/s", 1, assay_json_take_number(j));
	else if (!strcmp(name, "max_bytes_used") || !strcmp(name, "total_allocated_bytes"))
		assay_importing_metric(rd->im, &row->r, name, "B", -1, assay_json_take_number(j));
	else
		assay_importing_metric(rd->im, &row->r, name, "1", 0, assay_json_take_number(j));
}

static bool read_number(struct assay_json *j, const char *name, double *to)
{
	if (!assay_json_is(j, name))
		return false;
	if (assay_json_peek(j) == ASSAY_JSON_NUMBER)
		*to = assay_json_take_number(j);
	else
		assay_json_skip(j);
	return true;
}

static void read_member(struct reading *rd, struct row *row)
{
	struct assay_json *j = rd->im->j;
	char type[16] = "";

	if (read_number(j, "iterations", &row->iterations) || read_number(j, "real_time", &row->real_time) ||
	    read_number(j, "cpu_time", &row->cpu_time) || read_number(j, "repetitions", &row->repetitions) ||
	    read_number(j, "threads", &row->threads))
		return;
	if (assay_json_is(j, "name")) {
		read_text(j, row->name, sizeof(row->name));
	} else if (assay_json_is(j, "run_name")) {
		read_text(j, row->run_name, sizeof(row->run_name));
	} else if (assay_json_is(j, "time_unit")) {
		read_text(j, row->unit, sizeof(row->unit));
	} else if (assay_json_is(j, "run_type")) {
		read_text(j, type, sizeof(type));
		row->typed = true;
		row->aggregate |= strcmp(type, "iteration") != 0;
	} else if (assay_json_is(j, "aggregate_name") || assay_json_is(j, "big_o") || assay_json_is(j, "rms") ||
		   assay_json_is(j, "cpu_coefficient")) {
		row->aggregate = true;
		assay_json_skip(j);
	} else if (assay_json_is(j, "error_message") || assay_json_is(j, "skip_message")) {
		read_text(j, row->error, sizeof(row->error));
	} else if (assay_json_is(j, "error_occurred") && assay_json_peek(j) == ASSAY_JSON_BOOL) {
		row->failed = assay_json_take_bool(j);
	} else if (assay_json_is(j, "skipped") && assay_json_peek(j) == ASSAY_JSON_BOOL) {
		row->skipped = assay_json_take_bool(j);
	} else {
		read_counter(rd, row);
	}
}

/* Before 1.5 nothing but the end of the name says that a row is an aggregate; it stands behind its repetitions. */
static bool ends_as_aggregate(const struct reading *rd, const char *name)
{
	static const char *const ends[] = { "_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS" };
	const size_t len = strlen(name);
	char base[NAME_MAX_BYTES];
	size_t at;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t n = strlen(ends[i]);

		if (len <= n || strcmp(name + len - n, ends[i]) != 0)
			continue;
		snprintf(base, sizeof(base), "%.*s", (int)(len - n), name);
		if (i >= 4 || assay_name_index_find(&rd->known, base, &at))
			return true;
	}
	return false;
}

/* ---- cases ---- */

static void no_memory(struct reading *rd)
{
	if (!rd->im->j->rc)
		rd->im->j->rc = assay_err_set(rd->im->err, ASSAY_ENOMEM, "out of memory");
}

static struct pending *find(struct reading *rd, const char *name)
{
	size_t at;

	return assay_name_index_find(&rd->known, name, &at) && at >= PENDING ? rd->v[at - PENDING] : NULL;
}

static struct pending *add(struct reading *rd, const struct row *row, const char *name)
{
	struct pending *p = calloc(1, sizeof(*p));
	size_t at;

	if (!p || assay_grow(&rd->v, rd->n, sizeof(*rd->v)) ||
	    assay_name_index_put(&rd->known, name, 0, &at, NULL, NULL)) {
		free(p);
		no_memory(rd);
		return NULL;
	}
	assay_name_index_set(&rd->known, name, PENDING + rd->n);
	rd->v[rd->n++] = p;
	snprintf(p->name, sizeof(p->name), "%s", name);
	/* older versions say nothing, or 0, of benchmarks that are not repeated */
	p->repetitions = row->repetitions >= 1 && row->repetitions < 1e9 ? (size_t)row->repetitions : 0;
	name_case(name, &p->r.c);
	if (!p->r.c.threads && row->threads >= 1 && row->threads <= 1e6)
		p->r.c.threads = (unsigned)row->threads;
	return p;
}

/* Store benchmark @i, of which no more will be read. */
static void put(struct reading *rd, size_t i)
{
	struct pending *p = rd->v[i];

	assay_importing_put(rd->im, &p->r, p->name);
	assay_name_index_set(&rd->known, p->name, STORED);
	free(p);
	rd->v[i] = rd->v[--rd->n];
	if (i < rd->n)
		assay_name_index_set(&rd->known, rd->v[i]->name, PENDING + i);
}

/* Versions that do not number their repetitions write them one behind the other. */
static void put_others(struct reading *rd, const char *name)
{
	for (size_t i = rd->n; i > 0; i--)
		if (!rd->v[i - 1]->repetitions && strcmp(rd->v[i - 1]->name, name) != 0)
			put(rd, i - 1);
}

static void take_repetition(struct reading *rd, const struct row *row, const char *name)
{
	const double ns = factor_ns(row->unit[0] ? row->unit : "ns");
	size_t at;
	struct pending *p = find(rd, name);

	if (!p)
		p = add(rd, row, name);
	if (!p)
		return;
	p->seen++;
	if (!isfinite(ns))
		assay_json_fail(rd->im->j, "time_unit '%s' is not known, expected ns, us, ms or s", row->unit);
	if (row->failed || row->skipped) {
		assay_importing_no_time(&p->r, row->failed ? ASSAY_STATUS_FAILED : ASSAY_STATUS_SKIPPED, "%s",
					row->error[0] ? row->error : "the benchmark said that it failed");
	} else {
		assay_importing_sample(rd->im, &p->r, row->iterations, row->real_time * row->iterations * ns, 0);
		assay_importing_metric(rd->im, &p->r, "cpu_time_s", "s", -1, row->cpu_time * ns * 1e-9);
		for (size_t i = 0; i < row->r.n_metrics; i++) {
			const struct assay_metric *m = &row->r.metrics[i];

			assay_importing_metric(rd->im, &p->r, m->tag, m->unit, m->better, m->value);
		}
		for (size_t i = 0; i < row->r.counters.n_missing; i++)
			assay_importing_metric(rd->im, &p->r, row->r.counters.missing[i].name, "1", 0, NAN);
	}
	if (p->repetitions && p->seen >= p->repetitions && assay_name_index_find(&rd->known, name, &at))
		put(rd, at - PENDING);
}

/* A name that stands there with aggregates alone gets a case without a time, when all was read. */
static void take_aggregate(struct reading *rd, const struct row *row, const char *name)
{
	struct pending *p;
	size_t at;

	rd->im->report->n_aggregates++;
	/* of a complexity there is no benchmark by that name */
	if (!row->run_name[0] || !isfinite(row->real_time))
		return;
	if (assay_name_index_find(&rd->known, name, &at))
		return;
	p = add(rd, row, name);
	if (p)
		assay_importing_no_time(&p->r, ASSAY_STATUS_SKIPPED,
					"the file has only means of it, which are no samples: run without "
					"--benchmark_report_aggregates_only");
}

static void read_row(struct reading *rd, struct row *row)
{
	const char *name;

	memset(row, 0, offsetof(struct row, r));
	row->real_time = row->iterations = row->cpu_time = NAN;
	assay_json_enter(rd->im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(rd->im->j))
		read_member(rd, row);
	name = row->run_name[0] ? row->run_name : row->name;
	if (!name[0])
		assay_json_fail(rd->im->j, "a benchmark without a name");
	if (!rd->im->j->rc) {
		row->aggregate |= !row->typed && ends_as_aggregate(rd, row->name);
		put_others(rd, name);
		if (row->aggregate)
			take_aggregate(rd, row, name);
		else
			take_repetition(rd, row, name);
	}
	assay_result_release(&row->r);
}

static void read_rows(struct reading *rd)
{
	struct row *row = calloc(1, sizeof(*row));

	if (!row) {
		no_memory(rd);
		return;
	}
	assay_json_enter(rd->im->j, ASSAY_JSON_ARRAY);
	while (assay_json_next(rd->im->j))
		read_row(rd, row);
	free(row);
}

static void benchmarks(struct assay_importing *im)
{
	struct reading rd = { .im = im };

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		if (assay_json_is(im->j, "benchmarks"))
			read_rows(&rd);
		else
			assay_json_skip(im->j);
	}
	/* in the order of the file */
	for (size_t i = 0; i < rd.n; i++) {
		assay_importing_put(im, &rd.v[i]->r, rd.v[i]->name);
		free(rd.v[i]);
	}
	free(rd.v);
	assay_name_index_release(&rd.known);
}

const struct assay_import_format assay_import_google_benchmark = { "google-benchmark", head, benchmarks };

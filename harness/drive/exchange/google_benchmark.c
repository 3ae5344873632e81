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
#include "drive/exchange/reader.h"

/* An element of "benchmarks", without its counters. */
struct row {
	struct assay_text name, run_name; /* whole, however long */
	char unit[8], error[256];
	double iterations, real_time, cpu_time, repetitions, threads;
	bool typed, timed, aggregate, failed, skipped;
	struct assay_result r; /* its counters, as metrics */
};

/* A benchmark of which repetitions may follow. */
struct pending {
	char *name;
	size_t repetitions, seen;
	struct assay_result r;
};

/*
 * Before 1.9.0 the library divided the wall time of a benchmark with several threads by their number
 * (google/benchmark#1836). The file says which library wrote it since 1.8.4, as "git describe" names it.
 */
enum real_time_of { A_CALL, A_CALL_OF_ALL_THREADS, NOBODY_KNOWS };

/* What became of a name. */
enum { STORED, PENDING };

struct reading {
	struct assay_importing *im;
	struct pending **v;
	size_t n;
	struct assay_name_index known; /* all names of benchmarks so far, each STORED or PENDING + its place in @v */
	enum real_time_of real_time;
};

/* ---- the whole ---- */

/* A build outside of git may name no version, which is not the same as a library that names none. */
static void note_version(struct assay_importing *im)
{
	const char *version = assay_json_take_text(im->j);

	assay_importing_fact(im, "library_version", version[0] ? version : "unknown");
}

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
		else if (assay_json_is(j, "library_version") && kind == ASSAY_JSON_TEXT)
			note_version(im);
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

/*
 * "threads:4" of a name, which the key says in its own way. Where the row has a member for the threads, only their
 * number is meant; without it (before 1.5) the library says it in the name alone.
 */
static bool take_threads(const char *part, struct assay_case *c)
{
	char *end;
	unsigned long n;

	if (strncmp(part, "threads:", strlen("threads:")) != 0 || !isdigit((unsigned char)part[strlen("threads:")]))
		return false;
	n = strtoul(part + strlen("threads:"), &end, 10);
	if (*end || !n || n > 1000000 || (c->threads && c->threads != n))
		return false;
	c->threads = (unsigned)n;
	return true;
}

/* Commits behind the tag 1.8.5 are before and after that change, and builds outside of git name no version. */
static enum real_time_of real_time_of(const char *library_version)
{
	unsigned major, minor, patch;
	int end = 0;

	if (!library_version)
		return A_CALL_OF_ALL_THREADS;
	if (sscanf(library_version, "v%u.%u.%u%n", &major, &minor, &patch, &end) != 3 &&
	    sscanf(library_version, "%u.%u.%u%n", &major, &minor, &patch, &end) != 3)
		return NOBODY_KNOWS;
	if (!major && !minor && !patch)
		return NOBODY_KNOWS;
	if (major > 1 || (major == 1 && minor >= 9))
		return A_CALL;
	return minor == 8 && patch == 5 && library_version[end] == '-' ? NOBODY_KNOWS : A_CALL_OF_ALL_THREADS;
}

/* "BM_Copy/1024/n:8/threads:4": the first part is the op, the others are axes. */
static int name_case(const char *run_name, struct assay_case *c)
{
	char *name = strdup(run_name), number[16], *part, *rest = name, *colon;
	unsigned n = 0;

	if (!name)
		return ASSAY_ENOMEM;
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
	free(name);
	return 0;
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

static void read_name(struct assay_json *j, struct assay_text *to)
{
	to->len = 0;
	if (assay_json_peek(j) == ASSAY_JSON_TEXT)
		assay_text_add(to, assay_json_take_text(j));
	else
		assay_json_skip(j);
}

static void read_text(struct assay_json *j, char *buf, size_t size)
{
	if (assay_json_peek(j) == ASSAY_JSON_TEXT)
		snprintf(buf, size, "%s", assay_json_take_text(j));
	else
		assay_json_skip(j);
}

/* A counter under a tag of its own: the mean is one of repetitions, never one of two counters. */
static void add_counter(struct reading *rd, struct row *row, const char *name, const char *unit, int better)
{
	char tag[ASSAY_METRIC_TAG_MAX];

	assay_importing_tag(name, tag);
	if (assay_result_metric(&row->r, tag))
		assay_json_fail(rd->im->j, "the counter '%.100s' is there twice", name);
	assay_importing_metric(rd->im, &row->r, tag, unit, better, assay_json_take_number(rd->im->j));
}

/* What is no measurement and no name: a counter of the user, or one of the library's own. */
static void read_counter(struct reading *rd, struct row *row)
{
	static const char *const passed_over[] = { "family_index", "per_family_instance_index", "repetition_index" };
	struct assay_json *j = rd->im->j;
	const char *name = assay_json_name(j);

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
		add_counter(rd, row, name, "B", -1);
	else
		add_counter(rd, row, name, "1", 0);
}

static bool read_number(struct assay_json *j, const char *name, double (*take)(struct assay_json *), double *to)
{
	if (!assay_json_is(j, name))
		return false;
	if (assay_json_peek(j) == ASSAY_JSON_NUMBER)
		*to = take(j);
	else
		assay_json_skip(j);
	return true;
}

static void read_member(struct reading *rd, struct row *row)
{
	struct assay_json *j = rd->im->j;
	char type[16] = "";

	row->timed |= assay_json_is(j, "real_time");
	if (read_number(j, "iterations", assay_json_take_count, &row->iterations) ||
	    read_number(j, "real_time", assay_json_take_number, &row->real_time) ||
	    read_number(j, "cpu_time", assay_json_take_number, &row->cpu_time) ||
	    read_number(j, "repetitions", assay_json_take_count, &row->repetitions) ||
	    read_number(j, "threads", assay_json_take_count, &row->threads))
		return;
	if (assay_json_is(j, "name")) {
		read_name(j, &row->name);
	} else if (assay_json_is(j, "run_name")) {
		read_name(j, &row->run_name);
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
	struct assay_text base = { 0 };
	bool found = false;
	size_t at;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t n = strlen(ends[i]);

		if (len <= n || strcmp(name + len - n, ends[i]) != 0)
			continue;
		base.len = 0;
		assay_text_addn(&base, name, len - n);
		found |= i >= 4 || (base.s && assay_name_index_find(&rd->known, base.s, &at));
	}
	assay_text_release(&base);
	return found;
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

	if (p && row->threads >= 1 && row->threads <= 1e6)
		p->r.c.threads = (unsigned)row->threads;
	if (!p || !(p->name = strdup(name)) || name_case(name, &p->r.c) || assay_grow(&rd->v, rd->n, sizeof(*rd->v)) ||
	    assay_name_index_put(&rd->known, name, 0, &at, NULL, NULL)) {
		free(p ? p->name : NULL);
		free(p);
		no_memory(rd);
		return NULL;
	}
	assay_name_index_set(&rd->known, name, PENDING + rd->n);
	rd->v[rd->n++] = p;
	/* older versions say nothing, or 0, of benchmarks that are not repeated */
	p->repetitions = row->repetitions >= 1 && row->repetitions < 1e9 ? (size_t)row->repetitions : 0;
	return p;
}

/* Store benchmark @i, of which no more will be read. */
static void put(struct reading *rd, size_t i)
{
	struct pending *p = rd->v[i];

	assay_importing_put(rd->im, &p->r, p->name);
	assay_name_index_set(&rd->known, p->name, STORED);
	free(p->name);
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
	} else if (p->r.c.threads > 1 && rd->real_time == NOBODY_KNOWS) {
		assay_importing_no_time(&p->r, ASSAY_STATUS_SKIPPED,
					"the 'library_version' of the file does not say whether its real_time is "
					"divided by %u threads, as it was before 1.9.0",
					p->r.c.threads);
	} else {
		const unsigned divided = rd->real_time == A_CALL_OF_ALL_THREADS && p->r.c.threads ? p->r.c.threads : 1;

		assay_importing_sample(rd->im, &p->r, row->iterations, row->real_time * divided * row->iterations * ns,
				       0);
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
	if (!row->run_name.len || !isfinite(row->real_time))
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

	memset(row->unit, 0, offsetof(struct row, r) - offsetof(struct row, unit));
	row->name.len = row->run_name.len = 0;
	row->real_time = row->iterations = row->cpu_time = NAN;
	assay_json_enter(rd->im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(rd->im->j))
		read_member(rd, row);
	name = row->run_name.len ? row->run_name.s : row->name.len ? row->name.s : "";
	if (row->name.failed || row->run_name.failed)
		no_memory(rd);
	if (!name[0])
		assay_json_fail(rd->im->j, "a benchmark without a name");
	else if (!row->timed && !row->aggregate && !row->failed && !row->skipped)
		assay_json_fail(rd->im->j, "a benchmark without 'real_time': this is not what Google Benchmark writes");
	if (!rd->im->j->rc) {
		row->aggregate |= !row->typed && ends_as_aggregate(rd, row->name.len ? row->name.s : "");
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
	assay_text_release(&row->name);
	assay_text_release(&row->run_name);
	free(row);
}

static void benchmarks(struct assay_importing *im)
{
	struct reading rd = { .im = im, .real_time = real_time_of(assay_importing_fact_of(im, "library_version")) };

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
		free(rd.v[i]->name);
		free(rd.v[i]);
	}
	free(rd.v);
	assay_name_index_release(&rd.known);
}

const struct assay_import_format assay_import_google_benchmark = { "google-benchmark", head, benchmarks };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Google Benchmark's JSON, of versions 1.0 to 1.9: {"context": {…}, "benchmarks": [{"name", "iterations", "real_time",
 * "cpu_time", "time_unit", …}]}. The repetitions of a benchmark are the samples of a case. They may lie anywhere in the
 * file (--benchmark_enable_random_interleaving), where the file says how many there are.
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
#include "formats/reader.h"

/* A benchmark: of its rows, those that are repetitions are its samples. */
struct benchmark {
	const char *name; /* in the file */
	size_t repetitions, seen;
	size_t last_row;
	struct assay_result *r; /* malloc'ed; NULL once it was handed over, as soon as all its repetitions are there */
};

/*
 * Before 1.9.0 the library divided the wall time of a benchmark with several threads by their number
 * (google/benchmark#1836). The file says which library wrote it since 1.8.4, as "git describe" names it.
 */
enum real_time_of { A_CALL, A_CALL_OF_ALL_THREADS, NOBODY_KNOWS };

struct reading {
	struct assay_reading *in;
	struct benchmark *v;
	size_t n, row;
	struct assay_name_index known; /* names of benchmarks, with the place in @v of the last one by that name */
	enum real_time_of real_time;
};

/* ---- the whole ---- */

static void read_context(struct assay_reading *in, const json_t *context)
{
	static const char *const facts[] = { "executable",          "num_cpus",           "mhz_per_cpu",
					     "cpu_scaling_enabled", "aslr_enabled",       "library_version",
					     "library_build_type",  "json_schema_version" };
	const char *host = json_string_value(json_object_get(context, "host_name"));
	/* --benchmark_context=commit=… is how people hand it on */
	const char *commit = json_string_value(json_object_get(context, "commit"));
	const char *version = json_string_value(json_object_get(context, "library_version"));

	assay_reading_started(in, assay_reading_text(context, "date"));
	if (host)
		assay_reading_machine(in, host);
	if (commit)
		assay_reading_commit(in, commit);
	/* a build outside of git may name no version, which is not the same as a library that names none */
	if (version && !version[0])
		assay_reading_fact(in, "library_version", "unknown");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		assay_reading_fact_in(in, context, facts[i]);
}

/* ---- names ---- */

/*
 * The number that the library wrote into a name, as "threads:4". Before 1.5 it stands nowhere else; where the row has a
 * member for the threads, only their number is meant.
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

/* The whole name is the op: which of its parts are arguments is not said by the row. */
static void name_case(const char *run_name, struct assay_case *c)
{
	const char *last = strrchr(run_name, '/');

	assay_format_op(run_name, c->op);
	snprintf(c->variant, sizeof(c->variant), "google-benchmark");
	if (last && !c->threads)
		take_threads(last + 1, c);
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

/* A counter under a tag of its own: the mean is one of repetitions, never one of two counters. */
static void add_counter(struct assay_reading *in, struct assay_result *r, const char *name, const json_t *v)
{
	/* what a program's memory manager counts */
	const bool bytes = !strcmp(name, "max_bytes_used") || !strcmp(name, "total_allocated_bytes");
	char tag[ASSAY_METRIC_TAG_MAX];

	assay_reading_tag(name, tag);
	assay_reading_metric(in, r, tag, bytes ? "B" : "1", bytes ? -1 : 0, assay_reading_number(in, v, name));
}

/* The members that are no measurement and no name: counters of the user, or some of the library's own. */
static void add_counters(struct assay_reading *in, struct assay_result *r, const json_t *row)
{
	static const char *const passed_over[] = { "family_index",     "per_family_instance_index",
						   "repetition_index", "iterations",
						   "real_time",        "cpu_time",
						   "repetitions",      "threads" };
	const char *name;
	const json_t *v;

	json_object_foreach((json_t *)row, name, v)
	{
		bool own = !assay_reading_is_number(v);

		for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++)
			own |= !strcmp(passed_over[i], name);
		if (own)
			continue;
		if (!strcmp(name, "bytes_per_second"))
			assay_reading_metric(in, r, "bytes_per_s", "B/s", 1, assay_reading_number(in, v, name));
		else if (!strcmp(name, "items_per_second"))
			assay_reading_metric(in, r, "items_per_s", "1/s", 1, assay_reading_number(in, v, name));
		else
			add_counter(in, r, name, v);
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

/* ---- benchmarks ---- */

static void no_memory(struct reading *rd)
{
	if (!rd->in->rc)
		rd->in->rc = assay_err_set(rd->in->err, ASSAY_ENOMEM, "out of memory");
}

/*
 * The benchmark of a row; NULL: there is none of which it could be a repetition. Versions that do not number their
 * repetitions write them one behind the other.
 */
static struct benchmark *find(struct reading *rd, const char *name)
{
	struct benchmark *b;
	size_t at;

	if (!assay_name_index_find(&rd->known, name, &at))
		return NULL;
	b = &rd->v[at];
	return (b->repetitions ? b->seen < b->repetitions : b->last_row + 1 == rd->row) ? b : NULL;
}

static struct benchmark *add(struct reading *rd, const json_t *row, const char *name)
{
	const double threads = assay_reading_count(rd->in, row, "threads", 0);
	const double repetitions = assay_reading_count(rd->in, row, "repetitions", 0);
	struct benchmark *b;
	size_t at;

	if (assay_grow(&rd->v, rd->n, sizeof(*rd->v)) ||
	    assay_name_index_put(&rd->known, name, rd->n, &at, NULL, NULL)) {
		no_memory(rd);
		return NULL;
	}
	b = &rd->v[rd->n];
	*b = (struct benchmark){ .name = name, .r = calloc(1, sizeof(*b->r)) };
	if (!b->r) {
		no_memory(rd);
		return NULL;
	}
	/* older versions say nothing, or 0, of benchmarks that are not repeated */
	b->repetitions = repetitions >= 1 && repetitions < 1e9 ? (size_t)repetitions : 0;
	b->r->c.threads = threads >= 1 && threads <= 1e6 ? (unsigned)threads : 0;
	name_case(name, &b->r->c);
	assay_name_index_set(&rd->known, name, rd->n++);
	return b;
}

static double number_or_nan(struct assay_reading *in, const json_t *row, const char *name)
{
	const json_t *v = json_object_get(row, name);

	return assay_reading_is_number(v) ? assay_reading_number(in, v, name) : NAN;
}

static void add_sample(struct reading *rd, struct assay_result *r, const json_t *row, double unit_ns)
{
	struct assay_reading *in = rd->in;
	const double iterations = assay_reading_count(in, row, "iterations", NAN);
	const double ns = number_or_nan(in, row, "real_time") * unit_ns;

	if (r->c.threads > 1 && rd->real_time == NOBODY_KNOWS) {
		assay_reading_no_time(r, ASSAY_STATUS_SKIPPED,
				      "the 'library_version' of the file does not say whether its real_time is "
				      "divided by %u threads, as it was before 1.9.0",
				      r->c.threads);
		return;
	}
	assay_reading_sample(
		in, r, iterations,
		ns * (rd->real_time == A_CALL_OF_ALL_THREADS && r->c.threads ? r->c.threads : 1) * iterations, 0);
	assay_reading_metric(in, r, "cpu_time_s", "s", -1, number_or_nan(in, row, "cpu_time") * unit_ns * 1e-9);
	add_counters(in, r, row);
}

/* It is complete, as far as the file says; large files would take too much memory otherwise. */
static void put(struct reading *rd, struct benchmark *b)
{
	if (b->r)
		assay_reading_put(rd->in, b->r, b->name);
	free(b->r);
	b->r = NULL;
}

static void take_repetition(struct reading *rd, const json_t *row, const char *name)
{
	const bool failed = json_is_true(json_object_get(row, "error_occurred"));
	const char *unit = assay_reading_text(row, "time_unit"), *why = assay_reading_text(row, "error_message");
	const double ns = factor_ns(unit[0] ? unit : "ns");
	struct benchmark *b = find(rd, name);

	if (!b)
		b = add(rd, row, name);
	if (!b)
		return;
	b->seen++;
	b->last_row = rd->row;
	if (!why[0])
		why = assay_reading_text(row, "skip_message");
	if (!isfinite(ns))
		assay_reading_fail(rd->in, "time_unit '%s' is not known, expected ns, us, ms or s", unit);
	else if (failed || json_is_true(json_object_get(row, "skipped")))
		assay_reading_no_time(b->r, failed ? ASSAY_STATUS_FAILED : ASSAY_STATUS_SKIPPED, "%s",
				      why[0] ? why : "the benchmark said that it failed");
	else
		add_sample(rd, b->r, row, ns);
	if (b->seen == b->repetitions)
		put(rd, b);
}

/* A name that stands there with aggregates alone gets a case without a time. */
static void take_aggregate(struct reading *rd, const json_t *row, const char *name)
{
	struct benchmark *b;
	size_t at;

	rd->in->q->n_aggregates++;
	if (assay_name_index_find(&rd->known, name, &at)) {
		rd->v[at].last_row = rd->row;
		return;
	}
	/* of a complexity there is no benchmark by that name */
	if (!assay_reading_text(row, "run_name")[0] || !isfinite(number_or_nan(rd->in, row, "real_time")))
		return;
	b = add(rd, row, name);
	if (b)
		assay_reading_no_time(b->r, ASSAY_STATUS_SKIPPED,
				      "the file has only its means, which are not samples: run without "
				      "--benchmark_report_aggregates_only");
}

static bool is_aggregate(const struct reading *rd, const json_t *row)
{
	static const char *const members[] = { "aggregate_name", "big_o", "rms", "cpu_coefficient" };
	const json_t *type = json_object_get(row, "run_type");

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_object_get(row, members[i]))
			return true;
	return type ? strcmp(assay_reading_text(row, "run_type"), "iteration") != 0
		    : ends_as_aggregate(rd, assay_reading_text(row, "name"));
}

static void read_row(struct assay_reading *in, const json_t *row, void *arg)
{
	struct reading *rd = arg;
	const char *name = assay_reading_text(row, "run_name");
	const bool aggregate = is_aggregate(rd, row);

	rd->row++;
	if (!name[0])
		name = assay_reading_text(row, "name");
	if (!name[0])
		assay_reading_fail(in, "a benchmark without a name");
	else if (!json_object_get(row, "real_time") && !aggregate &&
		 !json_is_true(json_object_get(row, "error_occurred")) &&
		 !json_is_true(json_object_get(row, "skipped")))
		assay_reading_fail(in, "a benchmark without 'real_time': this is not what Google Benchmark writes");
	else if (aggregate)
		take_aggregate(rd, row, name);
	else
		take_repetition(rd, row, name);
}

static void read_all(struct assay_reading *in)
{
	const json_t *all = json_array_get(in->values, 0), *rows = json_object_get(all, "benchmarks");
	struct reading rd = { .in = in };

	if (!rows)
		assay_reading_fail(in, "no 'benchmarks': this is not what Google Benchmark writes");
	read_context(in, json_object_get(all, "context"));
	rd.real_time = real_time_of(assay_reading_fact_of(in, "library_version"));
	assay_reading_each(in, rows, "benchmarks", read_row, &rd);
	for (size_t i = 0; i < rd.n; i++)
		put(&rd, &rd.v[i]);
	free(rd.v);
	assay_name_index_release(&rd.known);
}

/*
 * A benchmark of a list, for people who choose cases of a bench: of "BM_Copy/1024/n:8/threads:4" the first part is the
 * op, the others are axes. If that loses any of it, because a part is too long or there are too many, the whole name is
 * the op. A list tells of no threads where there is one.
 */
static int name_listed(const char *run_name, struct assay_case *c)
{
	char *name = strdup(run_name), number[16], *part, *rest = name, *colon;
	bool whole = true;
	unsigned n = 0;

	if (!name)
		return ASSAY_ENOMEM;
	part = strsep(&rest, "/");
	assay_format_op(part, c->op);
	while ((part = strsep(&rest, "/"))) {
		n++;
		if (take_threads(part, c))
			continue;
		colon = strchr(part, ':');
		snprintf(number, sizeof(number), "arg%u", n);
		/* "std::sort" is no name with a value */
		if (colon && colon > part && colon[1] && colon[1] != ':') {
			*colon = '\0';
			whole &= assay_format_axis(c, part, colon + 1);
		} else {
			whole &= assay_format_axis(c, number, part);
		}
	}
	if (!whole) {
		c->n_axes = 0;
		assay_format_op(run_name, c->op);
	}
	snprintf(c->variant, sizeof(c->variant), "google-benchmark");
	if (!c->threads)
		c->threads = 1;
	free(name);
	return 0;
}

/*
 * Half a second, which programs measure a benchmark for by themselves, leaves a comparison few processes, and what
 * differs from process to process does not become less with it. A command may say how long it is to be.
 */
static int prepare(struct assay_strings *words, const char *path, struct assay_err *err)
{
	for (size_t i = 0; i < words->n; i++)
		if (strstr(words->v[i], "--benchmark_min_time"))
			return 0;
	return path && !getenv("BENCHMARK_MIN_TIME") ? assay_strings_add(words, "--benchmark_min_time=0.05", err) : 0;
}

/*
 * What programs print may go to standard output as well, so that the results get a file of their own. Of several
 * options of one name the last counts. A filter that begins with '-' would exclude, but '^' precedes.
 */
const struct assay_format assay_format_google_benchmark = {
	"google-benchmark",
	read_all,
	name_listed,
	{ .place = ASSAY_FORMAT_FILE,
	  .prepare = prepare,
	  .measure = "--benchmark_out=%p --benchmark_out_format=json --benchmark_repetitions=1",
	  .list = "--benchmark_list_tests=true",
	  .only = "--benchmark_filter=^%b$",
	  .escaped = true },
};

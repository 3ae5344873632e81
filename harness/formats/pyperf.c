/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyperf's JSON, of version 1.0: {"version", "metadata": {…}, "benchmarks": [{"metadata",
 * "runs": [{"values": [seconds of a loop], "warmups", "metadata"}]}]}. What a run lacks in its metadata, its benchmark
 * or the whole has. Each run was a process of its own, so it is a round; its values are samples of `loops` times
 * `inner_loops` iterations. Warm-ups and runs of calibration are no samples.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/reader.h"

/* Those that describe the machine, its surroundings or the interpreter, as pyperf calls them. */
static const char *const facts[] = {
	"cpu_model_name", "cpu_count",         "cpu_affinity",          "cpu_config",   "platform",
	"python_version", "python_executable", "python_implementation", "perf_version", "timer",
	"aslr",           "boot_time",
};

/* The facts about the whole file, wherever they stand: its machine, its commit, and its earliest date. */
static void look_at(struct assay_reading *in, const json_t *metadata, const char **first)
{
	const char *date = assay_reading_text(metadata, "date"), *host = assay_reading_text(metadata, "hostname");
	const char *commit = assay_reading_text(metadata, "commit_id");

	if (host[0])
		assay_reading_machine(in, host);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		assay_reading_fact_in(in, metadata, facts[i]);
	if (commit[0] && !in->facts.commit[0])
		assay_reading_commit(in, commit);
	/* dates of all runs are of one form, so the earliest is the least text */
	if (date[0] && (!(*first)[0] || strcmp(date, *first) < 0)) {
		*first = date;
		assay_reading_started(in, date);
	}
}

static const json_t *metadata_of(const json_t *from)
{
	return json_object_get(from, "metadata");
}

static void look_at_all(struct assay_reading *in, const json_t *all)
{
	const json_t *benchmarks = json_object_get(all, "benchmarks");
	const char *first = "";

	look_at(in, metadata_of(all), &first);
	for (size_t i = 0; i < json_array_size(benchmarks); i++) {
		const json_t *one = json_array_get(benchmarks, i), *runs = json_object_get(one, "runs");

		look_at(in, metadata_of(one), &first);
		for (size_t k = 0; k < json_array_size(runs); k++)
			look_at(in, metadata_of(json_array_get(runs, k)), &first);
	}
}

/* Others may mean something else by the same names. */
static void check_version(struct assay_reading *in, const json_t *v)
{
	char version[16];

	if (json_is_number(v))
		snprintf(version, sizeof(version), "%g", json_number_value(v));
	else
		snprintf(version, sizeof(version), "%s", json_is_string(v) ? json_string_value(v) : "?");
	if (v && strcmp(version, "1.0"))
		assay_reading_fail(in, "version: pyperf's format '%s' is not known, expected 1.0", version);
}

/* Of a run, its benchmark and the whole: the first that says it. */
#define N_LEVELS 3

static const char *first_text(const json_t *const of[N_LEVELS], const char *name)
{
	for (size_t i = 0; i < N_LEVELS; i++)
		if (assay_reading_text(of[i], name)[0])
			return assay_reading_text(of[i], name);
	return "";
}

static double first_count(struct assay_reading *in, const json_t *const of[N_LEVELS], const char *name)
{
	for (size_t i = 0; i < N_LEVELS; i++) {
		const double n = assay_reading_count(in, of[i], name, 0);

		if (n > 0)
			return n;
	}
	return 1;
}

static void read_run(struct assay_reading *in, const json_t *run, const json_t *of[N_LEVELS], struct assay_result *r)
{
	const json_t *values = json_object_get(run, "values");
	double n;

	of[0] = metadata_of(run);
	n = first_count(in, of, "loops") * first_count(in, of, "inner_loops");
	for (size_t i = 0; i < json_array_size(values) && !in->rc; i++)
		assay_reading_sample(in, r, n, assay_reading_number(in, json_array_get(values, i), "values") * n * 1e9,
				     !i && r->n_samples ? ASSAY_SAMPLE_NEW_ROUND : 0);
}

static void read_benchmark(struct assay_reading *in, const json_t *from, void *arg)
{
	const json_t *runs = json_object_get(from, "runs");
	/* where a benchmark has no metadata of its own, its runs name it */
	const json_t *of[N_LEVELS] = { metadata_of(json_array_get(runs, 0)), metadata_of(from), metadata_of(arg) };
	const char *name = first_text(of, "name"), *unit = first_text(of, "unit");
	struct assay_result r = { .c.variant = "pyperf" };

	if (!name[0])
		assay_reading_fail(in, "a benchmark without a name in its metadata");
	assay_format_op(name, r.c.op);
	/* also where it has no run that would be asked */
	first_count(in, of, "loops");
	if (unit[0] && strcmp(unit, "second"))
		assay_reading_no_time(&r, ASSAY_STATUS_SKIPPED, "its values are in the unit '%s', which are not times",
				      unit);
	else
		for (size_t i = 0; i < json_array_size(runs) && !in->rc; i++)
			read_run(in, json_array_get(runs, i), of, &r);
	assay_reading_put(in, &r, name);
}

static void read_all(struct assay_reading *in)
{
	json_t *all = json_array_get(in->values, 0), *benchmarks = json_object_get(all, "benchmarks");

	check_version(in, json_object_get(all, "version"));
	if (!benchmarks)
		assay_reading_fail(in, "no 'benchmarks': this is not what pyperf writes");
	look_at_all(in, all);
	assay_reading_each(in, benchmarks, "benchmarks", read_benchmark, all);
}

/* A process of it calibrates, and the other takes three values. */
const struct assay_format assay_format_pyperf = {
	"pyperf",
	read_all,
	NULL,
	{ .place = ASSAY_FORMAT_FILE, .measure = "-o %p --processes=1" },
};

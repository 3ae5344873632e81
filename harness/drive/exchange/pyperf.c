/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyperf's JSON, of versions 0.8.3 (5), 0.9.6 (6) and 1.0: {"version", "metadata": {…}, "benchmarks": [{"metadata",
 * "runs": [{"values": [seconds of a loop], "warmups", "metadata"}]}]}. What a run lacks in its metadata, its benchmark
 * or the whole has. Each run was a process of its own, so it is a round; its values are samples of `loops` times
 * `inner_loops` iterations. Warm-ups and runs of calibration are no samples.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "drive/exchange/reader.h"

/* Of a suite, a benchmark or a run: what is not said is as one level above. */
struct metadata {
	struct assay_importing_defaults of;
	char commit[65], date[40];
};

/* Those that describe the machine, its surroundings or the interpreter, as pyperf calls them. */
static const char *const facts[] = {
	"cpu_model_name", "cpu_count",         "cpu_affinity",          "cpu_config",   "platform",
	"python_version", "python_executable", "python_implementation", "perf_version", "timer",
	"aslr",           "boot_time",
};

static void set(char *to, size_t size, struct assay_json *j)
{
	if (assay_json_peek(j) == ASSAY_JSON_TEXT)
		snprintf(to, size, "%s", assay_json_take_text(j));
	else
		assay_json_skip(j);
}

static double count(struct assay_json *j, double otherwise)
{
	if (assay_json_peek(j) == ASSAY_JSON_NUMBER)
		return assay_json_take_count(j);
	assay_json_skip(j);
	return otherwise;
}

static bool is_fact(const char *name)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (!strcmp(facts[i], name))
			return true;
	return false;
}

/* @im NULL: what is said of the machine was taken before. */
static void read_metadata(struct assay_json *j, struct assay_importing *im, struct metadata *m)
{
	char host[128];

	assay_json_enter(j, ASSAY_JSON_OBJECT);
	while (assay_json_next(j)) {
		if (assay_json_is(j, "name"))
			set(m->of.name, sizeof(m->of.name), j);
		else if (assay_json_is(j, "unit"))
			set(m->of.unit, sizeof(m->of.unit), j);
		else if (assay_json_is(j, "commit_id"))
			set(m->commit, sizeof(m->commit), j);
		else if (assay_json_is(j, "date"))
			set(m->date, sizeof(m->date), j);
		else if (assay_json_is(j, "loops"))
			m->of.loops = count(j, 1);
		else if (assay_json_is(j, "inner_loops"))
			m->of.inner_loops = count(j, 1);
		else if (im && assay_json_is(j, "hostname")) {
			set(host, sizeof(host), j);
			assay_importing_machine(im, host);
		} else if (im && is_fact(assay_json_name(j)))
			assay_importing_fact_here(im, assay_json_name(j));
		else
			assay_json_skip(j);
	}
}

/* ---- first pass: what is said of the whole ---- */

/* Dates of all runs are of one form, so the earliest is the least text. */
static void note_date(struct assay_importing *im, const struct metadata *m, char first[40])
{
	if (m->date[0] && (!first[0] || strcmp(m->date, first) < 0)) {
		snprintf(first, 40, "%s", m->date);
		assay_importing_started(im, first);
	}
	if (m->commit[0] && !im->run.build.commit[0])
		assay_importing_commit(im, m->commit);
}

static void look_at_benchmark(struct assay_importing *im, char first[40])
{
	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		struct metadata m = { 0 };

		if (assay_json_is(im->j, "metadata") || assay_json_is(im->j, "common_metadata")) {
			read_metadata(im->j, im, &m);
			note_date(im, &m, first);
		} else if (assay_json_is(im->j, "runs")) {
			assay_json_enter(im->j, ASSAY_JSON_ARRAY);
			while (assay_json_next(im->j)) {
				assay_json_enter(im->j, ASSAY_JSON_OBJECT);
				while (assay_json_next(im->j)) {
					if (!assay_json_is(im->j, "metadata")) {
						assay_json_skip(im->j);
						continue;
					}
					read_metadata(im->j, im, &m);
					note_date(im, &m, first);
				}
			}
		} else {
			assay_json_skip(im->j);
		}
	}
}

/* "1.0", 6 or 5. Others may mean something else by the same names. */
static void check_version(struct assay_json *j)
{
	char version[16] = "?";

	if (assay_json_peek(j) == ASSAY_JSON_NUMBER)
		snprintf(version, sizeof(version), "%g", assay_json_take_number(j));
	else
		set(version, sizeof(version), j);
	if (strcmp(version, "1.0") && strcmp(version, "6") && strcmp(version, "5"))
		assay_json_fail(j, "pyperf's format '%s' is not known, expected 1.0, 6 or 5", version);
}

static void head(struct assay_importing *im)
{
	char first[40] = "";
	bool found = false;

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		struct metadata m = { 0 };

		if (assay_json_is(im->j, "version")) {
			check_version(im->j);
		} else if (assay_json_is(im->j, "metadata")) {
			read_metadata(im->j, im, &m);
			note_date(im, &m, first);
			im->defaults = m.of;
		} else if (assay_json_is(im->j, "benchmarks")) {
			found = true;
			assay_json_enter(im->j, ASSAY_JSON_ARRAY);
			while (assay_json_next(im->j))
				look_at_benchmark(im, first);
		} else {
			assay_json_skip(im->j);
		}
	}
	if (!found)
		assay_json_fail(im->j, "no 'benchmarks': this is not what pyperf writes");
}

/* ---- second pass: values ---- */

/* A value of a run, with what its run says of loops; 0 where that says nothing. */
struct value {
	double s, loops, inner_loops;
	bool first; /* of its run */
};

struct values {
	struct value *v;
	size_t n;
};

static void no_memory(struct assay_importing *im)
{
	if (!im->j->rc)
		im->j->rc = assay_err_set(im->err, ASSAY_ENOMEM, "out of memory");
}

static void read_run(struct assay_importing *im, struct values *all, struct metadata *m)
{
	struct metadata own = { 0 };
	const size_t from = all->n;

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		if (assay_json_is(im->j, "metadata")) {
			read_metadata(im->j, NULL, &own);
		} else if (assay_json_is(im->j, "values") || assay_json_is(im->j, "samples")) {
			assay_json_enter(im->j, ASSAY_JSON_ARRAY);
			while (assay_json_next(im->j)) {
				const double s = assay_json_take_number(im->j);

				if (assay_grow(&all->v, all->n, sizeof(*all->v)))
					no_memory(im);
				else
					all->v[all->n++] = (struct value){ .s = s };
			}
		} else {
			assay_json_skip(im->j);
		}
	}
	for (size_t i = from; i < all->n; i++) {
		all->v[i].loops = own.of.loops;
		all->v[i].inner_loops = own.of.inner_loops;
		all->v[i].first = i == from;
	}
	/* where a benchmark has no metadata of its own, its runs name it */
	if (!m->of.name[0])
		m->of = own.of;
}

static double first_of(double a, double b, double c)
{
	return a > 0 ? a : b > 0 ? b : c > 0 ? c : 1;
}

static void add_samples(struct assay_importing *im, struct assay_result *r, const struct values *all,
			const struct assay_importing_defaults *of)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct value *v = &all->v[i];
		const double n = first_of(v->loops, of->loops, im->defaults.loops) *
				 first_of(v->inner_loops, of->inner_loops, im->defaults.inner_loops);

		assay_importing_sample(im, r, n, v->s * n * 1e9, v->first && i ? ASSAY_SAMPLE_NEW_ROUND : 0);
	}
}

static void read_benchmark(struct assay_importing *im)
{
	struct assay_result r = { .c.variant = "pyperf" };
	const char *name, *unit;
	struct metadata m = { 0 }, of_runs = { 0 };
	struct values all = { 0 };

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		if (assay_json_is(im->j, "metadata") || assay_json_is(im->j, "common_metadata")) {
			read_metadata(im->j, NULL, &m);
		} else if (assay_json_is(im->j, "runs")) {
			assay_json_enter(im->j, ASSAY_JSON_ARRAY);
			while (assay_json_next(im->j))
				read_run(im, &all, &of_runs);
		} else {
			assay_json_skip(im->j);
		}
	}
	name = m.of.name[0] ? m.of.name : of_runs.of.name[0] ? of_runs.of.name : im->defaults.name;
	unit = m.of.unit[0] ? m.of.unit : of_runs.of.unit[0] ? of_runs.of.unit : im->defaults.unit;
	if (!name[0])
		assay_json_fail(im->j, "a benchmark without a name in its metadata");
	assay_importing_word(name, r.c.op);
	if (unit[0] && strcmp(unit, "second"))
		assay_importing_no_time(&r, ASSAY_STATUS_SKIPPED, "its values are in the unit '%s', they are no times",
					unit);
	else
		add_samples(im, &r, &all, &m.of);
	free(all.v);
	assay_importing_put(im, &r, name);
}

static void benchmarks(struct assay_importing *im)
{
	assay_importing_each(im, "benchmarks", read_benchmark);
}

const struct assay_import_format assay_import_pyperf = { "pyperf", head, benchmarks };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database of any size: make_database FILE [RUNS [CASES [SEED]]]. It is written by the store's own functions, so that
 * lists, indexes and seals are what a real one has. Says how many results a second were stored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "made_results.h"

#include "store/store.h"

#define RUNS_AT_ONCE 100 /* in one transaction */

/* Spent in the store, of all: the time that passed, and of processors. */
static double store_s, store_cpu_s;

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Count from here on. */
static void start_watch(void)
{
	store_s -= clock_s(CLOCK_MONOTONIC);
	store_cpu_s -= clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static void stop_watch(void)
{
	store_s += clock_s(CLOCK_MONOTONIC);
	store_cpu_s += clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

/* Run number @at; its results are made first, so that the time is the store's. */
static int add_run(struct assay_store *s, uint64_t seed, unsigned at, struct assay_result *v, unsigned n,
		   struct assay_err *err)
{
	struct assay_run run;
	unsigned made = 0;
	int rc = 0;

	made_run(&run, seed, at);
	for (; made < n && !rc; made++)
		rc = made_result(&v[made], &run, seed, at, made, err);
	start_watch();
	if (!rc)
		rc = assay_store_run_begin(s, &run, err);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = assay_store_result_add(s, run.id, &v[i], err);
	if (!rc)
		rc = assay_store_run_end(s, run.id, run.started_ns + 60000000000u, err);
	stop_watch();
	for (unsigned i = 0; i < made; i++)
		assay_result_release(&v[i]);
	return rc;
}

/* Runs from @from on, up to @to, in one transaction. */
static int add_runs(struct assay_store *s, uint64_t seed, unsigned from, unsigned to, unsigned n_cases,
		    struct assay_err *err)
{
	static struct assay_result results[MADE_CASES_MOST];
	int rc = assay_store_bulk_begin(s, err);

	if (rc)
		return rc;
	for (unsigned at = from; at < to && !rc; at++)
		rc = add_run(s, seed, at, results, n_cases, err);
	start_watch();
	rc = assay_store_bulk_end(s, rc, err);
	stop_watch();
	return rc;
}

/* Run 1 and the last as named baselines. */
static int add_baselines(struct assay_store *s, uint64_t seed, unsigned runs, struct assay_err *err)
{
	struct assay_run last;
	int rc = assay_store_baseline_save(s, "first", 1, 1800000000000000000u, err);

	made_run(&last, seed, runs - 1);
	return rc ? rc : assay_store_baseline_save(s, "release", runs, last.started_ns, err);
}

int main(int argc, char **argv)
{
	uint64_t runs = 10000, cases = 100, seed = 42;
	struct assay_err err = { 0 };
	struct assay_store *s = NULL;
	int rc = argc >= 2 && argc <= 5 && argv[1][0] != '-'
			 ? 0
			 : assay_err_set(&err, ASSAY_EUSAGE, "usage: make_database FILE [RUNS [CASES [SEED]]]");

	if (!rc && argc > 2)
		rc = assay_parse_u64(argv[2], "RUNS", 1, 1000000, &runs, &err);
	if (!rc && argc > 3)
		rc = assay_parse_u64(argv[3], "CASES", 1, MADE_CASES_MOST, &cases, &err);
	if (!rc && argc > 4)
		rc = assay_parse_u64(argv[4], "SEED", 0, UINT64_MAX, &seed, &err);
	if (!rc)
		rc = assay_store_open(&s, argv[1], ASSAY_STORE_WRITE, &err);
	for (unsigned at = 0; at < runs && !rc; at += RUNS_AT_ONCE)
		rc = add_runs(s, seed, at, at + RUNS_AT_ONCE < runs ? at + RUNS_AT_ONCE : (unsigned)runs,
			      (unsigned)cases, &err);
	if (!rc)
		rc = add_baselines(s, seed, (unsigned)runs, &err);
	assay_store_close(s);
	if (rc) {
		fprintf(stderr, "make_database: %s\n", err.text);
		return 1;
	}
	printf("%llu results in %.3f s: %.0f a second, %.0f a second of processors\n",
	       (unsigned long long)(runs * cases), store_s, (double)(runs * cases) / store_s,
	       (double)(runs * cases) / store_cpu_s);
	return 0;
}

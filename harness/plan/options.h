/* SPDX-License-Identifier: Apache-2.0 */
/* The request for a plan, and the syntax that options and bench files share. */
#ifndef ASSAY_PLAN_OPTIONS_H
#define ASSAY_PLAN_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* Of one case in a run. */
#define ASSAY_MAX_ROUNDS 20
/* The smallest number that tells how processes differ. */
#define ASSAY_DEFAULT_ROUNDS 3

/* Special values in a list of numbers of threads: all that the machine has, and 1, 2, 4, … up to all. */
#define ASSAY_THREADS_ALL      0u
#define ASSAY_THREADS_DOUBLING UINT_MAX
#define ASSAY_MAX_THREADS      4096
#define ASSAY_THREADS_EXPECTED "numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all)"

struct assay_case;
struct assay_catalog_op;

/* All-zero takes what the files say. An option here has already won over the environment. */
struct assay_plan_options {
	const char *
		bench_dir; /* the folder of the .bench files, with suites/ in it; NULL in requests: the installed one */
	const char *suite; /* name of a suite file; NULL in requests: the default one */
	struct assay_strings models; /* files of models; empty: those of ASSAY_MODEL */
	const char *prompt;          /* text that these models read; NULL: random tokens */
	struct assay_strings only;   /* globs over keys, of which any selects; empty: all */
	unsigned shard, n_shards; /* of the cases that many equal parts, and which of them, from 1 on; 0: all cases */
	unsigned *threads;        /* replaces the threads axis of every bench */
	size_t n_threads;
	struct assay_strings devices; /* "cuda:1", of variants that run on cuda; others run on number 0 */
	unsigned all_threads;         /* what `all` means here; required */
	uint64_t budget_ns;           /* replaces every budget; 0: as in the files */
	unsigned rounds;              /* 0: as the suite says */
	uint64_t memory_bytes;        /* memory limit per worker; 0: as in the files */
	int64_t batch_size;           /* value for every axis named "batch"; 0: as in the files (ASSAY_BATCH_SIZE) */
	/*
	 * Ask the program of @op, which measures several benchmarks, what they are in its case @c: *out is malloc'ed,
	 * and of its cases `benchmark` and the axes count, which come before those of @c. None: it does not tell.
	 */
	int (*benchmarks)(void *arg, const struct assay_catalog_op *op, const struct assay_case *c,
			  struct assay_case **out, size_t *n, struct assay_err *err);
	void *benchmarks_arg;
	const struct assay_strings *counter_groups; /* the groups of counters that there are; NULL: any may be named */
};

/* A number of threads as benches, options and the environment write it: false where @word is none. */
bool assay_plan_threads_parse(const char *word, unsigned *out);

/* Names of the suites in @bench_dir, sorted. */
int assay_plan_suites(const char *bench_dir, struct assay_strings *out, struct assay_err *err);
/* ASSAY_ENOTFOUND, with the nearest of them, unless @name is one. */
int assay_plan_suite_check(const char *bench_dir, const char *name, struct assay_err *err);

#endif

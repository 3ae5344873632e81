/* SPDX-License-Identifier: Apache-2.0 */
/* Bench and suite files as they are written: names and texts with their lines; nothing is looked up or expanded. */
#ifndef ASSAY_PLAN_BENCHFILE_H
#define ASSAY_PLAN_BENCHFILE_H

#include "base/conf.h"
#include "base/err.h"

/* The settings of a bench, which a suite may override. */
enum assay_bench_field {
	ASSAY_BENCH_OP, /* benches only */
	ASSAY_BENCH_SHAPES,
	ASSAY_BENCH_SWEEP,
	ASSAY_BENCH_VARIANTS,
	ASSAY_BENCH_THREADS,
	ASSAY_BENCH_CACHE,
	ASSAY_BENCH_BUDGET,
	ASSAY_BENCH_TIMEOUT,
	ASSAY_BENCH_MEMORY,
	ASSAY_BENCH_OWN_THREADS,
	ASSAY_BENCH_COUNTERS,
	ASSAY_BENCH_EXACT_SHAPES, /* the shapes at which a case is counted if it would take too many steps */
	ASSAY_BENCH_N_FIELDS,
};

/*
 * Points into the files it was read from. A field that is not set is NULL. A bench has an op, or a command and metrics:
 *     command = "./lz4 -b{level} corpus.tar"
 *     metric "compress" { pattern = "([0-9.]+) MB/s" unit = "MB/s" better = "higher" }
 */
struct assay_bench {
	const char *name;
	const char *path;
	unsigned line;
	const struct assay_conf_entry *command, *reads;
	const struct assay_conf_section *section; /* with its metrics */
	const struct assay_conf_entry *field[ASSAY_BENCH_N_FIELDS];
};

/* All benches of a folder: files in order of their names, benches in order of the file. */
struct assay_benches {
	struct assay_conf *files;
	size_t n_files;
	struct assay_bench *v;
	size_t n;
};

struct assay_suite_use {
	const char *glob; /* over names of benches */
	unsigned line;
	const struct assay_conf_entry *only, *skip; /* globs over keys; NULL: not set */
	const struct assay_conf_entry *field[ASSAY_BENCH_N_FIELDS];
};

/*
 * exact "MODEL" { cases = {"GLOB", …} small = {"GLOB", …} steps = N budget = "20s" }: which cases of the suite are
 * counted, with the caches of this model ("canon", "host"), which of them at the exact_shapes of their bench alone, how
 * many steps a call may take where it is stepped, and the wall time for all.
 */
struct assay_suite_exact {
	const char *model; /* NULL: the suite has no such section */
	unsigned line;
	const struct assay_conf_entry *cases, *small; /* small: NULL where not set */
	uint64_t max_steps, budget_ns;                /* 0: not set */
};

struct assay_suite {
	struct assay_conf file;
	const char *name;
	const char *summary; /* "" where the file has none */
	/* In how many processes each case is measured, ASSAY_DEFAULT_ROUNDS where the file does not say. */
	unsigned rounds;
	struct assay_suite_use *uses;
	size_t n_uses;
	struct assay_suite_exact exact;
};

/*
 * ASSAY_EUSAGE with "file:line: …": syntax, a bench without an op or a command, two benches of one name, a folder
 * without any.
 */
int assay_benches_load(struct assay_benches *b, const char *dir, struct assay_err *err);
void assay_benches_release(struct assay_benches *b);

/*
 * Read @dir/suites/@name.suite. ASSAY_EUSAGE for an unknown name (with those that exist) and for any error in the file.
 */
int assay_suite_load(struct assay_suite *s, const char *dir, const char *name, struct assay_err *err);
void assay_suite_release(struct assay_suite *s);

#endif

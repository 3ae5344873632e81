/* SPDX-License-Identifier: Apache-2.0 */
/* From bench and suite files to cases. Must not run plugin code: it works on the catalog. */
#ifndef ASSAY_PLAN_PLAN_H
#define ASSAY_PLAN_PLAN_H

#include "model/case.h"
#include "model/catalog.h"
#include "plan/options.h"

/* A smaller shape of a case, for counts that would take too many steps. */
struct assay_plan_smaller {
	struct assay_case c;
	size_t of; /* index of the case */
};

struct assay_plan {
	char suite[ASSAY_NAME_MAX];
	struct assay_case *cases; /* in the order of the suite; keys are unique */
	size_t n_cases;
	unsigned rounds; /* how often a run measures each of them */
	/* The cache model that exact counts are taken with; "" where the suite names no case for them. */
	char exact_model[ASSAY_NAME_MAX];
	bool *exact;                        /* one a case: is it among those? */
	bool *exact_small;                  /* one a case: is it counted at its smaller shapes alone? */
	uint64_t exact_steps;               /* of a call that is stepped; 0: the suite does not say */
	uint64_t exact_budget_ns;           /* for all counts; 0: likewise */
	struct assay_plan_smaller *smaller; /* by index of their case, in the order of the bench */
	size_t n_smaller;
};

/*
 * An unknown suite, and a glob of @only that selects nothing, are ASSAY_ENOTFOUND with the nearest known name. Every
 * other problem is ASSAY_EUSAGE with "file:line: …, expected …" or the nearest known name: syntax, unknown op, variant,
 * axis, symbol, value out of range, glob of a suite that selects nothing. Variants that cannot run here are
 * planned with their skip_reason, never left out; those built for another architecture only by a glob of @only that
 * selects no others. On error @plan is unchanged.
 */
int assay_plan_load(struct assay_plan *plan, const struct assay_plan_options *o, const struct assay_catalog *cat,
		    struct assay_err *err);
void assay_plan_release(struct assay_plan *plan);

/* ---- models ---- */

/* Files of models as values of an axis (ASSAY_OP_MODEL_AXIS): which ones there are, and what keys call them. */

/* Add the files to @files that benches and suites of @bench_dir name, as in "model=FILE.gguf". */
int assay_plan_model_files(const char *bench_dir, struct assay_strings *files, struct assay_err *err);

/*
 * Give the axes of @cat their values: none, and each of @files. Benches that name none take the first @n_named of them.
 * ASSAY_EUSAGE: the name of a file cannot stand in a key, or two have the same.
 */
int assay_plan_models(struct assay_catalog *cat, const struct assay_strings *files, size_t n_named,
		      struct assay_err *err);

/* ---- program ---- */

/* Benches that run a command, as ops of the catalog: from then on they are planned, judged and shown like others. */

/*
 * Add an op and a variant to @cat for each bench of @bench_dir that has a command, unless they are there. The axes of
 * the op are those that the bench names in `shapes` and `sweep`; their values are those that it or a suite gives them.
 * ASSAY_EUSAGE with "file:line: …": a bad command, a bad metric, an axis that the command does not have.
 */
int assay_plan_programs(const char *bench_dir, struct assay_catalog *cat, struct assay_err *err);

#endif

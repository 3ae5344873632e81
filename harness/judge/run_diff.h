/* SPDX-License-Identifier: Apache-2.0 */
/* Stored results of two sides against each other: two sets of runs, or the variants within one run. Pure. */
#ifndef ASSAY_JUDGE_RUN_DIFF_H
#define ASSAY_JUDGE_RUN_DIFF_H

#include "model/diff.h"
#include "model/result.h"

/* ---- diff numbers ---- */

/* Metrics and counts of one case on both sides of a difference, as the medians over the runs of each. Pure. */

/* The runs of a side, at least one, all of one machine and suite. */
struct assay_diff_runs {
	const struct assay_run *const *v;
	size_t n;
	const char *name; /* as people call it */
};

/* The results of one case on one side: the result of each run, NULL where it has none. */
struct assay_diff_case_side {
	const struct assay_diff_runs *runs;
	const struct assay_result **r; /* as many as runs */
	const char *key;
};

/* Is it right, and does it have a time? @r may be NULL. */
bool assay_diff_has_time(const struct assay_result *r);
/* Any result of the case, one with a time before others; NULL: there is none. */
const struct assay_result *assay_diff_best_of(const struct assay_diff_case_side *s);

/* All numbers that either side has into @c; @values has room for one a run of the larger side. ASSAY_ENOMEM. */
int assay_diff_numbers(const struct assay_diff_case_side side[2], double *values, struct assay_diff_case *c,
		       struct assay_err *err);

/*
 * Every case of either side, those of the head first. Times of another machine, or with inputs of another seed, are
 * INCOMPARABLE. @metric leaves the other numbers out, NULL: all. ASSAY_ENOMEM. Release @out in either case.
 */
int assay_diff_runs_compare(const struct assay_diff_runs *base, const struct assay_diff_runs *head, const char *metric,
			    struct assay_diff *out, struct assay_err *err);

/* Every variant of each shape in @run against 'ref' where it was measured, else against the slowest. */
int assay_diff_variants_compare(const struct assay_run *run, const char *metric, struct assay_diff *out,
				struct assay_err *err);

#endif

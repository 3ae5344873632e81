/* SPDX-License-Identifier: Apache-2.0 */
/* Stored results of two sides against each other: two sets of runs, or the variants within one run. Pure. */
#ifndef ASSAY_JUDGE_RUN_DIFF_H
#define ASSAY_JUDGE_RUN_DIFF_H

#include "judge/diff_numbers.h"

/*
 * Every case of either side, those of the head first. Times of another machine, or with inputs of another seed, are
 * INCOMPARABLE. @metric leaves the other numbers out, NULL: all. ASSAY_ENOMEM. Release @out in either case.
 */
int assay_diff_runs_compare(const struct assay_diff_runs *base, const struct assay_diff_runs *head, const char *metric,
			    struct assay_diff *out, struct assay_err *err);

/*
 * Every variant of each shape in @run against one of them. @base names that; shapes without it are NOT_MEASURED. NULL:
 * the variant 'ref' where it was measured, else the slowest.
 */
int assay_diff_variants_compare(const struct assay_run *run, const char *base, const char *metric,
				struct assay_diff *out, struct assay_err *err);

#endif

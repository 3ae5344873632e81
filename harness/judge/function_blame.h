/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "because FUNCTION takes …": the function that a change of time lies in, by profiles of both sides. Pure.
 *
 * The time of an iteration is what the comparison measured; profiles say how it divides. A function's part of the
 * change is its share of the head's time less its share of the base's, so that the parts of all functions sum to the
 * change. Three conditions keep from blaming what did not change:
 *
 * - While they were profiled, the sides differed as when they were measured: the intervals of both ratios overlap, or a
 *   tenth of the change lies between them at most.
 * - The interval of the function's part leaves out zero. Its level is 1 - 0.01 / n for n functions that take 1 % or
 *   more of either side (Bonferroni), so that of a hundred comparisons one blames code that did not change.
 * - No other function surely went the other way by a fifth of the change: then code moved between functions, as where
 *   one is inlined on one side alone, and both are told.
 */
#ifndef ASSAY_JUDGE_FUNCTION_BLAME_H
#define ASSAY_JUDGE_FUNCTION_BLAME_H

#include "model/gate_report.h"
#include "model/profile_diff.h"
#include "stats/interval.h"

#define ASSAY_BLAME_PAIRS_MAX 64

struct assay_blame_input {
	struct assay_profile *side[2]; /* all processes of each together; their iteration_ns is set */
	double base_ns;                /* of an iteration */
	double ratio;                  /* head over base, as it was judged */
	struct assay_interval ci;
	double profiled_ratio[ASSAY_BLAME_PAIRS_MAX]; /* of each process pair, while it was profiled */
	size_t n;
	double seconds; /* that both sides were profiled */
};

/* ASSAY_ENOMEM. Otherwise @out says which function it is, or why that is not known and what would tell. */
int assay_function_blame(const struct assay_blame_input *in, struct assay_gate_because *out, struct assay_err *err);

#endif

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
 * - The interval of the function's part leaves out zero. It is the wider of two: that of
 *   shares of all samples (model/profile_diff.h), and Student's t at 99 % over the process pairs, so that it holds what
 *   processes and their layout differ by. The level of the former is 1 - 0.01 / n for n functions that take 1 % or
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

/* A process pair. */
struct assay_blame_pair {
	struct assay_profile side[2]; /* their iteration_ns is what they took while they were profiled */
};

struct assay_blame_input {
	struct assay_blame_pair *pairs; /* their iteration_ns is set */
	size_t n;                       /* ASSAY_BLAME_PAIRS_MAX at most */
	double ratio;                   /* head over base, as it was judged */
	struct assay_interval ci;
	double seconds; /* that all were profiled */
};

/* ASSAY_ENOMEM. Otherwise @out says which function it is, or why that is not known and what would tell. */
int assay_function_blame(const struct assay_blame_input *in, struct assay_gate_because *out, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What one process pair says about the time of the head relative to the base, from the samples of its blocks. */
#ifndef ASSAY_JUDGE_PAIR_ESTIMATE_H
#define ASSAY_JUDGE_PAIR_ESTIMATE_H

#include "model/comparison.h"

/*
 * Version of the rule by which comparisons are stopped and judged; it is stored with each. Raise it whenever the same
 * samples, counts and policy could get another verdict than before, or a comparison could stop at another pair: in
 * this module, paired.c, stopping.c, limits.c, exact_judge.c, comparison_rule.c or comparison_judge.c, or in what they
 * take from stats/. Words may change freely.
 */
#define ASSAY_JUDGE_RULE 9

/* The number of doubles in @tmp that the functions below need for each block of the pair. */
#define ASSAY_PAIR_TMP 8

struct assay_pair_estimate {
	double log_ratio; /* only when usable */
	size_t n_blocks, n_dropped;
	double dropped_weight;           /* as many blocks as those stand for: of parts of calls, by their time */
	size_t by_kind[ASSAY_N_DISTURB]; /* dropped blocks by enum assay_disturb, bit 0 first */
	bool usable;                     /* at most half of the weight is dropped, and a block is left */
};

/*
 * The median of the ratios of all clean blocks. A block gives four, of either time of the head to either of the base.
 * Linear drift moves two of them up and two down. So does a sample that something short hit, such as a timer tick: up
 * where it is the head's, down where it is the base's; the median stays among the others. A block is left out as a
 * whole, for both sides alike, when its four samples together were disturbed (assay_samples_disturbed), or a time is 0.
 * How long it took plays no part beyond the rates there.
 *
 * Of samples that ran beside each other in slices, each is compared with its counterpart alone, and the estimate is the
 * interquartile mean of these ratios, which bears a quarter of outliers on either side. Each side has one of two copies
 * of the memory in turn, so the ratios may lie around two values, and their median would be near either.
 *
 * Of samples that are parts of calls, each is compared with the same part of the other side's, and the estimate is the
 * mean of these ratios, weighted by time: parts may differ in what they do, and what changed may be few of them. What
 * lies beyond five deviations, and beyond twice or half the time, is drawn in (winsorized, Tukey 1962). What is left
 * out counts by its time as well: few parts may be most of a call.
 */
struct assay_pair_estimate assay_pair_estimate(const struct assay_pair *p, double *tmp);

/* Log ratios of the head's time to the base's between which the truth lies. Infinite: nothing is known there. */
struct assay_pair_range {
	double least, most;
	double likely; /* by what clocks told; NaN: there are no blocks */
};

/*
 * The range of the ratio of a pair by all its blocks, disturbed ones included. A head that is many times slower has
 * long blocks, which seldom stay clean; without the range, disturbances would save it, or hide one that is faster.
 *
 * Of either side's two times in a block, others took at least what clocks told and at most what
 * assay_samples_lost_ns() reckons. Once interrupted, a call also has to fill its caches again, which nothing tells:
 * where a side was disturbed, half of what remains may be that. What a migration or throttling took is not known at
 * all. The range is the median of these bounds over all blocks; of parts of calls, which differ in length, the ratio of
 * their sums.
 */
struct assay_pair_range assay_pair_range(const struct assay_pair *p, double *tmp);

/*
 * Standard error of the estimate; of the median with blocks as clusters (Woodruff 1952). 0: the blocks
 * do not tell.
 */
double assay_pair_own_error(const struct assay_pair *p, double *tmp);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a result, recomputed from its raw samples. Pure. */
#ifndef ASSAY_MODEL_SUMMARY_H
#define ASSAY_MODEL_SUMMARY_H

#include "model/result.h"
#include "stats/distributions.h"

/* Half-width of the interval, as a share of the median, that sampling is to reach. */
#define ASSAY_GOAL_HALF_WIDTH_FRAC 0.005

/*
 * Fill rounds, iterations, median, interval, minimum, MAD and the shares of disturbed and dropped from the samples. In
 * each round those count that result.h keeps. The median is that of the rounds' medians. Its interval comes from
 * the samples of a single round, and from the medians of several: rounds differ by more than their samples tell.
 * ASSAY_ENOMEM.
 */
int assay_summary_fill(struct assay_result *r, struct assay_err *err);

/*
 * By how much a time is longer than another, with the interval that both intervals give (Zou and Donner 2008). False,
 * with NaN, where one of them has none, or most of its samples are of a disturbed machine: then nobody knows how far
 * the ratio may be off.
 */
struct assay_time_ratio {
	double times;
	struct assay_interval ci;
};
bool assay_summary_ratio(const struct assay_result *of, const struct assay_result *over, struct assay_time_ratio *out);

/* A result that did not end well keeps no numbers: a time of a wrong kernel is no time. */
void assay_result_drop_numbers(struct assay_result *r);

/*
 * Have the processes of @r given an interval that says anything? One process gives none, and two that differ can give
 * one that is hundreds of times as wide as the time itself.
 */
bool assay_summary_has_interval(const struct assay_result *r);

/* The 95 % interval of the median over processes, as it may be shown; both ends are NaN where there is none. */
struct assay_interval assay_summary_interval_ns(const struct assay_result *r);

/* Half-width of the interval over the median, also of that of one process alone; 1 without samples. */
double assay_summary_half_width_frac(const struct assay_result *r);

#endif

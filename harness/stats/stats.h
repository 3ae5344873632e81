/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pure functions over numbers: no clock, no randomness except from a seed that is passed in, and no avoidable
 * allocation.
 */
#ifndef ASSAY_STATS_STATS_H
#define ASSAY_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/distributions.h"

/* Ascending, in place. */
void assay_stats_sort(double *x, size_t n);

/* Of ascending @x. Quantile by linear interpolation (Hyndman & Fan 1996, type 7; R's default). n >= 1. */
double assay_stats_quantile(const double *sorted, size_t n, double p);
double assay_stats_median(const double *sorted, size_t n);
/*
 * Median of the means of @group values that follow each other (the rest is left out; fewer than one group: the mean).
 * As robust as a median, but exact where single values go in steps. @x is overwritten.
 */
double assay_stats_median_of_means(double *x, size_t n, size_t group);
/* Median absolute deviation from the median, not scaled. @tmp holds n doubles. */
double assay_stats_mad(const double *sorted, size_t n, double *tmp);
double assay_stats_mean(const double *x, size_t n);
/* Sample standard deviation (n - 1); 0 for n < 2. */
double assay_stats_sd(const double *x, size_t n);

/*
 * Distribution-free interval of the median from order statistics (binomial; Conover 1999, 3.2). The coverage is at
 * least @level where n allows it (n >= 6 for 95 %), else the whole range is returned and *reached is false (may be
 * NULL).
 */
struct assay_interval assay_stats_median_ci(const double *sorted, size_t n, double level, bool *reached);

/*
 * Interval of the typical median, from the medians of @n >= 2 groups that differ by more than their own samples
 * explain: Student's t on their logarithms. All must be positive. For one group the interval is its median.
 */
struct assay_interval assay_stats_groups_ci(const double *medians, size_t n, double level);

/*
 * Has a warm-up series settled? @x in order of time. True when its last @window values show no trend (Mann 1945,
 * Kendall) at two-sided 5 % and their median lies within @tolerance_frac of the median of the @window values before
 * them. False while n < 2 * window.
 */
bool assay_stats_steady(const double *x, size_t n, size_t window, double tolerance_frac);

/* Mann-Kendall trend statistic, as a standard normal score with tie correction; 0 for n < 3. */
double assay_stats_trend_z(const double *x, size_t n);

#endif

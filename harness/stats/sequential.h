/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test that may look several times. After certain numbers of process pairs it takes an interval for their mean. The
 * permitted error is divided evenly over all looks that can come, so that stopping at any of them keeps the whole test
 * within the promised rate (Bonferroni over looks, a special case of alpha spending, Lan & DeMets 1983).
 *
 * Pairs often fall into two groups (a layout is lucky or not), and a few pairs that agree only because all fell into
 * the same group deceive a t interval. So there is no look before such agreement is itself rarer than half of the error
 * allowed: 2^-n <= alpha / 2.
 */
#ifndef ASSAY_STATS_SEQUENTIAL_H
#define ASSAY_STATS_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/distributions.h"

/*
 * The first look of a bound that errs with @alpha: that many pairs, or the next number on the grid, up to @max_pairs.
 */
size_t assay_sequential_first_look(double alpha, size_t max_pairs);
/*
 * Is there a look after @n pairs? From the first one on there are looks at 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, …, with
 * steps that double with each octave, and one after the last pair. The last pair is @max_pairs, or an earlier one if
 * @last says that the others were taken but are unusable.
 */
bool assay_sequential_is_look(size_t n, bool last, double alpha, size_t max_pairs);
/*
 * The number of looks up to and including @max_pairs. A look that falls away because pairs were unusable pays for the
 * one at the end.
 */
unsigned assay_sequential_looks(double alpha, size_t max_pairs);

/*
 * One-sided bounds for the mean of @x, each of which errs with at most the named probability over all looks together.
 */
struct assay_sequential_rule {
	double alpha_lower; /* of the lower bound lying above the truth */
	double alpha_upper; /* of the upper bound lying below the truth */
	size_t max_pairs;
	double sd_floor; /* least standard deviation believed: a handful of pairs can agree by chance */
};

/* The distance between the mean of @n >= 2 values with standard deviation @sd and its bound that errs with @alpha. */
double assay_sequential_half_width(double sd, size_t n, double alpha, const struct assay_sequential_rule *rule);
/* Student's t interval after @n >= 2 pairs; for a decision only where the bound that decides has a look. */
struct assay_interval assay_sequential_interval(const double *x, size_t n, const struct assay_sequential_rule *rule);

/*
 * The smallest mean that the lower bound would have put above @margin with probability @power at this look, given the
 * spread that was seen in @n >= 2 pairs; at the first look, when it has not come yet.
 */
double assay_sequential_detectable(const double *x, size_t n, const struct assay_sequential_rule *rule, double margin,
				   double power);

#endif

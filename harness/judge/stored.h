/* SPDX-License-Identifier: Apache-2.0 */
/* Today's time of a case against stored runs of it: an interval of the ratio and what follows from it. Pure functions.
 */
#ifndef ASSAY_JUDGE_STORED_H
#define ASSAY_JUDGE_STORED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/verdict.h"

/* Median time of one run of a case with its 95 % interval, any unit, and the number of samples behind it. */
struct assay_stored_point {
	double median, lo, hi;
	size_t n;
};

struct assay_stored_compare {
	double ratio;           /* head / base; above 1 is slower */
	double lo, hi;          /* its interval */
	double detectable_frac; /* the smallest slowdown that would have been called REGRESSED */
	double between_sd;      /* of the logarithms of the base medians, unbiased; 0 with one base run */
};

/*
 * Compare @head with @n_base >= 1 points. @error is the chance, on either side, that the interval misses. False when a
 * point has fewer than two samples or no positive times: then there is no interval. Method: harness/judge/README.md.
 */
bool assay_stored_compare(const struct assay_stored_point *head, const struct assay_stored_point *base, size_t n_base,
			  double error, double margin_frac, struct assay_stored_compare *out);

/* REGRESSED, IMPROVED, PASS or INCONCLUSIVE, from an interval of the ratio and the margin alone. */
enum assay_verdict assay_stored_verdict(double lo, double hi, double margin_frac);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds today's time of a case against stored runs of it: an interval of the ratio, and what follows from it. Pure
 * functions.
 */
#ifndef ASSAY_JUDGE_STORED_H
#define ASSAY_JUDGE_STORED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/result.h"
#include "model/verdict.h"

/* Median time of one run of a case with its 95 % interval, any unit, and the number of samples behind it. */
struct assay_stored_point {
	double median, lo, hi;
	size_t n;
	size_t processes; /* that took them; from two on, the interval is over processes */
};

struct assay_stored_compare {
	double ratio;           /* head / base; above 1 is slower */
	double lo, hi;          /* its interval */
	double detectable_frac; /* the smallest slowdown that would have been called REGRESSED */
	double between_sd;      /* of the logarithms of the medians within a side, unbiased; 0 with one run a side */
};

/* The runs of one side, at least one. */
struct assay_stored_points {
	const struct assay_stored_point *v;
	size_t n;
};

/*
 * Compare two sides. @error is the chance, on either side of the interval, that it misses. False, and no interval, if a
 * point has fewer than two samples or no positive time, or a side has no points. harness/judge/README.md has the method
 * for one head run. If there are several, the medians of both sides decide about the spread between runs, and the head
 * gets a factor like the base.
 */
bool assay_stored_compare(struct assay_stored_points head, struct assay_stored_points base, double error,
			  double margin_frac, struct assay_stored_compare *out);
/* The point of a right result with samples. */
struct assay_stored_point assay_stored_point_of(const struct assay_result *r);

/* REGRESSED, IMPROVED, PASS or INCONCLUSIVE, from an interval of the ratio and the margin alone. */
enum assay_verdict assay_stored_verdict(double lo, double hi, double margin_frac);

#endif

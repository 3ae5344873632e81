/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a series settled? All loops are quadratic in the window, which is short (tens of values): that needs neither a
 * copy nor a sort of the series.
 */
#include "stats/stats.h"

#include <math.h>

#define Z_TWO_SIDED_5_PERCENT 1.959963984540054

double assay_stats_trend_z(const double *x, size_t n)
{
	double s = 0, ties = 0, var, N = (double)n;

	if (n < 3)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double equal = 0;

		for (size_t j = 0; j < n; j++) {
			equal += x[j] == x[i];
			if (j > i)
				s += (x[j] > x[i]) - (x[j] < x[i]);
		}
		/* Summed over the members of a group of t equal values this gives the t (t - 1) (2t + 5) of the
		 * formula. */
		ties += (equal - 1) * (2 * equal + 5);
	}
	var = (N * (N - 1) * (2 * N + 5) - ties) / 18;
	if (s == 0 || var <= 0)
		return 0;
	/* Continuity correction: S moves in steps of two. */
	return (s > 0 ? s - 1 : s + 1) / sqrt(var);
}

/* The value with @rank others below it (0 … n-1), by counting. */
static double value_of_rank(const double *x, size_t n, size_t rank)
{
	for (size_t i = 0; i < n; i++) {
		size_t below = 0, equal = 0;

		for (size_t j = 0; j < n; j++) {
			below += x[j] < x[i];
			equal += x[j] == x[i];
		}
		if (below <= rank && rank < below + equal)
			return x[i];
	}
	return NAN; /* a NaN in the series */
}

static double median_unsorted(const double *x, size_t n)
{
	double upper = value_of_rank(x, n, n / 2);

	return n % 2 ? upper : value_of_rank(x, n, n / 2 - 1) / 2 + upper / 2;
}

bool assay_stats_steady(const double *x, size_t n, size_t window, double tolerance_frac)
{
	const double *last, *before;
	double was;

	if (!window || n / 2 < window)
		return false;
	last = x + (n - window);
	before = last - window;
	if (fabs(assay_stats_trend_z(last, window)) > Z_TWO_SIDED_5_PERCENT)
		return false;
	was = median_unsorted(before, window);
	return fabs(median_unsorted(last, window) - was) <= tolerance_frac * fabs(was);
}

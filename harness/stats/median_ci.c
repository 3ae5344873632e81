/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval of the median from order statistics. The number of samples below the true median is binomial(n, 1/2)
 * whatever the distribution, so x(k) … x(n+1-k) covers it with probability 1 - 2 P(B <= k-1); the largest k that
 * reaches the level is taken. Samples of one process at one moment are more alike than those of another moment; where
 * there are several such groups, the interval is built over groups.
 */
#include "stats/stats.h"

#include <math.h>

#include "stats/distributions.h"

#define EXACT_MAX 1000 /* 2^-1000 is still a normal double */

/* Largest k with P(B <= k-1) <= tail, summed from below. The terms are exact up to n = 56 and never far off. */
static size_t rank_by_sum(size_t n, double tail)
{
	double term = ldexp(1, -(int)n), sum = 0;
	size_t k = 0;

	while (k < n / 2 && sum + term <= tail) {
		sum += term;
		term = term * (double)(n - k) / (double)(k + 1);
		k++;
	}
	return k;
}

/* P(B <= j) for j below n/2: the largest term by log-gamma, the others by their ratios, until they no longer count. */
static double lower_tail(size_t n, size_t j)
{
	double N = (double)n, J = (double)j, term, sum = 0;
	int sign;

	term = exp(lgamma_r(N + 1, &sign) - lgamma_r(J + 1, &sign) - lgamma_r(N - J + 1, &sign) - N * M_LN2);
	for (; term > sum * 1e-17; J--) {
		sum += term;
		if (J < 1)
			break;
		term *= J / (N - J + 1);
	}
	return sum;
}

/* The normal approximation is at most a few ranks off; the exact tail then decides. */
static size_t rank_by_search(size_t n, double tail)
{
	double guess = floor(((double)n + 1) / 2 + assay_stats_normal_quantile(tail) * sqrt((double)n) / 2);
	size_t k = guess < 1 ? 1 : guess > (double)(n / 2) ? n / 2 : (size_t)guess;

	while (k > 0 && lower_tail(n, k - 1) > tail)
		k--;
	while (k < n / 2 && lower_tail(n, k) <= tail)
		k++;
	return k;
}

struct assay_interval assay_stats_median_ci(const double *sorted, size_t n, double level, bool *reached)
{
	double tail = (1 - level) / 2;
	size_t k = 0;

	if (n && tail > 0)
		k = n <= EXACT_MAX ? rank_by_sum(n, tail) : rank_by_search(n, tail);
	if (reached)
		*reached = k > 0;
	if (!n)
		return (struct assay_interval){ NAN, NAN };
	if (!k)
		k = 1;
	return (struct assay_interval){ sorted[k - 1], sorted[n - k] };
}

struct assay_interval assay_stats_groups_ci(const double *medians, size_t n, double level)
{
	double mean = 0, squares = 0, half;

	for (size_t i = 0; i < n; i++)
		mean += log(medians[i]) / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += pow(log(medians[i]) - mean, 2);
	if (n < 2)
		return (struct assay_interval){ exp(mean), exp(mean) };
	half = assay_stats_t_quantile((1 + level) / 2, (double)n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
	return (struct assay_interval){ exp(mean - half), exp(mean + half) };
}

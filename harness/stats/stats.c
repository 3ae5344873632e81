/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics, location and spread, the interval of the median, and the trend test. */
#include "stats/stats.h"

#include <math.h>

#include "stats/distributions.h"

#define EXACT_MAX             1000 /* 2^-1000 is still a normal double */
#define Z_TWO_SIDED_5_PERCENT 1.959963984540054

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

static void sift_down(double *x, size_t root, size_t n)
{
	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= n)
			return;
		if (child + 1 < n && x[child] < x[child + 1])
			child++;
		if (!(x[root] < x[child]))
			return;
		swap(&x[root], &x[child]);
		root = child;
	}
}

/* Heapsort: in place, no worst case, and unlike qsort() no hidden allocation. */
void assay_stats_sort(double *x, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(x, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(&x[0], &x[end]);
		sift_down(x, 0, end);
	}
}

double assay_stats_quantile(const double *sorted, size_t n, double p)
{
	double h, below;
	size_t i;

	if (!(p > 0))
		return sorted[0];
	if (p >= 1)
		return sorted[n - 1];
	h = (double)(n - 1) * p;
	below = floor(h);
	i = (size_t)below;
	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (h - below) * (sorted[i + 1] - sorted[i]);
}

double assay_stats_median(const double *sorted, size_t n)
{
	/* Halves first: the sum of two large values could overflow. */
	return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

double assay_stats_median_of_means(double *x, size_t n, size_t group)
{
	const size_t groups = n / group;

	if (!groups)
		return assay_stats_mean(x, n);
	for (size_t i = 0; i < groups; i++)
		x[i] = assay_stats_mean(x + i * group, group);
	assay_stats_sort(x, groups);
	return assay_stats_median(x, groups);
}

double assay_stats_mad(const double *sorted, size_t n, double *tmp)
{
	double m = assay_stats_median(sorted, n);

	for (size_t i = 0; i < n; i++)
		tmp[i] = fabs(sorted[i] - m);
	assay_stats_sort(tmp, n);
	return assay_stats_median(tmp, n);
}

double assay_stats_mean(const double *x, size_t n)
{
	double sum = 0, rest = 0, m;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	m = sum / (double)n;
	/* A second pass takes back what the first one lost to rounding. */
	for (size_t i = 0; i < n; i++)
		rest += x[i] - m;
	return m + rest / (double)n;
}

double assay_stats_sd(const double *x, size_t n)
{
	double m, sum = 0;

	if (n < 2)
		return 0;
	m = assay_stats_mean(x, n);
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - m) * (x[i] - m);
	return sqrt(sum / (double)(n - 1));
}

/* ---- the interval of the median ---- */

/*
 * The number of samples below the true median is binomial(n, 1/2) whatever the distribution, so x(k) … x(n+1-k) covers
 * it with probability 1 - 2 P(B <= k-1); the largest k that reaches the level is taken. Samples of one process at one
 * moment are more alike than those of another moment; where there are several such groups, the interval is built over
 * groups.
 */

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

/* ---- has a series settled? ---- */

/*
 * All loops are quadratic in the window, which is short (tens of values): that needs neither a copy nor a sort of the
 * series.
 */

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

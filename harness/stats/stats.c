/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics, location and spread, and the normal distribution. The interval of the median and the trend test
 * have files of their own. */
#include "stats/stats.h"

#include <math.h>

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

double assay_stats_normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

static double normal_density(double z)
{
	return exp(-0.5 * z * z) * (0.5 * M_SQRT1_2 * M_2_SQRTPI);
}

/*
 * A rational start that is good to 4.5e-4 (Abramowitz & Stegun 1964, 26.2.23), then Halley's method on the distribution
 * function, which cubes the error: two steps reach the precision of erfc(), the third is for the far tail.
 */
double assay_stats_normal_quantile(double p)
{
	bool upper = p > 0.5;
	double q = upper ? 1 - p : p;
	double t, z;

	if (isnan(p))
		return NAN;
	if (q <= 0)
		return upper ? INFINITY : -INFINITY;

	t = sqrt(-2 * log(q));
	z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
	for (int i = 0; i < 3; i++) {
		double u = (assay_stats_normal_cdf(z) - q) / normal_density(z);

		if (!isfinite(u))
			break;
		z -= u / (1 + 0.5 * z * u);
	}
	return upper ? -z : z;
}

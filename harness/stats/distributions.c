/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles are found in a bracket that always shrinks: nothing converges more dependably. */
#include "stats/distributions.h"

#include <math.h>
#include <stdbool.h>

/* ---- the normal distribution ---- */

double assay_stats_normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
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
		double u = (assay_stats_normal_cdf(z) - q) / (exp(-0.5 * z * z) * (0.5 * M_SQRT1_2 * M_2_SQRTPI));

		if (!isfinite(u))
			break;
		z -= u / (1 + 0.5 * z * u);
	}
	return upper ? -z : z;
}

#define TINY      1e-300
#define MAX_TERMS 500

/* The continued fraction of the incomplete beta function; converges quickly for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	f = d;
	for (int m = 1; m < MAX_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 + even * d;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = 1 + even / c;
		c = fabs(c) < TINY ? TINY : c;
		f *= d * c;
		d = 1 + odd * d;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = 1 + odd / c;
		c = fabs(c) < TINY ? TINY : c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

double assay_stats_beta_cdf(double x, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double assay_stats_beta_quantile(double p, double a, double b)
{
	double lo = 0, hi = 1;

	for (int i = 0; i < 200 && lo < hi; i++) {
		double mid = (lo + hi) / 2;

		if (mid == lo || mid == hi)
			break;
		if (assay_stats_beta_cdf(mid, a, b) < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

double assay_stats_t_cdf(double t, double df)
{
	double tail = 0.5 * assay_stats_beta_cdf(df / (df + t * t), df / 2, 0.5);

	return t > 0 ? 1 - tail : tail;
}

/* Newton's steps inside a bracket; one that leaves it is replaced by halving. By the tail, which keeps its digits. */
double assay_stats_t_quantile(double p, double df)
{
	double lo = 0, hi = 1, tail = p < 0.5 ? p : 1 - p, t;
	double peak = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI);

	if (p == 0.5)
		return 0;
	while (assay_stats_t_cdf(-hi, df) > tail && hi < 1e300) {
		lo = hi;
		hi *= 2;
	}
	t = lo;
	for (int i = 0; i < 200; i++) {
		double excess = assay_stats_t_cdf(-t, df) - tail, next;

		if (excess > 0)
			lo = t;
		else
			hi = t;
		next = t + excess / (peak * pow(1 + t * t / df, -(df + 1) / 2));
		if (!(next > lo && next < hi))
			next = (lo + hi) / 2;
		if (fabs(next - t) <= 1e-15 * t || next == lo || next == hi)
			break;
		t = next;
	}
	return p < 0.5 ? -t : t;
}

double assay_stats_t_shift(double t, double df, double power)
{
	return t * (1 - 1 / (4 * df)) + assay_stats_normal_quantile(power) * sqrt(1 + t * t / (2 * df));
}

struct assay_interval assay_stats_binomial_ci(uint64_t k, uint64_t n, double level)
{
	double alpha = (1 - level) / 2;
	struct assay_interval ci = { 0, 1 };

	if (k > 0)
		ci.lo = assay_stats_beta_quantile(alpha, (double)k, (double)(n - k) + 1);
	if (k < n)
		ci.hi = assay_stats_beta_quantile(1 - alpha, (double)k + 1, (double)(n - k));
	return ci;
}

struct assay_interval assay_stats_difference_ci(double a, struct assay_interval of_a, double b,
						struct assay_interval of_b)
{
	return (struct assay_interval){ a - b - hypot(a - of_a.lo, of_b.hi - b),
					a - b + hypot(of_a.hi - a, b - of_b.lo) };
}

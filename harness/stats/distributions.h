/* SPDX-License-Identifier: Apache-2.0 */
/* The normal and Student's t distribution, the beta function, exact binomial intervals. Pure; good to about 1e-10. */
#ifndef ASSAY_STATS_DISTRIBUTIONS_H
#define ASSAY_STATS_DISTRIBUTIONS_H

#include <stdint.h>

/* ---- interval ---- */

struct assay_interval {
	double lo, hi;
};

double assay_stats_normal_cdf(double z);
double assay_stats_normal_quantile(double p);

/* Regularised incomplete beta function I_x(a, b), a and b > 0, by Lentz's continued fraction (DLMF 8.17.22). */
double assay_stats_beta_cdf(double x, double a, double b);
/* x with I_x(a, b) = p. */
double assay_stats_beta_quantile(double p, double a, double b);

/* Student's t with @df > 0 degrees of freedom. */
double assay_stats_t_cdf(double t, double df);
double assay_stats_t_quantile(double p, double df);
/*
 * The mean, in standard errors, with which a t statistic of @df degrees of freedom exceeds @t >= 0 with probability
 * @power. By the normal approximation of the noncentral t distribution (Abramowitz & Stegun 1964, 26.7.10): power
 * within 0.01 from df = 7 on.
 */
double assay_stats_t_shift(double t, double df, double power);

/* Interval for a proportion after @k successes in @n trials (Clopper & Pearson 1934): coverage at least @level. */
struct assay_interval assay_stats_binomial_ci(uint64_t k, uint64_t n, double level);
/*
 * Interval for @a - @b, independent estimates with the intervals @of_a and @of_b of one level, by MOVER (Zou & Donner,
 * Statistics in Medicine 27, 2008, p. 1693).
 */
struct assay_interval assay_stats_difference_ci(double a, struct assay_interval of_a, double b,
						struct assay_interval of_b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Looks, their price, and the interval at each. */
#include "stats/sequential.h"

#include <math.h>

#include "stats/distributions.h"
#include "stats/stats.h"

#define FIRST_LOOK 5

/* 5, 6, 7, 8, 10, 12, 14, 16, 20, …: four to an octave. How many are there up to @n >= 4, and is @n one? */
static unsigned grid_rank(size_t n, bool *on)
{
	unsigned octave = 0;

	while (n > (size_t)8 << octave)
		octave++;
	*on = n >> octave << octave == n;
	return 4 * octave + (unsigned)(n >> octave) - 4;
}

/* The least n from 5 on with 2^-n <= @alpha / 2, so that so many pairs rarely agree by chance. At most @max_pairs. */
static size_t sequential_least_pairs(double alpha, size_t max_pairs)
{
	size_t n = FIRST_LOOK;

	while (n < max_pairs && ldexp(1, -(int)n) > alpha / 2)
		n++;
	return n;
}

size_t assay_sequential_first_look(double alpha, size_t max_pairs)
{
	size_t n = sequential_least_pairs(alpha, max_pairs);
	bool on;

	for (grid_rank(n, &on); n < max_pairs && !on; grid_rank(n, &on))
		n++;
	return n;
}

bool assay_sequential_is_look(size_t n, bool last, double alpha, size_t max_pairs)
{
	bool on;

	if (n < assay_sequential_first_look(alpha, max_pairs) || n > max_pairs)
		return false;
	grid_rank(n, &on);
	return on || last || n == max_pairs;
}

unsigned assay_sequential_looks(double alpha, size_t max_pairs)
{
	size_t first = assay_sequential_first_look(alpha, max_pairs);
	unsigned before, upto;
	bool on;

	if (first >= max_pairs)
		return 1;
	before = grid_rank(first - 1, &on);
	upto = grid_rank(max_pairs, &on);
	return upto - before + !on;
}

static double spread(const double *x, size_t n, const struct assay_sequential_rule *rule)
{
	return fmax(assay_stats_sd(x, n), rule->sd_floor);
}

static double t_of(double alpha, size_t n, const struct assay_sequential_rule *rule)
{
	return -assay_stats_t_quantile(alpha / assay_sequential_looks(alpha, rule->max_pairs), (double)(n - 1));
}

double assay_sequential_half_width(double sd, size_t n, double alpha, const struct assay_sequential_rule *rule)
{
	return t_of(alpha, n, rule) * fmax(sd, rule->sd_floor) / sqrt((double)n);
}

struct assay_interval assay_sequential_interval(const double *x, size_t n, const struct assay_sequential_rule *rule)
{
	double mean = assay_stats_mean(x, n), se = spread(x, n, rule) / sqrt((double)n);

	return (struct assay_interval){ mean - t_of(rule->alpha_lower, n, rule) * se,
					mean + t_of(rule->alpha_upper, n, rule) * se };
}

double assay_sequential_detectable(const double *x, size_t n, const struct assay_sequential_rule *rule, double margin,
				   double power)
{
	size_t first = assay_sequential_first_look(rule->alpha_lower, rule->max_pairs), at = n < first ? first : n;
	double se = spread(x, n, rule) / sqrt((double)at);

	return margin + assay_stats_t_shift(t_of(rule->alpha_lower, at, rule), (double)(at - 1), power) * se;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of a ratio of medians; formulas and sources stand in README.md beside this file. */
#include "judge/stored.h"

#include <math.h>

#include "stats/distributions.h"
#include "stats/stats.h"

#define Z95 1.959963984540054
/* From here on order statistics give 95 %; below, the interval is the range. */
#define N_FOR_95 6

/* How far the two ends of an interval lie from its centre, as logarithms. */
struct widths {
	double below, above;
};

static bool usable(const struct assay_stored_point *p)
{
	return p->n >= 2 && p->lo > 0 && p->lo <= p->median && p->median <= p->hi && isfinite(p->hi);
}

/* The interval at hand covers 95 %, or 1 - 2^(1-n) when it is the range of n samples; stretch it to @z. */
static struct widths widths_at(const struct assay_stored_point *p, double z)
{
	double have = p->n >= N_FOR_95 ? Z95 : assay_stats_normal_quantile(1.0 - ldexp(1.0, -(int)p->n));
	double stretch = z / have;

	return (struct widths){ stretch * log(p->median / p->lo), stretch * log(p->hi / p->median) };
}

/* Expectation of the sample standard deviation of n normal values over the true one. */
static double c4(size_t n)
{
	double x = (double)n;

	return sqrt(2.0 / (x - 1.0)) * exp(lgamma(x / 2.0) - lgamma((x - 1.0) / 2.0));
}

static double square(double x)
{
	return x * x;
}

/* The median that stands at @rank (from 0) in order of size; ties by position. Baselines hold a handful of runs. */
static double at_rank(const struct assay_stored_point *base, size_t n, size_t rank)
{
	for (size_t i = 0; i < n; i++) {
		size_t below = 0;

		for (size_t k = 0; k < n; k++)
			below += base[k].median < base[i].median || (base[k].median == base[i].median && k < i);
		if (below == rank)
			return base[i].median;
	}
	return NAN;
}

bool assay_stored_compare(const struct assay_stored_point *head, const struct assay_stored_point *base, size_t n_base,
			  double error, double margin_frac, struct assay_stored_compare *out)
{
	double z = assay_stats_normal_quantile(1.0 - error), k = (double)n_base;
	double mean = 0, spread = 0, below = 0, above = 0, between, d, loss;
	struct widths h;

	if (!n_base || !usable(head))
		return false;
	for (size_t i = 0; i < n_base; i++) {
		struct widths w;

		if (!usable(&base[i]))
			return false;
		w = widths_at(&base[i], z);
		mean += log(base[i].median) / k;
		below += square(w.below) / square(k);
		above += square(w.above) / square(k);
	}
	for (size_t i = 0; i < n_base; i++)
		spread += square(log(base[i].median) - mean);
	/* The median of several runs is the more robust centre and, at most by this factor, the less efficient one. */
	loss = n_base > 2 ? M_PI / 2.0 : 1.0;
	out->between_sd = n_base > 1 ? sqrt(spread / (k - 1.0)) / c4(n_base) : 0.0;
	between = square(z * out->between_sd) * (1.0 + loss / k);

	h = widths_at(head, z);
	d = log(head->median) -
	    (log(at_rank(base, n_base, (n_base - 1) / 2)) + log(at_rank(base, n_base, n_base / 2))) / 2.0;
	out->ratio = exp(d);
	out->lo = exp(d - sqrt(square(h.below) + loss * above + between));
	out->hi = exp(d + sqrt(square(h.above) + loss * below + between));
	out->detectable_frac = (1.0 + margin_frac) * out->ratio / out->lo - 1.0;
	return true;
}

enum assay_verdict assay_stored_verdict(double lo, double hi, double margin_frac)
{
	if (!(lo <= hi))
		return ASSAY_INCONCLUSIVE;
	if (lo > 1.0 + margin_frac)
		return ASSAY_REGRESSED;
	if (hi < 1.0 - margin_frac)
		return ASSAY_IMPROVED;
	return hi <= 1.0 + margin_frac ? ASSAY_PASS : ASSAY_INCONCLUSIVE;
}

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

/* The quantiles of the allowed error, to which intervals are stretched. */
struct quantiles {
	double z; /* of the normal distribution */
	double t; /* of Student's, with as many degrees of freedom as all processes of both sides give together */
};

/*
 * Stretch the interval at hand. Over processes it is Student's. That of a process alone covers 95 %, or 1 - 2^(1-n)
 * when it is the range of n samples.
 */
static struct widths widths_at(const struct assay_stored_point *p, const struct quantiles *q)
{
	double stretch;

	if (p->processes > 1)
		stretch = q->t / assay_stats_t_quantile(0.975, (double)p->processes - 1);
	else
		stretch = q->z / (p->n >= N_FOR_95 ? Z95 : assay_stats_normal_quantile(1.0 - ldexp(1.0, -(int)p->n)));

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

/* The median that stands at @rank (from 0) in order of size; ties by position. A side holds a handful of runs. */
static double at_rank(struct assay_stored_points p, size_t rank)
{
	for (size_t i = 0; i < p.n; i++) {
		size_t below = 0;

		for (size_t k = 0; k < p.n; k++)
			below += p.v[k].median < p.v[i].median || (p.v[k].median == p.v[i].median && k < i);
		if (below == rank)
			return p.v[i].median;
	}
	return NAN;
}

/* The combined result of the runs of a side. */
struct side {
	double centre;       /* logarithm of the median of the medians */
	double below, above; /* squared widths of that */
	double squares;      /* of the logarithms of the medians, around their mean */
	double per_run;      /* variance of the centre over that between runs */
};

static bool sum_up(struct assay_stored_points p, const struct quantiles *q, struct side *out)
{
	double k = (double)p.n, mean = 0;
	/* The median of several runs is the more robust centre and, at most by this factor, the less efficient one. */
	double loss = p.n > 2 ? M_PI / 2.0 : 1.0;

	*out = (struct side){ .per_run = loss / k };
	for (size_t i = 0; i < p.n; i++) {
		struct widths w;

		if (!usable(&p.v[i]))
			return false;
		w = widths_at(&p.v[i], q);
		mean += log(p.v[i].median) / k;
		out->below += loss * square(w.below) / square(k);
		out->above += loss * square(w.above) / square(k);
	}
	for (size_t i = 0; i < p.n; i++)
		out->squares += square(log(p.v[i].median) - mean);
	if (p.n)
		out->centre = (log(at_rank(p, (p.n - 1) / 2)) + log(at_rank(p, p.n / 2))) / 2.0;
	return p.n > 0;
}

/* Processes beyond the first of each run: what they tell of how processes differ. */
static size_t spare_processes(struct assay_stored_points p)
{
	size_t n = 0;

	for (size_t i = 0; i < p.n; i++)
		n += p.v[i].processes > 1 ? p.v[i].processes - 1 : 0;
	return n;
}

bool assay_stored_compare(struct assay_stored_points head, struct assay_stored_points base, double error,
			  double margin_frac, struct assay_stored_compare *out)
{
	const size_t df = spare_processes(head) + spare_processes(base);
	const struct quantiles q = { assay_stats_normal_quantile(1.0 - error),
				     df ? assay_stats_t_quantile(1.0 - error, (double)df) : NAN };
	double between, d;
	size_t spare = head.n + base.n - 2; /* degrees of freedom of the spread between runs */
	struct side h, b;

	if (!sum_up(head, &q, &h) || !sum_up(base, &q, &b))
		return false;
	out->between_sd = spare ? sqrt((h.squares + b.squares) / (double)spare) / c4(spare + 1) : 0.0;
	between = square(q.z * out->between_sd) * (h.per_run + b.per_run);
	d = h.centre - b.centre;
	out->ratio = exp(d);
	out->lo = exp(d - sqrt(h.below + b.above + between));
	out->hi = exp(d + sqrt(h.above + b.below + between));
	out->detectable_frac = (1.0 + margin_frac) * out->ratio / out->lo - 1.0;
	return true;
}

struct assay_stored_point assay_stored_point_of(const struct assay_result *r)
{
	return (struct assay_stored_point){
		.median = r->median_ns,
		.lo = r->ci95_lo_ns,
		.hi = r->ci95_hi_ns,
		.n = (size_t)llround((double)r->n_samples * (1.0 - r->dropped_frac)),
		.processes = r->rounds,
	};
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

/* ---- segment ---- */

/* Runs that are in no position to judge each other. */
#define FOUNDERS 5
/* The machine moved when so many cases can say so, and this share of them moved in one direction. */
#define MACHINE_CASES 4
#define MACHINE_FRAC  0.75

static enum assay_verdict judge(struct assay_stored_points head, const struct assay_segment_window *base, double error,
				double margin_frac)
{
	struct assay_stored_compare c;

	if (!assay_stored_compare(head, (struct assay_stored_points){ base->v, base->n }, error, margin_frac, &c))
		return ASSAY_INCONCLUSIVE;
	return assay_stored_verdict(c.lo, c.hi, margin_frac);
}

void assay_segment_admit(struct assay_segment *s, const struct assay_stored_point *p, bool same_code, double error)
{
	struct assay_segment_window *w = &s->first;

	if (w->n == ASSAY_SEGMENT_RUNS)
		return;
	if (w->n >= FOUNDERS &&
	    judge((struct assay_stored_points){ p, 1 }, w, error, s->margin_frac) == ASSAY_REGRESSED)
		return;
	w->other_code |= !same_code;
	w->v[w->n++] = *p;
}

double assay_segment_error(const struct assay_segment *s, double error)
{
	return s->first.n && s->last.n ? error / 2 : error;
}

bool assay_segments_follow_machine(struct assay_segment *v, size_t n, double error)
{
	size_t asked = 0, moved[2] = { 0 };
	bool same_code[2] = { false };

	for (size_t i = 0; i < n; i++) {
		const struct assay_segment *s = &v[i];
		enum assay_verdict verdict;

		if (!s->first.n || !s->last.n)
			continue;
		asked++;
		verdict = judge((struct assay_stored_points){ s->last.v, s->last.n }, &s->first, error, s->margin_frac);
		if (verdict != ASSAY_REGRESSED && verdict != ASSAY_IMPROVED)
			continue;
		moved[verdict == ASSAY_REGRESSED]++;
		same_code[verdict == ASSAY_REGRESSED] |= !s->first.other_code && !s->last.other_code;
	}
	for (int k = 0; k < 2; k++) {
		if (asked < MACHINE_CASES || !same_code[k] || (double)moved[k] < MACHINE_FRAC * (double)asked)
			continue;
		for (size_t i = 0; i < n; i++)
			if (v[i].last.n)
				v[i].first.n = 0;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The power calculation of the sequential test at its last look: conservative, since earlier looks may decide too. */
#include "judge/planning.h"

#include <math.h>

#include "model/certify_report.h"
#include "stats/distributions.h"
#include "stats/sequential.h"
#include "stats/stats.h"

int assay_planned_learn(struct assay_planned *p, const struct assay_comparison_case *c, struct assay_err *err)
{
	struct assay_paired_readings r;
	/* a promise is of pairs to come, so those of older rules are read as today's rule reads them */
	int rc = assay_paired_readings(c, &r, err);

	if (rc || r.n < 2)
		return rc;
	p->squares += r.sd * r.sd * (double)(r.n - 1);
	p->df += (double)(r.n - 1);
	p->n_pairs += r.n;
	p->n_measured++;
	for (size_t i = 0; i < c->n_pairs; i++)
		p->wall_s += (double)c->pairs[i].wall_ns * 1e-9;
	return 0;
}

bool assay_planned_known(const struct assay_planned *p)
{
	return p->df > 0;
}

double assay_planned_sd(const struct assay_planned *p)
{
	return fmax(ASSAY_PAIRED_SD_FLOOR, p->df > 0 ? sqrt(p->squares / p->df) : 0);
}

double assay_planned_pair_s(const struct assay_planned *p)
{
	return p->n_pairs ? p->wall_s / (double)p->n_pairs : 0;
}

double assay_planned_case_s(const struct assay_planned *p)
{
	return p->n_measured ? p->wall_s / p->n_measured : 0;
}

/* Half of the slowdown that @pairs can tell from none. */
static double half_width(double sd, unsigned pairs, unsigned family, const struct assay_plan_goal *g)
{
	unsigned max = pairs > g->max_pairs ? pairs : g->max_pairs;
	double alpha = g->alpha / family, df = pairs - 1;
	double find = -assay_stats_t_quantile(alpha / assay_sequential_looks(alpha, max), df);
	double pass = -assay_stats_t_quantile(g->alpha_pass / assay_sequential_looks(g->alpha_pass, max), df);

	return assay_stats_t_shift(fmax(find, pass), df, ASSAY_PAIRED_POWER) * sd / sqrt(pairs);
}

/* Least number of pairs, at a look of either decision; 0: more than ASSAY_PROMISE_MOST_PAIRS. */
static unsigned pairs_for(double sd, double detect_frac, unsigned family, const struct assay_plan_goal *g)
{
	for (unsigned n = 2; n <= ASSAY_PROMISE_MOST_PAIRS; n += 1 + n / 32) {
		unsigned max = n > g->max_pairs ? n : g->max_pairs;

		if (assay_sequential_is_look(n, false, g->alpha / family, max) &&
		    assay_sequential_is_look(n, false, g->alpha_pass, max) &&
		    half_width(sd, n, family, g) <= log1p(detect_frac) / 2)
			return n;
	}
	return 0;
}

/* Seconds that finding @detect_frac takes in all cases. */
static double seconds_for(struct assay_planned *cases, size_t n, double detect_frac, const struct assay_plan_goal *g)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		bool known = assay_planned_known(&cases[i]);

		cases[i].need_pairs = known ? pairs_for(assay_planned_sd(&cases[i]), detect_frac, (unsigned)n, g) : 0;
		cases[i].need_s =
			cases[i].need_pairs ? cases[i].need_pairs * assay_planned_pair_s(&cases[i]) : INFINITY;
		sum += cases[i].need_s;
	}
	return sum;
}

struct assay_promise assay_plan_promise(struct assay_planned *cases, size_t n, const struct assay_plan_goal *g)
{
	struct assay_promise p = { .possible = true, .detectable_frac = INFINITY };
	double lo = 0, hi = 10;

	if (g->within_s > 0 && seconds_for(cases, n, hi, g) <= g->within_s) {
		for (int i = 0; i < 40; i++) {
			double mid = (lo + hi) / 2;

			if (seconds_for(cases, n, mid, g) <= g->within_s)
				hi = mid;
			else
				lo = mid;
		}
		p.detectable_frac = hi;
	}
	p.needed_s = seconds_for(cases, n, g->detect_frac, g);
	p.possible = isfinite(p.needed_s) && (!(g->within_s > 0) || p.needed_s <= g->within_s);
	return p;
}

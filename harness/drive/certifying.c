/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate of unchanged code compares every case with itself; it fails when any is REGRESSED. A trial of power slows the
 * first case down by a known share. Their order is drawn from the seed, so that a change of the host's mood falls on
 * all kinds alike.
 */
#include "drive/certifying.h"

#include <math.h>
#include <stdlib.h>

#include "assay/random.h"
#include "cli/cli.h"
#include "judge/comparison_judge.h"
#include "stats/distributions.h"
#include "stats/sequential.h"

const double assay_certify_slowdowns[ASSAY_CERTIFY_SLOWDOWNS] = { 0.005, 0.01, 0.02, 0.05 };

struct tally {
	double squares, df; /* of log ratios about the mean of their comparison */
	double wall_ns, pairs;
	unsigned cases;
};

/* What to do in which order: 0 a gate, k a trial of slowdown k - 1. */
static unsigned char *draw_order(const struct assay_certifying *c, size_t *n)
{
	unsigned char *order;
	size_t at = 0;

	*n = c->gates + (size_t)c->trials * ASSAY_CERTIFY_SLOWDOWNS;
	order = malloc(*n + 1);
	if (!order)
		return NULL;
	for (unsigned i = 0; i < c->gates; i++)
		order[at++] = 0;
	for (unsigned k = 1; k <= ASSAY_CERTIFY_SLOWDOWNS; k++)
		for (unsigned i = 0; i < c->trials; i++)
			order[at++] = (unsigned char)k;
	for (size_t i = at; i > 1; i--) { /* Fisher and Yates */
		size_t k = assay_random4(c->settings->seed, 0xce27, i).v[0] % i;
		unsigned char t = order[i - 1];

		order[i - 1] = order[k];
		order[k] = t;
	}
	return order;
}

static int count(struct tally *t, const struct assay_comparison_case *c, bool spread, struct assay_err *err)
{
	double sd;
	size_t n;
	int rc = assay_paired_spread(c, &sd, &n, err);

	if (rc)
		return rc;
	if (spread && n > 1) {
		t->squares += sd * sd * (double)(n - 1);
		t->df += (double)(n - 1);
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		t->wall_ns += (double)c->pairs[i].wall_ns;
	t->pairs += (double)c->n_pairs;
	t->cases++;
	return 0;
}

/* The cases of one trial, fresh, as controls: their code is the same on both sides, and that must not excuse them. */
static void make_trial(const struct assay_certifying *c, struct assay_comparison *cmp,
		       struct assay_comparison_case *cases, size_t n, double slowdown)
{
	*cmp = c->plan->cmp;
	cmp->started_ns = assay_cli_now_ns();
	cmp->alpha = c->plan->cmp.alpha / (double)n;
	cmp->cases = cases;
	cmp->n_cases = n;
	for (size_t i = 0; i < n; i++) {
		cases[i] = c->plan->cmp.cases[i];
		cases[i].control = slowdown > 0 ? ASSAY_CONTROL_SLOWER : ASSAY_CONTROL_AA;
		cases[i].injected_frac = slowdown;
		cases[i].pairs = NULL;
		cases[i].n_pairs = 0;
	}
}

static int judge_trial(const struct assay_comparison *cmp, const struct assay_policy *policy, struct tally *t,
		       bool spread, enum assay_verdict *worst, struct assay_err *err)
{
	*worst = ASSAY_IMPROVED;
	for (size_t i = 0; i < cmp->n_cases; i++) {
		const struct assay_paired_rule rule = assay_comparison_rule(cmp, &cmp->cases[i], policy);
		struct assay_gate_case g;
		bool final;
		int rc = assay_paired_judge(&cmp->cases[i], &rule, &g, &final, err);

		if (!rc)
			rc = count(t, &cmp->cases[i], spread, err);
		if (rc)
			return rc;
		if (g.verdict != ASSAY_PASS && g.verdict != ASSAY_IMPROVED && g.verdict != ASSAY_REGRESSED &&
		    g.verdict != ASSAY_INCONCLUSIVE)
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot certify with '%s': %s", g.key, g.reason);
		*worst = assay_verdict_worse(*worst, g.verdict);
	}
	return 0;
}

static int one_trial(const struct assay_certifying *c, unsigned kind, struct tally *t, enum assay_verdict *worst,
		     struct assay_err *err)
{
	double slowdown = kind ? assay_certify_slowdowns[kind - 1] : 0;
	size_t n = kind ? 1 : c->plan->cmp.n_cases;
	struct assay_comparison_case *cases = calloc(n, sizeof(*cases));
	struct assay_comparison cmp;
	struct assay_comparing k = assay_compare_plan_comparing(c->plan, c->settings, c->clock, c->interrupted);
	int rc;

	if (!cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	make_trial(c, &cmp, cases, n, slowdown);
	k.cmp = &cmp;
	rc = assay_comparing_run(&k, err);
	if (!rc)
		rc = judge_trial(&cmp, &c->plan->policy, t, !kind, worst, err);
	for (size_t i = 0; i < n; i++) {
		for (size_t p = 0; p < cases[i].n_pairs; p++)
			assay_pair_release(&cases[i].pairs[p]);
		free(cases[i].pairs);
	}
	free(cases);
	return rc;
}

static void enter(struct assay_certify_outcome *out, unsigned kind, enum assay_verdict v)
{
	struct assay_certify_power *p = kind ? &out->power[kind - 1] : NULL;

	if (p) {
		p->of++;
		p->detected += v == ASSAY_REGRESSED;
		p->passed += v == ASSAY_PASS || v == ASSAY_IMPROVED;
		return;
	}
	out->gates++;
	out->false_alarms += v == ASSAY_REGRESSED;
	out->passed += v == ASSAY_PASS || v == ASSAY_IMPROVED;
	out->inconclusive += v == ASSAY_INCONCLUSIVE;
}

/* What the whole budget could show, from the spread of all pairs. */
static double detectable(const struct assay_certifying *c, const struct tally *t)
{
	const struct assay_comparison *cmp = &c->plan->cmp;
	const struct assay_paired_rule rule = assay_comparison_rule(cmp, &cmp->cases[0], &c->plan->policy);
	double sd = t->df > 0 ? sqrt(t->squares / t->df) : 0, wall = t->wall_ns / fmax(1, t->pairs);
	double alpha = rule.alpha_regressed, fits = floor((double)cmp->budget_ns / fmax(1, wall));
	double n = fmax((double)assay_sequential_first_look(alpha, rule.max_pairs), fmin(cmp->max_pairs, fits));
	double tl = -assay_stats_t_quantile(alpha / assay_sequential_looks(alpha, rule.max_pairs), n - 1);

	return expm1(log1p(rule.margin_frac) + (assay_stats_t_shift(tl, n - 1, ASSAY_PAIRED_POWER)) * sd / sqrt(n));
}

int assay_certifying_run(struct assay_certifying *c, struct assay_certify_outcome *out, struct assay_err *err)
{
	uint64_t start = assay_cli_now_ns();
	struct tally t = { 0 };
	size_t n, done = 0;
	unsigned char *order = draw_order(c, &n);
	int rc = 0;

	*out = (struct assay_certify_outcome){ 0 };
	if (!order)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (unsigned k = 0; k < ASSAY_CERTIFY_SLOWDOWNS; k++)
		out->power[k].slowdown_frac = assay_certify_slowdowns[k];
	for (; done < n && !rc; done++) {
		enum assay_verdict v = ASSAY_INCONCLUSIVE;

		if (c->progress)
			c->progress(c->arg, (double)done / (double)n,
				    order[done] ? "a known slowdown" : "unchanged code");
		rc = one_trial(c, order[done], &t, &v, err);
		if (!rc)
			enter(out, order[done], v);
	}
	free(order);
	out->sd = t.df > 0 ? sqrt(t.squares / t.df) : 0;
	out->seconds_per_case = t.cases ? t.wall_ns * 1e-9 / t.cases : 0;
	out->pairs_per_case = t.cases ? t.pairs / t.cases : 0;
	out->smallest_detectable_frac = detectable(c, &t);
	out->seconds = (double)(assay_cli_now_ns() - start) * 1e-9;
	return rc;
}

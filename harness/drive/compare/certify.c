/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate of unchanged code compares every case with itself; it fails when any is REGRESSED. A trial of power slows the
 * first case down by a known share. Their order is drawn from the seed, so that a change of the host's mood falls on
 * all kinds alike.
 */
#include "drive/compare/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/monotonic.h"
#include "judge/paired.h"
#include "stats/distributions.h"
#include "stats/sequential.h"

/*
 * The case of a request that names none: so quick that half a percent is a whole number of calls of a sample too short
 * to be disturbed often, so large that its layout does not rule it.
 */
#define DEFAULT_SUITE "smoke"
#if defined(__x86_64__)
#define DEFAULT_ONLY "quantize.i2_s/avx2/n=16384/*"
#else
#define DEFAULT_ONLY "quantize.i2_s/ref/n=16384/*"
#endif

const double assay_certify_slowdowns[ASSAY_CERTIFY_DEFAULT_SLOWDOWNS] = { 0.005, 0.01, 0.02, 0.05 };

struct tally {
	double squares, df; /* of log ratios about the mean of their comparison */
	double wall_ns, pairs;
	unsigned cases;
};

struct certifying {
	const struct assay_certify_request *q;
	const struct assay_watch *watch;
	struct assay_compare_plan plan; /* its cases are the cases of every gate */
	struct assay_clock clock;
	struct assay_certify_slowdowns slowdowns;
};

/* How many there are to be of a kind: 0 a gate, k a trial of slowdown k - 1. */
static unsigned to_do(const struct certifying *c, unsigned kind)
{
	return kind ? c->q->trials : c->q->gates;
}

/* The trials in the order in which they are run, by kind. */
static unsigned char *draw_order(const struct certifying *c, size_t *n)
{
	unsigned char *order;
	size_t at = 0;

	*n = 0;
	for (unsigned k = 0; k <= c->slowdowns.n; k++)
		*n += to_do(c, k);
	order = malloc(*n + 1);
	if (!order)
		return NULL;
	for (unsigned k = 0; k <= c->slowdowns.n; k++)
		for (unsigned i = to_do(c, k); i; i--)
			order[at++] = (unsigned char)k;
	for (size_t i = at; i > 1; i--) { /* Fisher and Yates */
		size_t k = assay_random4(c->q->compare.what->settings.seed, 0xce27, i).v[0] % i;
		unsigned char t = order[i - 1];

		order[i - 1] = order[k];
		order[k] = t;
	}
	return order;
}

static int count(struct tally *t, const struct assay_comparison_case *c, bool spread, struct assay_err *err)
{
	struct assay_paired_readings r;
	int rc = assay_paired_readings(c, NULL, &r, err);

	if (rc)
		return rc;
	if (spread && r.n > 1) {
		t->squares += r.sd * r.sd * (double)(r.n - 1);
		t->df += (double)(r.n - 1);
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		t->wall_ns += (double)c->pairs[i].wall_ns;
	t->pairs += (double)c->n_pairs;
	t->cases++;
	return 0;
}

/* The cases of one trial, fresh, as controls: their code is the same on both sides, and that must not excuse them. */
static void make_trial(const struct certifying *c, struct assay_comparison *cmp, struct assay_comparison_case *cases,
		       size_t n, double slowdown)
{
	*cmp = c->plan.cmp;
	cmp->started_ns = assay_monotonic_ns();
	cmp->alpha = c->plan.cmp.alpha / (double)n;
	cmp->trial = true;
	cmp->cases = cases;
	cmp->n_cases = n;
	for (size_t i = 0; i < n; i++) {
		cases[i] = c->plan.cmp.cases[i];
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

static int one_trial(struct certifying *c, unsigned kind, struct tally *t, enum assay_verdict *worst,
		     struct assay_err *err)
{
	double slowdown = kind ? c->slowdowns.frac[kind - 1] : 0;
	size_t n = kind ? 1 : c->plan.cmp.n_cases;
	struct assay_comparison_case *cases = calloc(n, sizeof(*cases));
	/* progress is that of the certification, not of its trials */
	const struct assay_watch quiet = { .interrupted = c->watch->interrupted };
	struct assay_comparison cmp;
	struct assay_pair_loop k = assay_compare_plan_loop(&c->plan, c->q->compare.what, &c->clock, &quiet);
	int rc;

	if (!cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	make_trial(c, &cmp, cases, n, slowdown);
	k.cmp = &cmp;
	rc = assay_pair_loop_run(&k, err);
	if (!rc)
		rc = judge_trial(&cmp, &c->plan.policy, t, !kind, worst, err);
	for (size_t i = 0; i < n; i++) {
		for (size_t p = 0; p < cases[i].n_pairs; p++)
			assay_pair_release(&cases[i].pairs[p]);
		free(cases[i].pairs);
	}
	free(cases);
	return rc;
}

static void count_rate(struct assay_rate *r, bool hit)
{
	r->of++;
	r->k += hit;
}

static void enter(struct assay_certify_report *out, unsigned kind, enum assay_verdict v)
{
	bool passed = v == ASSAY_PASS || v == ASSAY_IMPROVED;

	count_rate(kind ? &out->power[kind - 1].detected : &out->false_alarms, v == ASSAY_REGRESSED);
	count_rate(kind ? &out->power[kind - 1].passed : &out->passed, passed);
	out->gates += !kind;
	out->inconclusive += !kind && v == ASSAY_INCONCLUSIVE;
}

static void bound(struct assay_rate *r)
{
	struct assay_interval ci = assay_stats_binomial_ci(r->k, r->of, 0.95);

	r->lo = ci.lo;
	r->hi = ci.hi;
}

/* The smallest change that the whole budget could show, from the spread of all pairs. */
static double detectable(const struct certifying *c, const struct assay_certify_report *o)
{
	const struct assay_comparison *cmp = &c->plan.cmp;
	const struct assay_paired_rule rule = assay_comparison_rule(cmp, &cmp->cases[0], &c->plan.policy);
	double wall = o->seconds_per_case * 1e9 / fmax(1, o->pairs_per_case);
	double alpha = rule.alpha_regressed, fits = floor((double)cmp->budget_ns / fmax(1, wall));
	double n = fmax((double)assay_sequential_first_look(alpha, rule.max_pairs), fmin(cmp->max_pairs, fits));
	double tl = -assay_stats_t_quantile(alpha / assay_sequential_looks(alpha, rule.max_pairs), n - 1);

	/* pairs of a few ns may agree to the last digit; the judge believes no less than this */
	return expm1(log1p(rule.margin_frac) +
		     assay_stats_t_shift(tl, n - 1, ASSAY_PAIRED_POWER) * fmax(o->sd, ASSAY_PAIRED_SD_FLOOR) / sqrt(n));
}

/* A report of what is certified, with nothing counted in it. */
static int describe(const struct certifying *c, struct assay_certify_report *out, struct assay_err *err)
{
	const struct assay_comparison *cmp = &c->plan.cmp;
	int rc = 0;

	*out = (struct assay_certify_report){
		.machine = cmp->machine,
		.seed = c->q->compare.what->settings.seed,
		.alpha = cmp->alpha,
		.budget_ns = cmp->budget_ns,
		.margin_frac = assay_policy_paired_margin(&c->plan.policy, &cmp->cases[0].c),
		.n_slowdowns = c->slowdowns.n,
		.sd = NAN,
	};
	for (unsigned k = 0; k < c->slowdowns.n; k++)
		out->power[k].slowdown_frac = c->slowdowns.frac[k];
	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		rc = assay_strings_add(&out->keys, cmp->cases[i].c.key, err);
	return rc;
}

static int run_trials(struct certifying *c, struct assay_certify_report *out, struct assay_err *err)
{
	const struct assay_comparison *cmp = &c->plan.cmp;
	uint64_t start = assay_monotonic_ns();
	struct tally t = { 0 };
	size_t n, done = 0;
	unsigned char *order = draw_order(c, &n);
	int rc = 0;

	if (!order)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_watch_tell(c->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN,
							  .expected_ns = (double)cmp->budget_ns *
									 ((double)to_do(c, 0) * (double)cmp->n_cases +
									  (double)(n - to_do(c, 0))) /
									 4 });
	for (; done < n && !rc; done++) {
		enum assay_verdict v = ASSAY_INCONCLUSIVE;

		assay_watch_tell(c->watch,
				 &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							.done_frac = (double)done / (double)n,
							.text = order[done] ? "a known slowdown" : "unchanged code" });
		rc = one_trial(c, order[done], &t, &v, err);
		if (!rc)
			enter(out, order[done], v);
	}
	assay_watch_tell(c->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	free(order);
	out->df = t.df;
	out->sd = t.df > 0 ? sqrt(t.squares / t.df) : NAN;
	out->n_judged = t.cases;
	out->seconds_per_case = t.cases ? t.wall_ns * 1e-9 / t.cases : 0;
	out->pairs_per_case = t.cases ? t.pairs / t.cases : 0;
	out->seconds = (double)(assay_monotonic_ns() - start) * 1e-9;
	return rc;
}

/* Rates that follow from the counts. */
static void conclude(const struct certifying *c, struct assay_certify_report *out)
{
	bound(&out->false_alarms);
	bound(&out->passed);
	for (unsigned k = 0; k < out->n_slowdowns; k++) {
		bound(&out->power[k].detected);
		bound(&out->power[k].passed);
	}
	out->smallest_detectable_frac = out->df > 0 ? detectable(c, out) : NAN;
}

int assay_certify_choose(struct assay_request *what, struct assay_err *err)
{
	int rc;

	if (what->plan.only.n || what->plan.suite)
		return 0;
	what->plan.suite = DEFAULT_SUITE;
	rc = assay_strings_add(&what->plan.only, DEFAULT_ONLY, err);
	return rc || what->plan.threads ? rc : assay_request_set_threads(what, "1", "threads", err);
}

static struct assay_certify_slowdowns slowdowns_of(const struct assay_certify_request *q)
{
	struct assay_certify_slowdowns s = q->slowdowns;

	if (!s.n) {
		s.n = ASSAY_CERTIFY_DEFAULT_SLOWDOWNS;
		memcpy(s.frac, assay_certify_slowdowns, sizeof(assay_certify_slowdowns));
	}
	return s;
}

int assay_certify(const struct assay_certify_request *q, const struct assay_watch *w, struct assay_certify_report *out,
		  struct assay_err *err)
{
	struct certifying c = { .q = q, .watch = w, .slowdowns = slowdowns_of(q) };
	int rc = assay_compare_plan_make_same(&c.plan, &q->compare, w, err);

	*out = (struct assay_certify_report){ 0 };
	if (!rc)
		rc = assay_clock_init(&c.clock, err);
	if (!rc)
		rc = describe(&c, out, err);
	if (!rc)
		rc = run_trials(&c, out, err);
	if (!rc || rc == ASSAY_EINTERRUPTED)
		conclude(&c, out);
	if (rc == ASSAY_EINTERRUPTED && out->n_judged > 0)
		assay_err_set(err, rc, "interrupted after %u gates", out->gates);
	assay_compare_plan_release(&c.plan);
	return rc;
}

bool assay_certify_failed(const struct assay_certify_report *r)
{
	return r->false_alarms.lo > r->alpha;
}

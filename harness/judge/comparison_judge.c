/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the verdicts of the cases together, believes them only as far as the controls allow, and finds the exit code. */
#include "judge/comparison_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/exact_judge.h"
#include "judge/limits.h"
#include "stats/stats.h"

struct assay_paired_rule assay_comparison_rule(const struct assay_comparison *cmp,
					       const struct assay_comparison_case *c, const struct assay_policy *policy)
{
	unsigned family = c->control == ASSAY_CONTROL_NONE ? cmp->family : 1;

	return assay_paired_rule_of(cmp->alpha, policy->pass_alpha, family, assay_policy_paired_margin(policy, &c->c),
				    policy->max_dropped_frac, cmp->max_pairs);
}

void assay_comparison_rule_note(const struct assay_comparison *cmp, const char *verdict, char *buf, size_t size)
{
	char by[48] = "a rule without a version";

	buf[0] = '\0';
	if (cmp->rule == ASSAY_JUDGE_RULE)
		return;
	if (cmp->rule)
		snprintf(by, sizeof(by), "rule %u", cmp->rule);
	snprintf(buf, size,
		 "comparison %" PRId64 " was measured and judged by %s (%s), this is rule %d: the verdict may differ",
		 cmp->id, by, verdict[0] ? verdict : "it did not finish", ASSAY_JUDGE_RULE);
}

double assay_comparison_metric(const struct assay_comparison_case *c, enum assay_side side, const char *tag)
{
	double *x = malloc((c->n_pairs + 1) * sizeof(*x)), median = NAN;
	size_t n = 0;

	if (!x)
		return NAN;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_pair_side *s = &c->pairs[i].side[side];

		struct assay_limit_facts f;

		assay_limit_value(s->metrics, s->n_metrics, &s->counters, tag, &f);
		if (isfinite(f.value))
			x[n++] = f.value;
	}
	if (n) {
		assay_stats_sort(x, n);
		median = assay_stats_median(x, n);
	}
	free(x);
	return median;
}

static struct assay_gate_case *add(struct assay_gate_report *r)
{
	struct assay_gate_case *grown = realloc(r->cases, (r->n_cases + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	r->cases = grown;
	return &grown[r->n_cases++];
}

/* What the head has of a metric: the median over the pairs, with the source and the reason of the last. */
static void head_facts(const struct assay_comparison_case *c, const struct assay_limit *l, struct assay_limit_facts *f)
{
	const struct assay_pair_side *last = c->n_pairs ? &c->pairs[c->n_pairs - 1].side[ASSAY_HEAD] : NULL;
	static const struct assay_counters none;

	assay_limit_value(last ? last->metrics : NULL, last ? last->n_metrics : 0, last ? &last->counters : &none,
			  l->metric, f);
	f->value = assay_comparison_metric(c, ASSAY_HEAD, l->metric);
	f->base = l->base && c->in_base ? assay_comparison_metric(c, ASSAY_BASE, l->metric) : NAN;
	f->why_no_base = c->in_base ? NULL : "the case is not in the base";
}

static int judge_limits(const struct assay_comparison_case *c, const struct assay_policy *policy,
			const struct assay_countable *countable, struct assay_gate_report *r, struct assay_err *err)
{
	for (size_t i = 0; i < policy->n_limits && c->in_head; i++) {
		const struct assay_limit *l = &policy->limits[i];
		struct assay_limit_facts f;
		struct assay_gate_case *g;
		char why[256];

		if (!assay_policy_selects(l->cases, &c->c))
			continue;
		head_facts(c, l, &f);
		if (c->n_pairs)
			assay_limit_explain(l, countable, &f, why, sizeof(why));
		/* what the harness measures only in runs is for the gate to judge */
		if (!assay_limit_applies(l, &f) || (isnan(f.value) && c->n_pairs && assay_metric_find(l->metric)))
			continue;
		g = add(r);
		if (!g)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory while judging '%s'", c->c.key);
		*g = (struct assay_gate_case){ .ratio = NAN,
					       .ci_lo = NAN,
					       .ci_hi = NAN,
					       .margin_frac = NAN,
					       .dropped_frac = NAN,
					       .smallest_detectable_frac = NAN };
		memcpy(g->key, c->c.key, sizeof(g->key));
		memcpy(g->metric, l->metric, sizeof(g->metric));
		assay_limit_judge(l, &f, g);
	}
	return 0;
}

static void judge_control(const struct assay_comparison_case *c, const struct assay_gate_case *g,
			  struct assay_gate_control *out)
{
	bool decided = g->verdict == ASSAY_PASS || g->verdict == ASSAY_IMPROVED;

	*out = (struct assay_gate_control){ .kind = c->control,
					    .injected_frac = c->injected_frac,
					    .verdict = g->verdict,
					    .ratio = g->ratio,
					    .ci_lo = g->ci_lo,
					    .ci_hi = g->ci_hi,
					    .pairs = g->pairs };
	memcpy(out->key, g->key, sizeof(out->key));
	memcpy(out->reason, g->reason, sizeof(out->reason));
	/* a side that crashed or is wrong says nothing of the host; its own cases tell */
	out->ok = g->verdict == ASSAY_INCONCLUSIVE || g->verdict == ASSAY_NOT_MEASURED ||
		  g->verdict == ASSAY_INCOMPARABLE || g->verdict == ASSAY_WRONG_RESULT ||
		  (c->control == ASSAY_CONTROL_AA ? decided : g->verdict == ASSAY_REGRESSED);
}

static void distrust(struct assay_gate_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *g = &r->cases[i];

		if (g->evidence != ASSAY_EVIDENCE_PAIRED ||
		    (g->verdict != ASSAY_PASS && g->verdict != ASSAY_IMPROVED && g->verdict != ASSAY_REGRESSED))
			continue;
		snprintf(g->reason, sizeof(g->reason),
			 "%s by its time, but a control failed: this host cannot be trusted today",
			 assay_verdict_name(g->verdict));
		g->verdict = ASSAY_INCONCLUSIVE;
	}
}

/* What both sides skip has the same code on both: that is known, too. */
static bool nothing_counted(const struct assay_exact_run exact[2])
{
	for (size_t i = 0; i < exact[ASSAY_HEAD].n_cases; i++) {
		const struct assay_exact_case *head = &exact[ASSAY_HEAD].cases[i];
		const struct assay_exact_case *base = assay_exact_case_find(&exact[ASSAY_BASE], head->key);

		if (head->status == ASSAY_STATUS_OK ||
		    (head->status == ASSAY_STATUS_SKIPPED && base && base->status == ASSAY_STATUS_SKIPPED))
			return false;
	}
	return true;
}

static int judge_counts(const struct assay_comparison *cmp, const struct assay_policy *policy, bool strict,
			struct assay_gate_report *r, struct assay_err *err)
{
	const struct assay_exact_judge_input in = {
		.head = &cmp->exact[ASSAY_HEAD],
		.base = &cmp->exact[ASSAY_BASE],
		.base_name = cmp->base,
		.policy = policy,
		.limits = true,
		.nothing_counted = nothing_counted(cmp->exact),
		.strict = strict,
	};

	return in.head->n_cases ? assay_exact_judge(&in, r, err) : 0;
}

int assay_comparison_judge(const struct assay_comparison *cmp, const struct assay_policy *policy,
			   const struct assay_comparison_judging *how, struct assay_gate_report *out,
			   struct assay_err *err)
{
	/* counts are equal or not: nothing is left to chance */
	struct assay_gate_report r = { .alpha = cmp->n_cases ? cmp->alpha : NAN,
				       .comparison_id = cmp->id,
				       .seconds = NAN,
				       .verdict = ASSAY_PASS };
	int rc = 0;

	snprintf(r.base, sizeof(r.base), "%s", cmp->base);
	snprintf(r.head, sizeof(r.head), "%s", cmp->head);
	if (cmp->ended_ns > cmp->started_ns)
		r.seconds = (double)(cmp->ended_ns - cmp->started_ns) * 1e-9;
	r.controls = calloc(cmp->n_cases + 1, sizeof(*r.controls));
	if (!r.controls)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while judging");
	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		const struct assay_comparison_case *c = &cmp->cases[i];
		const struct assay_paired_rule rule = assay_comparison_rule(cmp, c, policy);
		struct assay_gate_case g, *to;
		bool final;

		rc = assay_paired_judge(c, &rule, &g, &final, err);
		if (rc)
			break;
		if (c->control != ASSAY_CONTROL_NONE) {
			judge_control(c, &g, &r.controls[r.n_controls]);
			r.untrusted |= !r.controls[r.n_controls++].ok;
			continue;
		}
		if (!c->n_pairs && c->in_head && !c->reason[0] && !c->difference[0]) {
			g.verdict = ASSAY_NOT_MEASURED;
			snprintf(g.reason, sizeof(g.reason), "the comparison ended before its first pair");
		}
		to = add(&r);
		if (!to)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory while judging '%s'", c->c.key);
		else
			*to = g;
		if (!rc)
			rc = judge_limits(c, policy, how->countable, &r, err);
	}
	if (r.untrusted)
		distrust(&r);
	for (size_t i = 0; i < r.n_cases; i++) {
		r.verdict = i ? assay_verdict_worse(r.verdict, r.cases[i].verdict) : r.cases[i].verdict;
		r.exit = assay_exit_worse(r.exit, assay_verdict_exit(r.cases[i].verdict, how->strict));
	}
	if (!rc)
		rc = judge_counts(cmp, policy, how->strict, &r, err);
	if (rc)
		assay_gate_report_release(&r);
	else
		*out = r;
	return rc;
}

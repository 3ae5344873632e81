/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the verdicts of the cases together, believes them only as far as the controls allow, and finds the exit code. */
#include "judge/comparison_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/exact_judge.h"
#include "judge/rows.h"
#include "judge/stopping.h"
#include "stats/stats.h"

int assay_comparison_metric(const struct assay_comparison_case *c, enum assay_side side, const char *tag,
			    double *median, struct assay_err *err)
{
	double *x = malloc((c->n_pairs + 1) * sizeof(*x));
	size_t n = 0;

	*median = NAN;
	if (!x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging '%s'", c->c.key);
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_result *s = &c->pairs[i].side[side];
		struct assay_limit_facts f;

		assay_limit_value(s->metrics, s->n_metrics, &s->counters, tag, &f);
		if (isfinite(f.value))
			x[n++] = f.value;
	}
	if (n) {
		assay_stats_sort(x, n);
		*median = assay_stats_median(x, n);
	}
	free(x);
	return 0;
}

/* ---- what the policy demands ---- */

struct compared {
	const struct assay_comparison *cmp;
	const struct assay_comparison_case *c; /* NULL: there are only counts of it */
	const char *key;
};

/* Roof and scaling take cases that pairs do not measure. */
static const char *only_of_runs(const char *metric)
{
	if (strcmp(metric, "roof_frac") && strcmp(metric, ASSAY_COUNT_ROOF) && strcmp(metric, "parallel_efficiency"))
		return NULL;
	return "it takes other cases of the same run, which a comparison does not have; 'assay gate' judges it";
}

/* The last pair of which the head gave metrics, else the last one; NULL: there is none. */
static const struct assay_pair *telling_pair(const struct assay_comparison_case *c)
{
	for (size_t i = c->n_pairs; i > 0; i--)
		if (c->pairs[i - 1].side[ASSAY_HEAD].n_metrics)
			return &c->pairs[i - 1];
	return c->n_pairs ? &c->pairs[c->n_pairs - 1] : NULL;
}

/* Median over the pairs, with the source of the last, or the reason why there is none. */
static int look_up_pairs(const struct assay_comparison_case *c, const struct assay_limit *l,
			 struct assay_limit_facts *out, struct assay_err *err)
{
	static const struct assay_pair none;
	const struct assay_pair *last = telling_pair(c);
	const struct assay_result *head = last ? &last->side[ASSAY_HEAD] : &none.side[ASSAY_HEAD];
	int rc;

	assay_limit_value(head->metrics, head->n_metrics, &head->counters, l->metric, out);
	rc = assay_comparison_metric(c, ASSAY_HEAD, l->metric, &out->value, err);
	if (!rc && l->base && c->in_base)
		rc = assay_comparison_metric(c, ASSAY_BASE, l->metric, &out->base, err);
	if (!out->why_no_value && c->reason[0])
		out->why_no_value = c->reason;
	for (int side = 0; side < 2 && last && !out->why_no_value; side++)
		if (last->side[side].status != ASSAY_STATUS_OK)
			out->why_no_value = last->side[side].reason;
	if (!out->why_no_value)
		out->why_no_value = only_of_runs(l->metric);
	return rc;
}

static int look_up(const void *arg, const struct assay_limit *l, struct assay_limit_facts *out, struct assay_err *err)
{
	const struct compared *k = arg;
	const struct assay_exact_run *exact = k->cmp->exact;
	int rc = 0;

	if (assay_exact_is_metric(l->metric)) {
		assay_exact_limit_facts(&exact[ASSAY_HEAD], &exact[ASSAY_BASE], k->key, l->metric, out);
		if (!exact[ASSAY_HEAD].n_cases)
			out->why_no_value =
				"exact counts were not taken: 'assay compare BASE --evidence all' takes them, too";
	} else if (k->c) {
		rc = look_up_pairs(k->c, l, out, err);
	} else {
		assay_limit_value(NULL, 0, &(struct assay_counters){ 0 }, l->metric, out);
		out->why_no_value = "only exact counts were taken: --evidence all takes times and metrics, too";
	}
	if (k->c && !k->c->in_base)
		out->why_no_base = "the case is new, the base has none";
	return rc;
}

/* @row is the verdict on the case itself; what is missing or wrong says so there. */
static int judge_limits(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
			enum assay_verdict row, const struct assay_policy *policy,
			const struct assay_countable *countable, struct assay_gate_report *r, struct assay_err *err)
{
	const struct compared k = { cmp, c, c->c.key };

	if (row == ASSAY_NOT_MEASURED || row == ASSAY_WRONG_RESULT)
		return 0;
	return assay_limits_judge(
		policy, &(struct assay_limit_case){ .c = &c->c, .countable = countable, .look_up = look_up, .arg = &k },
		r, err);
}

static bool has_case(const struct assay_comparison *cmp, const char *key)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (cmp->cases[i].control == ASSAY_CONTROL_NONE && !strcmp(cmp->cases[i].c.key, key))
			return true;
	return false;
}

/* Of cases that were counted and not timed; their rows of counts stand already. */
static int judge_counted_limits(const struct assay_comparison *cmp, const struct assay_policy *policy,
				struct assay_gate_report *r, struct assay_err *err)
{
	const struct assay_exact_run *head = &cmp->exact[ASSAY_HEAD];
	int rc = 0;

	for (size_t i = 0; i < head->n_cases && !rc; i++) {
		const struct assay_exact_case *e = &head->cases[i];
		const struct compared k = { cmp, NULL, e->key };
		const struct assay_case c = assay_exact_case_named(e);

		if (has_case(cmp, e->key) || (e->status != ASSAY_STATUS_OK && e->status != ASSAY_STATUS_SKIPPED))
			continue;
		rc = assay_limits_judge(policy, &(struct assay_limit_case){ .c = &c, .look_up = look_up, .arg = &k }, r,
					err);
	}
	return rc;
}

/* ---- controls ---- */

static void judge_control(const struct assay_comparison_case *c, const struct assay_gate_case *g,
			  struct assay_gate_control *out)
{
	bool decided = g->verdict == ASSAY_PASS || g->verdict == ASSAY_IMPROVED;

	*out = (struct assay_gate_control){ .kind = c->control,
					    .injected_frac = assay_comparison_injected(c),
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

/* ---- the whole ---- */

static void distrust(struct assay_gate_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *g = &r->cases[i];

		if (g->evidence != ASSAY_EVIDENCE_PAIRED ||
		    (g->verdict != ASSAY_PASS && g->verdict != ASSAY_IMPROVED && g->verdict != ASSAY_REGRESSED))
			continue;
		snprintf(g->reason, sizeof(g->reason),
			 "%s by its time, but a self-check failed: times on this host cannot be trusted today",
			 assay_verdict_name(g->verdict));
		g->verdict = ASSAY_INCONCLUSIVE;
		assay_paired_suspect(g);
	}
}

/* A case that both sides skip has the same code on both: that is known, too. */
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
		.nothing_counted = nothing_counted(cmp->exact),
		.strict = strict,
	};

	return in.head->n_cases ? assay_exact_judge(&in, r, err) : 0;
}

static const struct assay_deviation *head_deviation(const struct assay_comparison_case *c)
{
	static const struct assay_deviation none;

	for (size_t i = 0; i < c->n_pairs; i++)
		if (c->pairs[i].side[ASSAY_HEAD].deviation.edges)
			return &c->pairs[i].side[ASSAY_HEAD].deviation;
	return &none;
}

/* Is what is said of one metric of @c said of all, because the case or a side of it was not measured? */
static bool is_of_all(const struct assay_comparison_case *c)
{
	bool measured = c->in_base && c->in_head && !c->reason[0] && !c->difference[0] && c->n_pairs;

	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++)
			measured &= c->pairs[i].side[side].status == ASSAY_STATUS_OK;
	return !measured;
}

static int add_row(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		   const struct assay_paired_rule *rule, struct assay_gate_case *g, struct assay_gate_report *r,
		   struct assay_err *err)
{
	struct assay_gate_case *row;
	int rc;

	if (!c->n_pairs && c->in_head && !c->reason[0] && !c->difference[0]) {
		g->verdict = ASSAY_NOT_MEASURED;
		snprintf(g->reason, sizeof(g->reason), "the comparison ended before its first pair");
	}
	rc = assay_stopping_tell(cmp, c, rule, g, err);
	if (rc)
		return rc;
	row = assay_row_add(r, (struct assay_row_name){ g->key, g->metric, g->evidence }, err);
	if (!row)
		return ASSAY_ENOMEM;
	*row = *g;
	memcpy(row->base_variant, c->base_variant, sizeof(row->base_variant));
	return 0;
}

static int judge_case(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		      const struct assay_policy *policy, const struct assay_countable *countable,
		      struct assay_gate_report *r, struct assay_err *err)
{
	struct assay_paired_rule rule = assay_comparison_rule(cmp, c, policy);
	enum assay_verdict first = ASSAY_PASS;
	const size_t row = r->n_cases;
	struct assay_gate_case g;
	int rc = 0;

	for (size_t i = 0; !rc && assay_comparison_judged(c, i, rule.metric) && !(i && is_of_all(c)); i++) {
		bool final;

		rc = assay_paired_judge(c, &rule, &g, &final, err);
		if (rc)
			return rc;
		if (c->control != ASSAY_CONTROL_NONE) {
			judge_control(c, &g, &r->controls[r->n_controls]);
			r->untrusted |= !r->controls[r->n_controls++].ok;
			return 0;
		}
		rc = add_row(cmp, c, &rule, &g, r, err);
		first = i ? first : g.verdict;
	}
	if (!rc && first != ASSAY_WRONG_RESULT)
		rc = assay_limits_judge_edges(policy, &c->c, head_deviation(c), &r->cases[row], r, err);
	return rc ? rc : judge_limits(cmp, c, first, policy, countable, r, err);
}

/*
 * The number of tests, one a case and metric, was fixed before the first pair. Where fewer are stored, the program was
 * killed while it stored them; where none are, and no counts either, before it stored what it measured.
 */
static int judge_missing(const struct assay_comparison *cmp, struct assay_gate_report *r, struct assay_err *err)
{
	char key[32];
	size_t n = 0;

	for (size_t i = 0; i < cmp->n_cases; i++)
		n += cmp->cases[i].control == ASSAY_CONTROL_NONE ? assay_comparison_n_judged(&cmp->cases[i]) : 0;
	if (n >= cmp->family || (!cmp->n_cases && cmp->exact[ASSAY_HEAD].n_cases))
		return 0;
	snprintf(key, sizeof(key), "comparison %" PRId64, cmp->id);
	return assay_row_say(r, (struct assay_row_name){ key, "status", ASSAY_EVIDENCE_NONE }, ASSAY_NOT_MEASURED, err,
			     "only %zu of %u cases are stored: the comparison ended before the rest", n, cmp->family);
}

int assay_comparison_judge(const struct assay_comparison *cmp, const struct assay_policy *policy,
			   const struct assay_comparison_judging *how, struct assay_gate_report *out,
			   struct assay_err *err)
{
	/* counts are equal or not: nothing is left to chance */
	struct assay_gate_report r = { .alpha = cmp->n_cases ? cmp->alpha : NAN,
				       .comparison_id = cmp->id,
				       .rule = ASSAY_JUDGE_RULE,
				       .seconds = NAN,
				       .verdict = ASSAY_PASS };
	int rc = 0;

	snprintf(r.base, sizeof(r.base), "%s", cmp->base);
	snprintf(r.head, sizeof(r.head), "%s", cmp->head);
	memcpy(r.fitness, cmp->fitness, sizeof(r.fitness));
	for (int side = 0; side < 2; side++) {
		memcpy(r.revision[side].hash, cmp->build[side].commit, sizeof(r.revision[side].hash));
		r.revision[side].dirty = cmp->build[side].dirty;
	}
	if (cmp->ended_ns > cmp->started_ns)
		r.seconds = (double)(cmp->ended_ns - cmp->started_ns) * 1e-9;
	r.controls = calloc(cmp->n_cases + 1, sizeof(*r.controls));
	if (!r.controls)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging the comparison with '%.200s'",
				     cmp->base);
	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		rc = judge_case(cmp, &cmp->cases[i], policy, how->countable, &r, err);
	if (r.untrusted)
		distrust(&r);
	if (!rc)
		rc = judge_counts(cmp, policy, how->strict, &r, err);
	if (!rc)
		rc = judge_counted_limits(cmp, policy, &r, err);
	if (!rc)
		rc = judge_missing(cmp, &r, err);
	if (rc) {
		assay_gate_report_release(&r);
		return rc;
	}
	assay_rows_sum(&r, 0, how->strict);
	if (how->suspects_fail)
		assay_rows_fail_suspects(&r);
	if (!r.n_cases) {
		r.verdict = ASSAY_NOT_MEASURED;
		r.exit = ASSAY_EXIT_NOT_MEASURED;
	}
	*out = r;
	return 0;
}

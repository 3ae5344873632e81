/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of pairs come from the judge; counts of a side are brought to one, the median over its pairs. */
#include "drive/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison_judge.h"
#include "judge/function_blame.h"

static int add_metric(const struct assay_comparison_case *c, enum assay_side side, const struct assay_metric *m,
		      struct assay_result *out)
{
	struct assay_metric *grown = realloc(out->metrics, (out->n_metrics + 1) * sizeof(*grown));

	if (!grown)
		return ASSAY_ENOMEM;
	out->metrics = grown;
	grown += out->n_metrics++;
	*grown = *m;
	return assay_comparison_metric(c, side, m->tag, &grown->value, NULL);
}

static int add_count(const struct assay_comparison_case *c, enum assay_side side, const struct assay_count *first,
		     struct assay_result *out)
{
	struct assay_count count = *first;

	if (assay_comparison_metric(c, side, first->name, &count.value, NULL))
		return ASSAY_ENOMEM;
	return assay_counters_add(&out->counters, &count);
}

static int gather_counted(const struct assay_comparison_case *c, enum assay_side side, struct assay_result *out)
{
	int rc = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_result *s = &c->pairs[i].side[side];

		for (size_t k = 0; k < s->n_metrics && !rc; k++)
			if (!assay_result_metric(out, s->metrics[k].tag))
				rc = add_metric(c, side, &s->metrics[k], out);
		for (size_t k = 0; k < s->counters.n && !rc; k++)
			if (!assay_counters_find(&out->counters, s->counters.v[k].name))
				rc = add_count(c, side, &s->counters.v[k], out);
	}
	return rc;
}

/* Counters that no pair of the side has. */
static int gather_missing(const struct assay_comparison_case *c, enum assay_side side, struct assay_result *out)
{
	int rc = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_counters *from = &c->pairs[i].side[side].counters;

		for (size_t k = 0; k < from->n_missing && !rc; k++) {
			const struct assay_unavailable *u = &from->missing[k];

			if (!assay_result_metric(out, u->name) && !assay_counters_find(&out->counters, u->name) &&
			    !assay_counters_find_missing(&out->counters, u->name))
				rc = assay_counters_add_missing(&out->counters, u->name, u->source, u->reason);
		}
	}
	return rc;
}

static int read_counts(const struct assay_comparison_case *c, struct assay_pair *out)
{
	int rc = 0;

	for (int side = 0; side < 2 && !rc; side++) {
		rc = gather_counted(c, (enum assay_side)side, &out->side[side]);
		if (!rc)
			rc = gather_missing(c, (enum assay_side)side, &out->side[side]);
	}
	return rc;
}

/* The same of the metric of a program, which has one value in a pair. */
static int read_metric_pair(const struct assay_pair *p, const char *metric, struct assay_pair_reading *out)
{
	struct assay_pair copy = *p;
	const struct assay_comparison_case one = { .pairs = &copy, .n_pairs = 1 };
	struct assay_paired_readings r;
	int rc = assay_paired_readings(&one, metric, &r, NULL);

	*out = (struct assay_pair_reading){ .ratio = !rc && r.n ? exp(r.mean) : NAN };
	return rc;
}

/* A pair of which a side is not ok has no estimate. */
static int read_pair(const struct assay_pair *p, struct assay_pair_reading *out)
{
	double *tmp = malloc((ASSAY_PAIR_TMP * p->n_blocks + 1) * sizeof(*tmp));

	*out = (struct assay_pair_reading){ .ratio = NAN };
	if (!tmp)
		return ASSAY_ENOMEM;
	if (p->side[ASSAY_BASE].status == ASSAY_STATUS_OK && p->side[ASSAY_HEAD].status == ASSAY_STATUS_OK) {
		struct assay_pair_estimate e = assay_pair_estimate(p, tmp);

		out->ratio = e.usable ? exp(e.log_ratio) : NAN;
		out->n_dropped = e.n_dropped;
	}
	free(tmp);
	return 0;
}

static int read_case(const struct assay_comparison_case *c, struct assay_case_reading *out, struct assay_err *err)
{
	char metric[ASSAY_METRIC_TAG_MAX];
	struct assay_paired_readings r;
	bool of_time;
	int rc;

	/* of several, the first stands for the case */
	assay_comparison_judged(c, 0, metric);
	of_time = !strcmp(metric, "time_s");
	rc = assay_paired_readings(c, metric, &r, err);
	if (rc)
		return rc;
	out->pairs = calloc(c->n_pairs + 1, sizeof(*out->pairs));
	if (!out->pairs)
		return ASSAY_ENOMEM;
	for (size_t i = 0; i < c->n_pairs && !rc; i++)
		rc = of_time ? read_pair(&c->pairs[i], &out->pairs[i])
			     : read_metric_pair(&c->pairs[i], metric, &out->pairs[i]);
	out->n_used = r.n;
	out->ratio = r.n ? exp(r.mean) : NAN;
	out->sd = r.n > 1 ? r.sd : NAN;
	return rc ? rc : read_counts(c, &out->counted);
}

/* Undecided cases, and the function that the change lies in. */
static int read_verdict(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
			const struct assay_policy *policy, struct assay_case_reading *out, struct assay_err *err)
{
	struct assay_paired_rule rule = assay_comparison_rule(cmp, c, policy);
	struct assay_gate_case verdict;
	bool final;
	int rc;

	assay_comparison_judged(c, 0, rule.metric);
	rc = assay_paired_judge(c, &rule, &verdict, &final, err);

	if (!rc && verdict.verdict == ASSAY_INCONCLUSIVE)
		snprintf(out->undecided, sizeof(out->undecided), "%s", verdict.reason);
	if (rc || !c->because || c->control != ASSAY_CONTROL_NONE || !assay_function_blame_applies(c, &verdict))
		return rc;
	return assay_function_blame(c, &verdict, &out->because, err);
}

int assay_comparison_read(const struct assay_comparison *cmp, struct assay_case_reading **out, struct assay_err *err)
{
	struct assay_case_reading *v = calloc(cmp->n_cases + 1, sizeof(*v));
	struct assay_policy policy = assay_policy_default();
	/* a policy that this version cannot read leaves the numbers, and no verdicts */
	bool known = !cmp->policy || !assay_policy_parse(&policy, cmp->policy, "the stored policy", NULL);
	int rc = v ? 0 : ASSAY_ENOMEM;

	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		rc = read_case(&cmp->cases[i], &v[i], err);
		if (!rc && known)
			rc = read_verdict(cmp, &cmp->cases[i], &policy, &v[i], err);
	}
	assay_policy_release(&policy);
	if (rc) {
		assay_case_readings_release(v, cmp->n_cases);
		return assay_err_set(err, rc, "out of memory for the pairs of the comparison");
	}
	*out = v;
	return 0;
}

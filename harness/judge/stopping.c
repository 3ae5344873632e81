/* SPDX-License-Identifier: Apache-2.0 */
/* When a case stops taking pairs: once its verdict is final, else when its time is spent. */
#include "judge/stopping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/paired.h"
#include "stats/sequential.h"

#define FIRST_LOOK_BUDGETS 4
#define SUSPECT_BUDGETS    2
/* Of a budget: the next look is at most a fifth away, four to an octave. */
#define NEXT_LOOK_BUDGETS 0.25
#define KIND_SPREAD       0.5
#define KIND_ERRORS       1.5
/* A pair that was not kept took time as well, and is not stored: for so many at least there was time. */
#define LEFT_PAIRS 2

bool assay_stopping_wants_pairs(const struct assay_comparison_case *c)
{
	return c->in_head && !c->reason[0];
}

/* The average time of a pair; a pair that was not kept took time of the budget and tells nothing of the others. */
static uint64_t pair_ns(const struct assay_comparison_case *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n_pairs; i++)
		sum += c->pairs[i].wall_ns;
	return sum / c->n_pairs;
}

/* How many budgets a case may take once a slowdown can be seen. */
static uint64_t budgets_of(const struct assay_paired_rule *rule, bool suspect)
{
	return suspect && rule->budgets < SUSPECT_BUDGETS ? SUSPECT_BUDGETS : rule->budgets;
}

/* Pairs like those so far that fit into the time that is left, or the last that are needed for the first look. */
static size_t pairs_to_come(const struct assay_comparison_case *c, const struct assay_paired_rule *rule, bool suspect,
			    uint64_t spent_ns, uint64_t budget_ns)
{
	const size_t first = assay_sequential_first_look(rule->alpha_regressed, rule->max_pairs);
	const uint64_t all = budgets_of(rule, suspect) * budget_ns, left = all > spent_ns ? all - spent_ns : 0,
		       each = pair_ns(c);
	const size_t n = each ? left / each : rule->max_pairs;

	return c->n_pairs + n < first ? first - c->n_pairs : n;
}

bool assay_stopping_out_of_time(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
				bool suspect, uint64_t spent_ns, uint64_t budget_ns)
{
	uint64_t budgets = budgets_of(rule, suspect);

	if (c->n_pairs < assay_sequential_first_look(rule->alpha_regressed, rule->max_pairs) &&
	    budgets < FIRST_LOOK_BUDGETS)
		budgets = FIRST_LOOK_BUDGETS;
	return spent_ns + pair_ns(c) > budgets * budget_ns;
}

uint64_t assay_stopping_most_ns(const struct assay_comparison *cmp)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < cmp->n_cases; i++)
		if (assay_stopping_wants_pairs(&cmp->cases[i]))
			ns += cmp->budget_ns * (cmp->cases[i].control != ASSAY_CONTROL_NONE
							? ASSAY_PAIRED_CONTROL_BUDGETS
							: FIRST_LOOK_BUDGETS);
	return ns;
}

int assay_stopping_hopeless(const struct assay_comparison_case *c, const struct assay_paired_rule *rule, bool passes,
			    size_t n_more, bool *hopeless, struct assay_err *err)
{
	const struct assay_sequential_rule sr = assay_paired_sequential(rule);
	const double margin = log1p(rule->margin_frac);
	struct assay_paired_readings r;
	double shift, to_pass, to_differ;
	size_t all;
	int rc = assay_paired_readings(c, rule->metric, &r, err);

	*hopeless = false;
	if (rc || r.n < assay_sequential_first_look(rule->alpha_pass, rule->max_pairs))
		return rc;
	all = r.n + n_more < rule->max_pairs ? r.n + n_more : rule->max_pairs;
	shift = KIND_ERRORS * r.sd * sqrt(1 / (double)r.n - 1 / (double)all);
	to_pass = assay_sequential_half_width(KIND_SPREAD * r.sd, all, sr.alpha_upper, &sr);
	to_differ = assay_sequential_half_width(r.sd, all, sr.alpha_lower, &sr);
	*hopeless = (passes || to_pass > 2 * margin || r.mean - shift + to_pass > margin) &&
		    fabs(r.mean) + shift - to_differ <= margin;
	return 0;
}

/* Does the interval decide already, though nothing counts before the next look? A control has time enough. */
static bool awaits_look(const struct assay_gate_case *v, const struct assay_paired_rule *rule)
{
	return v->verdict == ASSAY_INCONCLUSIVE && rule->budgets == 1 && isfinite(v->ci_lo) &&
	       v->pairs >= assay_sequential_first_look(rule->alpha_regressed, rule->max_pairs) &&
	       assay_paired_interval_decides(v, rule);
}

/* The time that @c, judged as @v, may spend once a slowdown can be seen. */
static uint64_t budget_of(const struct assay_comparison *cmp, const struct assay_gate_case *v,
			  const struct assay_paired_rule *rule)
{
	return cmp->budget_ns + (awaits_look(v, rule) ? (uint64_t)(NEXT_LOOK_BUDGETS * (double)cmp->budget_ns) : 0);
}

/* About one metric. */
static int ask_one(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		   const struct assay_paired_rule *rule, uint64_t spent_ns, bool *stop, struct assay_err *err)
{
	struct assay_gate_case verdict;
	bool final, hopeless = false;
	uint64_t budget_ns;
	size_t n_more;
	int rc = assay_paired_judge(c, rule, &verdict, &final, err);

	budget_ns = budget_of(cmp, &verdict, rule);
	n_more = pairs_to_come(c, rule, verdict.suspect, spent_ns, budget_ns);
	if (!rc && !final)
		rc = assay_stopping_hopeless(c, rule, verdict.verdict == ASSAY_PASS, n_more, &hopeless, err);
	if (!rc)
		*stop = final || hopeless || assay_stopping_out_of_time(c, rule, verdict.suspect, spent_ns, budget_ns);
	return rc;
}

int assay_stopping_ask(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		       const struct assay_policy *policy, uint64_t spent_ns, bool *stop, struct assay_err *err)
{
	struct assay_paired_rule rule = assay_comparison_rule(cmp, c, policy);
	bool all = true;
	int rc = 0;

	*stop = !assay_stopping_wants_pairs(c);
	/* A new case without pairs would pass as decided. */
	if (*stop || !c->n_pairs)
		return 0;
	for (size_t i = 0; !rc && assay_comparison_judged(c, i, rule.metric); i++) {
		bool one = false;

		rc = ask_one(cmp, c, &rule, spent_ns, &one, err);
		all &= one;
	}
	*stop = all;
	return rc;
}

int assay_stopping_tell(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
			const struct assay_paired_rule *rule, struct assay_gate_case *v, struct assay_err *err)
{
	const size_t len = strlen(v->reason);
	uint64_t spent_ns;
	size_t n_more;
	bool hopeless;
	int rc;

	if (v->verdict != ASSAY_INCONCLUSIVE || !c->n_pairs || c->n_pairs >= rule->max_pairs)
		return 0;
	spent_ns = c->n_pairs * pair_ns(c);
	n_more = pairs_to_come(c, rule, v->suspect, spent_ns, budget_of(cmp, v, rule));
	if (n_more > rule->max_pairs - c->n_pairs)
		n_more = rule->max_pairs - c->n_pairs;
	rc = assay_stopping_hopeless(c, rule, false, n_more, &hopeless, err);
	if (!rc && hopeless && n_more >= LEFT_PAIRS)
		snprintf(v->reason + len, sizeof(v->reason) - len,
			 "; stopped after %.0f s, since the %zu pairs left in the budget would not decide it",
			 ceil((double)spent_ns * 1e-9), n_more);
	return rc;
}

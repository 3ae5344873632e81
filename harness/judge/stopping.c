/* SPDX-License-Identifier: Apache-2.0 */
/* When a case stops taking pairs: once its verdict is final, else when its time is spent. */
#include "judge/stopping.h"

#include "judge/comparison_judge.h"
#include "stats/sequential.h"

#define FIRST_LOOK_BUDGETS 4

bool assay_stopping_wants_pairs(const struct assay_comparison_case *c)
{
	return c->in_head && !c->reason[0];
}

bool assay_stopping_out_of_time(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
				uint64_t spent_ns, uint64_t budget_ns)
{
	uint64_t next = spent_ns + spent_ns / (c->n_pairs ? c->n_pairs : 1);

	if (c->n_pairs < assay_sequential_first_look(rule->alpha_regressed, rule->max_pairs))
		return next > FIRST_LOOK_BUDGETS * budget_ns;
	return next > budget_ns;
}

int assay_stopping_ask(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		       const struct assay_policy *policy, uint64_t spent_ns, bool *stop, struct assay_err *err)
{
	const struct assay_paired_rule rule = assay_comparison_rule(cmp, c, policy);
	struct assay_gate_case verdict;
	bool final;
	int rc;

	*stop = !assay_stopping_wants_pairs(c);
	/* A new case without pairs would pass as decided. */
	if (*stop || !c->n_pairs)
		return 0;
	rc = assay_paired_judge(c, &rule, &verdict, &final, err);
	if (!rc)
		*stop = final || assay_stopping_out_of_time(c, &rule, spent_ns, cmp->budget_ns);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rates and margin from the comparison and the policy. */
#include "judge/comparison_rule.h"

#include <inttypes.h>
#include <stdio.h>

#define SAME_CODE_PAIRS 5 /* to show what the noise is, where that is asked for */

struct assay_paired_rule assay_comparison_rule(const struct assay_comparison *cmp,
					       const struct assay_comparison_case *c, const struct assay_policy *policy)
{
	unsigned family = c->control == ASSAY_CONTROL_NONE ? cmp->family : 1;
	struct assay_paired_rule rule =
		assay_paired_rule_of(cmp->alpha, policy->pass_alpha, family, assay_policy_paired_margin(policy, &c->c),
				     policy->max_dropped_frac, cmp->max_pairs);

	rule.same_code_pairs = cmp->same_code ? SAME_CODE_PAIRS : 1;
	if (c->control != ASSAY_CONTROL_NONE && !cmp->trial)
		rule.budgets = ASSAY_PAIRED_CONTROL_BUDGETS;
	return rule;
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

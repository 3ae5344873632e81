/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a comparison has measured a case enough. It reads no clock: the caller says how much time was spent. Everything
 * here is part of the rule whose version is ASSAY_JUDGE_RULE.
 */
#ifndef ASSAY_JUDGE_STOPPING_H
#define ASSAY_JUDGE_STOPPING_H

#include "judge/paired.h"
#include "judge/policy.h"

/* The number of pairs up to which the looks of a comparison share the error. */
#define ASSAY_STOPPING_MAX_PAIRS 64

/*
 * Is there anything to measure about @c? A case that is new in the head gets one pair of the head with itself, which
 * shows that it is right and what its metrics are. A case that the head lacks, or that cannot be measured for a known
 * reason, gets none.
 */
bool assay_stopping_wants_pairs(const struct assay_comparison_case *c);

/*
 * Would one more pair like those of @c, which has at least one, take it beyond its time? @spent_ns is what the case
 * took so far, including pairs that were not kept. A case has one budget, a @suspect two. Before a slowdown can be
 * seen, four are allowed, because within one budget a case with long pairs could pass but never fail. A control has
 * eight.
 */
bool assay_stopping_out_of_time(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
				bool suspect, uint64_t spent_ns, uint64_t budget_ns);
/* The longest time that all cases and controls of @cmp together may take by this, except for their last pairs. */
uint64_t assay_stopping_most_ns(const struct assay_comparison *cmp);

/*
 * Can @n_more pairs in addition to those of @c not decide it any more? The benefit of the doubt: the mean of all may
 * end one and a half standard errors from where it is. A pass would need an interval of at most twice the margin, if
 * the spread were only half of what it seems; anything else needs an interval that leaves the margin. A case that
 * @passes as it stands goes on only as long as it may be shown to be faster. False before the first look at a pass.
 * ASSAY_ENOMEM.
 */
int assay_stopping_hopeless(const struct assay_comparison_case *c, const struct assay_paired_rule *rule, bool passes,
			    size_t n_more, bool *hopeless, struct assay_err *err);

/*
 * Ask this about a case of @cmp before its first pair and after each: *stop is set if the case is decided, has had all
 * pairs that share the error, is out of time, cannot be decided in the time that is left, or is not to be measured at
 * all. @spent_ns: see above. ASSAY_ENOMEM.
 */
int assay_stopping_ask(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		       const struct assay_policy *policy, uint64_t spent_ns, bool *stop, struct assay_err *err);
/*
 * If the case was given up undecided, although it had time left that could not decide it, say so in the reason of @v,
 * the verdict on @c. ASSAY_ENOMEM.
 */
int assay_stopping_tell(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
			const struct assay_paired_rule *rule, struct assay_gate_case *v, struct assay_err *err);

#endif

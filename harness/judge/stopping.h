/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a comparison has measured enough of a case. It reads no clock: whoever measures says how much time was spent.
 * What is here belongs to the rule whose version is ASSAY_JUDGE_RULE.
 */
#ifndef ASSAY_JUDGE_STOPPING_H
#define ASSAY_JUDGE_STOPPING_H

#include "judge/paired.h"
#include "judge/policy.h"

/* Pairs that the looks of a comparison are paid for up to. */
#define ASSAY_STOPPING_MAX_PAIRS 64

/*
 * Is there anything to measure of @c? One that is new in the head gets a pair of the head with itself, which shows that
 * it is right and what its metrics are. What the head lacks, and what cannot be measured for a known reason, gets none.
 */
bool assay_stopping_wants_pairs(const struct assay_comparison_case *c);

/*
 * Would one more pair like those of @c, which has one at least, take it beyond its time? @spent_ns is what the case
 * took so far, pairs that were not kept included. A case has one budget, a @suspect two. Before a slowdown can be seen,
 * four are allowed: a case with long pairs could pass, and never fail, within one. A control has eight.
 */
bool assay_stopping_out_of_time(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
				bool suspect, uint64_t spent_ns, uint64_t budget_ns);
/* The longest that the cases and controls of @cmp together may take by this, but for their last pairs. */
uint64_t assay_stopping_most_ns(const struct assay_comparison *cmp);

/*
 * Is it out of reach that @n_more pairs beside those of @c decide it? Judged kindly: the mean of all may end one and a
 * half standard errors from where it is. A pass would need an interval of at most twice the margin, were the spread
 * only half of what it seems; anything else an interval that leaves the margin. What @passes as it stands goes on only
 * while it may be shown to be faster. False before the first look at a pass. ASSAY_ENOMEM.
 */
int assay_stopping_hopeless(const struct assay_comparison_case *c, const struct assay_paired_rule *rule, bool passes,
			    size_t n_more, bool *hopeless, struct assay_err *err);

/*
 * To be asked of a case of @cmp before its first pair and after each: *stop when it is decided, has had all pairs that
 * are paid for, is out of time, cannot be decided in the time that is left, or is not to be measured at all. @spent_ns:
 * see above. ASSAY_ENOMEM.
 */
int assay_stopping_ask(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		       const struct assay_policy *policy, uint64_t spent_ns, bool *stop, struct assay_err *err);
/*
 * Says in the reason of @v, the verdict on @c, that it was given up, where it is undecided and had time left that could
 * not decide it. ASSAY_ENOMEM.
 */
int assay_stopping_tell(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
			const struct assay_paired_rule *rule, struct assay_gate_case *v, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* By which rates and margin the cases of a comparison are judged. */
#ifndef ASSAY_JUDGE_COMPARISON_RULE_H
#define ASSAY_JUDGE_COMPARISON_RULE_H

#include "judge/paired.h"
#include "judge/policy.h"

/*
 * One sentence when @cmp was judged by another version of the rule than this program's; else "". @verdict is the stored
 * one, "" of a comparison that did not finish.
 */
void assay_comparison_rule_note(const struct assay_comparison *cmp, const char *verdict, char *buf, size_t size);

/* The rule for one case or control of @cmp. Controls stand alone; real cases share alpha. */
struct assay_paired_rule assay_comparison_rule(const struct assay_comparison *cmp,
					       const struct assay_comparison_case *c,
					       const struct assay_policy *policy);

#endif

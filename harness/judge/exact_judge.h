/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts against recorded ones, or against those of another build: equal within a written tolerance, or not. */
#ifndef ASSAY_JUDGE_EXACT_JUDGE_H
#define ASSAY_JUDGE_EXACT_JUDGE_H

#include "judge/limits.h"
#include "judge/policy.h"
#include "model/exact.h"
#include "model/gate_report.h"

struct assay_exact_judge_input {
	const struct assay_exact_run *head;
	const struct assay_exact_run *base; /* NULL: none to compare with */
	const char *no_base_reason;         /* then: why, and what to do */
	const char *base_name;              /* for sentences: "baselines/exact/quick.json" */
	const char *record; /* the command that replaces the base, where it is a record; NULL: another build */
	const struct assay_policy *policy;
	bool limits;          /* also what the policy demands: counts are all that is judged, see judge/limits.h */
	bool nothing_counted; /* of the head: then what was skipped of it alone is NOT_MEASURED, too */
	bool strict;
};

/*
 * Add a row for every count of a case that differs by more than the policy allows (metric "exact_…", REGRESSED when
 * there is more of it; when there is less, IMPROVED against another build, and INCOMPARABLE against a record, which
 * does not describe the code any more; the reason names the functions), one PASS for a case without any. NOT_MEASURED
 * for a case that only the base has or that could not be counted (one that is skipped and not in the base, or there as
 * well, passes), INCOMPARABLE for one that could not be counted in the base, and for all where there is no base,
 * WRONG_RESULT for one that is wrong or whose output is not the base's. Verdict and exit of @report become the graver
 * of theirs and these. 0 or ASSAY_ENOMEM.
 */
int assay_exact_judge(const struct assay_exact_judge_input *in, struct assay_gate_report *report,
		      struct assay_err *err);

/* What is known of @metric, which is of exact counts, in the case @key of @head and @base, which may be NULL. */
void assay_exact_limit_facts(const struct assay_exact_run *head, const struct assay_exact_run *base, const char *key,
			     const char *metric, struct assay_limit_facts *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts against recorded ones, or against those of another build: equal within a written tolerance, or not. */
#ifndef ASSAY_JUDGE_EXACT_JUDGE_H
#define ASSAY_JUDGE_EXACT_JUDGE_H

#include "judge/limits.h"
#include "judge/manifest.h"
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
	bool limits; /* also what the policy demands: counts are all that is judged, see judge/limits.h */
	const struct assay_manifest
		*suite;              /* with limits: its cases owe that though they were not counted; NULL: unknown */
	const struct assay_run *run; /* then: a run of the suite, whose cases owe likewise; NULL: unknown */
	bool nothing_counted;        /* of the head: then what was skipped of it alone is NOT_MEASURED, too */
	bool strict;
};

/*
 * Add rows for the cases of the head, and for those that only the base has:
 * - for each count (metric "exact_…") that differs by more than the policy allows. More is REGRESSED. Less is IMPROVED
 *   against another build, and INCOMPARABLE against a record, which then does not describe the code. The reason names
 *   the functions.
 * - PASS where no count differs, and where a case is skipped that the base did not count either, or, against a record,
 *   that this machine cannot run at all.
 * - NOT_MEASURED where only the base has the case, or where it could not be counted.
 * - INCOMPARABLE where it could not be counted in the base, was counted there in another way, or there is no base.
 * - WRONG_RESULT where it is wrong, or its output is not the base's.
 *
 * Verdict and exit of @report become the graver of theirs and these. 0 or ASSAY_ENOMEM.
 */
int assay_exact_judge(const struct assay_exact_judge_input *in, struct assay_gate_report *report,
		      struct assay_err *err);

/* The facts about @metric, which is of exact counts, in the case @key of @head and @base, which may be NULL. */
void assay_exact_limit_facts(const struct assay_exact_run *head, const struct assay_exact_run *base, const char *key,
			     const char *metric, struct assay_limit_facts *out);

#endif

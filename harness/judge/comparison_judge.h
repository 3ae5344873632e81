/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a whole comparison from its stored samples: while it runs, when it ends, and when it is replayed years later.
 */
#ifndef ASSAY_JUDGE_COMPARISON_JUDGE_H
#define ASSAY_JUDGE_COMPARISON_JUDGE_H

#include "judge/paired.h"
#include "judge/limits.h"
#include "model/gate_report.h"

struct assay_comparison_judging {
	bool strict;                             /* what is undecided fails */
	bool suspects_fail;                      /* of what is undecided, a suspect does */
	const struct assay_countable *countable; /* what may be counted, for reasons; NULL: nothing is said of it */
};

/*
 * Verdicts of all cases: time by pairs and what the policy demands of the head (limits.h), then exact counts
 * (exact_judge.h), the controls and the whole. ASSAY_ENOMEM: @out is unchanged.
 * - When a control failed, verdicts by time become INCONCLUSIVE.
 * - An unfinished comparison is judged as far as it came: cases without a pair are NOT_MEASURED. One row, "comparison
 *   ID", is so where fewer cases are stored than cmp->family, and the whole where there is no row.
 * - With counts and without cases, only counts were asked for. Without cases, out->alpha is NaN.
 */
int assay_comparison_judge(const struct assay_comparison *cmp, const struct assay_policy *policy,
			   const struct assay_comparison_judging *how, struct assay_gate_report *out,
			   struct assay_err *err);

/* Median over the pairs of a metric or count of one side; NaN when none has it. ASSAY_ENOMEM. */
int assay_comparison_metric(const struct assay_comparison_case *c, enum assay_side side, const char *tag,
			    double *median, struct assay_err *err);

#endif

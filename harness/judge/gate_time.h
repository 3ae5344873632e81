/* SPDX-License-Identifier: Apache-2.0 */
/* Is a case slower than it was? Holds digests and times of a run against the stored runs of a baseline. */
#ifndef ASSAY_JUDGE_GATE_TIME_H
#define ASSAY_JUDGE_GATE_TIME_H

#include "judge/policy.h"
#include "judge/segment.h"
#include "model/gate_report.h"
#include "model/result.h"

/* Fill the first six, then begin. */
struct assay_gate_time {
	const struct assay_run *run;
	const struct assay_run *const *base; /* runs of the baseline; empty: none */
	size_t n_base;
	const struct assay_segment *segments; /* NULL: times are held against @base, too */
	const char *no_base_reason;           /* when n_base is 0 */
	const struct assay_policy *policy;

	char incomparable[384];            /* why the baseline cannot be used at all; empty: it can */
	bool no_baseline;                  /* there is none, or it has none of the cases of this run */
	double error;                      /* of each side of each interval */
	struct assay_stored_point *points; /* one for each base run, malloc'ed */
};

/* ASSAY_ENOMEM. Release in either case. */
int assay_gate_time_begin(struct assay_gate_time *t, struct assay_err *err);
void assay_gate_time_release(struct assay_gate_time *t);

/* Add the rows of @r, a right result of the run. ASSAY_ENOMEM. */
int assay_gate_time_judge(struct assay_gate_time *t, const struct assay_result *r, struct assay_gate_report *out,
			  struct assay_err *err);

/*
 * Call this when all rows are there. Code that is the same as in the baseline is the control of the others: if many of
 * its times moved in the same direction, the machine moved, and such times say nothing about a program.
 */
void assay_gate_time_believe_unchanged(struct assay_gate_report *r);

/*
 * The median over the runs of the baseline of a metric or count of the case @key; NaN where none has it, or the
 * baseline cannot be used. ASSAY_ENOMEM.
 */
int assay_gate_time_metric(const struct assay_gate_time *t, const char *key, const char *metric, double *median,
			   struct assay_err *err);

#endif

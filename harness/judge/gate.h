/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: a run against manifest, policy and a stored baseline. Pure: takes structs, gives verdicts. */
#ifndef ASSAY_JUDGE_GATE_H
#define ASSAY_JUDGE_GATE_H

#include "judge/limits.h"
#include "judge/manifest.h"
#include "judge/policy.h"
#include "judge/stored.h"
#include "model/gate_report.h"
#include "model/result.h"

/* All pointers but base, other_manifests and the names are required. */
struct assay_gate_input {
	const struct assay_run *run;
	const struct assay_manifest *manifest;
	const struct assay_policy *policy;
	const struct assay_run *const *base; /* runs of the baseline; empty: none */
	size_t n_base;
	/* One for each result of the run: its time is held against these, and all else against @base. NULL: no. */
	const struct assay_segment *segments;
	const struct assay_gone *gone; /* what the runs of the segments have beside; for imported runs */
	size_t n_gone;
	const char *base_name;
	const char *no_base_reason; /* when n_base is 0 */
	bool allow_no_baseline;     /* then its absence does not count for the exit code */
	bool strict, suspects_fail;

	/*
	 * Manifests of the other suites: one policy serves all of them, so a glob that selects nothing here is right as
	 * long as it selects a case of another suite.
	 */
	const struct assay_manifest *const *other_manifests;
	size_t n_other_manifests;
	/* The events that a run can count on request, beside those that the cases of this one have; NULL: unknown. */
	const struct assay_countable *countable;
	/*
	 * The number of threads that `all` meant in the run. 1: manifest lines with t=all are met by t=1. 0: unknown.
	 */
	unsigned all_threads;
};

/*
 * One row a case and finding, results first in their order, then cases that are missing, then "run ID" where the run
 * did not finish, which is NOT_MEASURED. Missing are cases of the manifest, and of an imported run without a manifest
 * what the baseline, or any run of the segments, measured. Metric "status" is whether the case was measured and is
 * right; "digest" the bits of an exact op against the baseline; "time_s" the time against the baseline; any other a
 * floor or ceiling. Without a baseline (also one that has none of these cases) every time is INCOMPARABLE and
 * @out->no_baseline is set.
 *
 * ASSAY_EUSAGE with "file:line: …" when the policy names a case that no manifest and not the run has, or a metric that
 * none of the measured cases it selects has and no run could count. On error @out is unchanged; on success the caller
 * releases it.
 */
int assay_gate_judge(const struct assay_gate_input *in, struct assay_gate_report *out, struct assay_err *err);

/* ---- gate time ---- */

/* Is a case slower than it was? Holds digests and times of a run against the stored runs of a baseline. */

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two files of the gate share: gate.c has presence, limits and the sum, gate_time.c the comparison with the
 * baseline.
 */
#ifndef ASSAY_JUDGE_GATE_PARTS_H
#define ASSAY_JUDGE_GATE_PARTS_H

#include "judge/gate.h"
#include "judge/stored.h"

struct assay_judging {
	const struct assay_gate_input *in;
	struct assay_gate_report report;
	size_t cap;
	char incomparable[384];            /* why the baseline cannot be used at all; empty: it can */
	double error;                      /* of each side of each interval */
	struct assay_stored_point *points; /* one for each base run */
	bool failed;                       /* out of memory */
};

/* A row that says PASS and nothing else yet; NULL when out of memory. */
struct assay_gate_case *assay_gate_row(struct assay_judging *j, const char *key, const char *metric,
				       enum assay_evidence evidence);
void assay_gate_finding(struct assay_judging *j, const char *key, const char *metric, enum assay_evidence evidence,
			enum assay_verdict verdict, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
bool assay_gate_right(const struct assay_result *r);
/* NULL when the run has no such case. */
const struct assay_result *assay_gate_result_of(const struct assay_run *run, const char *key);

/* Another machine or other inputs: no time of it may be compared. */
void assay_gate_check_baseline(struct assay_judging *j);
/* Cases of the run that the baseline has. */
size_t assay_gate_count_comparable(struct assay_judging *j);
/* Digest and time of a case against the baseline. */
void assay_gate_judge_baseline(struct assay_judging *j, const struct assay_result *r);
/*
 * Code that is the same as in the baseline is the control of the others: where many of its times moved in the same
 * @direction (+1 slower, -1 faster), the machine did it, and such times say nothing about a program.
 */
void assay_gate_believe_unchanged(struct assay_judging *j, int direction);

#endif

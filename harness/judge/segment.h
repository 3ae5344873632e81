/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a gate without a named baseline holds a case against: its stored runs since the last change that was confirmed.
 * The first of them are a fixed point that no slow drift or step can leave unnoticed; the last show what was gained
 * since. A time is held against both. Pure functions.
 */
#ifndef ASSAY_JUDGE_SEGMENT_H
#define ASSAY_JUDGE_SEGMENT_H

#include "judge/stored.h"

#define ASSAY_SEGMENT_RUNS 20

struct assay_segment_window {
	struct assay_stored_point v[ASSAY_SEGMENT_RUNS];
	size_t n;
	bool other_code; /* a run of it did not have the machine code of the run that is judged */
};

struct assay_segment {
	struct assay_segment_window first, last; /* of one alone where both are the same runs: that is @last */
	double margin_frac;
	char since[96]; /* commit and date of the change that was confirmed; "": none was */
};

/*
 * Add @p, the next in order of time, to the first runs: without condition for the first few, later only if the gate
 * would not have failed it, so that no regression becomes its own baseline. @error is that of the gate.
 */
void assay_segment_admit(struct assay_segment *s, const struct assay_stored_point *p, bool same_code, double error);

/*
 * Did nearly all of these cases move in one direction from their first runs to their last, some of them with unchanged
 * code? Then the machine changed, and the first runs are dropped. True if that happened.
 */
bool assay_segments_follow_machine(struct assay_segment *v, size_t n, double error);

/* A case that a run measured, and the run that is judged has not. */
struct assay_gone {
	char *key;
	int64_t run_id; /* the first that has it */
};

/* The chance, on either side, that one interval of @s misses, so that all of them together have @error. */
double assay_segment_error(const struct assay_segment *s, double error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds today's time of a case against stored runs of it: an interval of the ratio, and what follows from it. Pure
 * functions.
 */
#ifndef ASSAY_JUDGE_STORED_H
#define ASSAY_JUDGE_STORED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/result.h"
#include "model/verdict.h"

/* Median time of one run of a case with its 95 % interval, any unit, and the number of samples behind it. */
struct assay_stored_point {
	double median, lo, hi;
	size_t n;
	size_t processes; /* that took them; from two on, the interval is over processes */
};

struct assay_stored_compare {
	double ratio;           /* head / base; above 1 is slower */
	double lo, hi;          /* its interval */
	double detectable_frac; /* the smallest slowdown that would have been called REGRESSED */
	double between_sd;      /* of the logarithms of the medians within a side, unbiased; 0 with one run a side */
};

/* The runs of one side, at least one. */
struct assay_stored_points {
	const struct assay_stored_point *v;
	size_t n;
};

/*
 * Compare two sides. @error is the chance, on either side of the interval, that it misses. False, and no interval, if a
 * point has fewer than two samples or no positive time, or a side has no points. harness/judge/README.md has the method
 * for one head run. If there are several, the medians of both sides decide about the spread between runs, and the head
 * gets a factor like the base.
 */
bool assay_stored_compare(struct assay_stored_points head, struct assay_stored_points base, double error,
			  double margin_frac, struct assay_stored_compare *out);
/* The point of a right result with samples. */
struct assay_stored_point assay_stored_point_of(const struct assay_result *r);

/* REGRESSED, IMPROVED, PASS or INCONCLUSIVE, from an interval of the ratio and the margin alone. */
enum assay_verdict assay_stored_verdict(double lo, double hi, double margin_frac);

/* ---- segment ---- */

/*
 * What a gate without a named baseline holds a case against: its stored runs since the last change that was confirmed.
 * The first of them are a fixed point that no slow drift or step can leave unnoticed; the last show what was gained
 * since. A time is held against both. Pure functions.
 */

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

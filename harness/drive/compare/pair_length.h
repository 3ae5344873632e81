/* SPDX-License-Identifier: Apache-2.0 */
/* How long the process pairs of a case sample. Pure. */
#ifndef ASSAY_DRIVE_COMPARE_PAIR_LENGTH_H
#define ASSAY_DRIVE_COMPARE_PAIR_LENGTH_H

#include <stddef.h>

#include "model/comparison.h"

/* Of the first pair: enough blocks of calls of some milliseconds to see how they spread. */
#define ASSAY_PAIR_LENGTH_FIRST_NS 80000000.0

/* What the pairs of a case have shown. Times in ns, spreads in logarithms. */
struct assay_pair_shown {
	size_t n;        /* usable pairs that count */
	double sd;       /* between them */
	double own;      /* the part of it that their own blocks explain */
	double rest_ns;  /* what the last pair took for all but its samples */
	double least_ns; /* what samples take at least, see assay_pair_length_least_ns() */
};

/* What the pair took for all but its turns, which took @sampling_ns, or as long as its samples where calls are long. */
double assay_pair_length_rest_ns(const struct assay_pair *p, double sampling_ns);
/* The samples of a block of @p; 0: it has none. */
double assay_pair_length_block_ns(const struct assay_pair *p);

/* Enough blocks like those of @p; @slices: of calls in slices. */
double assay_pair_length_least_ns(const struct assay_pair *p, bool slices);

/* How long the first pair of divided calls samples, whose turns, or with @slices calls in slices, take @turn_ns. */
double assay_pair_length_divided(double turn_ns, bool slices, double budget_ns);
/*
 * After the first pair with samples, which sampled for @now_ns and has shown @first, its own noise among it: how long
 * the next one samples.
 */
double assay_pair_length_learnt(double now_ns, const struct assay_pair_shown *first, double margin, double budget_ns);
/* May that pair count? Where its own noise is small beside @margin. */
bool assay_pair_length_first_counts(double own, double margin);
/* After a pair that sampled for @now_ns: how long the next one samples. */
double assay_pair_length_next(double now_ns, const struct assay_pair_shown *shown, double margin, double budget_ns);

#endif

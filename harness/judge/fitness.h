/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How small a change a comparison can detect, estimated from how evenly the cores calculate at this moment, and the
 * sentence that says so.
 */
#ifndef ASSAY_JUDGE_FITNESS_H
#define ASSAY_JUDGE_FITNESS_H

#include <stddef.h>

/* The number of cores that a sentence names. */
#define ASSAY_FITNESS_CORES 8

struct assay_fitness {
	double short_frac, long_frac; /* least slowdown told of calls under 1 ms, and of longer ones; NaN: not known */
	int shared[ASSAY_FITNESS_CORES]; /* CPUs that something else uses in part */
	size_t n_shared;
	const char *untold; /* why nothing is known; NULL: it is */
};

/*
 * The slowdown that a comparison with default effort would call REGRESSED with a probability of 95 %, if the pace of
 * the cores were the only disturbance: the minimum detectable change of its least number of pairs at @margin_frac.
 * @noise is the spread of the log ratio of a block of ABBA turns, @blocks their number in a pair. NaN if @noise is.
 */
double assay_fitness_told(double noise, double blocks, double margin_frac, double alpha);

/*
 * "comparisons can detect 1 % on calls under 1 ms, 3 % above; other work runs on core 1": shares are rounded up to one
 * digit. What is unknown is said to be.
 */
void assay_fitness_text(const struct assay_fitness *f, char *buf, size_t size);

#endif

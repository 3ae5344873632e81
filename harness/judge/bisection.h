/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commit of a line of commits changed a time? Pure: says with which commit the good one is compared next, takes
 * the answer, and says where the change most likely is.
 *
 * Commit 0 is the good one, commit n the bad one. Each of 1 … n may have brought the change. An answer shifts the odds
 * by what it tells (Horstein, IEEE Trans. Inf. Theory 9 (1963) 136): an answer that decides nothing shifts them little,
 * and a wrong one is overruled by those that follow.
 */
#ifndef ASSAY_JUDGE_BISECTION_H
#define ASSAY_JUDGE_BISECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The search ends when the change lies where it says with this probability. */
#define ASSAY_BISECTION_SURE 0.99

struct assay_bisection {
	size_t n;
	double change; /* logarithm of the bad time over the good one; not 0 */
	double *log_p; /* of each commit, from 1 on: how likely it brought the change; the best has 0 */
	bool *skipped; /* of each commit: it cannot be measured */
};

/* Where the change is: one of the commits from @first to @last, of which all but the last cannot be measured. */
struct assay_bisection_place {
	size_t first, last;
	double p;
};

/* ASSAY_ENOMEM. @n is 1 at least. Release in either case. */
int assay_bisection_init(struct assay_bisection *b, size_t n, double change, struct assay_err *err);
void assay_bisection_release(struct assay_bisection *b);

/* The commit that tells most, between 1 and n - 1, into *at; false: the place is sure, or nothing can be asked. */
bool assay_bisection_next(const struct assay_bisection *b, size_t *at);
/* Commit @at cannot be measured. */
void assay_bisection_skip(struct assay_bisection *b, size_t at);
/* Commit @at against the good one: the logarithm of the ratio of their times, and its standard error. */
void assay_bisection_answer(struct assay_bisection *b, size_t at, double log_ratio, double error);
struct assay_bisection_place assay_bisection_place(const struct assay_bisection *b);
/* The last of @place, compared with what is before its first, shows no such change: somewhere an answer was wrong. */
void assay_bisection_reject(struct assay_bisection *b, const struct assay_bisection_place *place);

#endif

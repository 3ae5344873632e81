/* SPDX-License-Identifier: Apache-2.0 */
/* The part that each function has in a change of time, and how sure that is: see function_blame.h. */
#ifndef ASSAY_JUDGE_FUNCTION_PARTS_H
#define ASSAY_JUDGE_FUNCTION_PARTS_H

#include "model/because_evidence.h"
#include "stats/interval.h"

#define ASSAY_BLAME_CHANCE 0.01 /* of blaming a function that did not change, in one comparison */
#define ASSAY_PARTS_MAX    256  /* no more functions can take a hundredth of either side */

struct assay_function_part {
	const struct assay_because_function *f;
	double change;      /* that it takes more, in ns */
	double even;        /* that it would, if all functions became slower, or faster, alike */
	double error;       /* standard error of that */
	double weight;      /* what is known before samples: 1, or less where it can hardly have changed */
	double probability; /* that it takes all of the change, and no other any */
};

struct assay_function_parts {
	double base_ns, whole_ns, whole_error; /* an iteration of the base as it was compared, and the head's change */
	double samples[2];
	double df;                                     /* degrees of freedom behind the errors */
	struct assay_function_part v[ASSAY_PARTS_MAX]; /* the largest change first */
	size_t n;
	size_t most; /* the part that is most probable, where there is any */
};

/*
 * Find the parts of an iteration that took @base_ns and changed to @ratio. Functions that take less than a hundredth of
 * either side are left out.
 */
void assay_function_parts(struct assay_function_parts *p, const struct assay_because_evidence *e, double base_ns,
			  double ratio, struct assay_interval ci);

#endif

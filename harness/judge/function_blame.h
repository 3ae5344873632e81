/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "because FUNCTION takes …": the function that a change of time lies in, by samples of both sides. Pure.
 *
 * The time of an iteration is what the comparison measured; samples say how it divides. A function's part of the change
 * is its share of the head's time less its share of the base's, so that the parts of all functions sum to the change.
 * If the named functions leave a part that chance explains, they share it by their variances (least squares).
 *
 * That there is a change is known, so the question is which function it lies in. It is answered by Bayes' rule. The
 * hypotheses are that one function takes all of it, and no other takes any. What the samples say of each is its
 * likelihood. What is known beforehand is its weight: 1, and ASSAY_BLAME_CHANCE of a function whose machine code,
 * constants and, where they were taken, exact counts are the same on both sides. A further hypothesis is that all
 * became slower, or faster, alike. One is blamed where
 *
 * - it has all but ASSAY_BLAME_CHANCE of the probability;
 * - the parts fit it: its own is the whole change, and the others are nothing, at that level over all functions
 *   (Bonferroni);
 * - its part is not chance alone at the same level, which is asked only where another function may be it, too.
 *
 * Where no single function fits, those are named whose parts are beyond what all alike, and chance, would make of
 * them; and it is told what they leave.
 *
 * Spread: samples of a pair are less even, or more, than if they were drawn one by one, since processes differ, and
 * since the sampler goes round in a loop. The variance of a part is that of drawing times a factor that all functions
 * and pairs give together (the dispersion of quasi-likelihood, McCullagh & Nelder 1989, 9.2); where the pairs of a
 * function differ by more than chance makes of that (95 %), it is theirs.
 *
 * Two conditions come before all. While they were profiled, the sides differed as when they were measured: the
 * intervals of both ratios, at 99 and 95 %, overlap, or a tenth of the change lies between them at most. And no other
 * function surely went the other way by a fifth of the change, for then code moved between functions, as where one is
 * inlined on one side alone, and both are told.
 */
#ifndef ASSAY_JUDGE_FUNCTION_BLAME_H
#define ASSAY_JUDGE_FUNCTION_BLAME_H

#include "model/comparison.h"
#include "model/gate_report.h"
#include "stats/distributions.h"

/*
 * Can functions explain the change in @row, which is judged by pairs of @c? That of a time they can, and that of a time
 * or rate which a program reports if the time of its processes changed in the same direction (95 %).
 */
bool assay_function_blame_applies(const struct assay_comparison_case *c, const struct assay_gate_case *row);
/*
 * Say in @out which function made @c change as @row has it, or why that is not known. Of what a program reports, the
 * change of the time of its processes is explained. @c must have evidence. ASSAY_ENOMEM.
 */
int assay_function_blame(const struct assay_comparison_case *c, const struct assay_gate_case *row,
			 struct assay_gate_because *out, struct assay_err *err);

/* Fill `because` of the cases of @r for which @cmp has evidence. ASSAY_ENOMEM. */
int assay_function_blame_cases(const struct assay_comparison *cmp, struct assay_gate_report *r, struct assay_err *err);

/* ---- function parts ---- */

/* The part that each function has in a change of time, and how sure that is: see function_blame.h. */

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

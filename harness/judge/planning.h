/* SPDX-License-Identifier: Apache-2.0 */
/* How many process pairs a promise takes, from the spread they have shown. Pure. */
#ifndef ASSAY_JUDGE_PLANNING_H
#define ASSAY_JUDGE_PLANNING_H

#include "judge/paired.h"

/* What is known of a case, and what it needs. All-zero knows nothing. */
struct assay_planned {
	double squares, df;  /* of log ratios about the mean of their comparison */
	double wall_s;       /* of all pairs together */
	size_t n_pairs;      /* usable ones */
	unsigned n_measured; /* comparisons that they are from */
	unsigned need_pairs; /* by assay_plan_promise; 0: more than ASSAY_PROMISE_MOST_PAIRS, or nothing is known */
	double need_s;       /* infinite then */
};

/* Add the pairs of a measured case, whatever rule it was judged by. ASSAY_ENOMEM. */
int assay_planned_learn(struct assay_planned *p, const struct assay_comparison_case *c, struct assay_err *err);
/* False: no two usable pairs were ever seen, so that the numbers below mean nothing and no promise can be made. */
bool assay_planned_known(const struct assay_planned *p);
/* Standard deviation of a pair's log ratio; at least the floor the judge believes. */
double assay_planned_sd(const struct assay_planned *p);
double assay_planned_pair_s(const struct assay_planned *p);
/* What a comparison spent on it, in the mean; 0 when nothing is known. */
double assay_planned_case_s(const struct assay_planned *p);

struct assay_plan_goal {
	double detect_frac; /* slowdown to be called REGRESSED with probability 95 % */
	double alpha;       /* of the whole gate */
	double alpha_pass;
	unsigned max_pairs; /* of a comparison as it is: fixes the price of a look */
	double within_s;    /* 0: no limit */
};

struct assay_promise {
	double needed_s; /* for the goal, all cases; infinite when one is not known or takes more than the most pairs */
	bool possible;   /* within the limit if there is one, and by the most pairs a case */
	double detectable_frac; /* the best within the limit; infinite when not even the first look fits */
};

/*
 * The margin lies halfway to the slowdown, so that finding it and passing unchanged code are equally hard. Fills
 * need_pairs and need_s for the goal.
 */
struct assay_promise assay_plan_promise(struct assay_planned *cases, size_t n, const struct assay_plan_goal *goal);

#endif

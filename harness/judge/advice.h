/* SPDX-License-Identifier: Apache-2.0 */
/* Bottlenecks and advice: pure rules over measured numbers. reports/ADVICE.md names them. */
#ifndef ASSAY_JUDGE_ADVICE_H
#define ASSAY_JUDGE_ADVICE_H

#include "judge/case_evidence.h"
#include "model/bottleneck.h"
#include "model/diff.h"

/* The bound, the evidence for it, what is missing, and the advice of every rule whose condition is met. */
void assay_bottleneck_find(const struct assay_case_evidence *e, struct assay_bottleneck *out);

/* ---- because ---- */

/*
 * "faster because": the measured number that explains a change of time. Pure; reports/ADVICE.md tells people the rule.
 *
 * Numbers are tried in the order of the ladder: exact counts, hardware counters, counts of the op, the heap and the
 * operating system, then rates. The first that explains the change is named. It must have moved in the direction of
 * the time, and by as much:
 *
 * - A *proportional* number, such as instructions, explains the change where what is left of the time's ratio without
 *   it is at most a third of the change (of logarithms), at most a factor of 1.5, or within the interval. Of cache
 *   misses, the difference must also be worth half of the change at the most that one can cost.
 * - Instructions that moved further than the time explain it, too, where the faster side has half of its roof or more:
 *   then that holds it back.
 * - A *priced* number, such as page faults, explains it where the difference of counts times the least and the most
 *   that one can cost encloses the change, give or take a factor of 1.5.
 */

/*
 * Fill because of @c, which moved, from its times, threads and numbers. Where no number explains the
 * change, the text says why: none was taken on both sides, or which moved otherwise.
 */
void assay_because_find(struct assay_diff_case *c);

#endif

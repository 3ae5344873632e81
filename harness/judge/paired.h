/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of lock-step pairs: from raw samples to a verdict. Pure; the same samples give the same verdict anywhere.
 */
#ifndef ASSAY_JUDGE_PAIRED_H
#define ASSAY_JUDGE_PAIRED_H

#include "base/err.h"
#include "judge/policy.h"
#include "model/comparison.h"
#include "model/gate_report.h"
#include "stats/sequential.h"

/* ---- pair estimate ---- */

/* One process pair's estimate of the head's time relative to the base, from the samples of its blocks. */

/*
 * Version of the rule by which comparisons are stopped and judged; it is stored with each. Raise it whenever the same
 * samples, counts and policy could get another verdict than before, or a comparison could stop at another pair: in
 * this module, paired.c, stopping.c, limits.c, exact_judge.c or comparison_judge.c, or in what they
 * take from stats/. Words may change freely.
 */
#define ASSAY_JUDGE_RULE 9

/* The number of doubles in @tmp that the functions below need for each block of the pair. */
#define ASSAY_PAIR_TMP 8

struct assay_pair_estimate {
	double log_ratio; /* only when usable */
	size_t n_blocks, n_dropped;
	double dropped_weight;           /* as many blocks as those stand for: of parts of calls, by their time */
	size_t by_kind[ASSAY_N_DISTURB]; /* dropped blocks by enum assay_disturb, bit 0 first */
	bool usable;                     /* at most half of the weight is dropped, and a block is left */
};

/*
 * The median of the ratios of all clean blocks. A block gives four, of either time of the head to either of the base.
 * Linear drift moves two of them up and two down. So does a sample that something short hit, such as a timer tick: up
 * where it is the head's, down where it is the base's; the median stays among the others. A block is left out as a
 * whole, for both sides alike, when its four samples together were disturbed (assay_samples_disturbed), or a time is 0.
 * How long it took plays no part beyond the rates there.
 *
 * Of samples that ran beside each other in slices, each is compared with its counterpart alone, and the estimate is the
 * interquartile mean of these ratios, which bears a quarter of outliers on either side. Each side has one of two copies
 * of the memory in turn, so the ratios may lie around two values, and their median would be near either.
 *
 * Of samples that are parts of calls, each is compared with the same part of the other side's, and the estimate is the
 * mean of these ratios, weighted by time: parts may differ in what they do, and what changed may be few of them. What
 * lies beyond five deviations, and beyond twice or half the time, is drawn in (winsorized, Tukey 1962). What is left
 * out counts by its time as well: few parts may be most of a call.
 */
struct assay_pair_estimate assay_pair_estimate(const struct assay_pair *p, double *tmp);

/* Log ratios of the head's time to the base's between which the truth lies. Infinite: nothing is known there. */
struct assay_pair_range {
	double least, most;
	double likely; /* by what clocks told; NaN: there are no blocks */
};

/*
 * The range of the ratio of a pair by all its blocks, disturbed ones included. A head that is many times slower has
 * long blocks, which seldom stay clean; without the range, disturbances would save it, or hide one that is faster.
 *
 * Of either side's two times in a block, others took at least what clocks told and at most what
 * assay_samples_lost_ns() reckons. Once interrupted, a call also has to fill its caches again, which nothing tells:
 * where a side was disturbed, half of what remains may be that. What a migration or throttling took is not known at
 * all. The range is the median of these bounds over all blocks; of parts of calls, which differ in length, the ratio of
 * their sums.
 */
struct assay_pair_range assay_pair_range(const struct assay_pair *p, double *tmp);

/*
 * Standard error of the estimate; of the median with blocks as clusters (Woodruff 1952). 0: the blocks
 * do not tell.
 */
double assay_pair_own_error(const struct assay_pair *p, double *tmp);

/* Least standard deviation of log ratios that is believed, 0.05 %: a few pairs that agree better do so by chance. */
#define ASSAY_PAIRED_SD_FLOOR 0.0005
/* "Smallest detectable" is what would have been found with this probability. */
#define ASSAY_PAIRED_POWER 0.95

/* Budgets of a control: all other verdicts rest on it. */
#define ASSAY_PAIRED_CONTROL_BUDGETS 8

struct assay_paired_rule {
	double alpha_regressed; /* of one test: a false REGRESSED or IMPROVED, over all its looks */
	double alpha_pass;      /* of one test: a false PASS, over all its looks */
	double margin_frac;
	double max_dropped_frac;
	size_t max_pairs;
	size_t same_code_pairs;            /* that a case of the same machine code takes: they do not decide */
	unsigned budgets;                  /* of time that the case has, at least */
	char metric[ASSAY_METRIC_TAG_MAX]; /* of a program; "" or "time_s": the time of a call */
};

/*
 * Rule of one of @family tests of a gate that may fail falsely with probability @alpha (Bonferroni; the first step of
 * Holm 1979, which is the one that decides whether a gate fails). A gate passes only when every test does, so a false
 * PASS needs no such correction (intersection-union test, Berger 1982).
 */
struct assay_paired_rule assay_paired_rule_of(double alpha, double alpha_pass, unsigned family, double margin_frac,
					      double max_dropped_frac, size_t max_pairs);

/*
 * Judge the time of @c, or the rule's metric, by all looks that its pairs allow, in order; the first that decides
 * counts, and pairs beyond the rule's max_pairs do not. *final is false while further pairs could decide: then the
 * verdict in @out is what stands if none come. A side that was wrong, crashed or is missing decides at once. Same code
 * on both sides is PASS whatever its time, also without samples (controls excepted), and final after the rule's pairs.
 * ASSAY_ENOMEM.
 *
 * A metric of a program has one value in each pair on either side, and its ratio is turned round where more is better,
 * so that above 1 is worse as well. Values that are counted, and are the same in all pairs of a side, are compared
 * exactly: nothing is left to chance.
 */
int assay_paired_judge(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
		       struct assay_gate_case *out, bool *final, struct assay_err *err);

/* Find out whether the row @g of a time is a suspect, and let its reason begin with that. */
void assay_paired_suspect(struct assay_gate_case *g);

/*
 * Is the machine code of @c the same on both sides, and all that it reaches? Never of a control, nor of a case without
 * pairs.
 */
bool assay_paired_same_code(const struct assay_comparison_case *c);

/* How the looks of @rule spend its errors. */
struct assay_sequential_rule assay_paired_sequential(const struct assay_paired_rule *rule);

/* Of the usable pairs of a case. */
struct assay_paired_readings {
	double mean, sd; /* of their log ratios; the sd of fewer than two is 0 */
	size_t n;
};

/* Of its time, or of a metric (NULL: none). ASSAY_ENOMEM. */
int assay_paired_readings(const struct assay_comparison_case *c, const char *metric, struct assay_paired_readings *out,
			  struct assay_err *err);

/*
 * The part of that which the pairs' own blocks explain: the root mean square of the standard errors of their estimates,
 * from the spread of the blocks within each; 0 where no usable pair has two blocks. ASSAY_ENOMEM.
 */
int assay_paired_own_noise(const struct assay_comparison_case *c, double *se, struct assay_err *err);

/* Does the interval of @g lie on one side of the margin? That counts at looks alone. */
bool assay_paired_interval_decides(const struct assay_gate_case *g, const struct assay_paired_rule *rule);

/* ---- rule of a comparison ---- */

/*
 * One sentence when @cmp was judged by another version of the rule than this program's; else "". @verdict is the stored
 * one, "" of a comparison that did not finish.
 */
void assay_comparison_rule_note(const struct assay_comparison *cmp, const char *verdict, char *buf, size_t size);

/* The rule for one case or control of @cmp. Controls stand alone; real cases share alpha. */
struct assay_paired_rule assay_comparison_rule(const struct assay_comparison *cmp,
					       const struct assay_comparison_case *c,
					       const struct assay_policy *policy);

#endif

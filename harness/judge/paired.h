/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of lock-step pairs: from raw samples to a verdict. Pure; the same samples give the same verdict anywhere.
 */
#ifndef ASSAY_JUDGE_PAIRED_H
#define ASSAY_JUDGE_PAIRED_H

#include "base/err.h"
#include "judge/pair_estimate.h"
#include "model/comparison.h"
#include "model/gate_report.h"
#include "stats/sequential.h"

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
	size_t same_code_pairs; /* that a case of the same machine code takes: they do not decide */
	unsigned budgets;       /* of time that the case has, at least */
};

/*
 * Rule of one of @family tests of a gate that may fail falsely with probability @alpha (Bonferroni; the first step of
 * Holm 1979, which is the one that decides whether a gate fails). A gate passes only when every test does, so a false
 * PASS needs no such correction (intersection-union test, Berger 1982).
 */
struct assay_paired_rule assay_paired_rule_of(double alpha, double alpha_pass, unsigned family, double margin_frac,
					      double max_dropped_frac, size_t max_pairs);

/*
 * Judge the time of @c by all looks that its pairs allow, in order; the first that decides counts, and pairs beyond the
 * rule's max_pairs do not. *final is false while further pairs could decide: then the verdict in @out is what stands if
 * none come. A side that was wrong, crashed or is missing decides at once. Same code on both sides is PASS whatever its
 * time, also without samples (controls excepted), and final after the rule's pairs. ASSAY_ENOMEM.
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

/* ASSAY_ENOMEM. */
int assay_paired_readings(const struct assay_comparison_case *c, struct assay_paired_readings *out,
			  struct assay_err *err);

/*
 * The part of that which the pairs' own blocks explain: the root mean square of the standard errors of their estimates,
 * from the spread of the blocks within each; 0 where no usable pair has two blocks. ASSAY_ENOMEM.
 */
int assay_paired_own_noise(const struct assay_comparison_case *c, double *se, struct assay_err *err);

/* Does the interval of @g lie on one side of the margin? That counts at looks alone. */
bool assay_paired_interval_decides(const struct assay_gate_case *g, const struct assay_paired_rule *rule);

#endif

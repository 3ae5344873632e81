/* SPDX-License-Identifier: Apache-2.0 */
/* Bottlenecks and advice: pure rules over measured numbers. reports/ADVICE.md names them. */
#ifndef ASSAY_JUDGE_ADVICE_H
#define ASSAY_JUDGE_ADVICE_H

#include "model/bottleneck.h"
#include "model/diff.h"
#include "model/result.h"

/* ---- evidence ---- */

/* Measurements of one run that bear on the bottleneck of one of its cases: numbers alone, or NaN. */

enum assay_evidence_level { ASSAY_LEVEL_L1, ASSAY_LEVEL_L2, ASSAY_LEVEL_L3, ASSAY_LEVEL_DRAM, ASSAY_N_LEVELS };

/* "l1", "l2", "l3", "dram" */
const char *assay_evidence_level_name(enum assay_evidence_level l);

#define ASSAY_EVIDENCE_PEAKS_MAX 6

/* The arithmetic that a variant of the op of a peak reached. */
struct assay_evidence_peak {
	const char *variant;
	double ops_per_s;
};

/* A smaller word cache is enough if it misses at most this share of all words more than a larger one. */
#define ASSAY_WORDS_HARDLY_MORE 0.01

/* Of a case with a word cache, such as tokenizer.encode: how many words that holds, and the share that it misses. */
struct assay_evidence_words {
	double slots, misses_frac, ns; /* of a call; slots 0: it has no such cache */
};

struct assay_case_evidence {
	const char *key, *variant;
	bool reference;                /* the plain code that others are checked against */
	unsigned threads, all_threads; /* 0: unknown */
	double ns;                     /* median of a call */

	enum assay_bound bound; /* of the roof; none: there is no roof */
	double roof_frac, roof_ns;
	const char *roof_op, *roof_name;
	double ops_per_s, bytes_per_s;
	enum assay_evidence_level level;  /* where the data lies while it is repeated; N_LEVELS: unknown */
	enum assay_evidence_level supply; /* what surely delivers it: memory, if it takes over half of a shared cache */
	double bandwidth[ASSAY_N_LEVELS]; /* the best that the run read or copied, with as many threads */
	struct assay_evidence_peak peaks[ASSAY_EVIDENCE_PEAKS_MAX]; /* of the op's arithmetic; slowest first */
	size_t n_peaks;
	const char *peak_op;
	/*
	 * The share of the modelled time that the fastest variants of other shapes reach, their median, 1 at most: of
	 * shapes under the same roof where there are two, else of those with its kind of roof where there are three.
	 */
	double reach;
	size_t n_reach;
	double more_threads;   /* the roof on all threads over that on those of the case */
	double run_efficiency; /* median parallel efficiency of the run */

	double region_ns;    /* to hand the threads their work, of overhead.dispatch on as many threads */
	double instructions; /* of a call */
	const char *instructions_source;
	double stall_frac;
	double efficiency;                            /* of its threads */
	double allocations, faults, waits, fallbacks; /* of a call */
	double allocation_frac; /* of the time, in malloc() and its like, by a profile; NaN: none is there */
	/* Of the case, and of the smallest cache of the run that misses hardly more than the largest. */
	struct assay_evidence_words words, words_enough;
	const char *part; /* the longest part of the call, as the op reports it; NULL: it reports none */
	double part_frac;
};

/*
 * The evidence of result @at of @run, which must be right and have a time; strings are borrowed from @run. @reach asks
 * for that of other shapes, too, which takes time with the square of their number.
 */
void assay_case_evidence_read(const struct assay_run *run, size_t at, bool reach, struct assay_case_evidence *out);

/*
 * The time in ns that the roof allows with arithmetic of @ops_per_s: bytes and operations overlap where data comes from
 * beyond the core's own caches, and add up within them, as loads and products then share the core (the no-overlap case
 * of the execution-cache-memory model: Stengel, Treibig, Hager and Wellein, ICS 2015). NaN: a limit is not known.
 */
double assay_case_evidence_model_ns(const struct assay_case_evidence *e, double ops_per_s);
/* Does the model hold for it? Not where data lies in the core's own caches and no arithmetic is known, nor of a whole
 * whose parts the op reports. */
bool assay_case_evidence_has_model(const struct assay_case_evidence *e);

/* ---- bottlenecks ---- */

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

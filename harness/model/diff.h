/* SPDX-License-Identifier: Apache-2.0 */
/* Two sets of stored results side by side: what moved, how certain that is, and what is known about the cause. */
#ifndef ASSAY_MODEL_DIFF_H
#define ASSAY_MODEL_DIFF_H

#include "base/text.h"
#include "model/result.h"

enum assay_diff_side_of { ASSAY_DIFF_BASE, ASSAY_DIFF_HEAD };

/* One side: a run, the runs of a baseline, or a variant in one run. */
struct assay_diff_side {
	char name[160]; /* "run 12", "baseline 'main' (3 runs)", "variant 'avx2' of run 12" */
	size_t n_runs;
	int64_t run;              /* the newest of them */
	uint64_t started_ns;      /* 0: not known, as of runs that were imported without a date */
	struct assay_build build; /* of the newest */
	char machine_id[ASSAY_DIGEST_LEN + 1];
	char machine_label[128];
};

enum assay_diff_result {
	ASSAY_DIFF_FASTER,       /* the whole interval lies below 1 */
	ASSAY_DIFF_SLOWER,       /* above 1 */
	ASSAY_DIFF_MACHINE,      /* 1 lies outside, but both sides ran the same machine code, so the machine moved */
	ASSAY_DIFF_UNCLEAR,      /* 1 lies in it */
	ASSAY_DIFF_INCOMPARABLE, /* both have it, and their times must not be compared */
	ASSAY_DIFF_NOT_MEASURED, /* a side has no right result of it */
	ASSAY_DIFF_SKIPPED,      /* it was skipped on both sides, or the variant was: there is nothing to compare */
	ASSAY_DIFF_ONLY_BASE,
	ASSAY_DIFF_ONLY_HEAD,
	ASSAY_N_DIFF_RESULTS,
};

/* "faster", "slower", "machine", "unclear", "incomparable", "not_measured", "skipped", "only_base", "only_head" */
const char *assay_diff_result_name(enum assay_diff_result r);

/* A metric or count of a case, the median over the runs of a side; NaN where a side has none. */
struct assay_diff_number {
	char name[ASSAY_NAME_MAX];
	char unit[ASSAY_METRIC_UNIT_MAX];
	char source[ASSAY_SOURCE_MAX];
	int better;
	double value[2];
};

/* The number that explains a change, by the rule of judge/advice.h. */
struct assay_diff_because {
	char name[ASSAY_NAME_MAX];     /* of the number; "": nothing is known, see the text */
	char source[ASSAY_SOURCE_MAX]; /* its rung; "" of rates */
	double value[2];
	double explained_frac; /* of the change; NaN where only its size is bounded */
	char text[320];        /* a sentence for people: what moved, or why nothing is known */
};

struct assay_diff_case {
	struct assay_case c;               /* of the head; of the base where only that has it */
	char base_key[ASSAY_KEY_MAX];      /* another than that of the head where variants are compared; "": none */
	char base_variant[ASSAY_NAME_MAX]; /* then; else "" */
	enum assay_diff_result result;
	char reason[384];                  /* why there is no change to tell; "" where there is */
	double ns[2];                      /* medians; NaN where a side has none */
	double ratio, lo, hi;              /* head over base, and its 95 % interval; NaN where there is none */
	bool same_code;                    /* both sides ran the same machine code */
	bool slow_core[2];                 /* most samples of a side come from a slowed core */
	struct assay_diff_number *numbers; /* malloc'ed, those of both sides, in the order in which results have them */
	size_t n_numbers;
	struct assay_diff_because because; /* of FASTER and SLOWER */
};

struct assay_diff {
	struct assay_diff_side side[2];
	bool by_variant;
	struct assay_diff_case *cases; /* malloc'ed */
	size_t n_cases;
	size_t n_same_code;       /* cases with a ratio whose machine code is the same on both sides */
	size_t n_same_code_moved; /* of those MACHINE */
	double same_code_most;    /* the furthest ratio of those that moved, as a factor of 1 or more; 1: none */
	char uncovered[384];      /* what the intervals do not cover */
	char *measure;            /* malloc'ed: the command that measures both in turn; NULL: there is none */
};

void assay_diff_release(struct assay_diff *d);
/* NULL when absent. */
const struct assay_diff_number *assay_diff_number(const struct assay_diff_case *c, const char *name);
/* The number of cases with this result. */
size_t assay_diff_count(const struct assay_diff *d, enum assay_diff_result r);
/* Have both sides a time, and may they be compared? */
bool assay_diff_compared(const struct assay_diff_case *c);
/* Did it become faster or slower, and not by the machine alone? */
bool assay_diff_moved(const struct assay_diff_case *c);

/*
 * Of runs: what became slowest first, or with @metric what grew most; what has no change last. Of variants: by key.
 */
void assay_diff_sort(struct assay_diff *d, const char *metric);

#endif

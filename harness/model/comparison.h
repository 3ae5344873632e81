/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison of two builds: for every case a series of process pairs with their raw samples. Verdicts are recomputed
 * from it.
 */
#ifndef ASSAY_MODEL_COMPARISON_H
#define ASSAY_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "model/result.h"

/* ---- because evidence ---- */

/*
 * The known division of a case's time over its functions on both sides of a comparison: samples by process pair,
 * whether the machine code is the same, and exact counts. The judge says from it which function to blame.
 */

#define ASSAY_BECAUSE_PAIRS_MAX 64

/* The machine code of a function, and the constants it refers to, on both sides. */
enum assay_code_change {
	ASSAY_CODE_UNKNOWN,
	ASSAY_CODE_SAME,
	ASSAY_CODE_DIFFERS, /* or it cannot be excluded */
};
const char *assay_code_change_name(enum assay_code_change c);

/* A function by its name in the source, with all that compilers made of it. */
struct assay_because_function {
	char name[128]; /* "": what has no name, known by its object */
	char object[128], file[128];
	unsigned line, last_line; /* of its source that were seen in the head; 0: not known */
	enum assay_code_change code;
	double counted[2];                           /* instructions of a call; negative: not counted */
	uint64_t weight[2][ASSAY_BECAUSE_PAIRS_MAX]; /* samples of base and head, by pair */
};

/* Iterations while they were profiled, in ns. */
struct assay_because_pair {
	double base_ns, head_ns;
};

struct assay_because_evidence {
	double seconds, rate_hz; /* that were profiled, and how often a thread was sampled */
	char source[64];         /* what took the samples */
	char unknown[512];       /* why there are none; "": there are */
	struct assay_because_pair *pairs;
	size_t n_pairs; /* ASSAY_BECAUSE_PAIRS_MAX at most */
	struct assay_because_function *functions;
	size_t n;
};

void assay_because_evidence_free(struct assay_because_evidence *e);
/* The function of this name, added where there is none. NULL: out of memory. */
struct assay_because_function *assay_because_function_at(struct assay_because_evidence *e, const char *name,
							 size_t length, const char *object);

/* Why a case that only the base has was not measured, and what to do. */
#define ASSAY_CASE_GONE                                                                                                \
	"only the base has it, the head has no such case any more: bring it back, or leave it out with --only if "     \
	"that is meant"

/* Text of a difference between outputs. */
#define ASSAY_DIFFERENCE_MAX 256

enum assay_side {
	ASSAY_BASE = 0,
	ASSAY_HEAD = 1,
};

/*
 * Two fresh processes, base and head, that took turns on the same cores. Block b of four samples holds the samples 2b
 * and 2b + 1 of either side; its order, ABBA or BAAB, follows from the seed. Of a stored pair, what the case is, and
 * all that follows from samples, is not filled in.
 */
struct assay_pair {
	uint64_t seed;                /* of order and layout */
	uint64_t iterations;          /* of every sample, as counted */
	uint64_t extra_iterations[2]; /* done on top by controls; 0 of a slower head: its time was stretched instead */
	size_t n_blocks;
	bool steady;      /* both sides were steady before the first sample */
	uint64_t wall_ns; /* what the pair took, set-up included */
	struct assay_result side[2];
};

struct assay_comparison_case {
	struct assay_case c;
	enum assay_control control;
	double injected_frac;              /* of ASSAY_CONTROL_SLOWER: 0.02 = 2 % more work, as it was asked for */
	bool in_base, in_head;             /* does the side have the variant? */
	char judged[ASSAY_JUDGED_MAX];     /* metrics of a program that are judged, by commas; "": the time of a call */
	char base_variant[ASSAY_NAME_MAX]; /* that the base runs, where it is another one than that of @c; else "" */
	char reason[512]; /* why it was not measured at all, or why the base's variant cannot be loaded */
	/* where the outputs of the two sides begin to differ; empty: they do not */
	char difference[ASSAY_DIFFERENCE_MAX];
	struct assay_pair *pairs; /* malloc'ed, in order of time */
	size_t n_pairs;
	struct assay_because_evidence *because; /* where its time goes; NULL: nobody asked */
};

struct assay_comparison {
	int64_t id;                /* in the store; 0 before */
	char base[256], head[256]; /* as named by the user, with the commit where there is one */
	char suite[ASSAY_NAME_MAX];
	uint64_t seed;
	uint64_t started_ns, ended_ns; /* unix time; ended_ns 0: did not finish */
	struct assay_build build[2];
	struct assay_fingerprint machine;
	double alpha;       /* false-alarm rate of the whole gate */
	uint64_t budget_ns; /* a case */
	unsigned max_pairs; /* a case; fixes the looks that are paid for */
	unsigned family;    /* number of tests that share alpha: cases × metrics, fixed before the first sample */
	struct assay_commit program; /* of the program that compared */
	bool same_code;              /* times are taken also where the machine code is the same; not stored */
	bool trial;   /* of a certification: its controls stand for cases, and have the time of these; not stored */
	char *policy; /* text of the policy it was judged by, malloc'ed */
	char places[ASSAY_PLACES_MAX];
	char fitness[256]; /* what the machine was fit for then, in words; "": nobody knows */
	unsigned rule;     /* version of the rule it was judged by; 0: from before rules had versions */
	struct assay_comparison_case *cases; /* malloc'ed; controls among them; none where only counts were asked for */
	size_t n_cases;
	struct assay_exact_run exact[2]; /* counts of either side; a head without cases: none were asked for */
};

/* The numbers that the judge takes from a pair. */
struct assay_pair_reading {
	double ratio;     /* head time / base time; NaN: too disturbed, or a side is not ok */
	size_t n_dropped; /* blocks */
};

/* The numbers that follow from the pairs of a case. */
struct assay_case_reading {
	struct assay_pair_reading *pairs; /* one a pair of the case; malloc'ed */
	size_t n_used;
	double ratio;        /* mean of the pairs used; NaN: none is */
	double sd;           /* of their log ratios; NaN: fewer than two are */
	char undecided[512]; /* what kept its time from a verdict, and what would decide it; "": it has one */
	struct assay_gate_because because; /* the function that its change lies in, where it was profiled */
	/* Of either side the medians of metrics and counts, with the rung of the first pair that has them. */
	struct assay_pair counted;
};

void assay_pair_release(struct assay_pair *p);
/* Is the machine code known, and the same on both sides? */
bool assay_pair_same_code(const struct assay_pair *p);
/* Release @n readings and the array itself. */
void assay_case_readings_release(struct assay_case_reading *v, size_t n);
/* Free the pairs of @c. */
void assay_comparison_case_release(struct assay_comparison_case *c);
/* Release the cases and their pairs alone. */
void assay_comparison_drop_cases(struct assay_comparison *cmp);
void assay_comparison_release(struct assay_comparison *cmp);

/* The metric of @c that is judged in place @i, in @tag; false where there are no more. The first is always there. */
bool assay_comparison_judged(const struct assay_comparison_case *c, size_t i, char tag[ASSAY_METRIC_TAG_MAX]);
/* How many there are. */
size_t assay_comparison_n_judged(const struct assay_comparison_case *c);

/* The case that the base runs: that of @c, or the same with another variant. ASSAY_ELIMIT when its key does not fit. */
int assay_comparison_base_case(const struct assay_comparison_case *c, struct assay_case *out, struct assay_err *err);

/* The extra work of a slower head: whole iterations, which may differ from what was asked for. */
double assay_comparison_injected(const struct assay_comparison_case *c);

/* A side was not measured: neither has samples then. */
void assay_pair_drop_samples(struct assay_pair *p);

#endif

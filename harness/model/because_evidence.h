/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of how a case's time divides over its functions on both sides of a comparison: samples by process pair,
 * whether the machine code is the same, and exact counts. The judge says from it which function to blame.
 */
#ifndef ASSAY_MODEL_BECAUSE_EVIDENCE_H
#define ASSAY_MODEL_BECAUSE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

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

#endif

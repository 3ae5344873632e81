/* SPDX-License-Identifier: Apache-2.0 */
/* Bottlenecks: the resource that bounds a case, its evidence, and advice by the rules of reports/ADVICE.md. */
#ifndef ASSAY_MODEL_BOTTLENECK_H
#define ASSAY_MODEL_BOTTLENECK_H

#include <stddef.h>

#include "model/case.h"

enum assay_bound_by {
	ASSAY_BOUND_BY_UNKNOWN,
	ASSAY_BOUND_BY_MEMORY,
	ASSAY_BOUND_BY_COMPUTE,
	ASSAY_BOUND_BY_LATENCY,
	ASSAY_BOUND_BY_OVERHEAD,
	ASSAY_BOUND_BY_ALLOCATION,
	ASSAY_BOUND_BY_IMBALANCE,
	ASSAY_N_BOUND_BY,
};

/* "unknown", "memory", "compute", "latency", "overhead", "allocation", "imbalance" */
const char *assay_bound_by_name(enum assay_bound_by b);

#define ASSAY_ADVICE_MAX       8
#define ASSAY_ADVICE_STEPS_MAX 4

/* The gain that the instructions of one variant of the peak-measuring op would bring. */
struct assay_advice_step {
	char variant[ASSAY_NAME_MAX];
	double gain;
};

/* One piece of advice: the condition of its rule holds. */
struct assay_advice {
	const char *rule;   /* its name in ADVICE.md; static */
	char evidence[256]; /* the measured numbers that meet the condition */
	const char *text;   /* what to do; static */
	unsigned priority;  /* 1: before all others, to 3; by the gain, see ADVICE.md */
	double gain;        /* expected speed-up, never above `most`; NaN: the run measured nothing to tell it from */
	double most;        /* the speed-up that the roof allows; NaN: unknown */
	struct assay_advice_step steps[ASSAY_ADVICE_STEPS_MAX];
	size_t n_steps;
};

struct assay_bottleneck {
	char key[ASSAY_KEY_MAX];
	enum assay_bound_by bound;
	double roof_frac;   /* NaN: the run did not measure a limit for it */
	char roof[96];      /* "stream.read at l3", "peak.i8_dot"; "": none */
	char evidence[384]; /* the measured numbers behind the bound */
	char missing[384];  /* which evidence this run lacks, and what takes it; "": none */
	struct assay_advice advice[ASSAY_ADVICE_MAX];
	size_t n_advice;
};

#endif

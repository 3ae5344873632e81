/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that times samples: the best source that proved itself on this machine. */
#ifndef ASSAY_MACHINE_CLOCK_H
#define ASSAY_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/err.h"

enum assay_clock_source {
	ASSAY_CLOCK_MONOTONIC_RAW,
	ASSAY_CLOCK_TSC,
};

/* Plain data: calibrated once, then handed to workers as it is. */
struct assay_clock {
	enum assay_clock_source source;
	double ns_per_tick;   /* 1 for MONOTONIC_RAW */
	double resolution_ns; /* smallest step seen */
	double overhead_ns;   /* median cost of one read */
	char why[160];        /* why this source: "invariant TSC, 2600.0 MHz, drift 3 ppm" or why not the TSC */
};

const char *assay_clock_source_name(enum assay_clock_source s);

/*
 * Choose and calibrate a clock, and prove that it ticks, never goes back, and (for the TSC) agrees with
 * CLOCK_MONOTONIC_RAW. Takes about 20 ms. ASSAY_EUNAVAILABLE if no source ticks.
 */
int assay_clock_init(struct assay_clock *c, struct assay_err *err);

/* Ticks, ordered after earlier loads and instructions. */
static inline uint64_t assay_clock_ticks(const struct assay_clock *c)
{
#if defined(__x86_64__)
	if (c->source == ASSAY_CLOCK_TSC) {
		unsigned aux;
		uint64_t t = __rdtscp(&aux);

		_mm_lfence();
		return t;
	}
#endif
	struct timespec ts;

	(void)c;
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t assay_clock_ticks_to_ns(const struct assay_clock *c, uint64_t ticks)
{
	return c->ns_per_tick == 1.0 ? ticks : (uint64_t)((double)ticks * c->ns_per_tick + 0.5);
}

/* Unix time, for records only. */
uint64_t assay_clock_unix_ns(void);

/* ---- parts of assay_clock_init(), for any function that reads a clock -------------------------------------------- */

typedef uint64_t (*assay_clock_read_fn)(void *arg);

/* ASSAY_EUNAVAILABLE when @read stands still or goes back within some thousand reads; *step gets its smallest step. */
int assay_clock_prove(assay_clock_read_fn read, void *arg, uint64_t *step, struct assay_err *err);

/* The ticks of both clocks, read as nearly at the same moment as possible. */
struct assay_clock_anchor {
	uint64_t raw_ns, ticks;
};

/*
 * Rate from three anchors in time order: that of the whole span, if both halves agree within @tolerance_frac. false
 * otherwise. *drift_ppm gets the difference of the halves.
 */
bool assay_clock_rate(const struct assay_clock_anchor a[3], double tolerance_frac, double *ns_per_tick,
		      double *drift_ppm);

#endif

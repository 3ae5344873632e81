/* SPDX-License-Identifier: Apache-2.0 */
/* Shows whether a clock may be trusted, for any function that reads one. */
#ifndef ASSAY_MACHINE_CLOCK_PROOF_H
#define ASSAY_MACHINE_CLOCK_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef uint64_t (*assay_clock_read_fn)(void *arg);

/* ASSAY_EUNAVAILABLE when @read stands still or goes back within some thousand reads; *step gets its smallest step. */
int assay_clock_prove(assay_clock_read_fn read, void *arg, uint64_t *step, struct assay_err *err);

/* Ticks of both clocks read at the same moment, as nearly as can be had. */
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

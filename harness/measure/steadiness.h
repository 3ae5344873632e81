/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of samples in the order in which they were taken, to find out when they became steady. Internal to this folder.
 */
#ifndef ASSAY_MEASURE_STEADINESS_H
#define ASSAY_MEASURE_STEADINESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/result.h"

#define ASSAY_CLOCK_TOLERANCE_FRAC 0.01

/* All zero: none yet. */
struct assay_steadiness {
	double *ns; /* malloc'ed */
	size_t n;
	double clock_hz; /* that the device was last seen at; 0: unknown */
	bool clock_moves;
};

/* ASSAY_ENOMEM, with @s unchanged. */
int assay_steadiness_add(struct assay_steadiness *s, const struct assay_sample *samples, size_t n,
			 struct assay_err *err);
/*
 * The device ran between these clocks while samples were taken, 0: unknown. It moves until two series in a row lie
 * within ASSAY_CLOCK_TOLERANCE_FRAC of each other.
 */
void assay_steadiness_clock(struct assay_steadiness *s, double least_hz, double most_hz);
void assay_steadiness_release(struct assay_steadiness *s);

#endif

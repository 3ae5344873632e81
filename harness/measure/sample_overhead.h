/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample costs beyond the calls that it times, as `assay doctor` shows it. */
#ifndef ASSAY_MEASURE_SAMPLE_OVERHEAD_H
#define ASSAY_MEASURE_SAMPLE_OVERHEAD_H

#include "machine/clock.h"
#include "model/finding.h"

/*
 * The time in ns that a sample of one call shows if the call does nothing: the median of some thousand samples. Runs no
 * plugin.
 */
double assay_sample_overhead_ns(const struct assay_clock *clock);
/* The finding "sample_overhead" of @ns: a warning above the goal of 60 ns. */
void assay_sample_overhead_add(struct assay_findings *l, double ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a result, recomputed from its raw samples. Pure. */
#ifndef ASSAY_MEASURE_SUMMARY_H
#define ASSAY_MEASURE_SUMMARY_H

#include "model/result.h"

/*
 * Fill iterations, median, interval, minimum, MAD and the shares of disturbed and dropped from the samples. Samples that were disturbed (see
 * assay_samples_disturbed) are left out while at least half are clean; otherwise the
 * disturbance is the normal state of the case, all count, and dropped_frac is 0. ASSAY_ENOMEM.
 */
int assay_summary_fill(struct assay_result *r, struct assay_err *err);

/* Half-width of the interval over the median; 1 without samples. */
double assay_summary_half_width_frac(const struct assay_result *r);

#endif

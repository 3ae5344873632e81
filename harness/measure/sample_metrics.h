/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the samples of a result. Each replaces what an earlier call said. */
#ifndef ASSAY_MEASURE_SAMPLE_METRICS_H
#define ASSAY_MEASURE_SAMPLE_METRICS_H

#include "model/catalog.h"
#include "model/result.h"

/* A metric of the harness. 1 with status and reason set when @value is not in its range; ASSAY_ENOMEM. */
int assay_metric_put_own(struct assay_result *r, const char *tag, double value, struct assay_err *err);
/* The time of a call, and operations, bytes and items a second by @cost; returns as above. */
int assay_time_metrics(struct assay_result *r, const struct assay_cost *cost, struct assay_err *err);
/*
 * Samples that were disturbed, by each kind that this host shows; the others are unavailable with the reason, as those
 * of slow cores are where @r says so already. 0 or ASSAY_ENOMEM.
 */
int assay_disturbance_counts(struct assay_result *r, struct assay_err *err);

#endif

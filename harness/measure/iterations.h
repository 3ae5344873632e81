/* SPDX-License-Identifier: Apache-2.0 */
/* How many iterations a sample needs so that timer error stays below 0.1 % of it. */
#ifndef ASSAY_MEASURE_ITERATIONS_H
#define ASSAY_MEASURE_ITERATIONS_H

#include "machine/clock.h"
#include "worker/worker.h"

/* Least duration of a sample on this clock. */
double assay_iterations_target_ns(const struct assay_clock *clock);

/*
 * Find the number of iterations by trial in a verified worker. 0 and *iterations, *sample_ns (expected time of a
 * sample); 1 if the worker came to an end, see *status and @reason; negative as assay_worker_call.
 */
int assay_iterations_find(struct assay_worker *w, double target_ns, uint64_t *iterations, double *sample_ns,
			  enum assay_status *status, char *reason, size_t size, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The device that the variant of a case runs on: opening it, its failures, and time by its own clock. */
#ifndef ASSAY_WORKER_CASE_DEVICE_H
#define ASSAY_WORKER_CASE_DEVICE_H

#include "worker/case/state.h"

/* Open the device that the variant runs on, with the buffers of the case. No-op on the CPU. */
struct assay_outcome assay_case_device_open(struct assay_case_job *j);
void assay_case_device_close(struct assay_case_job *j);

/*
 * The number of series of calls that show whether the device's clock is right. Series that it was held for do not
 * count, see device_unheld.
 */
#define ASSAY_DEVICE_SERIES 10

/* Time @iterations calls, which @loop does, by the device's clock, and wait for them. */
struct assay_outcome assay_case_device_time(struct assay_case_job *j, int (*loop)(struct assay_case_job *, uint64_t),
					    uint64_t iterations, uint64_t *ns);
/* WRONG where the device's clock counted far less than the host calculated in every longer series of calls. */
struct assay_outcome assay_case_device_clock_is_right(const struct assay_case_job *j);

#endif

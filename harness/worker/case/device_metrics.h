/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of a case on a device: memory in use, launch latency, copies between host and device. They are reported like
 * those that the op publishes. Each function does nothing on the CPU.
 */
#ifndef ASSAY_WORKER_CASE_DEVICE_METRICS_H
#define ASSAY_WORKER_CASE_DEVICE_METRICS_H

#include "worker/case/state.h"

/* Ask how much memory is in use, for @used (may be NULL) and for the most of all. */
void assay_device_memory_look(struct assay_case_job *j, uint64_t *used);

/* Time launches and copies; the device is idle, the outputs of copy 0 are fetched once more. */
void assay_device_metrics_time(struct assay_case_job *j);
/* Tell of its memory, once the variant gave back what it prepared. */
void assay_device_metrics_memory(struct assay_case_job *j);

#endif

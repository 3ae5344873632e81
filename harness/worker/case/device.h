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

/* ---- device faults ---- */

/*
 * The handling of a case whose device fails. The process of the case ends with it, so that the next one begins with a
 * sound device, unless that is lost.
 */

/* The device failed while @doing something; @why as it filled it. */
struct assay_outcome assay_device_failed(const struct assay_case_job *j, const char *doing, struct assay_reason *why);
/* Its memory is too small: the shape, what its tensors take and what is free. @why may be "". */
struct assay_outcome assay_device_is_full(const struct assay_case_job *j, const char *doing, const char *why);
/* A callback of the variant failed: assay_case_job_failed(), unless it is the device's fault. */
struct assay_outcome assay_device_call_failed(const struct assay_case_job *j, const char *what);

/* ---- device state ---- */

/*
 * The state of a case's device between samples. A sample is disturbed if before or after it the device gave a reason
 * for holding its clock down, or ran it below ASSAY_DEVICE_CLOCK_SHARE of its highest. That rule does not look at
 * times.
 */

#define ASSAY_DEVICE_CLOCK_SHARE 0.75

/* Read what the device reports about itself, and find out who reports its state: its plugin, or NVML. */
void assay_device_state_open(struct assay_case_job *j, unsigned ordinal);
void assay_device_state_close(struct assay_case_job *j);
/*
 * ASSAY_DISTURB_DEVICE, or 0: all is well, or nobody tells. *core_hz: its clock; 0: not told. @counting: samples of the
 * result are taken, so that the levels of the device are added up.
 */
uint32_t assay_device_state_look(struct assay_case_job *j, bool counting, double *core_hz);

/* ---- device metrics ---- */

/*
 * Metrics of a case on a device: memory in use, launch latency, copies between host and device. They are reported like
 * those that the op publishes. Each function does nothing on the CPU.
 */

/* Ask how much memory is in use, for @used (may be NULL) and for the most of all. */
void assay_device_memory_look(struct assay_case_job *j, uint64_t *used);

/* Time launches and copies; the device is idle, the outputs of copy 0 are fetched once more. */
void assay_device_metrics_time(struct assay_case_job *j);
/* Tell of its memory, once the variant gave back what it prepared. */
void assay_device_metrics_memory(struct assay_case_job *j);

/* ---- device buffers ---- */

/*
 * The tensors of a case on its device: every copy between guard bytes, the transfers to and from the host, and whether
 * a kernel left everything else alone. Each function does nothing on the CPU.
 */

/* Put every tensor of every copy on the device; the ops keep working on host memory. Close in either case. */
struct assay_outcome assay_device_buffers_open(struct assay_case_job *j);
void assay_device_buffers_close(struct assay_case_job *j);

/* Copy the tensors of @role of a copy from host memory to the device. */
struct assay_outcome assay_device_buffers_put(struct assay_case_job *j, uint64_t copy, enum assay_role role);
/* Copy them from the device to host memory. */
struct assay_outcome assay_device_buffers_get(struct assay_case_job *j, uint64_t copy, enum assay_role role);
/* Write @pattern to every byte of the outputs of a copy. */
struct assay_outcome assay_device_buffers_poison(struct assay_case_job *j, uint64_t copy, uint8_t pattern);
/*
 * WRONG if a guard of any copy has changed, or if the inputs of a checked copy on the device differ from those in host
 * memory.
 */
struct assay_outcome assay_device_buffers_intact(struct assay_case_job *j);

#endif

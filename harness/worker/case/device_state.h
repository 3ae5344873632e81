/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a case's device between samples. A sample is disturbed if before or after it the device gave a reason
 * for holding its clock down, or ran it below ASSAY_DEVICE_CLOCK_SHARE of its highest. That rule does not look at
 * times.
 */
#ifndef ASSAY_WORKER_CASE_DEVICE_STATE_H
#define ASSAY_WORKER_CASE_DEVICE_STATE_H

#include "worker/case/state.h"

#define ASSAY_DEVICE_CLOCK_SHARE 0.75

/* Read what the device reports about itself, and find out who reports its state: its plugin, or NVML. */
void assay_device_state_open(struct assay_case_job *j, unsigned ordinal);
void assay_device_state_close(struct assay_case_job *j);
/*
 * ASSAY_DISTURB_DEVICE, or 0: all is well, or nobody tells. *core_hz: its clock; 0: not told. @counting: samples of the
 * result are taken, so that the levels of the device are added up.
 */
uint32_t assay_device_state_look(struct assay_case_job *j, bool counting, double *core_hz);

#endif

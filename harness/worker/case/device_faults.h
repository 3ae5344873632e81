/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a case whose device fails. The process of the case ends with it, so that the next one begins with a
 * sound device, unless that is lost.
 */
#ifndef ASSAY_WORKER_CASE_DEVICE_FAULTS_H
#define ASSAY_WORKER_CASE_DEVICE_FAULTS_H

#include "worker/case/state.h"

/* The device failed while @doing something; @why as it filled it. */
struct assay_outcome assay_device_failed(const struct assay_case_job *j, const char *doing, struct assay_reason *why);
/* Its memory is too small: the shape, what its tensors take and what is free. @why may be "". */
struct assay_outcome assay_device_is_full(const struct assay_case_job *j, const char *doing, const char *why);
/* A callback of the variant failed: assay_case_job_failed(), unless it is the device's fault. */
struct assay_outcome assay_device_call_failed(const struct assay_case_job *j, const char *what);

#endif

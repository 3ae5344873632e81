/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors of a case on its device: every copy between guard bytes, the transfers to and from the host, and whether
 * a kernel left everything else alone. Each function does nothing on the CPU.
 */
#ifndef ASSAY_WORKER_CASE_DEVICE_BUFFERS_H
#define ASSAY_WORKER_CASE_DEVICE_BUFFERS_H

#include "worker/case/state.h"

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

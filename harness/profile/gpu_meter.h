/* SPDX-License-Identifier: Apache-2.0 */
/* Watches all GPUs of the machine while something runs: utilisation, memory, power and energy, as NVML reports them. */
#ifndef ASSAY_PROFILE_GPU_METER_H
#define ASSAY_PROFILE_GPU_METER_H

#include "model/profile.h"

struct assay_gpu_meter;

/* ASSAY_EUNAVAILABLE where there is no GPU, or no driver. *@m is NULL then. */
int assay_gpu_meter_open(struct assay_gpu_meter **m, struct assay_err *err);
/* Look at all GPUs; call it often. At most one look in 20 ms is taken. */
void assay_gpu_meter_look(void *meter);
/* Called with the memory in use of each GPU at each look from now on; its return value is ignored. */
typedef int assay_gpu_meter_heard(void *arg, unsigned gpu, const char *name, uint64_t at_ns, uint64_t used_bytes);
void assay_gpu_meter_follow(struct assay_gpu_meter *m, assay_gpu_meter_heard *heard, void *arg);
/* The last look, and what all of them gave, into out->gpu.devices. 0 or ASSAY_ENOMEM. */
int assay_gpu_meter_end(struct assay_gpu_meter *m, struct assay_profile *out, struct assay_err *err);
/* Takes NULL. */
void assay_gpu_meter_close(struct assay_gpu_meter *m);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of GPUs from the files that processes with the GPU's object injected leave: counters/gpu/records.h. */
#ifndef ASSAY_PROFILE_GPU_PROFILE_H
#define ASSAY_PROFILE_GPU_PROFILE_H

#include "counters/gpu/records.h"
#include "model/profile.h"

/*
 * Add all files of @dir to @into, whose devices, times and name are set: stacks of GPU, stream and kernel or kind of
 * copy, which weigh their time in ns. Where no kernel was watched, into->gpu.why says why not, and the return is 0.
 */
int assay_gpu_profile_read(const char *dir, struct assay_profile *into, struct assay_err *err);

/* What a record did: a kernel by its symbol, "copy host to device", "set memory". Printable. */
void assay_gpu_work_name(const struct assay_gpu_key *k, char *buf, size_t size);

/*
 * The share of its most warps that a multiprocessor can hold of a kernel, by the rules of NVIDIA's occupancy
 * calculator: warps, blocks, registers in units of 256 a warp, and shared memory in units of 128 bytes with 1 KiB of
 * the system a block from compute capability 8 on. NaN: a limit is not known.
 */
double assay_gpu_occupancy(const struct assay_gpu_key *k, const struct assay_gpu_limits *l);

#endif

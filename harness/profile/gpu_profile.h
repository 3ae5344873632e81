/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of GPUs from the files that processes with the GPU's object injected leave: counters/gpu/records.h. */
#ifndef ASSAY_PROFILE_GPU_PROFILE_H
#define ASSAY_PROFILE_GPU_PROFILE_H

#include "counters/gpu/records.h"
#include "model/profile.h"
#include "model/trace.h"

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

/* ---- gpu meter ---- */

/* Watches all GPUs of the machine while something runs: utilisation, memory, power and energy, as NVML reports them. */

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

/* ---- gpu tracks ---- */

/* Kernels and copies one after the other, from the files of counters/gpu/records.h, as tracks of a trace. */

/*
 * Add a track for each stream of each GPU that the files of the folder @dir name, with a span for each kernel, copy and
 * set of memory, to @t, before it is nested. *lost: spans that there was no room for. No file is no error.
 */
int assay_gpu_tracks_read(const char *dir, struct assay_trace *t, uint64_t *lost, struct assay_err *err);

/* An assay_gpu_meter_heard that adds the memory in use of each GPU to the struct assay_trace @trace. */
int assay_gpu_tracks_memory(void *trace, unsigned gpu, const char *name, uint64_t at_ns, uint64_t used_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and copies one after the other, from the files of counters/gpu/records.h, as tracks of a trace. */
#ifndef ASSAY_PROFILE_GPU_TRACKS_H
#define ASSAY_PROFILE_GPU_TRACKS_H

#include "model/trace.h"
#include "profile/gpu_meter.h"

/*
 * Add a track for each stream of each GPU that the files of the folder @dir name, with a span for each kernel, copy and
 * set of memory, to @t, before it is nested. *lost: spans that there was no room for. No file is no error.
 */
int assay_gpu_tracks_read(const char *dir, struct assay_trace *t, uint64_t *lost, struct assay_err *err);

/* An assay_gpu_meter_heard that adds the memory in use of each GPU to the struct assay_trace @trace. */
int assay_gpu_tracks_memory(void *trace, unsigned gpu, const char *name, uint64_t at_ns, uint64_t used_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the variants of the stream and peak ops: their run() callbacks and the slice of a thread. */
#ifndef STREAM_VARIANTS_H
#define STREAM_VARIANTS_H

#include <stdbool.h>

#include "assay/op_stream.h"

/* The run() callbacks of an instruction set: its files define them, the plugin's descriptor lists them. */
#define STREAM_DECLARE(isa)                                                                                            \
	int assay_stream_read_##isa(struct assay_job *job);                                                            \
	int assay_stream_copy_##isa(struct assay_job *job);                                                            \
	int assay_stream_triad_##isa(struct assay_job *job)

STREAM_DECLARE(ref);
STREAM_DECLARE(avx2);
STREAM_DECLARE(avx512);

int assay_peak_fma_ref(struct assay_job *job);
int assay_peak_fma_avx2(struct assay_job *job);
int assay_peak_fma_avx512(struct assay_job *job);
int assay_peak_dot_ref(struct assay_job *job);
int assay_peak_dot_avx2(struct assay_job *job);
int assay_peak_dot_avxvnni(struct assay_job *job);
int assay_peak_dot_avx512vnni(struct assay_job *job);
int assay_peak_ternary_avx2(struct assay_job *job);

/* Part of array @index that belongs to thread @tid. */
static inline char *stream_slice(const struct assay_job *job, uint32_t index, uint32_t tid, uint64_t *bytes)
{
	*bytes = job->tensors[index].bytes / job->n_threads;
	return (char *)job->tensors[index].data + *bytes * tid;
}

/* Stores around the caches pay where the arrays do not fit in them; they need whole, aligned vectors. */
static inline bool stream_around_caches(const struct assay_job *job, const void *out)
{
	return job->shape->axis[ASSAY_STREAM_LEVEL] >= ASSAY_LEVEL_DRAM && (uintptr_t)out % 64 == 0;
}

/* Between two passes: the compiler must assume that all memory was read and changed. */
static inline void stream_next_pass(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif

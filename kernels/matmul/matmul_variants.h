/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the variants of the matmul ops: their callbacks, and how rows are cut for the threads. */
#ifndef MATMUL_VARIANTS_H
#define MATMUL_VARIANTS_H

#include "assay/op_matmul.h"

int assay_matmul_f32_ref(struct assay_job *job);
int assay_matmul_f32_blocked(struct assay_job *job);
int assay_matmul_ternary_ref(struct assay_job *job);
int assay_matmul_ternary_avx2(struct assay_job *job);
int assay_matmul_ternary_avxvnni(struct assay_job *job);
int assay_matmul_ternary_avx512vnni(struct assay_job *job);
int assay_matmul_ternary_avx512vnni_trits(struct assay_job *job);
int assay_matmul_ternary_neon_dotprod(struct assay_job *job);
int assay_matmul_q8_0_ref(struct assay_job *job);
int assay_matmul_q8_0_avx2(struct assay_job *job);
int assay_matmul_q8_0_avx512vnni(struct assay_job *job), assay_matmul_q8_0_neon_dotprod(struct assay_job *job);
int assay_matmul_q6_k_ref(struct assay_job *job);
int assay_matmul_q6_k_avx2(struct assay_job *job);
int assay_matmul_q6_k_avx512vnni(struct assay_job *job), assay_matmul_q6_k_neon_dotprod(struct assay_job *job);

/* Publish the operations of a call of that shape. */
static inline void matmul_publish(const struct assay_job *job, const int64_t *axis)
{
	assay_counter(job, ASSAY_WORK_CPU_OPS,
		      2 * (uint64_t)(axis[ASSAY_MATMUL_M] * axis[ASSAY_MATMUL_K] * axis[ASSAY_MATMUL_N]));
}

/* The timed call of most variants: @fn on the job's threads, each with rows of its own. */
static inline int matmul_run(struct assay_job *job, assay_parallel_fn fn)
{
	const int64_t *axis = job->shape->axis;

	job->host->parallel(job, fn, job);
	matmul_publish(job, axis);
	return 0;
}

/* One matmul.f32, as its kernels see it. */
struct matmul_f32 {
	const float *w, *x;
	float *y;
	int64_t m, k, n;
};

static inline struct matmul_f32 matmul_f32_of(const struct assay_job *job)
{
	return (struct matmul_f32){
		.w = job->tensors[ASSAY_MATMUL_F32_W].data,
		.x = job->tensors[ASSAY_MATMUL_F32_X].data,
		.y = job->tensors[ASSAY_MATMUL_F32_Y].data,
		.m = job->shape->axis[ASSAY_MATMUL_M],
		.k = job->shape->axis[ASSAY_MATMUL_K],
		.n = job->shape->axis[ASSAY_MATMUL_N],
	};
}

/* One matmul.ternary. */
struct matmul_ternary {
	const uint8_t *w;
	const int8_t *x;
	const float *x_scale;
	float *y;
	float w_scale;
	int64_t m, k, n;
};

/* Read at every run: composite ops change the buffers and n between two of them. */
static inline struct matmul_ternary matmul_ternary_of(const struct assay_job *job)
{
	return (struct matmul_ternary){
		.w = job->tensors[ASSAY_TERNARY_W].data,
		.x = job->tensors[ASSAY_TERNARY_X].data,
		.x_scale = job->tensors[ASSAY_TERNARY_X_SCALE].data,
		.y = job->tensors[ASSAY_TERNARY_Y].data,
		.w_scale = *(const float *)job->tensors[ASSAY_TERNARY_W_SCALE].data,
		.m = job->shape->axis[ASSAY_MATMUL_M],
		.k = job->shape->axis[ASSAY_MATMUL_K],
		.n = job->shape->axis[ASSAY_MATMUL_N],
	};
}

/* y of one element from its exact sum; the order of the two products is part of the op. */
static inline float matmul_ternary_scale(const struct matmul_ternary *p, int32_t acc, int64_t token)
{
	float scale = p->w_scale * p->x_scale[token];

	return (float)acc * scale;
}

#define MATMUL_ROW_UNIT 32 /* for variants that have no unit of their own */

/*
 * Rows [*first, *end) of thread @tid. They come in units of @unit, a multiple of the 16 floats of a cache line of y, so
 * that no two threads write to one line where m is a multiple of 16 and y is aligned.
 */
static inline void matmul_rows(int64_t m, int64_t unit, uint32_t tid, uint32_t n_threads, int64_t *first, int64_t *end)
{
	int64_t units = (m + unit - 1) / unit;

	*first = units * tid / n_threads * unit;
	*end = units * (tid + 1) / n_threads * unit;
	if (*end > m)
		*end = m;
}

#endif

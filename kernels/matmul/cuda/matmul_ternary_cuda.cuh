/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary on a GPU: what the product of one token and that of several share. The codes 0, 1, 2 are multiplied as
 * they are, and the sum of the activations is taken off at the end; sums may wrap on the way, the result does not.
 */
#ifndef MATMUL_TERNARY_CUDA_CUH
#define MATMUL_TERNARY_CUDA_CUH

#include "assay/op_matmul.h"
#include "cuda/cuda_ternary.cuh"

/* Read at every run, since composite ops may change the buffers and n between two of them. */
static inline struct ternary_cuda ternary_cuda_of(const struct assay_job *job)
{
	struct ternary_cuda p;

	p.w = cuda_tensor<uint8_t>(job, ASSAY_TERNARY_W);
	p.x = cuda_tensor<int8_t>(job, ASSAY_TERNARY_X);
	p.w_scale = cuda_tensor<float>(job, ASSAY_TERNARY_W_SCALE);
	p.x_scale = cuda_tensor<float>(job, ASSAY_TERNARY_X_SCALE);
	p.y = cuda_tensor<float>(job, ASSAY_TERNARY_Y);
	p.m = job->shape->axis[ASSAY_MATMUL_M];
	p.k = job->shape->axis[ASSAY_MATMUL_K];
	p.n = job->shape->axis[ASSAY_MATMUL_N];
	p.second = p.third = INT64_MAX;
	return p;
}

static __device__ __forceinline__ float ternary_scale_of(const ternary_cuda &p, int64_t row)
{
	return p.w_scale[(row >= p.second) + (row >= p.third)];
}

/* y of one element; the order of the two products is part of the op. */
static __device__ __forceinline__ float ternary_scaled(float sum, float w_scale, float x_scale)
{
	return __fmul_rn(sum, __fmul_rn(w_scale, x_scale));
}

static __device__ __forceinline__ int minus(int a, int b)
{
	return (int)((unsigned)a - (unsigned)b);
}

/* Enqueue y = x · w^T for more than one token. */
void assay_ternary_gemm_cuda(const struct assay_job *job, const struct ternary_cuda &p);

#endif

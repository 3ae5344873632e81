/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ternary product on a GPU, as the ops that make one see it: y[n][m] = x[n][k] · w[m][k]^T. Up to three matrices of
 * equal k lie one after the other in w and have one product together: rows `second` and `third` begin with their own
 * scales. Where there are fewer, these are INT64_MAX: a kernel may ask for the scale of a row behind the last one, and
 * must find that of the last matrix.
 */
#ifndef CUDA_TERNARY_CUH
#define CUDA_TERNARY_CUH

#include "cuda/cuda_kernel.cuh"

#define TERNARY_CODES 0x03030303u /* the lowest code of each byte */
#define TERNARY_ONES  0x01010101

struct ternary_cuda {
	const uint8_t *w;
	const int8_t *x;
	const float *w_scale, *x_scale; /* one a matrix, one a token */
	float *y;
	int64_t m, k, n, second, third;
};

/* Enqueue it. */
void assay_ternary_enqueue_cuda(const struct assay_job *job, const struct ternary_cuda &p);

#endif

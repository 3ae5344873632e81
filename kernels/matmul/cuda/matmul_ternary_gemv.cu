// SPDX-License-Identifier: Apache-2.0
// matmul.ternary of one token: a warp takes one row or four, 16 bytes of weights a lane and row, so that lanes read
// whole lines and the loads of all rows are in flight together. The four rows share the activations that they multiply.
#include "matmul_ternary_cuda.cuh"

#define ROWS_WIDE  4
#define LEAST_WIDE 8192 // rows from which on four a warp still make warps enough

static __device__ __forceinline__ int dot16(uint4 w, int shift, uint4 x, int sum)
{
	sum = __dp4a((int)(w.x >> shift & TERNARY_CODES), (int)x.x, sum);
	sum = __dp4a((int)(w.y >> shift & TERNARY_CODES), (int)x.y, sum);
	sum = __dp4a((int)(w.z >> shift & TERNARY_CODES), (int)x.z, sum);
	return __dp4a((int)(w.w >> shift & TERNARY_CODES), (int)x.w, sum);
}

static __device__ __forceinline__ int sum16(uint4 x, int sum)
{
	sum = __dp4a((int)x.x, TERNARY_ONES, sum);
	sum = __dp4a((int)x.y, TERNARY_ONES, sum);
	sum = __dp4a((int)x.z, TERNARY_ONES, sum);
	return __dp4a((int)x.w, TERNARY_ONES, sum);
}

static __device__ __forceinline__ int sum_of_warp(int sum)
{
	for (int lanes = CUDA_WARP / 2; lanes; lanes /= 2)
		sum = (int)((unsigned)sum + (unsigned)__shfl_xor_sync(CUDA_FULL, sum, lanes));
	return sum;
}

// Half @i of a row's blocks: 16 bytes with four codes each, whose values lie 32 apart.
template <int ROWS> static __device__ __forceinline__ void gemv(const ternary_cuda &p)
{
	const int lane = threadIdx.x % CUDA_WARP;
	const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP;
	const int64_t first = warp * ROWS, halves = p.k / (ASSAY_I2S_BLOCK / 2);
	const uint4 *row[ROWS];
	int sum[ROWS], x_sum = 0;

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int64_t at =
			first + r < p.m ? first + r : p.m - 1; // of a row that is not there nothing is stored

		row[r] = (const uint4 *)(p.w + at * (p.k / 4));
		sum[r] = 0;
	}
#pragma unroll 2
	for (int64_t i = lane; i < halves; i += CUDA_WARP) {
		const uint4 *x = (const uint4 *)(p.x + i / 2 * ASSAY_I2S_BLOCK + i % 2 * 16);
		uint4 w[ROWS];

#pragma unroll
		for (int r = 0; r < ROWS; r++)
			w[r] = row[r][i];
#pragma unroll
		for (int part = 0; part < 4; part++) {
			const uint4 v = x[2 * part];

			x_sum = sum16(v, x_sum);
#pragma unroll
			for (int r = 0; r < ROWS; r++)
				sum[r] = dot16(w[r], 6 - 2 * part, v, sum[r]);
		}
	}
	x_sum = sum_of_warp(x_sum);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int dot = minus(sum_of_warp(sum[r]), x_sum);

		if (lane == 0 && first + r < p.m)
			p.y[first + r] = ternary_scaled((float)dot, ternary_scale_of(p, first + r), *p.x_scale);
	}
}

CUDA_KERNEL(ternary_gemv)(ternary_cuda p)
{
	gemv<1>(p);
}

CUDA_KERNEL(ternary_gemv_wide)(ternary_cuda p)
{
	gemv<ROWS_WIDE>(p);
}

void assay_ternary_enqueue_cuda(const struct assay_job *job, const struct ternary_cuda &p)
{
	if (p.n > 1)
		assay_ternary_gemm_cuda(job, p);
	else if (p.m >= LEAST_WIDE)
		CUDA_LAUNCH(job, ternary_gemv_wide,
			    cuda_blocks(p.m, CUDA_THREADS_ternary_gemv_wide / CUDA_WARP * ROWS_WIDE), p);
	else
		CUDA_LAUNCH(job, ternary_gemv, cuda_blocks(p.m, CUDA_THREADS_ternary_gemv / CUDA_WARP), p);
}

int assay_matmul_ternary_cuda(struct assay_job *job)
{
	assay_ternary_enqueue_cuda(job, ternary_cuda_of(job));
	return cuda_launched(job);
}

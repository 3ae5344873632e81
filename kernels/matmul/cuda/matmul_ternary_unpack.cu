// SPDX-License-Identifier: Apache-2.0
// What a library's int8 product needs around it: weights as signed bytes before, scales after.
#include "cuda/cuda_blas.h"
#include "matmul_ternary_cuda.cuh"

// Four bytes of I2_S at a time: each of their four codes becomes a byte, 32 weights further on.
CUDA_KERNEL(ternary_unpack)(uint32_t *to, const uint32_t *w, int64_t words)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < words) {
		const uint32_t codes = w[i];
		uint32_t *block = to + i / 8 * 32 + i % 8;

		for (int part = 0; part < 4; part++) {
			const uint32_t c = codes >> (6 - 2 * part) & TERNARY_CODES;
			const uint32_t minus_one = ~(c | c >> 1) & TERNARY_ONES; // where the code is 0

			block[8 * part] = (c >> 1 & TERNARY_ONES) | minus_one * 0xff;
		}
	}
}

CUDA_KERNEL(ternary_scale)(ternary_cuda p, const int32_t *sums)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < p.m * p.n)
		p.y[i] = ternary_scaled(sums[i], *p.w_scale, p.x_scale[i / p.m]);
}

int assay_ternary_unpack_cuda(const struct assay_job *job, int8_t *to)
{
	const int64_t words = (int64_t)job->tensors[ASSAY_TERNARY_W].bytes / 4;

	CUDA_LAUNCH(job, ternary_unpack, cuda_blocks(words, CUDA_THREADS_ternary_unpack), (uint32_t *)to,
		    cuda_tensor<uint32_t>(job, ASSAY_TERNARY_W), words);
	return cuda_launched(job);
}

int assay_ternary_scale_cuda(const struct assay_job *job, const int32_t *sums)
{
	const struct ternary_cuda p = ternary_cuda_of(job);

	CUDA_LAUNCH(job, ternary_scale, cuda_blocks(p.m * p.n, CUDA_THREADS_ternary_scale), p, sums);
	return cuda_launched(job);
}

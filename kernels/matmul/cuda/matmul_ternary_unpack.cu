// SPDX-License-Identifier: Apache-2.0
// What a library's product needs around it: weights and activations as bytes or halves before, scales after.
#include "assay/float_bits.h"
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

static __device__ __forceinline__ uint32_t half_of_code(uint32_t code)
{
	return code == 0 ? 0xbc00 : code == 2 ? 0x3c00 : 0; // -1, +1
}

// The same with halves, two in a word.
CUDA_KERNEL(ternary_unpack_half)(uint32_t *to, const uint32_t *w, int64_t words)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < words) {
		const uint32_t codes = w[i];
		uint32_t *block = to + i / 8 * 64 + i % 8 * 2;

		for (int part = 0; part < 4; part++) {
			const uint32_t c = codes >> (6 - 2 * part) & TERNARY_CODES;

			block[16 * part] = half_of_code(c & 3) | half_of_code(c >> 8 & 3) << 16;
			block[16 * part + 1] = half_of_code(c >> 16 & 3) | half_of_code(c >> 24) << 16;
		}
	}
}

// Exact: whole numbers up to 2048 are halves. The exponent of a half counts from 112 less.
static __device__ __forceinline__ uint32_t half_of_byte(uint32_t byte)
{
	const uint32_t bits = assay_f32_bits((float)(int8_t)byte), mag = bits & 0x7fffffffu;

	return (bits >> 16 & 0x8000u) | (mag ? (mag - (112u << 23)) >> 13 : 0);
}

CUDA_KERNEL(ternary_x_half)(uint32_t *to, const uint32_t *x, int64_t words)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < words) {
		const uint32_t v = x[i];

		to[2 * i] = half_of_byte(v) | half_of_byte(v >> 8) << 16;
		to[2 * i + 1] = half_of_byte(v >> 16) | half_of_byte(v >> 24) << 16;
	}
}

CUDA_KERNEL(ternary_scale)(ternary_cuda p, const int32_t *sums)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < p.m * p.n)
		p.y[i] = ternary_scaled((float)sums[i], *p.w_scale, p.x_scale[i / p.m]);
}

CUDA_KERNEL(ternary_scale_half)(ternary_cuda p, const float *sums)
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

int assay_ternary_unpack_half_cuda(const struct assay_job *job, uint16_t *to)
{
	const int64_t words = (int64_t)job->tensors[ASSAY_TERNARY_W].bytes / 4;

	CUDA_LAUNCH(job, ternary_unpack_half, cuda_blocks(words, CUDA_THREADS_ternary_unpack_half), (uint32_t *)to,
		    cuda_tensor<uint32_t>(job, ASSAY_TERNARY_W), words);
	return cuda_launched(job);
}

int assay_ternary_x_half_cuda(const struct assay_job *job, uint16_t *to)
{
	const int64_t words = (int64_t)job->tensors[ASSAY_TERNARY_X].bytes / 4;

	CUDA_LAUNCH(job, ternary_x_half, cuda_blocks(words, CUDA_THREADS_ternary_x_half), (uint32_t *)to,
		    cuda_tensor<uint32_t>(job, ASSAY_TERNARY_X), words);
	return cuda_launched(job);
}

int assay_ternary_scale_cuda(const struct assay_job *job, const int32_t *sums)
{
	const struct ternary_cuda p = ternary_cuda_of(job);

	CUDA_LAUNCH(job, ternary_scale, cuda_blocks(p.m * p.n, CUDA_THREADS_ternary_scale), p, sums);
	return cuda_launched(job);
}

int assay_ternary_scale_half_cuda(const struct assay_job *job, const float *sums)
{
	const struct ternary_cuda p = ternary_cuda_of(job);

	CUDA_LAUNCH(job, ternary_scale_half, cuda_blocks(p.m * p.n, CUDA_THREADS_ternary_scale_half), p, sums);
	return cuda_launched(job);
}

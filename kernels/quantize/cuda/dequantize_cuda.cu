// SPDX-License-Identifier: Apache-2.0
// dequantize.* on a GPU: codes come as whole words, floats leave as vectors of 16 bytes.
#include "quantize_cuda.cuh"

static __device__ __forceinline__ float times(int code, float d)
{
	return canonical(__fmul_rn((float)code, d));
}

CUDA_KERNEL(dequantize_q8_0)(float4 *x, const uint8_t *q, int64_t n)
{
	__shared__ uint32_t staged[QUANTIZE_STAGED(ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES) / 4];
	const int span = span_of(n);

	x += (int64_t)blockIdx.x * (QUANTIZE_SPAN / 4);
	q += (int64_t)blockIdx.x * sizeof(staged);
	copy_words((uint8_t *)staged, q, span / ASSAY_Q8_0_BLOCK * ASSAY_Q8_0_BLOCK_BYTES);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < QUANTIZE_VECTORS; i++) {
		const int at = i * QUANTIZE_THREADS + threadIdx.x;
		const uint8_t *from = (const uint8_t *)staged + at / 8 * ASSAY_Q8_0_BLOCK_BYTES;

		if (4 * at < span) {
			const float d = quantize_float_of_half(*(const uint16_t *)from);
			const uint32_t codes = load_halves(from + 2 + 4 * (at % 8));

			x[at] = make_float4(times((int8_t)codes, d), times((int8_t)(codes >> 8), d),
					    times((int8_t)(codes >> 16), d), times((int8_t)(codes >> 24), d));
		}
	}
}

CUDA_KERNEL(dequantize_tq2_0)(float4 *x, const uint8_t *q, int64_t n)
{
	__shared__ uint32_t staged[QUANTIZE_STAGED(ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES) / 4];
	const int span = span_of(n), block = threadIdx.x / 16, lane = threadIdx.x % 16;
	const uint8_t *from = (const uint8_t *)staged + block * ASSAY_TQ2_0_BLOCK_BYTES;

	x += (int64_t)blockIdx.x * (QUANTIZE_SPAN / 4) + block * 64 + lane / 8 * 32 + lane % 8;
	q += (int64_t)blockIdx.x * sizeof(staged);
	copy_words((uint8_t *)staged, q, span / ASSAY_TQ2_0_BLOCK * ASSAY_TQ2_0_BLOCK_BYTES);
	__syncthreads();
	if (block * ASSAY_TQ2_0_BLOCK < span) {
		const float d = quantize_float_of_half(*(const uint16_t *)(from + 64));
		const uint32_t codes = load_halves(from + lane / 8 * 32 + lane % 8 * 4);

#pragma unroll
		for (int i = 0; i < QUANTIZE_VECTORS; i++) {
			const uint32_t c = codes >> 2 * i & 0x03030303u;

			x[8 * i] = make_float4(times((int)(c & 3) - 1, d), times((int)(c >> 8 & 3) - 1, d),
					       times((int)(c >> 16 & 3) - 1, d), times((int)(c >> 24) - 1, d));
		}
	}
}

// Code 3 is never written and reads as 0.
static __device__ __forceinline__ float value_i2_s(uint32_t code, float gamma)
{
	return times(code == 3 ? 0 : (int)code - 1, gamma);
}

CUDA_KERNEL(dequantize_i2_s)(float4 *x, const uint32_t *q, const float *scale, int64_t n)
{
	const int64_t word = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const float gamma = *scale;

	if (16 * word < n) {
		const uint32_t codes = q[word];

		x += word / 8 * (ASSAY_I2S_BLOCK / 4) + word % 8;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const uint32_t c = codes >> (6 - 2 * i) & 0x03030303u;

			x[8 * i] = make_float4(value_i2_s(c & 3, gamma), value_i2_s(c >> 8 & 3, gamma),
					       value_i2_s(c >> 16 & 3, gamma), value_i2_s(c >> 24, gamma));
		}
	}
}

CUDA_KERNEL(dequantize_i8_token)(float *x, const int8_t *q, const float *scale, int64_t dim)
{
	const int64_t token = blockIdx.x;
	const float d = scale[token];

	x += token * dim;
	q += token * dim;
	if (dim % 4 == 0)
		for (int64_t i = threadIdx.x; i < dim / 4; i += blockDim.x) {
			const uint32_t c = ((const uint32_t *)q)[i];

			((float4 *)x)[i] = make_float4(times((int8_t)c, d), times((int8_t)(c >> 8), d),
						       times((int8_t)(c >> 16), d), times((int8_t)(c >> 24), d));
		}
	else
		for (int64_t i = threadIdx.x; i < dim; i += blockDim.x)
			x[i] = times(q[i], d);
}

int assay_dequantize_q8_0_cuda(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	CUDA_LAUNCH(job, dequantize_q8_0, cuda_blocks(n, QUANTIZE_SPAN),
		    cuda_tensor<float4>(job, ASSAY_DEQUANTIZE_BLOCK_X), cuda_tensor<uint8_t>(job, ASSAY_DEQUANTIZE_Q),
		    n);
	return cuda_launched(job);
}

int assay_dequantize_tq2_0_cuda(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	CUDA_LAUNCH(job, dequantize_tq2_0, cuda_blocks(n, QUANTIZE_SPAN),
		    cuda_tensor<float4>(job, ASSAY_DEQUANTIZE_BLOCK_X), cuda_tensor<uint8_t>(job, ASSAY_DEQUANTIZE_Q),
		    n);
	return cuda_launched(job);
}

int assay_dequantize_i2_s_cuda(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	CUDA_LAUNCH(job, dequantize_i2_s, cuda_blocks(n, 16 * CUDA_THREADS_dequantize_i2_s),
		    cuda_tensor<float4>(job, ASSAY_DEQUANTIZE_X), cuda_tensor<uint32_t>(job, ASSAY_DEQUANTIZE_Q),
		    cuda_tensor<float>(job, ASSAY_DEQUANTIZE_SCALE), n);
	return cuda_launched(job);
}

int assay_dequantize_i8_token_cuda(struct assay_job *job)
{
	CUDA_LAUNCH(job, dequantize_i8_token, job->shape->axis[ASSAY_QUANTIZE_TOKENS],
		    cuda_tensor<float>(job, ASSAY_DEQUANTIZE_X), cuda_tensor<int8_t>(job, ASSAY_DEQUANTIZE_Q),
		    cuda_tensor<float>(job, ASSAY_DEQUANTIZE_SCALE), job->shape->axis[ASSAY_QUANTIZE_DIM]);
	return cuda_launched(job);
}

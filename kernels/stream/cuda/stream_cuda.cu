// SPDX-License-Identifier: Apache-2.0
// stream.copy and stream.triad on a GPU. A thread has its 16-byte loads in flight before it stores.
#include "assay/op_stream.h"
#include "cuda/cuda_kernel.cuh"

#define UNROLL 4 /* vectors of 16 bytes a thread */

CUDA_KERNEL(stream_copy)(uint4 *b, const uint4 *a, int64_t n)
{
	const int64_t first = (int64_t)blockIdx.x * UNROLL * blockDim.x + threadIdx.x;
	uint4 v[UNROLL];

#pragma unroll
	for (int i = 0; i < UNROLL; i++)
		if (first + i * blockDim.x < n)
			v[i] = a[first + i * blockDim.x];
#pragma unroll
	for (int i = 0; i < UNROLL; i++)
		if (first + i * blockDim.x < n)
			b[first + i * blockDim.x] = v[i];
}

static __device__ float triad(float b, float c)
{
	return __fadd_rn(b, __fmul_rn(ASSAY_STREAM_SCALE, c));
}

CUDA_KERNEL(stream_triad)(float4 *a, const float4 *b, const float4 *c, int64_t n)
{
	const int64_t first = (int64_t)blockIdx.x * UNROLL * blockDim.x + threadIdx.x;
	float4 v[UNROLL], w[UNROLL];

#pragma unroll
	for (int i = 0; i < UNROLL; i++)
		if (first + i * blockDim.x < n) {
			v[i] = b[first + i * blockDim.x];
			w[i] = c[first + i * blockDim.x];
		}
#pragma unroll
	for (int i = 0; i < UNROLL; i++)
		if (first + i * blockDim.x < n)
			a[first + i * blockDim.x] = make_float4(triad(v[i].x, w[i].x), triad(v[i].y, w[i].y),
								triad(v[i].z, w[i].z), triad(v[i].w, w[i].w));
}

int assay_stream_supports_cuda(const struct assay_shape *shape, struct assay_reason *why)
{
	static const char text[] = "the sizes of l1, l2 and l3 are those of the CPU's caches: a GPU takes level=dram";

	if (shape->axis[ASSAY_STREAM_LEVEL] == ASSAY_LEVEL_DRAM)
		return 0;
	for (size_t i = 0; i < sizeof(text); i++)
		why->text[i] = text[i];
	return -1;
}

static uint64_t passes(const struct assay_job *job, unsigned n_arrays)
{
	return assay_stream_passes(job->shape, job->tensors[0].bytes / job->n_threads, n_arrays);
}

int assay_stream_copy_cuda(struct assay_job *job)
{
	const int64_t n = (int64_t)(job->tensors[ASSAY_STREAM_COPY_A].bytes / sizeof(uint4));

	for (uint64_t pass = passes(job, 2); pass; pass--)
		CUDA_LAUNCH(job, stream_copy, cuda_blocks(n, UNROLL * CUDA_THREADS_stream_copy),
			    cuda_tensor<uint4>(job, ASSAY_STREAM_COPY_B), cuda_tensor<uint4>(job, ASSAY_STREAM_COPY_A),
			    n);
	return cuda_launched(job);
}

int assay_stream_triad_cuda(struct assay_job *job)
{
	const int64_t n = (int64_t)(job->tensors[ASSAY_STREAM_TRIAD_A].bytes / sizeof(float4));

	for (uint64_t pass = passes(job, 3); pass; pass--)
		CUDA_LAUNCH(job, stream_triad, cuda_blocks(n, UNROLL * CUDA_THREADS_stream_triad),
			    cuda_tensor<float4>(job, ASSAY_STREAM_TRIAD_A),
			    cuda_tensor<float4>(job, ASSAY_STREAM_TRIAD_B),
			    cuda_tensor<float4>(job, ASSAY_STREAM_TRIAD_C), n);
	return cuda_launched(job);
}

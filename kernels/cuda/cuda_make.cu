// SPDX-License-Identifier: Apache-2.0
// Inputs made where they are needed: a thread takes one Philox block, as the op's fill() does on the host.
#include "assay/random.h"
#include "cuda/cuda_kernel.cuh"

static __device__ __forceinline__ uint32_t float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static __device__ __forceinline__ uint32_t bf16_bits(float x)
{
	const uint32_t bits = float_bits(x);

	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16 & 0xffff;
}

CUDA_KERNEL(cuda_make)(uint32_t *to, int64_t blocks, uint32_t filled, uint32_t stream, float scale, uint64_t seed)
{
	const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	struct assay_philox r;

	if (b >= blocks)
		return;
	r = assay_random4(seed, stream, (uint64_t)b);
	if (filled == ASSAY_FILLED_NORMAL_BF16) {
		for (int i = 0; i < 2; i++)
			to[2 * b + i] = bf16_bits(scale * assay_normal_f32(r.v[2 * i])) |
					bf16_bits(scale * assay_normal_f32(r.v[2 * i + 1])) << 16;
		return;
	}
	for (int i = 0; i < 4; i++)
		to[4 * b + i] = filled == ASSAY_FILLED_TERNARY ? (r.v[i] & 0x55555555u) + (r.v[i] >> 1 & 0x55555555u)
							       : float_bits(scale * assay_normal_f32(r.v[i]));
}

int assay_cuda_make(void *device, void *dst, uint64_t bytes, const struct assay_tensor_spec *spec, uint64_t seed,
		    struct assay_reason *why)
{
	const uint64_t block = spec->filled == ASSAY_FILLED_NORMAL_BF16 ? 8 : 16;
	struct cuda_stream first = {};
	struct assay_job job = {};
	cudaError_t rc;

	(void)device;
	if (spec->filled < ASSAY_FILLED_TERNARY || spec->filled > ASSAY_FILLED_NORMAL_BF16 || bytes % block)
		return 1;
	job.stream = &first; // the device's own stream, for which copies wait
	CUDA_LAUNCH(&job, cuda_make, cuda_blocks((int64_t)(bytes / block), CUDA_THREADS_cuda_make), (uint32_t *)dst,
		    (int64_t)(bytes / block), spec->filled, spec->filled_stream, spec->filled_scale, seed);
	rc = cudaGetLastError();
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	return rc == cudaSuccess ? 0 : assay_cuda_failed(why, "cannot make an input", rc);
}

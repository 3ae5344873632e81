// SPDX-License-Identifier: Apache-2.0
// Inputs made where they are needed, by the code that makes them on the host: a thread takes one unit.
#include "assay/inputs.h"
#include "cuda/cuda_kernel.cuh"

// Units of 16 bytes are stored at once, but for a shorter one that ends the input.
CUDA_KERNEL(cuda_make)(uint32_t *to, assay_input input)
{
	const uint64_t unit = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, at = unit * ASSAY_INPUT_WORDS_BYTES;
	uint32_t words[4];

	if (unit >= input.units)
		return;
	assay_input_words(&input, unit, words);
	if (at + ASSAY_INPUT_WORDS_BYTES <= input.bytes) {
		((uint4 *)to)[unit] = make_uint4(words[0], words[1], words[2], words[3]);
		return;
	}
#pragma unroll
	for (int i = 0; i < ASSAY_INPUT_WORDS_BYTES; i++)
		if (at + i < input.bytes)
			((uint8_t *)to)[at + i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
}

CUDA_KERNEL(cuda_make_blocks)(uint8_t *to, assay_input input)
{
	const uint64_t unit = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (unit < input.units)
		assay_input_block(&input, unit, to);
}

int assay_cuda_make(void *device, void *dst, uint64_t bytes, const struct assay_tensor_spec *spec, uint64_t seed,
		    struct assay_reason *why)
{
	struct cuda_stream first = {};
	struct assay_job job = {};
	struct assay_input input;
	cudaError_t rc;

	(void)device;
	if (assay_input_init(&input, spec, bytes, seed))
		return 1;
	job.stream = &first; // the device's own stream, for which copies wait
	if (input.unit_bytes == ASSAY_INPUT_WORDS_BYTES)
		CUDA_LAUNCH(&job, cuda_make, cuda_blocks((int64_t)input.units, CUDA_THREADS_cuda_make), (uint32_t *)dst,
			    input);
	else
		CUDA_LAUNCH(&job, cuda_make_blocks, cuda_blocks((int64_t)input.units, CUDA_THREADS_cuda_make_blocks),
			    (uint8_t *)dst, input);
	rc = cudaGetLastError();
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	return rc == cudaSuccess ? 0 : assay_cuda_failed(why, "cannot make an input", rc);
}

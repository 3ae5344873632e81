/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all .cu files share: shapes of launches, and how a kernel is launched. Kernels are plain functions with C names;
 * the compiler's report of registers names them so. They use what tests/cuda/emulator has, too.
 */
#ifndef CUDA_KERNEL_CUH
#define CUDA_KERNEL_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "cuda/cuda_shapes.h"
#include "cuda/cuda_stream.h"
#include "cuda/cuda_variants.h"

/* Opens the definition of a kernel of cuda_shapes.h. */
#define CUDA_KERNEL(name) extern "C" __global__ void __launch_bounds__(CUDA_THREADS_##name) name

/* Enqueue a kernel with @grid blocks; a test that emulates a device has its own. */
#ifndef CUDA_LAUNCH
#define CUDA_LAUNCH(job, name, grid, ...)                                                                              \
	name<<<(unsigned)(grid), CUDA_THREADS_##name, 0, cuda_stream_of(job)>>>(__VA_ARGS__)
#endif

/* Nanoseconds of a clock that all multiprocessors share. */
#ifdef __CUDACC__
static __device__ __forceinline__ unsigned long long cuda_now_ns(void)
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#else
#define cuda_now_ns emulated_now_ns
#endif

#define CUDA_WARP 32
#define CUDA_FULL 0xffffffffu

/* What run() returns after its launches. An error of an earlier kernel may show here, too. */
static inline int cuda_launched(const struct assay_job *job)
{
	cudaError_t rc = cudaGetLastError();

	return rc == cudaSuccess ? 0 : job->host->fail(job, "cannot launch: %s", cudaGetErrorString(rc));
}

/* Blocks of @threads for @work items; the grid's first dimension takes 2^31 - 1. */
static inline int64_t cuda_blocks(int64_t work, int64_t per_block)
{
	return (work + per_block - 1) / per_block;
}

/* Of the device that this thread enqueues on; 1 where it does not say. */
static inline int cuda_multiprocessors(void)
{
	int device, n;

	return cudaGetDevice(&device) == cudaSuccess &&
			       cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) == cudaSuccess
		       ? n
		       : 1;
}

template <typename T> static inline T *cuda_tensor(const struct assay_job *job, uint32_t index)
{
	return (T *)job->tensors[index].data;
}

#endif

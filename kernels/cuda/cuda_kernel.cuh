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

/* Opens the definition of a kernel of cuda_shapes.h; @blocks of them fit a multiprocessor's registers. */
#define CUDA_KERNEL(name)                extern "C" __global__ void __launch_bounds__(CUDA_THREADS_##name) name
#define CUDA_KERNEL_BLOCKS(name, blocks) extern "C" __global__ void __launch_bounds__(CUDA_THREADS_##name, blocks) name

/*
 * Enqueue a kernel with @grid blocks; a test that emulates a device has its own. One that is enqueued by
 * CUDA_LAUNCH_EARLY may begin while the one before it still runs, where the device can do that (sm_90): it calls
 * cuda_wait() before it touches what others write or read.
 */
#ifndef CUDA_LAUNCH
#define CUDA_LAUNCH(job, name, grid, ...)                                                                              \
	name<<<(unsigned)(grid), CUDA_THREADS_##name, 0, cuda_stream_of(job)>>>(__VA_ARGS__)
#define CUDA_LAUNCH_EARLY(job, name, grid, ...)                                                                        \
	cuda_launch_early(cuda_stream_of(job), name, (unsigned)(grid), CUDA_THREADS_##name, __VA_ARGS__)
#endif

/* Nanoseconds of a clock that all multiprocessors share. */
#ifdef __CUDACC__
static __device__ __forceinline__ unsigned long long cuda_now_ns(void)
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* Wait until the kernels before this one have ended, and see what they wrote. */
static __device__ __forceinline__ void cuda_wait(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Let the next kernel begin, as far as there is room; its own cuda_wait() still waits for the end of this one. */
static __device__ __forceinline__ void cuda_let_next_begin(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Four products of unsigned bytes by signed ones, added to @sum. */
static __device__ __forceinline__ int cuda_dp4a_us(unsigned a, int b, int sum)
{
	int result;

	asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
	return result;
}

template <typename... P, typename... A>
static void cuda_launch_early(cudaStream_t stream, void (*kernel)(P...), unsigned grid, unsigned threads,
			      A... arguments)
{
	int device = 0, major = 0, driver = 0;
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t config = {};

	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(grid);
	config.blockDim = dim3(threads);
	config.stream = stream;
	config.attrs = &early;
	// drivers before CUDA 12.3 keep no such launch in a graph
	if (cudaGetDevice(&device) == cudaSuccess && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12030 &&
	    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9)
		config.numAttrs = 1;
	cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...);
}
#else
#define cuda_now_ns  emulated_now_ns
#define cuda_dp4a_us emulated_dp4a_us
static inline void cuda_wait(void)
{
}
static inline void cuda_let_next_begin(void)
{
}
#endif

#define CUDA_WARP 32
#define CUDA_FULL 0xffffffffu

/* The return value of run() after its launches. An error of an earlier kernel may show here, too. */
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

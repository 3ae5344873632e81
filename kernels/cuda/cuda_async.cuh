/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from global to shared memory that pass no register (cp.async). A thread begins some, ends the group, and later
 * waits until few enough of its groups are on their way; other threads see the bytes after the next barrier.
 */
#ifndef CUDA_ASYNC_CUH
#define CUDA_ASYNC_CUH

#include "cuda/cuda_kernel.cuh"

/* Begin to copy 16 bytes; both sides are aligned to as many. L2 fetches the whole line. */
static __device__ __forceinline__ void async_copy16(void *shared, const void *from)
{
#ifdef __CUDACC__
	asm volatile(
		"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)),
		"l"(from)
		: "memory");
#else
	emulated_copy16(shared, from);
#endif
}

/* The copies since the last call are a group; there may be none. */
static __device__ __forceinline__ void async_end_group(void)
{
#ifdef __CUDACC__
	asm volatile("cp.async.commit_group;" ::: "memory");
#else
	emulated_copies_end();
#endif
}

/* Wait until at most LEFT groups of this thread are on their way, the youngest. */
template <int LEFT> static __device__ __forceinline__ void async_wait(void)
{
#ifdef __CUDACC__
	asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#else
	emulated_copies_wait(LEFT);
#endif
}

#endif

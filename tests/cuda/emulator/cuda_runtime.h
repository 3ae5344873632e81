/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small emulator of a grid, for tests on machines without a GPU: .cu files compile for the host against this header
 * in the place of NVIDIA's. The threads of a block are contexts that take turns; they meet at __syncthreads() and, a
 * warp at a time, where lanes exchange values. Blocks follow each other, so __shared__ is a static variable. It has
 * what the kernels use, and is strict: all threads of a block or warp must come to each meeting, or the test dies.
 */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__      static
#define __restrict__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct emulated_index {
	unsigned x, y, z;
};
extern emulated_index threadIdx, blockIdx, blockDim, gridDim;

struct uint4 {
	unsigned x, y, z, w;
};
struct float4 {
	float x, y, z, w;
};

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
	return { x, y, z, w };
}

static inline float4 make_float4(float x, float y, float z, float w)
{
	return { x, y, z, w };
}

/* Call @kernel once for each thread of each block. */
void emulated_launch(int64_t grid, unsigned threads, const std::function<void()> &kernel);
void __syncthreads();
/* All lanes of a warp give one value of up to 32 bytes each. Returns those of all, until this lane gives another. */
typedef char emulated_value[32];
const emulated_value *emulated_exchange(const void *mine, size_t size);

/* Call it now, or keep it for the graph that is captured. */
void emulated_enqueue(int64_t grid, unsigned threads, const std::function<void()> &kernel);

/* A kernel with its arguments as they are at the launch. */
template <typename... P, typename... A> std::function<void()> emulated_call(void (*kernel)(P...), A... arguments)
{
	const std::tuple<P...> kept(arguments...);

	return [=] { std::apply(kernel, kept); };
}

#define CUDA_LAUNCH(job, name, grid, ...)                                                                              \
	((void)(job), emulated_enqueue(grid, CUDA_THREADS_##name, emulated_call(name, __VA_ARGS__)))
/* Kernels follow each other here. */
#define CUDA_LAUNCH_EARLY CUDA_LAUNCH

/* The value of lane @lane; @mask must name all lanes. */
template <typename T> T emulated_lane(unsigned mask, T value, unsigned lane)
{
	memcpy(&value, emulated_exchange(mask == 0xffffffffu ? &value : nullptr, sizeof(T))[lane & 31], sizeof(T));
	return value;
}

template <typename T> T __shfl_xor_sync(unsigned mask, T value, unsigned lanes)
{
	return emulated_lane(mask, value, threadIdx.x % 32 ^ lanes);
}

template <typename T> T __shfl_sync(unsigned mask, T value, unsigned lane)
{
	return emulated_lane(mask, value, lane);
}

template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned lanes)
{
	const unsigned lane = threadIdx.x % 32;

	return emulated_lane(mask, value, lane < lanes ? lane : lane - lanes);
}

/* The lanes that have the same value. */
static inline unsigned __match_any_sync(unsigned mask, unsigned value)
{
	const emulated_value *all = emulated_exchange(mask == 0xffffffffu ? &value : nullptr, sizeof(value));
	unsigned same = 0;

	for (int lane = 0; lane < 32; lane++)
		same |= (unsigned)!memcmp(all[lane], &value, sizeof(value)) << lane;
	return same;
}

/* The greatest of all lanes' values, and their sum modulo 2^32. */
static inline unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
	const emulated_value *all = emulated_exchange(mask == 0xffffffffu ? &value : nullptr, sizeof(value));

	for (int lane = 0; lane < 32; lane++) {
		unsigned other;

		memcpy(&other, all[lane], sizeof(other));
		value = other > value ? other : value;
	}
	return value;
}

static inline unsigned __reduce_add_sync(unsigned mask, unsigned value)
{
	const emulated_value *all = emulated_exchange(mask == 0xffffffffu ? &value : nullptr, sizeof(value));
	unsigned sum = 0;

	for (int lane = 0; lane < 32; lane++) {
		unsigned other;

		memcpy(&other, all[lane], sizeof(other));
		sum += other;
	}
	return sum;
}

static inline void __syncwarp()
{
	emulated_lane(0xffffffffu, 0, 0);
}

static inline void __threadfence_system()
{
}

/* Threads take turns at meetings alone, so each of these is one step. */
template <typename T> T atomicMax(T *at, T value)
{
	const T was = *at;

	*at = value > was ? value : was;
	return was;
}

template <typename T> T atomicMin(T *at, T value)
{
	const T was = *at;

	*at = value < was ? value : was;
	return was;
}

static inline int __popc(unsigned bits)
{
	return __builtin_popcount(bits);
}

unsigned long long emulated_now_ns();

/* mma.m16n8k32 with signed bytes, see kernels/cuda/cuda_mma.cuh. */
void emulated_mma_s8(int (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
/* ldmatrix of four matrices, see there. */
void emulated_load_matrices(uint32_t (&r)[4], const void *row);

/* cp.async, see kernels/cuda/cuda_async.cuh. */
void emulated_copy16(void *to, const void *from);
void emulated_copies_end();
void emulated_copies_wait(unsigned left);

/* Hints for caches change no values. */
template <typename T> T __ldcs(const T *from)
{
	return *from;
}

template <typename T> void __stcs(T *to, T value)
{
	*to = value;
}

static inline float __fadd_rn(float a, float b)
{
	return a + b;
}

static inline float __fmul_rn(float a, float b)
{
	return a * b;
}

static inline float __fdiv_rn(float a, float b)
{
	return a / b;
}

static inline double __dadd_rn(double a, double b)
{
	return a + b;
}

static inline double __ddiv_rn(double a, double b)
{
	return a / b;
}

/* Four products of signed bytes, added to @sum modulo 2^32. */
static inline int __dp4a(int a, int b, int sum)
{
	unsigned total = (unsigned)sum;

	for (int i = 0; i < 32; i += 8)
		total += (unsigned)((int8_t)(a >> i) * (int8_t)(b >> i));
	return (int)total;
}

/* The same with unsigned bytes in @a. */
static inline int emulated_dp4a_us(unsigned a, int b, int sum)
{
	unsigned total = (unsigned)sum;

	for (int i = 0; i < 32; i += 8)
		total += (unsigned)((uint8_t)(a >> i) * (int8_t)(b >> i));
	return (int)total;
}

#endif

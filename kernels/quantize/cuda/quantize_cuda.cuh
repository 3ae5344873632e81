/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the quantize and dequantize kernels share. A block of threads takes QUANTIZE_SPAN floats, each thread four
 * vectors of 16 bytes with all of them in flight. Formats whose blocks have odd sizes pass through shared memory, so
 * that global memory sees whole words one after the other.
 */
#ifndef QUANTIZE_CUDA_CUH
#define QUANTIZE_CUDA_CUH

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "cuda/cuda_kernel.cuh"
#include "quantize/quantize_half.h"

#define QUANTIZE_THREADS 256
#define QUANTIZE_VECTORS 4
#define QUANTIZE_SPAN    (QUANTIZE_THREADS * QUANTIZE_VECTORS * 4)

/* Bytes that QUANTIZE_SPAN floats take in blocks of @block floats and @bytes bytes. */
#define QUANTIZE_STAGED(block, bytes) (QUANTIZE_SPAN / (block) * (bytes))

/* Of the @n floats, those of this block of threads. */
static __device__ __forceinline__ int span_of(int64_t n)
{
	const int64_t left = n - (int64_t)blockIdx.x * QUANTIZE_SPAN;

	return left < QUANTIZE_SPAN ? (int)left : QUANTIZE_SPAN;
}

/* @bytes is even; both sides begin on a multiple of four. */
static __device__ __forceinline__ void copy_words(uint8_t *to, const uint8_t *from, int bytes)
{
	for (int i = threadIdx.x; i < bytes / 4; i += QUANTIZE_THREADS)
		((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
	if (bytes % 4 && threadIdx.x == 0)
		((uint16_t *)to)[bytes / 2 - 1] = ((const uint16_t *)from)[bytes / 2 - 1];
}

static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static __device__ __forceinline__ uint32_t largest_mag(float4 v)
{
	return larger(larger(assay_f32_bits(v.x) & MAG_MASK, assay_f32_bits(v.y) & MAG_MASK),
		      larger(assay_f32_bits(v.z) & MAG_MASK, assay_f32_bits(v.w) & MAG_MASK));
}

/* The largest of @lanes neighbours, a power of two. */
static __device__ __forceinline__ uint32_t largest_of_lanes(uint32_t mag, int lanes)
{
	for (int i = 1; i < lanes; i *= 2)
		mag = larger(mag, __shfl_xor_sync(CUDA_FULL, mag, i));
	return mag;
}

/* Four codes, the first one in the lowest byte. */
static __device__ __forceinline__ uint32_t pack(int a, int b, int c, int d)
{
	return (uint32_t)(a & 0xff) | (uint32_t)(b & 0xff) << 8 | (uint32_t)(c & 0xff) << 16 | (uint32_t)d << 24;
}

static __device__ __forceinline__ void store_halves(uint8_t *p, uint32_t word)
{
	((uint16_t *)p)[0] = (uint16_t)word;
	((uint16_t *)p)[1] = (uint16_t)(word >> 16);
}

static __device__ __forceinline__ uint32_t load_halves(const uint8_t *p)
{
	return ((const uint16_t *)p)[0] | (uint32_t)((const uint16_t *)p)[1] << 16;
}

#endif

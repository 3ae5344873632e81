/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of one head of one token over all positions up to its own, by a block of threads. Two threads make a
 * score. Sums over positions have their order, so a column of values is one thread's; values pass through shared
 * memory, a tile at a time. Behind the last position come scores of 0, which change no sum.
 */
#ifndef GENERATE_ATTEND_CUH
#define GENERATE_ATTEND_CUH

#include "generate_cuda.cuh"

#define ATTEND_THREADS 256
#define ATTEND_TILE    64                                /* positions whose values lie in shared memory */
#define ATTEND_VECTORS (GENERATE_MAX_HEAD / 8)           /* of 16 bytes, of a position */
#define ATTEND_AT_ONCE (ATTEND_THREADS / ATTEND_VECTORS) /* positions that the threads load together */

struct generate_attend_shared {
	__align__(16) float q[GENERATE_MAX_HEAD];
	__align__(16) uint16_t key[GENERATE_MAX_HEAD]; // of the token itself, where the KV cache lacks it
	__align__(16) uint16_t value[GENERATE_MAX_HEAD];
	__align__(16) uint4 tile[ATTEND_TILE][ATTEND_VECTORS];
	__align__(16) float scores[GENERATE_MAX_CONTEXT];
	int32_t table[GENERATE_MAX_CONTEXT / ASSAY_GENERATE_KV_BLOCK];
	uint32_t warps[ATTEND_THREADS / CUDA_WARP];
	float sum;
};

/* What a thread has before the token's own vectors are there: its part of the first keys, and of the first values. */
struct generate_attend_ahead {
	uint4 key[GENERATE_MAX_HEAD / GENERATE_LANES], value[ATTEND_TILE / ATTEND_AT_ONCE];
};

/* Of a head: its KV head, how many positions, and the one that lies in shared memory, or -1. */
struct generate_attention {
	const uint16_t *keys, *values;
	const int32_t *table; // blocks of positions, in shared memory
	int head_dim, len, own;
};

/* Where a position begins in keys and values. */
static __device__ __forceinline__ unsigned generate_attend_at(const generate_attention &a, int position)
{
	const int row = a.table[position / ASSAY_GENERATE_KV_BLOCK] * ASSAY_GENERATE_KV_BLOCK +
			position % ASSAY_GENERATE_KV_BLOCK;

	return (unsigned)row * (unsigned)a.head_dim;
}

/* The blocks of @len positions; all threads see them behind it. */
static __device__ __forceinline__ void generate_load_table(generate_attend_shared &s, const int32_t *table, int len)
{
	for (int i = threadIdx.x; i * ASSAY_GENERATE_KV_BLOCK < len; i += ATTEND_THREADS)
		s.table[i] = table[i];
	__syncthreads();
}

typedef uint4 generate_attend_tile[ATTEND_TILE / ATTEND_AT_ONCE];

static __device__ __forceinline__ void generate_load_tile(generate_attend_tile &tile, const generate_attention &a,
							  int from)
{
	const int vector = threadIdx.x % ATTEND_VECTORS;

#pragma unroll
	for (int i = 0; i < ATTEND_TILE / ATTEND_AT_ONCE; i++) {
		const int position = from + i * ATTEND_AT_ONCE + threadIdx.x / ATTEND_VECTORS;

		tile[i] = make_uint4(0, 0, 0, 0);
		if (8 * vector < a.head_dim && position < a.len && position != a.own)
			tile[i] = ((const uint4 *)(a.values + generate_attend_at(a, position)))[vector];
	}
}

static __device__ __forceinline__ void generate_store_tile(const generate_attend_tile &tile, generate_attend_shared &s,
							   const generate_attention &a, int from)
{
	const int vector = threadIdx.x % ATTEND_VECTORS;

#pragma unroll
	for (int i = 0; i < ATTEND_TILE / ATTEND_AT_ONCE; i++) {
		const int mine = i * ATTEND_AT_ONCE + threadIdx.x / ATTEND_VECTORS;

		s.tile[mine][vector] = from + mine == a.own ? ((const uint4 *)s.value)[vector] : tile[i];
	}
}

/* A thread's half of the key of position @from + threadIdx.x / 2. */
static __device__ __forceinline__ void generate_load_key(uint4 (&key)[GENERATE_MAX_HEAD / GENERATE_LANES],
							 const generate_attention &a, int from)
{
	const int position = from + threadIdx.x / 2, part = threadIdx.x % 2 * 8;

#pragma unroll
	for (int i = 0; i < GENERATE_MAX_HEAD / GENERATE_LANES; i++) {
		key[i] = make_uint4(0, 0, 0, 0);
		if (i * GENERATE_LANES < a.head_dim && position < a.len && position != a.own)
			key[i] = *(const uint4 *)(a.keys + generate_attend_at(a, position) + i * GENERATE_LANES + part);
	}
}

static __device__ __forceinline__ void generate_load_ahead(generate_attend_ahead &ahead, const generate_attention &a)
{
	generate_load_key(ahead.key, a, 0);
	generate_load_tile(ahead.value, a, 0);
}

/* Scores of all positions, and the greatest of this thread's. */
static __device__ __forceinline__ float generate_score(generate_attend_shared &s, const generate_attention &a,
						       generate_attend_ahead &ahead)
{
	const int part = threadIdx.x % 2 * 8;
	const float scale = 1.0f / sqrtf((float)a.head_dim);
	float most = -INFINITY;

#pragma unroll 1
	for (int from = 0; from < a.len; from += ATTEND_THREADS / 2) {
		const int position = from + threadIdx.x / 2;
		float sum[8] = {}, dot;

#pragma unroll
		for (int i = 0; i < GENERATE_MAX_HEAD / GENERATE_LANES; i++)
			if (i * GENERATE_LANES < a.head_dim) {
				const int at = i * GENERATE_LANES + part;

				generate_add_products(sum, &s.q[at],
						      position == a.own ? *(const uint4 *)&s.key[at] : ahead.key[i]);
			}
		if (from + ATTEND_THREADS / 2 < a.len)
			generate_load_key(ahead.key, a, from + ATTEND_THREADS / 2);
		dot = generate_sum_pair(sum) * scale;
		if (position < a.len) {
			most = generate_larger(most, dot);
			if (part == 0)
				s.scores[position] = dot;
		}
	}
	return most;
}

/* Scores become exponentials, up to a whole tile; s.sum gets their sum. */
static __device__ __forceinline__ void generate_exponentials(generate_attend_shared &s, float most, int len)
{
	const int end = (len + ATTEND_TILE - 1) / ATTEND_TILE * ATTEND_TILE;

	for (int i = threadIdx.x; i < end; i += ATTEND_THREADS)
		s.scores[i] = i < len ? generate_exp((s.scores[i] - most) * 1.0f) : 0;
	__syncthreads();
	if (threadIdx.x < CUDA_WARP) {
		float sum = 0;

		if (threadIdx.x < GENERATE_LANES)
#pragma unroll 4
			for (int i = threadIdx.x; i < end; i += GENERATE_LANES)
				sum = sum + s.scores[i];
		sum = generate_sum_lanes(sum);
		if (threadIdx.x == 0)
			s.sum = sum;
	}
}

/* Add a tile's part of a column. */
static __device__ __forceinline__ float generate_weigh_tile(const generate_attend_shared &s, int from, float sum)
{
	enum { EACH = 16 };
	const uint16_t *column = (const uint16_t *)s.tile + threadIdx.x;
	const float4 *scores = (const float4 *)(s.scores + from);

#pragma unroll 1
	for (int part = 0; part < ATTEND_TILE / EACH; part++) {
		float product[EACH];

#pragma unroll
		for (int i = 0; i < EACH; i += 4) {
			const float4 by = scores[part * (EACH / 4) + i / 4];
			const uint16_t *v = column + (part * EACH + i) * GENERATE_MAX_HEAD;

			product[i] = by.x * assay_f32_of_bf16(v[0]);
			product[i + 1] = by.y * assay_f32_of_bf16(v[GENERATE_MAX_HEAD]);
			product[i + 2] = by.z * assay_f32_of_bf16(v[2 * GENERATE_MAX_HEAD]);
			product[i + 3] = by.w * assay_f32_of_bf16(v[3 * GENERATE_MAX_HEAD]);
		}
#pragma unroll
		for (int i = 0; i < EACH; i++)
			sum = sum + product[i];
	}
	return sum;
}

/* The head's output of column threadIdx.x. */
static __device__ __forceinline__ float generate_weigh(generate_attend_shared &s, const generate_attention &a,
						       generate_attend_tile &tile)
{
	float sum = 0;

#pragma unroll 1
	for (int from = 0; from < a.len; from += ATTEND_TILE) {
		__syncthreads();
		generate_store_tile(tile, s, a, from);
		__syncthreads();
		if (from + ATTEND_TILE < a.len)
			generate_load_tile(tile, a, from + ATTEND_TILE);
		if ((int)threadIdx.x < a.head_dim)
			sum = generate_weigh_tile(s, from, sum);
	}
	return sum * (1.0f / s.sum);
}

/* All of it, from s.q on; every thread calls it, and gets the output of column threadIdx.x. */
static __device__ __forceinline__ float generate_attend_head(generate_attend_shared &s, const generate_attention &a,
							     generate_attend_ahead &ahead)
{
	const uint32_t mine = generate_order(generate_score(s, a, ahead));
	const float most = generate_of_order(generate_greatest<ATTEND_THREADS>(mine, s.warps));

	generate_exponentials(s, most, a.len);
	return generate_weigh(s, a, ahead.value);
}

#endif

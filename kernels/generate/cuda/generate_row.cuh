/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RMSNorm and rounding to int8 of one row by a block of threads. The row stays in registers, four floats at a time;
 * its squares pass through shared memory, where sixteen threads add them in the order that all share.
 */
#ifndef GENERATE_ROW_CUH
#define GENERATE_ROW_CUH

#include "generate_cuda.cuh"

/* Of a block of THREADS; its rows have up to VECTORS · THREADS vectors. */
template <int THREADS, int VECTORS> struct generate_row {
	float4 x[VECTORS], gain[VECTORS];
};

/* Of a row of up to MAX floats. The squares of a lane lie one after the other; rows of lanes use all banks once. */
template <int MAX> struct generate_row_shared {
	__align__(16) float squares[GENERATE_LANES][(MAX / 16 + 15) / 16 * 16 + 4];
	uint32_t warps[32];
	float scale;
	int sums[32];
};

/* Run a statement for each vector of a row of @n floats: `at` is its number, `v` its place in the thread. */
#define GENERATE_EACH_VECTOR(n)                                                                                        \
	_Pragma("unroll") for (unsigned v = 0, at = threadIdx.x; v < VECTORS;                                          \
			       v++, at += THREADS) if (4 * at < (unsigned)(n))

template <int THREADS, int VECTORS>
static __device__ __forceinline__ void generate_load(float4 (&to)[VECTORS], const float *from, int n)
{
	GENERATE_EACH_VECTOR(n)
	to[v] = ((const float4 *)from)[at];
}

/* The squares of a row; behind the last ones come zeros, up to a multiple of 16 a lane, which change no sum. */
template <int THREADS, int VECTORS, int MAX>
static __device__ __forceinline__ void generate_square(const generate_row<THREADS, VECTORS> &row,
						       generate_row_shared<MAX> &s, int n)
{
	GENERATE_EACH_VECTOR(n)
	{
		float(*to)[sizeof(s.squares[0]) / sizeof(float)] = &s.squares[4 * at % GENERATE_LANES];
		const unsigned step = 4 * at / GENERATE_LANES;

		to[0][step] = row.x[v].x * row.x[v].x;
		to[1][step] = row.x[v].y * row.x[v].y;
		to[2][step] = row.x[v].z * row.x[v].z;
		to[3][step] = row.x[v].w * row.x[v].w;
	}
	if (n % 256 && threadIdx.x < 128)
		s.squares[threadIdx.x % GENERATE_LANES][n / GENERATE_LANES + threadIdx.x / GENERATE_LANES] = 0;
}

/* Their sum, for all lanes of a warp; the next ones come while these are added. @n is a multiple of 128. */
template <int MAX>
static __device__ __forceinline__ float generate_sum_of_squares(const generate_row_shared<MAX> &s, int n)
{
	const float4 *from = (const float4 *)s.squares[threadIdx.x % GENERATE_LANES], *end = from + (n + 255) / 256 * 4;
	float4 next[4];
	float sum = 0;

#pragma unroll
	for (int i = 0; i < 4; i++)
		next[i] = from[i];
#pragma unroll 1
	while (from != end) {
		float4 square[4];

		from += 4;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			square[i] = next[i];
			next[i] = from[from == end ? i - 4 : i];
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
			sum = sum + square[i].x + square[i].y + square[i].z + square[i].w;
	}
	return generate_sum_lanes(sum);
}

/* The row becomes its norm. */
template <int THREADS, int VECTORS, int MAX>
static __device__ __forceinline__ void generate_normalize(generate_row<THREADS, VECTORS> &row,
							  generate_row_shared<MAX> &s, int n)
{
	float scale;

	generate_square(row, s, n);
	__syncthreads();
	if (threadIdx.x < CUDA_WARP) {
		const float sum = generate_sum_of_squares(s, n);

		if (threadIdx.x == 0)
			s.scale = 1.0f / sqrtf(sum / (float)n + ASSAY_GENERATE_EPS);
	}
	__syncthreads();
	scale = s.scale;
	GENERATE_EACH_VECTOR(n)
	row.x[v] = make_float4(row.x[v].x * scale * row.gain[v].x, row.x[v].y * scale * row.gain[v].y,
			       row.x[v].z * scale * row.gain[v].z, row.x[v].w * scale * row.gain[v].w);
}

static __device__ __forceinline__ uint32_t generate_magnitude_of(float x)
{
	return assay_f32_bits(x) & 0x7fffffffu;
}

/* The greatest magnitude of the row, for all threads. */
template <int THREADS, int VECTORS, int MAX>
static __device__ __forceinline__ float generate_magnitude(const generate_row<THREADS, VECTORS> &row,
							   generate_row_shared<MAX> &s, int n)
{
	uint32_t most = 0;

	GENERATE_EACH_VECTOR(n)
	{
		const uint32_t all[] = { generate_magnitude_of(row.x[v].x), generate_magnitude_of(row.x[v].y),
					 generate_magnitude_of(row.x[v].z), generate_magnitude_of(row.x[v].w) };

#pragma unroll
		for (int i = 0; i < 4; i++)
			most = all[i] > most ? all[i] : most;
	}
	return assay_f32_of_bits(generate_greatest<THREADS>(most, s.warps));
}

/* Four floats times @by as int8, the first one in the lowest byte. */
static __device__ __forceinline__ uint32_t generate_rounded(float4 x, float by)
{
	const float magic = 0x1.8p23f;

	return (assay_f32_bits(x.x * by + magic) & 0xff) | (assay_f32_bits(x.y * by + magic) & 0xff) << 8 |
	       (assay_f32_bits(x.z * by + magic) & 0xff) << 16 | (assay_f32_bits(x.w * by + magic) & 0xff) << 24;
}

/* What rounds a row whose greatest magnitude is @most; a row of zeros stays one. */
static __device__ __forceinline__ float generate_multiplier(float most)
{
	return most == 0 ? 0 : 127.0f / most;
}

/* Four floats into a record of the trace; NULL where there is none. */
static __device__ __forceinline__ void generate_note(float *trace, unsigned at, float4 x)
{
	if (trace) {
		trace[4 * at] = x.x;
		trace[4 * at + 1] = x.y;
		trace[4 * at + 2] = x.z;
		trace[4 * at + 3] = x.w;
	}
}

/* Where the int8 rows of a traced position stand, as words; NULL where there is none. */
static __device__ __forceinline__ uint32_t *generate_trace_i8(const generate_cuda &g, int layer, int64_t position,
							      int norm)
{
	const int32_t slot = g.slots[position];

	return slot < 0
		       ? NULL
		       : (uint32_t *)(g.trace_i8 + ((int64_t)slot * g.s.layers + layer) * g.s.i8_len + g.s.i8_at[norm]);
}

/* Value @i of a row of the embedding. */
static __device__ __forceinline__ float generate_embedded(const generate_cuda &g, const uint8_t *row, int i)
{
	const int half = i % 256 / 128, part = i % 128 / 32, l = i % 32;
	const uint8_t *block;

	switch (g.s.head) {
	case ASSAY_GENERATE_HEAD_F32:
		return ((const float *)row)[i];
	case ASSAY_GENERATE_HEAD_Q8_0:
		block = row + i / 32 * 34;
		return (float)(int8_t)block[2 + l] * assay_f32_of_half(*(const uint16_t *)block);
	case ASSAY_GENERATE_HEAD_Q6_K:
		block = row + i / 256 * 210;
		return assay_f32_of_half(*(const uint16_t *)(block + 208)) * (float)(int8_t)block[192 + i % 256 / 16] *
		       (float)(((block[64 * half + l + 32 * (part & 1)] >> 4 * (part / 2) & 15) |
				(block[128 + 32 * half + l] >> 2 * part & 3) << 4) -
			       32);
	case ASSAY_GENERATE_HEAD_I8_ROW:
		return (float)(int8_t)row[4 + i] * *(const float *)row;
	default:
		return assay_f32_of_bf16(((const uint16_t *)row)[i]);
	}
}

/* The row of the embedding of the token that stands at a position. */
static __device__ __forceinline__ const uint8_t *generate_embedding_at(const generate_cuda &g, int64_t position)
{
	const int64_t behind = position - g.at->prompt;
	const int32_t token = behind < 0 ? g.prompt[position] : g.tokens[g.at->out + behind];

	return g.embedding + token * g.s.row_bytes;
}

/* The embedding of that token. */
template <int THREADS, int VECTORS>
static __device__ __forceinline__ void generate_embed(const generate_cuda &g, float4 (&to)[VECTORS], int64_t position)
{
	const uint8_t *row = generate_embedding_at(g, position);

	GENERATE_EACH_VECTOR(g.s.dim)
	to[v] = make_float4(generate_embedded(g, row, 4 * at), generate_embedded(g, row, 4 * at + 1),
			    generate_embedded(g, row, 4 * at + 2), generate_embedded(g, row, 4 * at + 3));
}

/* An element of the feed-forward's middle. */
static __device__ __forceinline__ float generate_activated(float gate, float up)
{
	const float positive = generate_larger(gate, 0);

	return positive * positive * up;
}

/* A record of what comes after all layers; NULL where the position has none. */
static __device__ __forceinline__ float *generate_trace_of_last(const generate_cuda &g, int64_t position)
{
	const int32_t slot = g.slots[position];

	return slot < 0 ? NULL : g.trace_last + (int64_t)slot * 2 * g.s.dim;
}

/* The final norm, into the trace and, of the token that the head reads, into g.normed. */
template <int THREADS, int VECTORS, int MAX>
static __device__ __forceinline__ void generate_finish_last(const generate_cuda &g, generate_row<THREADS, VECTORS> &row,
							    generate_row_shared<MAX> &s, float *trace, bool is_read)
{
	generate_load<THREADS>(row.gain, g.norms + g.s.layers * g.s.layer_norms, g.s.dim);
	generate_normalize(row, s, g.s.dim);
	GENERATE_EACH_VECTOR(g.s.dim)
	{
		generate_note(trace ? trace + g.s.dim : NULL, at, row.x[v]);
		if (is_read)
			((float4 *)g.normed)[at] = row.x[v];
	}
}

#endif

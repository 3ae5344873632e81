/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transformer of the generate ops on a GPU: what its kernels share. All sums have the order of op_generate.h, so
 * that each number is the CPU's. A step runs up to `batch` tokens through the layers; where it begins is `first`, a
 * constant of the launch, and what the device has advanced since, so that a graph of one step serves all of them.
 */
#ifndef GENERATE_CUDA_CUH
#define GENERATE_CUDA_CUH

#include "assay/float_bits.h"
#include "assay/op_blocks.h"
#include "assay/op_generate.h"
#include "cuda/cuda_kernel.cuh"

#define GENERATE_MAX_DIM     2560 /* floats of the residual, and of all heads together */
#define GENERATE_MAX_ROW     6912 /* of any vector that is normalized */
#define GENERATE_MAX_HEAD    128
#define GENERATE_MAX_CONTEXT 4096
#define GENERATE_LANES       16 /* of every sum */

/* In device memory. */
struct generate_progress {
	unsigned long long best; /* of the logits so far: see generate_key() */
	unsigned long long runs;
	int64_t prompt; /* tokens of the sequence's prompt */
	int64_t step;   /* tokens behind it whose keys and values are there */
	int64_t out;    /* where the tokens that follow it stand in `tokens` */
	int64_t clock;  /* where its times stand */
	int64_t last;   /* which of these tokens ends the run, or -1 */
	int32_t first;  /* decode: what the prompt predicted */
};

/*
 * In host memory that the device writes: times of the latest run. `done` follows `begun` when all are there. A sequence
 * has the begin, then what the prompt predicts, then each token.
 */
struct generate_times {
	unsigned long long begun, done, ns[1];
};

/* What kernels get: pointers into device memory, and the facts of the shape. */
struct generate_cuda {
	struct assay_generate_state s;
	const float *scales, *norms, *rope;
	const uint8_t *weights;
	const uint8_t *embedding, *head; /* rows of s.row_bytes */
	const int32_t *prompt;
	int32_t *tokens, *table;
	float *logits, *trace_f32, *trace_last;
	int8_t *trace_i8;
	uint16_t *kv;

	/* Of a step: residual, outputs of the matrix under way, attention, quantized rows and their scales. */
	float *resid, *y, *att, *x_scale, *normed;
	int8_t *x;
	/* The norm of the head in eight bits, its scales and sums, as in op_blocks.h. */
	int8_t *head_x;
	float *head_scale;
	int16_t *head_sums;
	int32_t *slots; /* trace slot of each position, or -1 */
	float *probs;   /* of the sampler, like the next two [2][vocab] */
	uint32_t *keys, *ids;
	struct generate_progress *at;
	struct generate_times *times;
	uint64_t seed;

	/* Chat: requests in order, the blocks of each, and the tokens of the one under way, which `prompt` is. */
	const assay_generate_request *requests;
	const int32_t *tables, *prompts;
};

#define GENERATE_NEXT (-1)

/* A launch: @n tokens from position `first` on, in a layer; GENERATE_NEXT: behind what the device has generated. */
struct generate_step {
	int32_t layer, n;
	int64_t first;
};

static __device__ __forceinline__ float generate_larger(float a, float b)
{
	return a > b ? a : b;
}

static __device__ __forceinline__ int64_t generate_position(const generate_cuda &g, const generate_step &to)
{
	return to.first == GENERATE_NEXT ? g.at->prompt + g.at->step : to.first;
}

/* Row of the pool that holds a position. */
static __device__ __forceinline__ int64_t generate_pool_row(const generate_cuda &g, int64_t position)
{
	return (int64_t)g.table[position / ASSAY_GENERATE_KV_BLOCK] * ASSAY_GENERATE_KV_BLOCK +
	       position % ASSAY_GENERATE_KV_BLOCK;
}

static __device__ __forceinline__ uint16_t *generate_kv(const generate_cuda &g, int layer, int which, int kv_head)
{
	return g.kv + ((int64_t)(layer * 2 + which) * g.s.kv_heads + kv_head) * g.s.pool_tokens * g.s.head_dim;
}

/* A record of the trace; NULL where the position has none. */
static __device__ __forceinline__ float *generate_trace(const generate_cuda &g, int layer, int64_t position)
{
	const int32_t slot = g.slots[position];

	return slot < 0 ? NULL : g.trace_f32 + ((int64_t)slot * g.s.layers + layer) * g.s.f32_len;
}

/* Sixteen lanes, those of each half of a warp, into one. */
static __device__ __forceinline__ float generate_sum_lanes(float sum)
{
#pragma unroll
	for (int lanes = GENERATE_LANES / 2; lanes; lanes /= 2)
		sum = sum + __shfl_xor_sync(CUDA_FULL, sum, lanes);
	return sum;
}

/* Whole numbers in the order of floats; the two zeros are one. */
static __device__ __forceinline__ uint32_t generate_order(float x)
{
	const uint32_t bits = x == 0 ? 0 : assay_f32_bits(x);

	return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static __device__ __forceinline__ float generate_of_order(uint32_t order)
{
	return assay_f32_of_bits(order >> 31 ? order & 0x7fffffffu : ~order);
}

/* The greatest of a block of THREADS, for all of them; @shared has room for a number a warp. */
template <int THREADS> static __device__ __forceinline__ uint32_t generate_greatest(uint32_t x, uint32_t *shared)
{
	x = __reduce_max_sync(CUDA_FULL, x);
	if (threadIdx.x % CUDA_WARP == 0)
		shared[threadIdx.x / CUDA_WARP] = x;
	__syncthreads();
#pragma unroll
	for (int w = 0; w < THREADS / CUDA_WARP; w++)
		x = shared[w] > x ? shared[w] : x;
	return x;
}

/* exp of x <= 0, see op_generate.h; of minus infinity 0. */
static __device__ __forceinline__ float generate_exp(float x)
{
	const float magic = 0x1.8p23f, lowest = -87.0f;
	const int in_range = x >= lowest;
	float t, n, r, p;

	x = x > lowest ? x : lowest;
	t = x * 0x1.715476p+0f + magic;
	n = t - magic;
	r = x - n * 0x1.62ep-1f;
	r = r - n * 0x1.0bfbe8p-15f;
	p = 1.0f / 5040;
	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	p = p * assay_f32_of_bits((assay_f32_bits(t) - assay_f32_bits(magic) + 127) << 23);
	return in_range ? p : 0;
}

/* Sixteen products of bf16 by float go into 16 lanes; a thread has eight of them: those of an even thread, then of its
 * neighbour. */
static __device__ __forceinline__ void generate_add_products(float (&sum)[8], const float *x, uint4 row)
{
	const float4 a = ((const float4 *)x)[0], b = ((const float4 *)x)[1];

	sum[0] = sum[0] + a.x * assay_f32_of_bf16(row.x);
	sum[1] = sum[1] + a.y * assay_f32_of_bf16(row.x >> 16);
	sum[2] = sum[2] + a.z * assay_f32_of_bf16(row.y);
	sum[3] = sum[3] + a.w * assay_f32_of_bf16(row.y >> 16);
	sum[4] = sum[4] + b.x * assay_f32_of_bf16(row.z);
	sum[5] = sum[5] + b.y * assay_f32_of_bf16(row.z >> 16);
	sum[6] = sum[6] + b.z * assay_f32_of_bf16(row.w);
	sum[7] = sum[7] + b.w * assay_f32_of_bf16(row.w >> 16);
}

/* The sum of all lanes of two neighbours, for both. */
static __device__ __forceinline__ float generate_sum_pair(float (&sum)[8])
{
#pragma unroll
	for (int i = 0; i < 8; i++)
		sum[i] = sum[i] + __shfl_xor_sync(CUDA_FULL, sum[i], 1);
	return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* Greater for a greater logit, then for a lower row. */
static __device__ __forceinline__ unsigned long long generate_key(float logit, uint32_t row)
{
	return (unsigned long long)generate_order(logit) << 32 | ~row;
}

/* Enqueue the token that follows the last one of the step. */
void assay_generate_choose_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to);
/* Enqueue the begin of a run whose token number @last is its last one; decode: the first is there already. */
void assay_generate_begin_cuda(const struct assay_job *job, const generate_cuda &g, int decode, int64_t last);
/* Enqueue parts of a step. */
void assay_generate_rope_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to);
void assay_generate_attend_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to);
void assay_generate_head_cuda(const struct assay_job *job, const generate_cuda &g);
/* Which input of a norm: `layer` of the step says whose. */
void assay_generate_norm_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to,
			      enum assay_generate_norm norm);
void assay_generate_last_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to);
/* Enqueue a step of one token up to the final norm. */
void assay_generate_token_cuda(const struct assay_job *job, const generate_cuda &g, int64_t first);

#endif

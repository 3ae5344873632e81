// SPDX-License-Identifier: Apache-2.0
// Logits of the last norm, by rows in the formats of enum assay_generate_head. The greatest one is found on the way.
#include "cuda/cuda_async.cuh"
#include "generate_row.cuh"

#define HEAD_ROWS (CUDA_THREADS_generate_head / 2)

// All lanes of a warp have some logit. Rows beyond the last one are the last one again.
static __device__ __forceinline__ void keep_greatest(const generate_cuda &g, float logit, int row)
{
	unsigned long long key = generate_key(logit, (uint32_t)row);

	for (int lanes = CUDA_WARP / 2; lanes; lanes /= 2) {
		const unsigned long long other = __shfl_xor_sync(CUDA_FULL, key, lanes);

		key = other > key ? other : key;
	}
	if (threadIdx.x % CUDA_WARP == 0)
		atomicMax(&g.at->best, key);
}

// ---- bf16: two threads a row, whose columns pass through shared memory in whole lines ----

#define COLUMNS     64
#define VECTORS     (COLUMNS / 8) // of 16 bytes, of a row
#define ROW_VECTORS (VECTORS + 2) // so that neighbours read from all banks
#define STAGES      3

struct head_shared {
	__align__(16) float x[GENERATE_MAX_DIM];
	__align__(16) uint4 w[STAGES][HEAD_ROWS][ROW_VECTORS];
};

// Begin to copy columns @from … of this block's rows.
static __device__ __forceinline__ void begin_columns(const generate_cuda &g, head_shared &s, int from)
{
	const int vector = threadIdx.x % VECTORS, first = blockIdx.x * HEAD_ROWS;
	const uint16_t *head = (const uint16_t *)g.head;

	if (from < g.s.dim)
#pragma unroll
		for (int row = threadIdx.x / VECTORS; row < HEAD_ROWS; row += CUDA_THREADS_generate_head / VECTORS) {
			const int at = first + row < g.s.vocab ? first + row : g.s.vocab - 1;

			async_copy16(&s.w[from / COLUMNS % STAGES][row][vector],
				     head + (int64_t)at * g.s.dim + from + 8 * vector);
		}
	async_end_group();
}

CUDA_KERNEL(generate_head)(generate_cuda g)
{
	__shared__ head_shared s;
	const int part = threadIdx.x % 2, mine = blockIdx.x * HEAD_ROWS + threadIdx.x / 2;
	const int row = mine < g.s.vocab ? mine : g.s.vocab - 1;
	float sum[8] = {}, logit;

	cuda_let_next_begin();
	for (int i = 0; i < STAGES - 1; i++)
		begin_columns(g, s, i * COLUMNS);
	cuda_wait();
	for (int i = threadIdx.x; i < g.s.dim; i += CUDA_THREADS_generate_head)
		s.x[i] = g.normed[i];
	for (int from = 0; from < g.s.dim; from += COLUMNS) {
		const uint4 *w = s.w[from / COLUMNS % STAGES][threadIdx.x / 2];

		async_wait<STAGES - 2>();
		__syncthreads();
		begin_columns(g, s, from + (STAGES - 1) * COLUMNS);
#pragma unroll
		for (int i = 0; i < VECTORS; i += 2)
			generate_add_products(sum, &s.x[from + 8 * (i + part)], w[i + part]);
	}
	logit = generate_sum_pair(sum);
	if (mine < g.s.vocab && part == 0)
		g.logits[mine] = logit;
	keep_greatest(g, logit, row);
}

// ---- the norm in eight bits, as op_blocks.h and op_generate.h define it: one block of threads ----

static __device__ __forceinline__ float nearest(float x)
{
	return (x + 0x1.8p23f) - 0x1.8p23f;
}

// A warp rounds 32 values.
static __device__ __forceinline__ void round_32(const generate_cuda &g, int block)
{
	const int lane = threadIdx.x % CUDA_WARP, at = 32 * block + lane;
	const float x = g.normed[at];
	const float most = assay_f32_of_bits(__reduce_max_sync(CUDA_FULL, generate_magnitude_of(x)));
	const float by = most > 0 ? 127 / most : 0;

	g.head_x[at] = (int8_t)nearest(x * by);
	if (lane == 0)
		g.head_scale[block] = assay_f32_of_half(assay_half_of_f32(most / 127));
}

// A warp rounds 256 values, eight that follow each other a lane.
static __device__ __forceinline__ void round_256(const generate_cuda &g, int block)
{
	const int lane = threadIdx.x % CUDA_WARP;
	const float *x = g.normed + 256 * block;
	uint32_t greatest = 0, before_end = 0;
	float most, by;
	int sum = 0;

	for (int i = 8 * lane; i < 8 * lane + 8; i++)
		greatest = generate_magnitude_of(x[i]) > greatest ? generate_magnitude_of(x[i]) : greatest;
	greatest = __reduce_max_sync(CUDA_FULL, greatest);
	for (int i = 8 * lane + 7; i >= 8 * lane; i--)
		before_end = generate_magnitude_of(x[i]) == greatest ? 255 - i : before_end;
	before_end = __reduce_max_sync(CUDA_FULL, before_end); // of the first value that is so great
	most = assay_f32_of_bits(greatest);
	by = most > 0 ? -127.0f / x[255 - before_end] : 0;
	for (int i = 8 * lane; i < 8 * lane + 8; i++) {
		const float v = nearest(by * x[i]);
		const int8_t q = (int8_t)(v > 127 ? 127 : v);

		g.head_x[256 * block + i] = q;
		sum += q;
	}
	sum += __shfl_xor_sync(CUDA_FULL, sum, 1);
	if (lane % 2 == 0)
		g.head_sums[16 * block + lane / 2] = (int16_t)sum;
	if (lane == 0)
		g.head_scale[block] = most > 0 ? 1 / by : 0;
}

CUDA_KERNEL(generate_head_input)(generate_cuda g)
{
	enum { THREADS = CUDA_THREADS_generate_head_input, WARPS = THREADS / CUDA_WARP };
	__shared__ uint32_t warps[WARPS];
	const int warp = threadIdx.x / CUDA_WARP;

	cuda_let_next_begin();
	cuda_wait();
	if (g.s.head == ASSAY_GENERATE_HEAD_Q8_0) {
		for (int b = warp; b < g.s.dim / 32; b += WARPS)
			round_32(g, b);
	} else if (g.s.head == ASSAY_GENERATE_HEAD_Q6_K) {
		for (int b = warp; b < g.s.dim / 256; b += WARPS)
			round_256(g, b);
	} else {
		const float4 *x = (const float4 *)g.normed;
		uint32_t greatest = 0;
		float most;

		for (int i = threadIdx.x; i < g.s.dim; i += THREADS)
			greatest = generate_magnitude_of(g.normed[i]) > greatest ? generate_magnitude_of(g.normed[i])
										 : greatest;
		most = assay_f32_of_bits(generate_greatest<THREADS>(greatest, warps));
		for (int i = threadIdx.x; i < g.s.dim / 4; i += THREADS)
			((uint32_t *)g.head_x)[i] = generate_rounded(x[i], generate_multiplier(most));
		if (threadIdx.x == 0)
			g.head_scale[0] = most / 127;
	}
}

// ---- all but bf16: sixteen threads a row of f32, eight of the others, each with one of the sums of a logit ----

// Four bytes at an even address.
static __device__ __forceinline__ uint32_t word_at(const uint8_t *at)
{
	const uint16_t *halves = (const uint16_t *)at;

	return halves[0] | (uint32_t)halves[1] << 16;
}

static __device__ __forceinline__ float half_at(const uint8_t *at)
{
	return assay_f32_of_half(*(const uint16_t *)at);
}

// Eight neighbours that have the sums of a row get the whole.
static __device__ __forceinline__ float sum_of_eight(float sum)
{
#pragma unroll
	for (int lanes = 4; lanes; lanes /= 2)
		sum = sum + __shfl_xor_sync(CUDA_FULL, sum, lanes);
	return sum;
}

static __device__ __forceinline__ float logit_f32(const generate_cuda &g, const uint8_t *row, int lane)
{
	const float *w = (const float *)row;
	float sum = 0;

#pragma unroll 8
	for (int i = lane; i < g.s.dim; i += GENERATE_LANES)
		sum = sum + g.normed[i] * w[i];
	return generate_sum_lanes(sum);
}

static __device__ __forceinline__ float logit_q8_0(const generate_cuda &g, const uint8_t *block, int lane)
{
	const int *x = (const int *)g.head_x + lane;
	float sum = 0;

#pragma unroll 8
	for (int b = 0; b < g.s.dim / 32; b++, block += 34)
		sum = fmaf(half_at(block) * g.head_scale[b],
			   (float)__dp4a((int)word_at(block + 2 + 4 * lane), x[8 * b], 0), sum);
	return sum_of_eight(sum);
}

static __device__ __forceinline__ float logit_q6_k(const generate_cuda &g, const uint8_t *block, int lane)
{
	const int *x = (const int *)g.head_x + lane;
	const int16_t *sums = g.head_sums + 2 * lane;
	float sum = 0;

	for (int b = 0; b < g.s.dim / 256; b++, block += 210, x += 64, sums += 16) {
		const int8_t *scales = (const int8_t *)block + 192;
		int n = -32 * (scales[2 * lane] * sums[0] + scales[2 * lane + 1] * sums[1]);

#pragma unroll
		for (int i = 0; i < 8; i++) {
			const int part = i % 4;
			const uint32_t low = word_at(block + 64 * (i / 4) + 32 * (part & 1) + 4 * lane);
			const uint32_t high = word_at(block + 128 + 32 * (i / 4) + 4 * lane) >> 2 * part;
			const uint32_t codes = (low >> 4 * (part / 2) & 0x0f0f0f0f) | (high & 0x03030303) << 4;

			n += scales[2 * i + lane / 4] * __dp4a((int)codes, x[8 * i], 0);
		}
		sum = fmaf(half_at(block + 208) * g.head_scale[b], (float)n, sum);
	}
	return sum_of_eight(sum);
}

static __device__ __forceinline__ float logit_i8_row(const generate_cuda &g, const uint8_t *row, int lane)
{
	const int *x = (const int *)g.head_x + lane, *w = (const int *)row + 1 + lane;
	int sum = 0;

#pragma unroll 8
	for (int b = 0; b < g.s.dim / 32; b++)
		sum = __dp4a(w[8 * b], x[8 * b], sum);
	return sum_of_eight((float)sum) * (*(const float *)row * g.head_scale[0]);
}

CUDA_KERNEL(generate_head_rows)(generate_cuda g)
{
	const int lanes = g.s.head == ASSAY_GENERATE_HEAD_F32 ? GENERATE_LANES : 8, lane = threadIdx.x % lanes;
	const int mine = (blockIdx.x * CUDA_THREADS_generate_head_rows + threadIdx.x) / lanes;
	const int row = mine < g.s.vocab ? mine : g.s.vocab - 1;
	const uint8_t *w = g.head + row * g.s.row_bytes;
	float logit;

	cuda_let_next_begin();
	cuda_wait();
	switch (g.s.head) {
	case ASSAY_GENERATE_HEAD_F32:
		logit = logit_f32(g, w, lane);
		break;
	case ASSAY_GENERATE_HEAD_Q8_0:
		logit = logit_q8_0(g, w, lane);
		break;
	case ASSAY_GENERATE_HEAD_Q6_K:
		logit = logit_q6_k(g, w, lane);
		break;
	default:
		logit = logit_i8_row(g, w, lane);
	}
	if (mine < g.s.vocab && lane == 0)
		g.logits[mine] = logit;
	keep_greatest(g, logit, row);
}

// ---- launches ----

void assay_generate_head_cuda(const struct assay_job *job, const generate_cuda &g)
{
	const int lanes = g.s.head == ASSAY_GENERATE_HEAD_F32 ? GENERATE_LANES : 8;

	if (g.s.head == ASSAY_GENERATE_HEAD_BF16) {
		CUDA_LAUNCH_EARLY(job, generate_head, cuda_blocks(g.s.vocab, HEAD_ROWS), g);
		return;
	}
	if (g.s.head != ASSAY_GENERATE_HEAD_F32)
		CUDA_LAUNCH_EARLY(job, generate_head_input, 1, g);
	CUDA_LAUNCH_EARLY(job, generate_head_rows, cuda_blocks(g.s.vocab, CUDA_THREADS_generate_head_rows / lanes), g);
}

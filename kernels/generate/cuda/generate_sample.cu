// SPDX-License-Identifier: Apache-2.0
// The token that follows. For topk and topp, one block of threads sorts all logits by their bits, four passes of eight,
// which keeps equal ones by their ids.
#include "assay/random.h"
#include "generate_cuda.cuh"

#define THREADS CUDA_THREADS_generate_sample
#define WARPS   (THREADS / CUDA_WARP)
#define DIGITS  256
#define CHUNK   4096

// ---- the next token ----

// Of one thread: the token stands behind those that the step was given.
static __device__ __forceinline__ void finish(const generate_cuda &g, const generate_step &to, int32_t token)
{
	const int64_t index = generate_position(g, to) + to.n - g.at->prompt;

	g.tokens[g.at->out + index] = token;
	if (index == 0)
		g.at->first = token;
	g.at->best = 0;
	g.times->ns[g.at->clock + 1 + index] = cuda_now_ns();
	if (index == g.at->last) {
		__threadfence_system();
		*(volatile unsigned long long *)&g.times->done = g.at->runs;
	}
	if (index > 0)
		g.at->step++;
}

CUDA_KERNEL(generate_greedy)(generate_cuda g, generate_step to)
{
	cuda_wait();
	if (threadIdx.x == 0)
		finish(g, to, (int32_t) ~(uint32_t)g.at->best);
}

union sample_shared {
	uint32_t count[WARPS][DIGITS];
	float chunk[CHUNK];
};

static __device__ __forceinline__ float greatest_logit(const generate_cuda &g)
{
	return generate_of_order((uint32_t)(g.at->best >> 32));
}

// Exponentials into g.probs; the sum of all, for all threads.
static __device__ __forceinline__ float softmax(const generate_cuda &g, sample_shared &s, float *shared)
{
	const float most = greatest_logit(g), by = 1.0f / ASSAY_GENERATE_TEMPERATURE;
	float sum = 0;

	for (int from = 0; from < g.s.vocab; from += CHUNK) {
		const int n = g.s.vocab - from < CHUNK ? g.s.vocab - from : CHUNK;

		for (int i = threadIdx.x; i < n; i += THREADS) {
			s.chunk[i] = generate_exp((g.logits[from + i] - most) * by);
			g.probs[from + i] = s.chunk[i];
		}
		__syncthreads();
		if (threadIdx.x < GENERATE_LANES)
			for (int i = threadIdx.x; i < n; i += GENERATE_LANES)
				sum = sum + s.chunk[i];
		__syncthreads();
	}
	if (threadIdx.x < CUDA_WARP) {
		sum = generate_sum_lanes(sum);
		if (threadIdx.x == 0)
			*shared = sum;
	}
	__syncthreads();
	return *shared;
}

// The counts of all digits and warps become where the first of each goes: by digit, then by warp.
static __device__ __forceinline__ void scan(sample_shared &s, uint32_t *warps)
{
	enum { EACH = DIGITS * WARPS / THREADS };
	const int lane = threadIdx.x % CUDA_WARP, first = threadIdx.x * EACH;
	uint32_t mine = 0, before, own[EACH];

#pragma unroll
	for (int i = 0; i < EACH; i++) {
		own[i] = s.count[(first + i) % WARPS][(first + i) / WARPS];
		mine += own[i];
	}
	before = mine;
	for (int lanes = 1; lanes < CUDA_WARP; lanes *= 2) {
		const uint32_t other = __shfl_up_sync(CUDA_FULL, before, lanes);

		before += lane >= lanes ? other : 0;
	}
	if (lane == CUDA_WARP - 1)
		warps[threadIdx.x / CUDA_WARP] = before;
	__syncthreads();
	before -= mine;
	for (unsigned w = 0; w < threadIdx.x / CUDA_WARP; w++)
		before += warps[w];
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		s.count[(first + i) % WARPS][(first + i) / WARPS] = before;
		before += own[i];
	}
	__syncthreads();
}

// One pass over a warp's part, 32 keys at a time: count the digits, or move each key to where its digit's next one
// goes.
static __device__ __forceinline__ void walk(const generate_cuda &g, sample_shared &s, int pass, int move)
{
	const int vocab = g.s.vocab, lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
	const int each = (vocab + WARPS * CUDA_WARP - 1) / (WARPS * CUDA_WARP) * CUDA_WARP;
	const int from = pass % 2 * vocab, to = vocab - from;
	uint32_t *count = s.count[warp];

	for (int i = warp * each + lane; i < (warp + 1) * each; i += CUDA_WARP) {
		const uint32_t key = i < vocab ? g.keys[from + i] : 0;
		const uint32_t digit = i < vocab ? key >> 8 * pass & (DIGITS - 1) : DIGITS;
		const uint32_t same = __match_any_sync(CUDA_FULL, digit);
		const uint32_t before = __popc(same & ((1u << lane) - 1));

		if (move && i < vocab) {
			const uint32_t at = count[digit] + before;

			g.keys[to + at] = key;
			g.ids[to + at] = g.ids[from + i];
		}
		__syncwarp();
		if (i < vocab && before == 0)
			count[digit] += __popc(same);
		__syncwarp();
	}
}

// g.ids holds the rows, greatest logit first.
static __device__ __forceinline__ void sort(const generate_cuda &g, sample_shared &s, uint32_t *warps)
{
	for (int i = threadIdx.x; i < g.s.vocab; i += THREADS) {
		g.keys[i] = ~generate_order(g.logits[i]);
		g.ids[i] = i;
	}
	for (int pass = 0; pass < 4; pass++) {
		__syncthreads();
		for (int i = threadIdx.x; i < DIGITS * WARPS; i += THREADS)
			s.count[i / DIGITS][i % DIGITS] = 0;
		__syncthreads();
		walk(g, s, pass, 0);
		__syncthreads();
		scan(s, warps);
		walk(g, s, pass, 1);
	}
	__syncthreads();
}

// How many candidates stay; the sums of the first 1, 2, ... of them stand in g.probs' second half. A thread adds them,
// in their order.
static __device__ __forceinline__ int keep(const generate_cuda &g, sample_shared &s, float total, int *shared)
{
	const bool top_k = g.s.sampler == ASSAY_GENERATE_TOPK;
	float *sums = g.probs + g.s.vocab, kept = 0;

	if (threadIdx.x == 0)
		*shared = 0;
	for (int from = 0; from < g.s.vocab; from += CHUNK) {
		const int n = g.s.vocab - from < CHUNK ? g.s.vocab - from : CHUNK;

		for (int i = threadIdx.x; i < n; i += THREADS)
			s.chunk[i] = g.probs[g.ids[from + i]];
		__syncthreads();
		if (threadIdx.x == 0) {
			int i = 0;

			while (i < n && (top_k ? from + i < ASSAY_GENERATE_TOP_K
					       : from + i == 0 || kept < ASSAY_GENERATE_TOP_P * total)) {
				kept = kept + s.chunk[i];
				sums[from + i] = kept;
				i++;
			}
			*shared = from + i;
		}
		__syncthreads();
		if (*shared < from + n)
			break;
	}
	return *shared;
}

CUDA_KERNEL(generate_sample)(generate_cuda g, generate_step to)
{
	__shared__ sample_shared s;
	__shared__ uint32_t warps[WARPS];
	__shared__ float total;
	__shared__ int n, chosen;
	const float *sums = g.probs + g.s.vocab;
	int64_t position;
	float target, all;
	int kept;

	cuda_wait();
	position = generate_position(g, to) + to.n;
	all = softmax(g, s, &total);
	sort(g, s, warps);
	kept = keep(g, s, all, &n);
	target = assay_uniform_f32(assay_random4(g.seed, ASSAY_GENERATE_SAMPLER_STREAM, (uint64_t)position).v[0]) *
		 sums[kept - 1];
	if (threadIdx.x == 0)
		chosen = kept - 1;
	__syncthreads();
	for (int i = threadIdx.x; i < kept - 1; i += THREADS)
		if (target < sums[i])
			atomicMin(&chosen, i);
	__syncthreads();
	if (threadIdx.x == 0)
		finish(g, to, (int32_t)g.ids[chosen]);
}

CUDA_KERNEL(generate_begin)(generate_cuda g, int decode, int64_t last)
{
	if (threadIdx.x)
		return;
	g.at->runs++;
	g.at->prompt = g.s.prompt;
	g.at->step = g.at->out = g.at->clock = 0;
	g.at->last = last;
	g.at->best = 0;
	if (decode)
		g.tokens[0] = g.at->first;
	*(volatile unsigned long long *)&g.times->begun = g.at->runs;
	__threadfence_system();
	g.times->ns[0] = cuda_now_ns();
}

void assay_generate_choose_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	if (g.s.sampler == ASSAY_GENERATE_GREEDY)
		CUDA_LAUNCH_EARLY(job, generate_greedy, 1, g, to);
	else
		CUDA_LAUNCH_EARLY(job, generate_sample, 1, g, to);
}

void assay_generate_begin_cuda(const struct assay_job *job, const generate_cuda &g, int decode, int64_t last)
{
	CUDA_LAUNCH(job, generate_begin, 1, g, decode, last);
}

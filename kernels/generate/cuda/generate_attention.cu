// SPDX-License-Identifier: Apache-2.0
// Rotary embedding with the append to the KV cache, and attention: a block of threads takes one head of one token over
// all positions up to its own. Two threads make a score; sums over positions have their order, so a column of values is
// one thread's.
#include "generate_cuda.cuh"

#define THREADS     CUDA_THREADS_generate_attend
#define VALUE_LOADS 8 // of one column in flight

// Rows of y are q, k and v one after the other.
static __device__ __forceinline__ int64_t row_of_y(const generate_cuda &g)
{
	return g.s.rows[ASSAY_GENERATE_WQ] + g.s.rows[ASSAY_GENERATE_WK] + g.s.rows[ASSAY_GENERATE_WV];
}

static __device__ __forceinline__ void append_values(const generate_cuda &g, const float *v, int layer, int64_t pool,
						     float *trace)
{
	for (int i = threadIdx.x; i < g.s.kv_heads * g.s.head_dim; i += blockDim.x) {
		uint16_t *to = generate_kv(g, layer, 1, i / g.s.head_dim) + pool * g.s.head_dim;

		to[i % g.s.head_dim] = assay_bf16_of_f32(v[i]);
		if (trace)
			trace[g.s.y_at[ASSAY_GENERATE_WV] + i] = v[i];
	}
}

CUDA_KERNEL(generate_rope)(generate_cuda g, generate_step to)
{
	const int64_t position = generate_position(g, to) + blockIdx.x, pool = generate_pool_row(g, position);
	const int half = g.s.head_dim / 2;
	const float *c = g.rope + position * g.s.head_dim, *s = c + half;
	float *y = g.y + blockIdx.x * row_of_y(g), *trace = generate_trace(g, to.layer, position);

	for (int i = threadIdx.x; i < (g.s.heads + g.s.kv_heads) * half; i += blockDim.x) {
		const int head = i / half, kv_head = head - g.s.heads, at = i % half;
		float *x = y + (int64_t)head * g.s.head_dim + at;
		const float a = x[0], b = x[half];
		const float u = a * c[at] - b * s[at], w = b * c[at] + a * s[at];

		if (trace) {
			float *raw = trace + (kv_head < 0 ? g.s.y_at[ASSAY_GENERATE_WQ] + head * g.s.head_dim
							  : g.s.y_at[ASSAY_GENERATE_WK] + kv_head * g.s.head_dim);

			raw[at] = a;
			raw[at + half] = b;
		}
		if (kv_head < 0) {
			x[0] = u;
			x[half] = w;
		} else {
			uint16_t *key = generate_kv(g, to.layer, 0, kv_head) + pool * g.s.head_dim;

			key[at] = assay_bf16_of_f32(u);
			key[at + half] = assay_bf16_of_f32(w);
		}
	}
	append_values(g, y + g.s.rows[ASSAY_GENERATE_WQ] + g.s.rows[ASSAY_GENERATE_WK], to.layer, pool, trace);
}

struct attend_shared {
	__align__(16) float q[GENERATE_MAX_HEAD];
	float scores[GENERATE_MAX_CONTEXT];
	float warps[THREADS / CUDA_WARP], sum;
};

// Scores of @len positions, and the greatest of this thread's.
static __device__ __forceinline__ float score(const generate_cuda &g, attend_shared &s, const uint16_t *keys,
					      int64_t len)
{
	const int part = threadIdx.x % 2 * 8;
	const float scale = 1.0f / sqrtf((float)g.s.head_dim);
	float most = -INFINITY;

	for (int64_t from = 0; from < len; from += THREADS / 2) {
		const int64_t mine = from + threadIdx.x / 2, position = mine < len ? mine : len - 1;
		const uint16_t *key = keys + generate_pool_row(g, position) * g.s.head_dim + part;
		float sum[8] = {}, dot;

#pragma unroll 4
		for (int i = 0; i < g.s.head_dim; i += GENERATE_LANES)
			generate_add_products(sum, &s.q[i + part], *(const uint4 *)(key + i));
		dot = generate_sum_pair(sum) * scale;
		if (mine < len && part == 0)
			s.scores[mine] = dot;
		most = generate_larger(most, dot);
	}
	return most;
}

// Scores become exponentials; s.sum gets their sum.
static __device__ __forceinline__ void exponentials(attend_shared &s, float most, int64_t len)
{
	for (int64_t i = threadIdx.x; i < len; i += THREADS)
		s.scores[i] = generate_exp((s.scores[i] - most) * 1.0f);
	__syncthreads();
	if (threadIdx.x < CUDA_WARP) {
		float sum = 0;

		if (threadIdx.x < GENERATE_LANES)
#pragma unroll 8
			for (int64_t i = threadIdx.x; i < len; i += GENERATE_LANES)
				sum = sum + s.scores[i];
		sum = generate_sum_lanes(sum);
		if (threadIdx.x == 0)
			s.sum = sum;
	}
	__syncthreads();
}

static __device__ __forceinline__ float weigh(const generate_cuda &g, const attend_shared &s, const uint16_t *values,
					      int64_t len)
{
	float sum = 0;

	for (int64_t from = 0; from < len; from += VALUE_LOADS) {
		float v[VALUE_LOADS];

#pragma unroll
		for (int i = 0; i < VALUE_LOADS; i++) {
			const int64_t position = from + i < len ? from + i : len - 1;

			v[i] = assay_f32_of_bf16(values[generate_pool_row(g, position) * g.s.head_dim + threadIdx.x]);
		}
#pragma unroll
		for (int i = 0; i < VALUE_LOADS; i++)
			if (from + i < len)
				sum = sum + s.scores[from + i] * v[i];
	}
	return sum * (1.0f / s.sum);
}

CUDA_KERNEL(generate_attend)(generate_cuda g, generate_step to)
{
	__shared__ attend_shared s;
	const int token = blockIdx.x / g.s.heads, head = blockIdx.x % g.s.heads;
	const int kv_head = head / (g.s.heads / g.s.kv_heads);
	const int64_t len = generate_position(g, to) + token + 1;
	float most;

	for (int i = threadIdx.x; i < g.s.head_dim; i += THREADS)
		s.q[i] = g.y[token * row_of_y(g) + head * g.s.head_dim + i];
	__syncthreads();
	most = generate_greatest(score(g, s, generate_kv(g, to.layer, 0, kv_head), len), s.warps);
	exponentials(s, most, len);
	if ((int)threadIdx.x < g.s.head_dim)
		g.att[((int64_t)token * g.s.heads + head) * g.s.head_dim + threadIdx.x] =
			weigh(g, s, generate_kv(g, to.layer, 1, kv_head), len);
}

void assay_generate_rope_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	CUDA_LAUNCH(job, generate_rope, to.n, g, to);
}

void assay_generate_attend_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	CUDA_LAUNCH(job, generate_attend, (int64_t)to.n * g.s.heads, g, to);
}

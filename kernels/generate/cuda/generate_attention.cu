// SPDX-License-Identifier: Apache-2.0
// Several tokens: rotary embedding with the append to the KV cache, and attention by a block of threads for each head
// and token.
#include "generate_attend.cuh"

static_assert(ATTEND_THREADS == CUDA_THREADS_generate_attend, "a block for each head");

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

CUDA_KERNEL_BLOCKS(generate_attend, 3)(generate_cuda g, generate_step to)
{
	__shared__ generate_attend_shared s;
	const int token = blockIdx.x / g.s.heads, head = blockIdx.x % g.s.heads;
	const int kv_head = head / (g.s.heads / g.s.kv_heads);
	const generate_attention a = { generate_kv(g, to.layer, 0, kv_head),
				       generate_kv(g, to.layer, 1, kv_head),
				       s.table,
				       g.s.head_dim,
				       (int)generate_position(g, to) + token + 1,
				       -1 };
	generate_attend_ahead ahead;
	float out;

	generate_load_table(s, g.table, a.len);
	generate_load_ahead(ahead, a);
	if ((int)threadIdx.x < g.s.head_dim)
		s.q[threadIdx.x] = g.y[token * row_of_y(g) + head * g.s.head_dim + threadIdx.x];
	__syncthreads();
	out = generate_attend_head(s, a, ahead);
	if ((int)threadIdx.x < g.s.head_dim)
		g.att[((int64_t)token * g.s.heads + head) * g.s.head_dim + threadIdx.x] = out;
}

void assay_generate_rope_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	CUDA_LAUNCH(job, generate_rope, to.n, g, to);
}

void assay_generate_attend_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	CUDA_LAUNCH(job, generate_attend, (int64_t)to.n * g.s.heads, g, to);
}

// SPDX-License-Identifier: Apache-2.0
// What stands between the matrices of several tokens: the residual, RMSNorm and the rounding to int8 in one kernel, a
// block of threads a token.
#include "generate_row.cuh"

#define THREADS CUDA_THREADS_generate_norm_attn

typedef generate_row<THREADS, (GENERATE_MAX_ROW / 4 + THREADS - 1) / THREADS> wide_row;
typedef generate_row<THREADS, (GENERATE_MAX_DIM / 4 + THREADS - 1) / THREADS> dim_row;

// Copy an output of the matrices into the trace, where there is one.
static __device__ __forceinline__ void trace_y(const generate_cuda &g, int layer, int64_t position, int matrix,
					       const float *y)
{
	float *to = generate_trace(g, layer, position);

	if (to)
		for (int64_t i = threadIdx.x; i < g.s.rows[matrix]; i += blockDim.x)
			to[g.s.y_at[matrix] + i] = y[i];
}

static __device__ __forceinline__ float *residual_trace(const generate_cuda &g, int layer, int64_t position)
{
	float *to = generate_trace(g, layer, position);

	return to ? to + g.s.resid_at : NULL;
}

// The residual of a token grows by what a matrix made of it; the sum is what is normalized.
template <int VECTORS>
static __device__ __forceinline__ void add_residual(const generate_cuda &g, generate_row<THREADS, VECTORS> &row,
						    const float *y, float *trace)
{
	float4 *resid = (float4 *)(g.resid + (int64_t)blockIdx.x * g.s.dim);

	GENERATE_EACH_VECTOR(g.s.dim)
	{
		const float4 a = resid[at], b = ((const float4 *)y)[at];

		row.x[v] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
		resid[at] = row.x[v];
		generate_note(trace, at, row.x[v]);
	}
}

// The row's norm as int8 into row @blockIdx.x of the matrices' input, and into the trace.
template <int VECTORS>
static __device__ __forceinline__ void finish(const generate_cuda &g, generate_row<THREADS, VECTORS> &row,
					      generate_row_shared<GENERATE_MAX_ROW> &s, int layer, int64_t position,
					      int norm, int n)
{
	uint32_t *x = (uint32_t *)(g.x + (int64_t)blockIdx.x * n), *trace;
	float most, by;

	generate_load<THREADS>(row.gain, g.norms + layer * g.s.layer_norms + g.s.norm_at[norm], n);
	generate_normalize(row, s, n);
	most = generate_magnitude(row, s, n);
	by = generate_multiplier(most);
	trace = generate_trace_i8(g, layer, position, norm);
	GENERATE_EACH_VECTOR(n)
	{
		const uint32_t word = generate_rounded(row.x[v], by);

		x[at] = word;
		if (trace)
			trace[at] = word;
	}
	if (threadIdx.x == 0) {
		g.x_scale[blockIdx.x] = most / 127.0f;
		if (trace)
			generate_trace(g, layer, position)[g.s.scales_at + norm] = most / 127.0f;
	}
}

CUDA_KERNEL(generate_norm_first)(generate_cuda g, generate_step to)
{
	enum { VECTORS = sizeof(dim_row::x) / sizeof(float4) };
	__shared__ generate_row_shared<GENERATE_MAX_ROW> s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	float *trace = residual_trace(g, 0, position);
	float4 *resid = (float4 *)(g.resid + (int64_t)blockIdx.x * g.s.dim);
	dim_row row;

	generate_embed<THREADS>(g, row.x, position);
	GENERATE_EACH_VECTOR(g.s.dim)
	{
		resid[at] = row.x[v];
		generate_note(trace, at, row.x[v]);
	}
	finish(g, row, s, 0, position, ASSAY_GENERATE_NORM_ATTN, g.s.dim);
}

CUDA_KERNEL(generate_norm_attn)(generate_cuda g, generate_step to)
{
	__shared__ generate_row_shared<GENERATE_MAX_ROW> s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *y = g.y + (int64_t)blockIdx.x * g.s.dim;
	dim_row row;

	trace_y(g, to.layer - 1, position, ASSAY_GENERATE_WDOWN, y);
	add_residual(g, row, y, residual_trace(g, to.layer, position));
	finish(g, row, s, to.layer, position, ASSAY_GENERATE_NORM_ATTN, g.s.dim);
}

CUDA_KERNEL(generate_norm_sub)(generate_cuda g, generate_step to)
{
	enum { VECTORS = sizeof(dim_row::x) / sizeof(float4) };
	__shared__ generate_row_shared<GENERATE_MAX_ROW> s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const int n = g.s.heads * g.s.head_dim;
	float *trace = generate_trace(g, to.layer, position);
	dim_row row;

	generate_load<THREADS>(row.x, g.att + (int64_t)blockIdx.x * n, n);
	GENERATE_EACH_VECTOR(n)
	generate_note(trace ? trace + g.s.att_at : NULL, at, row.x[v]);
	finish(g, row, s, to.layer, position, ASSAY_GENERATE_NORM_ATTN_SUB, n);
}

CUDA_KERNEL(generate_norm_ffn)(generate_cuda g, generate_step to)
{
	__shared__ generate_row_shared<GENERATE_MAX_ROW> s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *y = g.y + (int64_t)blockIdx.x * g.s.dim;
	dim_row row;

	trace_y(g, to.layer, position, ASSAY_GENERATE_WO, y);
	add_residual(g, row, y, NULL);
	finish(g, row, s, to.layer, position, ASSAY_GENERATE_NORM_FFN, g.s.dim);
}

CUDA_KERNEL(generate_norm_act)(generate_cuda g, generate_step to)
{
	enum { VECTORS = sizeof(wide_row::x) / sizeof(float4) };
	__shared__ generate_row_shared<GENERATE_MAX_ROW> s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *gate = g.y + (int64_t)blockIdx.x * 2 * g.s.ffn, *up = gate + g.s.ffn;
	wide_row row;

	trace_y(g, to.layer, position, ASSAY_GENERATE_WGATE, gate);
	trace_y(g, to.layer, position, ASSAY_GENERATE_WUP, up);
	GENERATE_EACH_VECTOR(g.s.ffn)
	{
		const float4 a = ((const float4 *)gate)[at], b = ((const float4 *)up)[at];

		row.x[v] = make_float4(generate_activated(a.x, b.x), generate_activated(a.y, b.y),
				       generate_activated(a.z, b.z), generate_activated(a.w, b.w));
	}
	finish(g, row, s, to.layer, position, ASSAY_GENERATE_NORM_FFN_SUB, g.s.ffn);
}

// The last token's norm is what the head multiplies.
CUDA_KERNEL(generate_norm_last)(generate_cuda g, generate_step to)
{
	__shared__ generate_row_shared<GENERATE_MAX_ROW> s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *y = g.y + (int64_t)blockIdx.x * g.s.dim;
	float *trace = generate_trace_of_last(g, position);
	dim_row row;

	trace_y(g, g.s.layers - 1, position, ASSAY_GENERATE_WDOWN, y);
	add_residual(g, row, y, trace);
	generate_finish_last(g, row, s, trace, (int)blockIdx.x == to.n - 1);
}

void assay_generate_norm_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to,
			      enum assay_generate_norm norm)
{
	if (norm == ASSAY_GENERATE_NORM_ATTN && to.layer == 0)
		CUDA_LAUNCH(job, generate_norm_first, to.n, g, to);
	else if (norm == ASSAY_GENERATE_NORM_ATTN)
		CUDA_LAUNCH(job, generate_norm_attn, to.n, g, to);
	else if (norm == ASSAY_GENERATE_NORM_ATTN_SUB)
		CUDA_LAUNCH(job, generate_norm_sub, to.n, g, to);
	else if (norm == ASSAY_GENERATE_NORM_FFN)
		CUDA_LAUNCH(job, generate_norm_ffn, to.n, g, to);
	else
		CUDA_LAUNCH(job, generate_norm_act, to.n, g, to);
}

void assay_generate_last_cuda(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	CUDA_LAUNCH(job, generate_norm_last, to.n, g, to);
}

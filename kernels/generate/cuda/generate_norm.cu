// SPDX-License-Identifier: Apache-2.0
// What stands between the matrices: the residual, RMSNorm and the rounding to int8 in one kernel, a block of threads a
// token. The vector passes through shared memory; its sum of squares is that of sixteen threads, in the order that all
// share.
#include "generate_cuda.cuh"

struct norm_shared {
	float x[GENERATE_MAX_ROW];
	float warps[CUDA_THREADS_generate_norm_first / CUDA_WARP], scale;
};

// Copy an output of the matrices into the trace, where there is one.
static __device__ __forceinline__ void trace_y(const generate_cuda &g, int layer, int64_t position, int matrix,
					       const float *y)
{
	float *to = generate_trace(g, layer, position);

	if (to)
		for (int64_t i = threadIdx.x; i < g.s.rows[matrix]; i += blockDim.x)
			to[g.s.y_at[matrix] + i] = y[i];
}

// The residual of a token grows by what a matrix made of it; the sum is what is normalized.
static __device__ __forceinline__ void add_residual(const generate_cuda &g, norm_shared &s, const float *y)
{
	float *resid = g.resid + (int64_t)blockIdx.x * g.s.dim;

	for (int i = threadIdx.x; i < g.s.dim; i += blockDim.x) {
		const float sum = resid[i] + y[i];

		resid[i] = sum;
		s.x[i] = sum;
	}
}

static __device__ __forceinline__ void trace_residual(const generate_cuda &g, const norm_shared &s, int layer,
						      int64_t position)
{
	float *to = generate_trace(g, layer, position);

	if (to)
		for (int i = threadIdx.x; i < g.s.dim; i += blockDim.x)
			to[g.s.resid_at + i] = s.x[i];
}

// s.x of @n floats becomes its norm.
static __device__ __forceinline__ void normalize(norm_shared &s, const float *gain, int n)
{
	__syncthreads();
	if (threadIdx.x < CUDA_WARP) {
		float sum = 0;

		if (threadIdx.x < GENERATE_LANES)
#pragma unroll 8
			for (int i = threadIdx.x; i < n; i += GENERATE_LANES)
				sum = sum + s.x[i] * s.x[i];
		sum = generate_sum_lanes(sum);
		if (threadIdx.x == 0)
			s.scale = 1.0f / sqrtf(sum / (float)n + ASSAY_GENERATE_EPS);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		s.x[i] = s.x[i] * s.scale * gain[i];
	__syncthreads();
}

static __device__ __forceinline__ uint32_t rounded(float x, float scale)
{
	return assay_f32_bits(x * scale + 0x1.8p23f) & 0xff;
}

// s.x as int8 into row @blockIdx.x of the matrices' input, and into the trace.
static __device__ __forceinline__ void quantize(const generate_cuda &g, norm_shared &s, int layer, int64_t position,
						int norm, int n)
{
	const int32_t slot = g.slots[position];
	uint32_t *x = (uint32_t *)(g.x + (int64_t)blockIdx.x * n);
	uint32_t *to = (uint32_t *)(g.trace_i8 + ((int64_t)(slot < 0 ? 0 : slot) * g.s.layers + layer) * g.s.i8_len +
				    g.s.i8_at[norm]);
	float most = 0, scale;

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		most = generate_larger(most, generate_larger(s.x[i], -s.x[i]));
	most = generate_greatest(most, s.warps);
	scale = 127.0f / most;
	for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
		const float *v = &s.x[4 * i];
		uint32_t word = 0;

		if (most != 0)
			word = rounded(v[0], scale) | rounded(v[1], scale) << 8 | rounded(v[2], scale) << 16 |
			       rounded(v[3], scale) << 24;
		x[i] = word;
		if (slot >= 0)
			to[i] = word;
	}
	if (threadIdx.x == 0) {
		g.x_scale[blockIdx.x] = most / 127.0f;
		if (slot >= 0)
			generate_trace(g, layer, position)[g.s.scales_at + norm] = most / 127.0f;
	}
}

static __device__ __forceinline__ void finish(const generate_cuda &g, norm_shared &s, int layer, int64_t position,
					      int norm, int n)
{
	normalize(s, g.norms + layer * g.s.layer_norms + g.s.norm_at[norm], n);
	quantize(g, s, layer, position, norm, n);
}

CUDA_KERNEL(generate_norm_first)(generate_cuda g, generate_step to)
{
	__shared__ norm_shared s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const int64_t behind = position - g.at->prompt;
	const int32_t token = behind < 0 ? g.prompt[position] : g.tokens[g.at->out + behind];
	const uint16_t *row = g.embedding + (int64_t)token * g.s.dim;

	for (int i = threadIdx.x; i < g.s.dim; i += blockDim.x) {
		s.x[i] = assay_f32_of_bf16(row[i]);
		g.resid[(int64_t)blockIdx.x * g.s.dim + i] = s.x[i];
	}
	trace_residual(g, s, 0, position);
	finish(g, s, 0, position, ASSAY_GENERATE_NORM_ATTN, g.s.dim);
}

CUDA_KERNEL(generate_norm_attn)(generate_cuda g, generate_step to)
{
	__shared__ norm_shared s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *y = g.y + (int64_t)blockIdx.x * g.s.dim;

	trace_y(g, to.layer - 1, position, ASSAY_GENERATE_WDOWN, y);
	add_residual(g, s, y);
	trace_residual(g, s, to.layer, position);
	finish(g, s, to.layer, position, ASSAY_GENERATE_NORM_ATTN, g.s.dim);
}

CUDA_KERNEL(generate_norm_sub)(generate_cuda g, generate_step to)
{
	__shared__ norm_shared s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const int n = g.s.heads * g.s.head_dim;
	float *trace = generate_trace(g, to.layer, position);

	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		s.x[i] = g.att[(int64_t)blockIdx.x * n + i];
		if (trace)
			trace[g.s.att_at + i] = s.x[i];
	}
	finish(g, s, to.layer, position, ASSAY_GENERATE_NORM_ATTN_SUB, n);
}

CUDA_KERNEL(generate_norm_ffn)(generate_cuda g, generate_step to)
{
	__shared__ norm_shared s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *y = g.y + (int64_t)blockIdx.x * g.s.dim;

	trace_y(g, to.layer, position, ASSAY_GENERATE_WO, y);
	add_residual(g, s, y);
	finish(g, s, to.layer, position, ASSAY_GENERATE_NORM_FFN, g.s.dim);
}

CUDA_KERNEL(generate_norm_act)(generate_cuda g, generate_step to)
{
	__shared__ norm_shared s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *gate = g.y + (int64_t)blockIdx.x * 2 * g.s.ffn, *up = gate + g.s.ffn;

	trace_y(g, to.layer, position, ASSAY_GENERATE_WGATE, gate);
	trace_y(g, to.layer, position, ASSAY_GENERATE_WUP, up);
	for (int i = threadIdx.x; i < g.s.ffn; i += blockDim.x) {
		const float positive = generate_larger(gate[i], 0);

		s.x[i] = positive * positive * up[i];
	}
	finish(g, s, to.layer, position, ASSAY_GENERATE_NORM_FFN_SUB, g.s.ffn);
}

// The last token's norm is what the head multiplies.
CUDA_KERNEL(generate_norm_last)(generate_cuda g, generate_step to)
{
	__shared__ norm_shared s;
	const int64_t position = generate_position(g, to) + blockIdx.x;
	const float *y = g.y + (int64_t)blockIdx.x * g.s.dim;
	const int32_t slot = g.slots[position];
	float *trace = slot < 0 ? NULL : g.trace_last + (int64_t)slot * 2 * g.s.dim;

	trace_y(g, g.s.layers - 1, position, ASSAY_GENERATE_WDOWN, y);
	add_residual(g, s, y);
	if (trace)
		for (int i = threadIdx.x; i < g.s.dim; i += blockDim.x)
			trace[i] = s.x[i];
	normalize(s, g.norms + g.s.layers * g.s.layer_norms, g.s.dim);
	for (int i = threadIdx.x; i < g.s.dim; i += blockDim.x) {
		if (trace)
			trace[g.s.dim + i] = s.x[i];
		if ((int)blockIdx.x == to.n - 1)
			g.normed[i] = s.x[i];
	}
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

// SPDX-License-Identifier: Apache-2.0
// A step of one token: five kernels a layer. Each product has the norm of its input before it and the residual or the
// activation behind it in its own kernel; all blocks make the same norm. A kernel begins while the one before it runs:
// it asks for its weights before it waits for its input. It is short and gets few arguments, which both save time.
#include "cuda/cuda_ternary_rows.cuh"
#include "generate_attend.cuh"
#include "generate_row.cuh"

// ---- what all kernels of a step get ----

// Where the step's token stands, and its records in the trace of the layer.
struct token_place {
	const generate_progress *at;
	int64_t first;
	const int32_t *slots;
	float *trace;
	uint32_t *trace_i8;
	int64_t f32_slot, i8_slot; // elements from one slot to the next
};

static __device__ __forceinline__ int position_of(const token_place &p)
{
	return (int)(p.first == GENERATE_NEXT ? p.at->prompt + p.at->step : p.first);
}

static token_place place_of(const generate_cuda &g, int layer, int64_t first)
{
	token_place p;

	p.at = g.at;
	p.first = first;
	p.slots = g.slots;
	p.trace = g.trace_f32 + layer * g.s.f32_len;
	p.trace_i8 = (uint32_t *)(g.trace_i8 + layer * g.s.i8_len);
	p.f32_slot = g.s.layers * g.s.f32_len;
	p.i8_slot = g.s.layers * g.s.i8_len / 4;
	return p;
}

// ---- products ----

enum token_finish { STORE, ADD, ACTIVATE };

// Up to three matrices that lie behind each other, times the norm of @x. Offsets of the trace are within a record.
struct token_product {
	token_place place;
	const float *x, *gain, *w_scale;
	const uint8_t *w;
	float *out;
	int k, groups, stride; // columns; pairs of rows, and how far the rows of one lie apart
	int second, third;     // where these matrices begin, or behind the last row
	int trace_x;           // of the input, or -1
	int trace_i8, trace_scale;
	int trace_y[3]; // of a matrix, less the rows before it
};

// The input. BEHIND are the vectors that lanes read behind a row that is shorter than theirs.
template <int MAX, int BEHIND> struct token_shared {
	generate_row_shared<MAX> row;
	__align__(16) uint32_t x[MAX / 4 + 4 * BEHIND];
};

// What each thread knows of the rounded input.
struct token_input {
	float most;
	int sum;
};

// The sum of all threads; what they wrote into shared memory before can be read behind it.
template <int THREADS> static __device__ __forceinline__ int sum_of_block(int sum, int *shared)
{
	sum = (int)__reduce_add_sync(CUDA_FULL, (unsigned)sum);
	if (threadIdx.x % CUDA_WARP == 0)
		shared[threadIdx.x / CUDA_WARP] = sum;
	__syncthreads();
	sum = 0;
#pragma unroll
	for (int w = 0; w < THREADS / CUDA_WARP; w++)
		sum += shared[w];
	return sum;
}

// The row's norm as int8 into s.x.
template <int THREADS, int VECTORS, int MAX, int BEHIND>
static __device__ __forceinline__ token_input round_row(generate_row<THREADS, VECTORS> &row,
							token_shared<MAX, BEHIND> &s, int n)
{
	token_input x;
	float by;
	int sum = 0;

	generate_normalize(row, s.row, n);
	x.most = generate_magnitude(row, s.row, n);
	by = generate_multiplier(x.most);
	GENERATE_EACH_VECTOR(n)
	{
		const uint32_t word = generate_rounded(row.x[v], by);

		sum = __dp4a((int)word, TERNARY_ONES, sum);
		s.x[ternary_place(at, n)] = word;
	}
	x.sum = sum_of_block<THREADS>(sum, s.row.sums);
	return x;
}

// A traced token's input: as it came, as int8, and the scale.
template <int MAX, int BEHIND>
static __device__ __forceinline__ void trace_input(const token_product &p, const token_shared<MAX, BEHIND> &s, int slot,
						   float most)
{
	float *trace = p.place.trace + slot * p.place.f32_slot;
	uint32_t *words = p.place.trace_i8 + slot * p.place.i8_slot + p.trace_i8 / 4;

#pragma unroll 1
	for (int i = threadIdx.x; i < p.k; i += blockDim.x)
		if (p.trace_x >= 0)
			trace[p.trace_x + i] = p.x[i];
#pragma unroll 1
	for (int i = threadIdx.x; i < p.k / 4; i += blockDim.x)
		words[i] = s.x[ternary_place(i, p.k)];
	if (threadIdx.x == 0)
		trace[p.trace_scale] = most / 127.0f;
}

// How a kernel shares the work: LANES threads have ROWS rows of up to MAX columns.
template <int THREADS_, int MAX_, int LANES_, int ROWS_> struct token_shape {
	static constexpr int THREADS = THREADS_, MAX = MAX_, LANES = LANES_, ROWS = ROWS_;
	static constexpr int VECTORS = (MAX / 4 + THREADS - 1) / THREADS;
	static constexpr int CHUNKS = (MAX / TERNARY_CHUNK + LANES - 1) / LANES;
};

template <typename SHAPE, token_finish FINISH> static __device__ __forceinline__ void product(const token_product &p)
{
	enum { THREADS = SHAPE::THREADS, VECTORS = SHAPE::VECTORS, ROWS = SHAPE::ROWS };
	__shared__ token_shared<SHAPE::MAX, SHAPE::LANES * SHAPE::CHUNKS> s;
	const int position = position_of(p.place), slot = p.place.slots[position];
	const int mine = blockIdx.x * (THREADS / SHAPE::LANES) + threadIdx.x / SHAPE::LANES;
	const int first = (mine < p.groups ? mine : p.groups - 1) * (p.stride == 1 ? ROWS : 1);
	const bool stores = mine < p.groups && threadIdx.x % SHAPE::LANES == 0;
	generate_row<THREADS, VECTORS> row;
	ternary_rows<SHAPE::LANES, ROWS, SHAPE::CHUNKS> rows;
	float w_scale[ROWS], y[ROWS];
	int dot[ROWS], matrix[ROWS];
	token_input x;

	cuda_let_next_begin();
	ternary_load(rows, p.w, p.k, first, p.stride);
	generate_load<THREADS>(row.gain, p.gain, p.k);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		matrix[r] = (first + r * p.stride >= p.second) + (first + r * p.stride >= p.third);
		w_scale[r] = p.w_scale[matrix[r]];
	}
	cuda_wait();
	generate_load<THREADS>(row.x, p.x, p.k);
	x = round_row(row, s, p.k);
	ternary_multiply(rows, (const uint4 *)s.x, dot);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		y[r] = __fmul_rn((float)(dot[r] - x.sum), __fmul_rn(w_scale[r], x.most / 127.0f));
	if (stores && FINISH == ACTIVATE)
		p.out[first] = generate_activated(y[0], y[ROWS - 1]);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (stores && FINISH != ACTIVATE)
			p.out[first + r] = FINISH == ADD ? p.out[first + r] + y[r] : y[r];
	if (slot < 0)
		return;
	if (blockIdx.x == 0)
		trace_input(p, s, slot, x.most);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (stores)
			p.place.trace[slot * p.place.f32_slot + p.trace_y[matrix[r]] + first + r * p.stride] = y[r];
}

typedef token_shape<CUDA_THREADS_generate_token_qkv, GENERATE_MAX_DIM, 16, 2> qkv_shape;
typedef token_shape<CUDA_THREADS_generate_token_out, GENERATE_MAX_DIM, 16, 2> out_shape;
typedef token_shape<CUDA_THREADS_generate_token_up, GENERATE_MAX_DIM, 8, 2> up_shape;
typedef token_shape<CUDA_THREADS_generate_token_down, GENERATE_MAX_ROW, 32, 2> down_shape;

CUDA_KERNEL(generate_token_qkv)(token_product p)
{
	product<qkv_shape, STORE>(p);
}

CUDA_KERNEL(generate_token_out)(token_product p)
{
	product<out_shape, ADD>(p);
}

// A row of gate and the same one of up.
CUDA_KERNEL(generate_token_up)(token_product p)
{
	product<up_shape, ACTIVATE>(p);
}

CUDA_KERNEL(generate_token_down)(token_product p)
{
	product<down_shape, ADD>(p);
}

// ---- before and behind the layers ----

// The residual that enters the first layer.
CUDA_KERNEL(generate_token_first)(generate_cuda g, generate_step to)
{
	const uint8_t *row = generate_embedding_at(g, generate_position(g, to));

	cuda_let_next_begin();
	for (int i = threadIdx.x; i < g.s.dim; i += blockDim.x)
		g.resid[i] = generate_embedded(g, row, i);
}

CUDA_KERNEL(generate_token_last)(generate_cuda g, generate_step to)
{
	enum { THREADS = CUDA_THREADS_generate_token_last, VECTORS = GENERATE_MAX_DIM / 4 / THREADS + 1 };
	__shared__ generate_row_shared<GENERATE_MAX_DIM> s;
	float *trace = generate_trace_of_last(g, generate_position(g, to));
	generate_row<THREADS, VECTORS> row;

	cuda_let_next_begin();
	cuda_wait();
	generate_load<THREADS>(row.x, g.resid, g.s.dim);
	GENERATE_EACH_VECTOR(g.s.dim)
	generate_note(trace, at, row.x[v]);
	generate_finish_last(g, row, s, trace, true);
}

// ---- attention ----

struct token_attention {
	token_place place;
	const float *y, *rope;
	uint16_t *keys, *values;
	const int32_t *table;
	float *out;
	int64_t kv_head; // elements from one KV head to the next
	int heads, kv_heads, head_dim;
};

// What attention has of the token itself: q and k turned, v, as the KV cache rounds them.
static __device__ __forceinline__ void take_qkv(const token_attention &p, generate_attend_shared &s, int head,
						int kv_head, float c, float sine)
{
	const int half = p.head_dim / 2, at = threadIdx.x % (ATTEND_THREADS / 2);
	const bool is_key = threadIdx.x >= ATTEND_THREADS / 2;
	const float *y = p.y + (is_key ? p.heads + kv_head : head) * p.head_dim;

	if (at < half) {
		const float a = y[at], b = y[at + half];
		const float u = a * c - b * sine, w = b * c + a * sine;

		if (is_key) {
			s.key[at] = assay_bf16_of_f32(u);
			s.key[at + half] = assay_bf16_of_f32(w);
		} else {
			s.q[at] = u;
			s.q[at + half] = w;
		}
	}
	if ((int)threadIdx.x < p.head_dim)
		s.value[threadIdx.x] =
			assay_bf16_of_f32(p.y[(p.heads + p.kv_heads + kv_head) * p.head_dim + threadIdx.x]);
	__syncthreads();
}

CUDA_KERNEL_BLOCKS(generate_token_attend, 3)(token_attention p)
{
	__shared__ generate_attend_shared s;
	const int position = position_of(p.place), head = blockIdx.x;
	const int group = p.heads / p.kv_heads, kv_head = head / group;
	const int half = p.head_dim / 2, turn = threadIdx.x % (ATTEND_THREADS / 2);
	const float *rope = p.rope + (int64_t)position * p.head_dim + (turn < half ? turn : 0);
	const float c = rope[0], sine = rope[half];
	uint16_t *keys = p.keys + kv_head * p.kv_head, *values = p.values + kv_head * p.kv_head;
	const generate_attention a = { keys, values, s.table, p.head_dim, position + 1, position };
	generate_attend_ahead ahead;
	unsigned own;
	float out;

	cuda_let_next_begin();
	generate_load_table(s, p.table, position + 1);
	own = generate_attend_at(a, position);
	generate_load_ahead(ahead, a);
	cuda_wait();
	take_qkv(p, s, head, kv_head, c, sine);
	if (head % group == 0 && (int)threadIdx.x < p.head_dim) {
		keys[own + threadIdx.x] = s.key[threadIdx.x];
		values[own + threadIdx.x] = s.value[threadIdx.x];
	}
	out = generate_attend_head(s, a, ahead);
	if ((int)threadIdx.x < p.head_dim)
		p.out[head * p.head_dim + threadIdx.x] = out;
}

// ---- launches ----

static token_product product_of(const generate_cuda &g, const generate_step &to, int norm, int matrix, int count)
{
	token_product p;
	int rows = 0;

	p.place = place_of(g, to.layer, to.first);
	p.gain = g.norms + to.layer * g.s.layer_norms + g.s.norm_at[norm];
	p.w_scale = g.scales + to.layer * ASSAY_GENERATE_N_MATRICES + matrix;
	p.w = g.weights + to.layer * g.s.layer_bytes + g.s.matrix_at[matrix];
	p.k = (int)g.s.cols[matrix];
	p.x = p.out = g.resid;
	p.trace_x = -1;
	p.trace_i8 = (int)g.s.i8_at[norm];
	p.trace_scale = (int)g.s.scales_at + norm;
	p.second = p.third = INT32_MAX;
	for (int i = 0; i < count; i++) {
		if (i == 1)
			p.second = rows;
		if (i == 2)
			p.third = rows;
		p.trace_y[i] = (int)g.s.y_at[matrix + i] - rows;
		rows += (int)g.s.rows[matrix + i];
	}
	p.groups = rows / 2;
	p.stride = 1;
	return p;
}

static token_attention attention_of(const generate_cuda &g, const generate_step &to)
{
	token_attention p;

	p.place = place_of(g, to.layer, to.first);
	p.y = g.y;
	p.rope = g.rope;
	p.kv_head = g.s.pool_tokens * g.s.head_dim;
	p.keys = g.kv + (int64_t)to.layer * 2 * g.s.kv_heads * p.kv_head;
	p.values = p.keys + g.s.kv_heads * p.kv_head;
	p.table = g.table;
	p.out = g.att;
	p.heads = g.s.heads;
	p.kv_heads = g.s.kv_heads;
	p.head_dim = g.s.head_dim;
	return p;
}

#define BLOCKS_OF(shape, p) cuda_blocks((p).groups, shape::THREADS / shape::LANES)

static void enqueue_layer(const struct assay_job *job, const generate_cuda &g, const generate_step &to)
{
	token_product p = product_of(g, to, ASSAY_GENERATE_NORM_ATTN, ASSAY_GENERATE_WQ, 3);

	p.out = g.y;
	p.trace_x = (int)g.s.resid_at;
	CUDA_LAUNCH_EARLY(job, generate_token_qkv, BLOCKS_OF(qkv_shape, p), p);
	CUDA_LAUNCH_EARLY(job, generate_token_attend, g.s.heads, attention_of(g, to));
	p = product_of(g, to, ASSAY_GENERATE_NORM_ATTN_SUB, ASSAY_GENERATE_WO, 1);
	p.x = g.att;
	p.trace_x = (int)g.s.att_at;
	CUDA_LAUNCH_EARLY(job, generate_token_out, BLOCKS_OF(out_shape, p), p);
	p = product_of(g, to, ASSAY_GENERATE_NORM_FFN, ASSAY_GENERATE_WGATE, 2);
	p.out = g.y;
	p.stride = g.s.ffn;
	CUDA_LAUNCH_EARLY(job, generate_token_up, BLOCKS_OF(up_shape, p), p);
	p = product_of(g, to, ASSAY_GENERATE_NORM_FFN_SUB, ASSAY_GENERATE_WDOWN, 1);
	p.x = g.y;
	CUDA_LAUNCH_EARLY(job, generate_token_down, BLOCKS_OF(down_shape, p), p);
}

void assay_generate_token_cuda(const struct assay_job *job, const generate_cuda &g, int64_t first)
{
	generate_step to = { 0, 1, first };

	CUDA_LAUNCH(job, generate_token_first, 1, g, to); // reads what the step before it chose
	for (; to.layer < g.s.layers; to.layer++)
		enqueue_layer(job, g, to);
	CUDA_LAUNCH_EARLY(job, generate_token_last, 1, g, to);
}

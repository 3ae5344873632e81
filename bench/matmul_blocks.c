/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.q8_0 and matmul.q6_k: shapes, cost, seeded inputs, and an oracle that is written from assay/op_blocks.h alone,
 * element by element. Outputs are compared bit by bit; of large products a seeded sample of rows is, for all tokens.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "gguf/types.h"

#include "input_fill.h"
#include "matmul_ops.h"

#define FULL_LIMIT   (INT64_C(1) << 28) /* multiply-adds that are computed again */
#define SAMPLE_ROWS  64
#define CHECK_STREAM 16 /* random stream of the oracle: beyond those of the tensors */

#define AXES(block)                                                                                                    \
	{                                                                                                              \
		{ .name = "m", .help = "rows of w: outputs", .min = 1, .max = 1 << 24, .def = INT64_MIN },             \
			{ .name = "k",                                                                                 \
			  .help = "columns of w: inputs, a multiple of " #block,                                       \
			  .min = block,                                                                                \
			  .max = 1 << 22,                                                                              \
			  .def = INT64_MIN },                                                                          \
			{ .name = "n", .help = "tokens", .min = 1, .max = 1 << 20, .def = 1 },                         \
	}

const struct assay_axis assay_matmul_q8_0_axes[3] = AXES(32);
const struct assay_axis assay_matmul_q6_k_axes[3] = AXES(256);

static int describe(uint32_t type, const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	const int64_t m = shape->axis[ASSAY_MATMUL_M], k = shape->axis[ASSAY_MATMUL_K], n = shape->axis[ASSAY_MATMUL_N];
	const int64_t size = assay_block_size(type), row = k / size * assay_block_bytes(type);

	if (k % size) {
		snprintf(why->text, sizeof(why->text), "k is %lld, expected a multiple of %lld", (long long)k,
			 (long long)size);
		return -1;
	}
	out->n_tensors = ASSAY_BLOCKS_N_TENSORS;
	out->tensors[ASSAY_BLOCKS_W] = (struct assay_tensor_spec){
		.name = "w", .role = ASSAY_INPUT, .dtype = ASSAY_U8, .rank = 2, .dims = { m, row }
	};
	out->tensors[ASSAY_BLOCKS_X] = assay_input_normal_f32("x", ASSAY_BLOCKS_X, n, k);
	out->tensors[ASSAY_BLOCKS_X].flags = ASSAY_TENSOR_VARIES;
	out->tensors[ASSAY_BLOCKS_Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_F32, .rank = 2, .dims = { n, m }
	};
	out->tensors[ASSAY_BLOCKS_ROUNDED] = (struct assay_tensor_spec){ .name = "rounded",
									 .role = ASSAY_SCRATCH,
									 .dtype = ASSAY_U8,
									 .rank = 2,
									 .dims = { n, assay_block_inputs_bytes(k) } };
	out->cost = (struct assay_cost){
		.ops = 2.0 * (double)m * (double)k * (double)n,
		.bytes_read = (double)m * (double)row + 4.0 * (double)n * (double)k,
		.bytes_written = 4.0 * (double)m * (double)n,
		.items = (double)n,
		.item_name = "tokens",
		.arith = ASSAY_ARITH_I8,
	};
	return 0;
}

int assay_matmul_q8_0_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe(ASSAY_BLOCK_Q8_0, shape, out, why);
}

int assay_matmul_q6_k_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe(ASSAY_BLOCK_Q6_K, shape, out, why);
}

/* ---- inputs ---- */

struct filling {
	struct assay_job *job;
	uint32_t type;
};

/* Rows of normal numbers, in blocks. */
static void fill_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct filling *f = arg;
	const struct assay_gguf_type *t = assay_gguf_type(f->type);
	const int64_t m = f->job->shape->axis[ASSAY_MATMUL_M], k = f->job->shape->axis[ASSAY_MATMUL_K];
	uint8_t *w = f->job->tensors[ASSAY_BLOCKS_W].data;
	float x[256];

	for (int64_t b = tid; b < m * k / t->block; b += n_threads) {
		for (uint32_t i = 0; i < t->block; i += 4) {
			const struct assay_philox r =
				assay_random4(f->job->seed, ASSAY_BLOCKS_W, (uint64_t)(b * t->block + i));

			for (uint32_t j = 0; j < 4; j++)
				x[i + j] = assay_normal_f32(r.v[j]);
		}
		t->encode(x, 1, w + b * t->bytes);
	}
}

static int fill(struct assay_job *job, uint32_t type)
{
	struct filling f = { job, type };

	assay_input_fill(job);
	job->host->parallel(job, fill_rows, &f);
	return 0;
}

int assay_matmul_q8_0_fill(struct assay_job *job)
{
	return fill(job, ASSAY_BLOCK_Q8_0);
}

int assay_matmul_q6_k_fill(struct assay_job *job)
{
	return fill(job, ASSAY_BLOCK_Q6_K);
}

/* ---- oracle ---- */

struct checking {
	const struct assay_job *job;
	uint32_t type;
	int64_t m, k, n, n_rows;
	int64_t first; /* lowest flat index that differs, or INT64_MAX */
	int failed;    /* out of memory in a thread */
};

/* A row of integers, those of each block, and what all of them are too great by. */
struct row {
	int32_t *v;    /* [k] */
	float *scales; /* [k / size] */
};

static int32_t rounded(float x)
{
	return (int32_t)nearbyintf(x);
}

static void round_inputs(const struct checking *c, const float *x, const struct row *out)
{
	const int64_t size = assay_block_size(c->type);

	for (int64_t at = 0; at < c->k; at += size) {
		float greatest = 0, by;

		for (int64_t i = at; i < at + size; i++)
			greatest = fabsf(x[i]) > fabsf(greatest) ? x[i] : greatest;
		if (c->type == ASSAY_BLOCK_Q8_0) {
			by = greatest != 0 ? 127 / fabsf(greatest) : 0;
			out->scales[at / size] = assay_f32_of_half(assay_half_of_f32(fabsf(greatest) / 127));
		} else {
			by = greatest != 0 ? -127 / greatest : 0;
			out->scales[at / size] = greatest != 0 ? 1 / by : 0;
		}
		for (int64_t i = at; i < at + size; i++)
			out->v[i] = rounded(x[i] * by) > 127 ? 127 : rounded(x[i] * by);
	}
}

/* Codes from 0 on of q6_k, each with the scale of its sixteen. */
static int32_t q6_k_code(const uint8_t *block, int64_t i)
{
	const int64_t in_half = i % 128, low = block[64 * (i / 128) + in_half % 64] >> 4 * (in_half / 64) & 15;
	const int64_t high = block[128 + 32 * (i / 128) + in_half % 32] >> 2 * (in_half / 32) & 3;

	return (int32_t)((low | high << 4) * (int8_t)block[192 + i / 16]);
}

/* The integer sum of lane @j for one block of weights, with the correction for offset codes. */
static int32_t lane(const struct checking *c, const uint8_t *block, const int32_t *x, int j)
{
	int32_t sum = 0;

	if (c->type == ASSAY_BLOCK_Q8_0) {
		for (int i = 4 * j; i < 4 * j + 4; i++)
			sum += (int8_t)block[2 + i] * x[i];
		return sum;
	}
	for (int i = 0; i < 256; i++)
		if (i % 32 / 4 == j)
			sum += q6_k_code(block, i) * x[i];
	for (int i = 32 * j; i < 32 * j + 32; i++)
		sum -= 32 * (int8_t)block[192 + i / 16] * x[i];
	return sum;
}

static float dot(const struct checking *c, const uint8_t *w, const struct row *x)
{
	const int64_t size = assay_block_size(c->type), bytes = assay_block_bytes(c->type);
	float l[8] = { 0 };

	for (int64_t b = 0; b < c->k / size; b++, w += bytes) {
		uint16_t half;
		float scale;

		memcpy(&half, w + assay_block_scale_at(c->type), sizeof(half));
		scale = assay_f32_of_half(half) * x->scales[b];
		for (int j = 0; j < 8; j++)
			l[j] = fmaf(scale, (float)lane(c, w, x->v + b * size, j), l[j]);
	}
	for (int step = 4; step; step /= 2)
		for (int j = 0; j < step; j++)
			l[j] += l[j + step];
	return l[0];
}

static void note_first(struct checking *c, int64_t index)
{
	int64_t old = __atomic_load_n(&c->first, __ATOMIC_RELAXED);

	while (index < old &&
	       !__atomic_compare_exchange_n(&c->first, &old, index, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static bool row_init(struct row *x, int64_t k)
{
	x->v = malloc((size_t)k * sizeof(*x->v));
	x->scales = malloc((size_t)k * sizeof(*x->scales));
	return x->v && x->scales;
}

static void row_release(struct row *x)
{
	free(x->v);
	free(x->scales);
}

static void check_token(struct checking *c, int64_t token, const struct row *x)
{
	const uint8_t *w = c->job->tensors[ASSAY_BLOCKS_W].data;
	const float *y = c->job->tensors[ASSAY_BLOCKS_Y].data;
	const int64_t row_bytes = c->k / assay_block_size(c->type) * assay_block_bytes(c->type);

	round_inputs(c, (const float *)c->job->tensors[ASSAY_BLOCKS_X].data + token * c->k, x);
	for (int64_t i = 0; i < c->n_rows; i++) {
		const int64_t row = c->n_rows == c->m ? i
				    : i == 0          ? 0
				    : i == 1          ? c->m - 1
					     : assay_random4(c->job->seed, CHECK_STREAM, (uint64_t)i).v[0] % c->m;
		const float want = dot(c, w + row * row_bytes, x);

		if (memcmp(&want, &y[token * c->m + row], sizeof(want)))
			note_first(c, token * c->m + row);
	}
}

static void check_tokens(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct checking *c = arg;
	struct row x;

	if (!row_init(&x, c->k))
		__atomic_store_n(&c->failed, 1, __ATOMIC_RELAXED);
	else
		for (int64_t t = tid; t < c->n; t += n_threads)
			check_token(c, t, &x);
	row_release(&x);
}

static void report_first(const struct checking *c, struct assay_check *out)
{
	const int64_t row_bytes = c->k / assay_block_size(c->type) * assay_block_bytes(c->type);
	const int64_t token = c->first / c->m, row = c->first % c->m;
	const uint8_t *w = c->job->tensors[ASSAY_BLOCKS_W].data;
	const float *x = c->job->tensors[ASSAY_BLOCKS_X].data, *y = c->job->tensors[ASSAY_BLOCKS_Y].data;
	struct row in;

	out->correct = 0;
	out->first_bad = c->first;
	out->tensor = "y";
	if (row_init(&in, c->k)) {
		round_inputs(c, x + token * c->k, &in);
		snprintf(out->reason.text, sizeof(out->reason.text), "token %lld, row %lld: got %.9g, want %.9g",
			 (long long)token, (long long)row, (double)y[c->first],
			 (double)dot(c, w + row * row_bytes, &in));
	}
	row_release(&in);
}

static int check(struct assay_job *job, uint32_t type, struct assay_check *out)
{
	const int64_t *axis = job->shape->axis;
	struct checking c = { .job = job,
			      .type = type,
			      .m = axis[ASSAY_MATMUL_M],
			      .k = axis[ASSAY_MATMUL_K],
			      .n = axis[ASSAY_MATMUL_N],
			      .first = INT64_MAX };

	c.n_rows = c.m <= SAMPLE_ROWS || c.m * c.k <= FULL_LIMIT / c.n ? c.m : SAMPLE_ROWS;
	job->host->parallel(job, check_tokens, &c);
	if (c.failed)
		return job->host->fail(job, "not enough memory for the oracle of products of blocks");
	*out = (struct assay_check){ .size = out->size, .correct = 1, .first_bad = -1 };
	if (c.first != INT64_MAX)
		report_first(&c, out);
	return 0;
}

int assay_matmul_q8_0_check(struct assay_job *job, struct assay_check *out)
{
	return check(job, ASSAY_BLOCK_Q8_0, out);
}

int assay_matmul_q6_k_check(struct assay_job *job, struct assay_check *out)
{
	return check(job, ASSAY_BLOCK_Q6_K, out);
}

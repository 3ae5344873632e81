/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.ternary: shapes, cost and seeded inputs. Its oracle is in matmul_ternary_check.c. */
#include <stdio.h>
#include <string.h>

#include "assay/random.h"

#include "matmul_ops.h"

const struct assay_axis assay_matmul_ternary_axes[3] = {
	{ .name = "m", .help = "rows of w: outputs", .min = 1, .max = 1 << 24, .def = INT64_MIN },
	{ .name = "k",
	  .help = "columns of w: inputs, a multiple of 128",
	  .min = ASSAY_I2S_BLOCK,
	  .max = ASSAY_TERNARY_K_MAX,
	  .def = INT64_MIN },
	{ .name = "n", .help = "tokens", .min = 1, .max = 1 << 20, .def = 1 },
};

int assay_matmul_ternary_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	int64_t m = shape->axis[ASSAY_MATMUL_M], k = shape->axis[ASSAY_MATMUL_K], n = shape->axis[ASSAY_MATMUL_N];

	if (k < ASSAY_I2S_BLOCK || k % ASSAY_I2S_BLOCK) {
		snprintf(why->text, sizeof(why->text), "k=%lld is not a multiple of %d, the block of I2_S",
			 (long long)k, ASSAY_I2S_BLOCK);
		return -1;
	}
	if (k > ASSAY_TERNARY_K_MAX) {
		snprintf(why->text, sizeof(why->text), "k=%lld could overflow the int32 sum, at most %d is possible",
			 (long long)k, ASSAY_TERNARY_K_MAX);
		return -1;
	}
	out->n_tensors = ASSAY_TERNARY_N_TENSORS;
	out->tensors[ASSAY_TERNARY_W] = (struct assay_tensor_spec){
		.name = "w", .role = ASSAY_INPUT, .dtype = ASSAY_U8, .rank = 2, .dims = { m, k / 4 }
	};
	out->tensors[ASSAY_TERNARY_W_SCALE] = (struct assay_tensor_spec){
		.name = "w_scale", .role = ASSAY_INPUT, .dtype = ASSAY_F32, .rank = 1, .dims = { 1 }
	};
	out->tensors[ASSAY_TERNARY_X] = (struct assay_tensor_spec){
		.name = "x",
		.role = ASSAY_INPUT,
		.dtype = ASSAY_I8,
		.rank = 2,
		.flags = ASSAY_TENSOR_VARIES,
		.dims = { n, k },
	};
	out->tensors[ASSAY_TERNARY_X_SCALE] = (struct assay_tensor_spec){
		.name = "x_scale", .role = ASSAY_INPUT, .dtype = ASSAY_F32, .rank = 1, .dims = { n }
	};
	out->tensors[ASSAY_TERNARY_Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_F32, .rank = 2, .dims = { n, m }
	};
	out->cost = (struct assay_cost){
		.ops = 2.0 * (double)m * (double)k * (double)n,
		.bytes_read = (double)m * (double)k / 4 + (double)n * (double)k + 4.0 * ((double)n + 1),
		.bytes_written = 4.0 * (double)m * (double)n,
		.items = (double)n,
		.item_name = "tokens",
		.arith = ASSAY_ARITH_TERNARY,
	};
	return 0;
}

struct fill_args {
	struct assay_job *job;
	int64_t m, k, n;
};

/*
 * Each two-bit field becomes the number of ones among two random bits: 0, 1, 2 with 25, 50 and 25 %. 64 weights come
 * from one block of 16 bytes, of which a row has k/64.
 */
static void fill_weights(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct fill_args *f = arg;
	uint8_t *w = f->job->tensors[ASSAY_TERNARY_W].data;
	int64_t chunks = f->m * (f->k / 64);

	for (int64_t i = chunks * tid / n_threads; i < chunks * (tid + 1) / n_threads; i++) {
		struct assay_philox r = assay_random4(f->job->seed, ASSAY_TERNARY_W, (uint64_t)i);

		for (unsigned j = 0; j < 4; j++)
			r.v[j] = (r.v[j] & 0x55555555) + (r.v[j] >> 1 & 0x55555555);
		memcpy(w + 16 * i, r.v, sizeof(r.v));
	}
}

static void fill_activations(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct fill_args *f = arg;
	int8_t *x = f->job->tensors[ASSAY_TERNARY_X].data;
	int64_t chunks = f->n * (f->k / 16);

	for (int64_t i = chunks * tid / n_threads; i < chunks * (tid + 1) / n_threads; i++) {
		struct assay_philox r = assay_random4(f->job->seed, ASSAY_TERNARY_X, (uint64_t)i);

		for (unsigned j = 0; j < 16; j++) /* 255 values from 256: -127 comes up twice as often as others */
			x[16 * i + j] = (int8_t)((int32_t)((r.v[j / 4] >> 8 * (j % 4) & 0xff) * 255 >> 8) - 127);
	}
}

/*
 * What breaks narrow accumulators: the last row all +1 and the middle one all -1, the last token all 127 and the one
 * before it all -127. A single token is 127 in its first half only, so that GEMV keeps random data too.
 */
static void fill_extremes(const struct fill_args *f)
{
	uint8_t *w = f->job->tensors[ASSAY_TERNARY_W].data;
	int8_t *x = f->job->tensors[ASSAY_TERNARY_X].data;

	if (f->m >= 2)
		memset(w + (f->m - 1) * (f->k / 4), 0xaa, (size_t)f->k / 4);
	if (f->m >= 3)
		memset(w + f->m / 2 * (f->k / 4), 0x00, (size_t)f->k / 4);
	memset(x + (f->n - 1) * f->k, 127, (size_t)(f->n == 1 ? f->k / 2 : f->k));
	if (f->n >= 3)
		memset(x + (f->n - 2) * f->k, -127, (size_t)f->k);
}

int assay_matmul_ternary_fill(struct assay_job *job)
{
	struct fill_args f = { job, job->shape->axis[ASSAY_MATMUL_M], job->shape->axis[ASSAY_MATMUL_K],
			       job->shape->axis[ASSAY_MATMUL_N] };
	float *w_scale = job->tensors[ASSAY_TERNARY_W_SCALE].data;
	float *x_scale = job->tensors[ASSAY_TERNARY_X_SCALE].data;

	job->host->parallel(job, fill_weights, &f);
	job->host->parallel(job, fill_activations, &f);
	fill_extremes(&f);
	*w_scale = 0.5f + assay_uniform_f32(assay_random4(job->seed, ASSAY_TERNARY_W_SCALE, 0).v[0]);
	for (int64_t i = 0; i < f.n; i++) {
		uint32_t word = assay_random4(job->seed, ASSAY_TERNARY_X_SCALE, (uint64_t)i / 4).v[i % 4];

		x_scale[i] = (0.5f + assay_uniform_f32(word)) / 127.0f;
	}
	return 0;
}

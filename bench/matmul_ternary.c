/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.ternary: shapes, cost and seeded inputs. Its oracle is in matmul_ternary_check.c. */
#include <stdio.h>

#include "assay/random.h"

#include "input_fill.h"
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
		.name = "w",
		.role = ASSAY_INPUT,
		.dtype = ASSAY_U8,
		.rank = 2,
		.dims = { m, k / 4 },
		.filled = ASSAY_FILLED_TERNARY_MATRIX,
		.filled_stream = ASSAY_TERNARY_W,
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
		.filled = ASSAY_FILLED_INT8_TOKENS,
		.filled_stream = ASSAY_TERNARY_X,
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

int assay_matmul_ternary_fill(struct assay_job *job)
{
	const int64_t n = job->shape->axis[ASSAY_MATMUL_N];
	float *w_scale = job->tensors[ASSAY_TERNARY_W_SCALE].data;
	float *x_scale = job->tensors[ASSAY_TERNARY_X_SCALE].data;

	assay_input_fill(job);
	*w_scale = 0.5f + assay_uniform_f32(assay_random4(job->seed, ASSAY_TERNARY_W_SCALE, 0).v[0]);
	for (int64_t i = 0; i < n; i++) {
		uint32_t word = assay_random4(job->seed, ASSAY_TERNARY_X_SCALE, (uint64_t)i / 4).v[i % 4];

		x_scale[i] = (0.5f + assay_uniform_f32(word)) / 127.0f;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes, tensors, costs and inputs of the quantize and dequantize ops; assay/op_quantize_inputs.h says what the inputs
 * are.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "assay/op_quantize_inputs.h"
#include "input_fill.h"
#include "quantize_ops.h"

const struct assay_axis assay_quantize_axes_flat[1] = {
	[ASSAY_QUANTIZE_N] = { .name = "n",
			       .help = "floats in the tensor",
			       .min = 1,
			       .max = INT64_C(1) << 36,
			       .def = 1048576 },
};

const struct assay_axis assay_quantize_axes_token[2] = {
	[ASSAY_QUANTIZE_TOKENS] = { .name = "tokens",
				    .help = "tokens, each with a scale of its own",
				    .min = 1,
				    .max = 1 << 20,
				    .def = 512 },
	[ASSAY_QUANTIZE_DIM] = { .name = "dim", .help = "floats of one token", .min = 1, .max = 1 << 20, .def = 2560 },
};

/* The floats of a quantize op are activations, which are filled so; those of a dequantize op are its output. */
static struct assay_tensor_spec floats(bool quantize, enum assay_filled filled, uint32_t rank, int64_t d0, int64_t d1)
{
	return (struct assay_tensor_spec){ .name = "x",
					   .role = quantize ? ASSAY_INPUT : ASSAY_OUTPUT,
					   .dtype = ASSAY_F32,
					   .rank = rank,
					   .flags = quantize ? ASSAY_TENSOR_VARIES : 0,
					   .dims = { d0, d1 },
					   .filled = quantize ? filled : ASSAY_FILLED_BY_OP,
					   .filled_stream = ASSAY_QUANTIZE_X };
}

static struct assay_tensor_spec tensor1(const char *name, uint32_t role, uint32_t dtype, int64_t d0)
{
	return (struct assay_tensor_spec){ .name = name, .role = role, .dtype = dtype, .rank = 1, .dims = { d0 } };
}

static struct assay_tensor_spec tensor2(const char *name, uint32_t role, uint32_t dtype, int64_t d0, int64_t d1)
{
	return (struct assay_tensor_spec){ .name = name, .role = role, .dtype = dtype, .rank = 2, .dims = { d0, d1 } };
}

static void set_filled(struct assay_tensor_spec *spec, enum assay_filled filled, uint32_t stream)
{
	spec->filled = filled;
	spec->filled_stream = stream;
}

/* One operation for each element; every float and every packed byte crosses the memory bus once. */
static void set_cost(struct assay_problem *out, bool quantize, int64_t n, int64_t packed_bytes)
{
	double floats = 4.0 * (double)n, packed = (double)packed_bytes;

	out->cost = (struct assay_cost){
		.ops = (double)n,
		.bytes_read = quantize ? floats : packed,
		.bytes_written = quantize ? packed : floats,
		.items = (double)n,
		.item_name = "elements",
		.arith = ASSAY_ARITH_NONE,
	};
}

static int check_multiple(int64_t n, int64_t block, struct assay_reason *why)
{
	if (n > 0 && n % block == 0)
		return 0;
	snprintf(why->text, sizeof(why->text), "n is %" PRId64 ", expected a multiple of %" PRId64, n, block);
	return -1;
}

static int describe_i2_s(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why,
			 bool quantize)
{
	int64_t n = shape->axis[ASSAY_QUANTIZE_N];
	uint32_t packed = quantize ? ASSAY_OUTPUT : ASSAY_INPUT;

	if (check_multiple(n, ASSAY_I2S_BLOCK, why))
		return -1;
	if (quantize && n > ASSAY_I2_S_MAX_N) {
		snprintf(why->text, sizeof(why->text), "n is %" PRId64 ", expected at most %" PRId64, n,
			 ASSAY_I2_S_MAX_N);
		return -1;
	}
	if (quantize) {
		out->n_tensors = 4;
		out->tensors[ASSAY_QUANTIZE_X] = floats(true, ASSAY_FILLED_QUANTIZE_I2_S, 1, n, 0);
		out->tensors[ASSAY_QUANTIZE_Q] = tensor1("q", packed, ASSAY_U8, n / 4);
		out->tensors[ASSAY_QUANTIZE_SCALE] = tensor1("scale", packed, ASSAY_F32, 1);
		out->tensors[ASSAY_QUANTIZE_SUMS] = tensor1("sums", ASSAY_SCRATCH, ASSAY_F64,
							    (n + ASSAY_I2_S_SUM_BLOCK - 1) / ASSAY_I2_S_SUM_BLOCK);
	} else {
		out->n_tensors = 3;
		out->tensors[ASSAY_DEQUANTIZE_Q] = tensor1("q", packed, ASSAY_U8, n / 4);
		out->tensors[ASSAY_DEQUANTIZE_SCALE] = tensor1("scale", packed, ASSAY_F32, 1);
		out->tensors[ASSAY_DEQUANTIZE_X] = floats(false, ASSAY_FILLED_BY_OP, 1, n, 0);
		set_filled(&out->tensors[ASSAY_DEQUANTIZE_Q], ASSAY_FILLED_TERNARY_BYTES, ASSAY_DEQUANTIZE_Q);
	}
	set_cost(out, quantize, n, n / 4 + 4);
	return 0;
}

static int describe_i8_token(const struct assay_shape *shape, struct assay_problem *out, bool quantize)
{
	int64_t tokens = shape->axis[ASSAY_QUANTIZE_TOKENS], dim = shape->axis[ASSAY_QUANTIZE_DIM];
	uint32_t packed = quantize ? ASSAY_OUTPUT : ASSAY_INPUT;
	uint32_t x = quantize ? ASSAY_QUANTIZE_X : ASSAY_DEQUANTIZE_X;
	uint32_t q = quantize ? ASSAY_QUANTIZE_Q : ASSAY_DEQUANTIZE_Q;
	uint32_t scale = quantize ? ASSAY_QUANTIZE_SCALE : ASSAY_DEQUANTIZE_SCALE;

	out->n_tensors = 3;
	out->tensors[x] = floats(quantize, ASSAY_FILLED_QUANTIZE_TOKENS, 2, tokens, dim);
	out->tensors[q] = tensor2("q", packed, ASSAY_I8, tokens, dim);
	out->tensors[scale] = tensor1("scale", packed, ASSAY_F32, tokens);
	if (!quantize) {
		set_filled(&out->tensors[q], ASSAY_FILLED_BYTES, q);
		set_filled(&out->tensors[scale], ASSAY_FILLED_TOKEN_SCALES, scale);
	}
	set_cost(out, quantize, tokens * dim, tokens * dim + 4 * tokens);
	return 0;
}

static int describe_blocks(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why,
			   bool quantize, int64_t block, int64_t block_bytes)
{
	int64_t n = shape->axis[ASSAY_QUANTIZE_N];
	uint32_t x = quantize ? ASSAY_QUANTIZE_X : ASSAY_DEQUANTIZE_BLOCK_X;
	uint32_t q = quantize ? ASSAY_QUANTIZE_Q : ASSAY_DEQUANTIZE_Q;

	if (check_multiple(n, block, why))
		return -1;
	out->n_tensors = 2;
	out->tensors[x] = floats(quantize, ASSAY_FILLED_QUANTIZE_BLOCKS, 1, n, 0);
	out->tensors[q] = tensor2("q", quantize ? ASSAY_OUTPUT : ASSAY_INPUT, ASSAY_U8, n / block, block_bytes);
	if (!quantize)
		set_filled(&out->tensors[q], block == ASSAY_Q8_0_BLOCK ? ASSAY_FILLED_Q8_0 : ASSAY_FILLED_TQ2_0, q);
	set_cost(out, quantize, n, n / block * block_bytes);
	return 0;
}

int assay_quantize_i2_s_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_i2_s(shape, out, why, true);
}

int assay_dequantize_i2_s_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_i2_s(shape, out, why, false);
}

int assay_quantize_tq2_0_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_blocks(shape, out, why, true, ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES);
}

int assay_dequantize_tq2_0_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why)
{
	return describe_blocks(shape, out, why, false, ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES);
}

int assay_quantize_q8_0_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_blocks(shape, out, why, true, ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES);
}

int assay_dequantize_q8_0_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_blocks(shape, out, why, false, ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES);
}

int assay_quantize_i8_token_describe(const struct assay_shape *shape, struct assay_problem *out,
				     struct assay_reason *why)
{
	(void)why;
	return describe_i8_token(shape, out, true);
}

int assay_dequantize_i8_token_describe(const struct assay_shape *shape, struct assay_problem *out,
				       struct assay_reason *why)
{
	(void)why;
	return describe_i8_token(shape, out, false);
}

/* ---- inputs ---- */

int assay_quantize_fill(struct assay_job *job)
{
	assay_input_fill(job);
	return 0;
}

/* All codes share one scale, which no spec describes. */
int assay_dequantize_i2_s_fill(struct assay_job *job)
{
	float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data;

	*scale = ASSAY_INPUT_SIGMA *
		 (0.5f + assay_uniform_f32(assay_random4(job->seed, ASSAY_DEQUANTIZE_SCALE, 0).v[0]));
	return assay_quantize_fill(job);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantize and dequantize ops, as entries for the descriptor of ops.so. Formats: assay/op_quantize.h.
 * quantize_shapes.c sizes them and makes their inputs, quantize_check.c knows the right answers.
 */
#ifndef QUANTIZE_OPS_H
#define QUANTIZE_OPS_H

#include "assay/plugin.h"
#include "work_ops.h"

extern const struct assay_axis assay_quantize_axes_flat[1];
extern const struct assay_axis assay_quantize_axes_token[2];

#define QUANTIZE_DECLARE_OP(fn)                                                                                        \
	int assay_##fn##_describe(const struct assay_shape *shape, struct assay_problem *out,                          \
				  struct assay_reason *why);                                                           \
	int assay_##fn##_check(struct assay_job *job, struct assay_check *out)

QUANTIZE_DECLARE_OP(quantize_i2_s);
QUANTIZE_DECLARE_OP(quantize_tq2_0);
QUANTIZE_DECLARE_OP(quantize_q8_0);
QUANTIZE_DECLARE_OP(quantize_i8_token);
QUANTIZE_DECLARE_OP(dequantize_i2_s);
QUANTIZE_DECLARE_OP(dequantize_tq2_0);
QUANTIZE_DECLARE_OP(dequantize_q8_0);
QUANTIZE_DECLARE_OP(dequantize_i8_token);

/* Makes every input as its spec says. */
int assay_quantize_fill(struct assay_job *job);
int assay_dequantize_i2_s_fill(struct assay_job *job);

#define QUANTIZE_OP(name_, fn, axes_, fill_, help_)                                                                    \
	{                                                                                                              \
		.name = name_, .help = help_, .axes = axes_, .n_axes = sizeof(axes_) / sizeof(axes_[0]),               \
		.axis_stride = sizeof(struct assay_axis), .flags = ASSAY_OP_EXACT,                                     \
		.metric_stride = sizeof(struct assay_metric_def), .n_counters = ASSAY_WORK_N_COUNTERS,                 \
		.counters = assay_work_counters, .describe = assay_##fn##_describe, .fill = fill_,                     \
		.check = assay_##fn##_check                                                                            \
	}

#define ASSAY_QUANTIZE_OPS                                                                                             \
	QUANTIZE_OP("quantize.i2_s", quantize_i2_s, assay_quantize_axes_flat, assay_quantize_fill,                     \
		    "floats to ternary, 2 bits each, one absmean scale for all (BitNet b1.58)"),                       \
		QUANTIZE_OP("quantize.tq2_0", quantize_tq2_0, assay_quantize_axes_flat, assay_quantize_fill,           \
			    "floats to ternary, 2 bits each, absmax scale for 256 (ggml)"),                            \
		QUANTIZE_OP("quantize.q8_0", quantize_q8_0, assay_quantize_axes_flat, assay_quantize_fill,             \
			    "floats to int8, absmax scale for 32 (ggml)"),                                             \
		QUANTIZE_OP("quantize.i8_token", quantize_i8_token, assay_quantize_axes_token, assay_quantize_fill,    \
			    "activations to int8, absmax scale for a token (BitNet b1.58)"),                           \
		QUANTIZE_OP("dequantize.i2_s", dequantize_i2_s, assay_quantize_axes_flat, assay_dequantize_i2_s_fill,  \
			    "i2_s back to floats"),                                                                    \
		QUANTIZE_OP("dequantize.tq2_0", dequantize_tq2_0, assay_quantize_axes_flat, assay_quantize_fill,       \
			    "tq2_0 back to floats"),                                                                   \
		QUANTIZE_OP("dequantize.q8_0", dequantize_q8_0, assay_quantize_axes_flat, assay_quantize_fill,         \
			    "q8_0 back to floats"),                                                                    \
		QUANTIZE_OP("dequantize.i8_token", dequantize_i8_token, assay_quantize_axes_token,                     \
			    assay_quantize_fill, "i8_token back to floats"),

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The matmul ops: float and ternary. */
#ifndef ASSAY_BENCH_MATMUL_OPS_H
#define ASSAY_BENCH_MATMUL_OPS_H

#include "assay/op_blocks.h"
#include "assay/op_matmul.h"
#include "work_ops.h"

extern const struct assay_axis assay_matmul_f32_axes[3];
extern const struct assay_axis assay_matmul_ternary_axes[3];
extern const struct assay_axis assay_matmul_q8_0_axes[3], assay_matmul_q6_k_axes[3];

int assay_matmul_f32_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_matmul_f32_fill(struct assay_job *job);
int assay_matmul_f32_check(struct assay_job *job, struct assay_check *out);
int assay_matmul_ternary_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_matmul_ternary_fill(struct assay_job *job);
int assay_matmul_ternary_check(struct assay_job *job, struct assay_check *out);
int assay_matmul_q8_0_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_matmul_q8_0_fill(struct assay_job *job);
int assay_matmul_q8_0_check(struct assay_job *job, struct assay_check *out);
int assay_matmul_q6_k_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_matmul_q6_k_fill(struct assay_job *job);
int assay_matmul_q6_k_check(struct assay_job *job, struct assay_check *out);

#define ASSAY_MATMUL_BLOCKS_OP(type, text)                                                                             \
	{                                                                                                              \
		.name = "matmul." #type, .help = text, .axes = assay_matmul_##type##_axes, .n_axes = 3,                \
		.axis_stride = sizeof(struct assay_axis), .flags = ASSAY_OP_EXACT,                                     \
		.n_counters = ASSAY_WORK_N_COUNTERS, .counters = assay_work_counters,                                  \
		.describe = assay_matmul_##type##_describe, .fill = assay_matmul_##type##_fill,                        \
		.check = assay_matmul_##type##_check                                                                   \
	}

/* clang-format off */
#define ASSAY_MATMUL_OPS                                                                                               \
	{                                                                                                              \
		.name = "matmul.f32",                                                                                  \
		.help = "y = x w^T in float",                                                                          \
		.axes = assay_matmul_f32_axes,                                                                         \
		.n_axes = 3,                                                                                           \
		.axis_stride = sizeof(struct assay_axis),                                                              \
		.n_counters = ASSAY_WORK_N_COUNTERS,                                                                   \
		.counters = assay_work_counters,                                                                       \
		.describe = assay_matmul_f32_describe,                                                                 \
		.fill = assay_matmul_f32_fill,                                                                         \
		.check = assay_matmul_f32_check,                                                                       \
	},                                                                                                             \
	{                                                                                                              \
		.name = "matmul.ternary",                                                                              \
		.help = "y = x w^T, ternary weights in 2 bits (I2_S), 8-bit activations",                              \
		.axes = assay_matmul_ternary_axes,                                                                     \
		.n_axes = 3,                                                                                           \
		.axis_stride = sizeof(struct assay_axis),                                                              \
		.flags = ASSAY_OP_EXACT,                                                                               \
		.n_counters = ASSAY_WORK_N_COUNTERS,                                                                   \
		.counters = assay_work_counters,                                                                       \
		.describe = assay_matmul_ternary_describe,                                                             \
		.fill = assay_matmul_ternary_fill,                                                                     \
		.check = assay_matmul_ternary_check,                                                                   \
	},                                                                                                             \
	ASSAY_MATMUL_BLOCKS_OP(q8_0, "y = x w^T, weights in ggml's Q8_0, inputs rounded to 8 bits"),                   \
	ASSAY_MATMUL_BLOCKS_OP(q6_k, "y = x w^T, weights in ggml's Q6_K, inputs rounded to 8 bits"),
/* clang-format on */

#endif

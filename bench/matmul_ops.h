/* SPDX-License-Identifier: Apache-2.0 */
/* The matmul ops: float and ternary. */
#ifndef ASSAY_BENCH_MATMUL_OPS_H
#define ASSAY_BENCH_MATMUL_OPS_H

#include "assay/op_matmul.h"
#include "work_ops.h"

extern const struct assay_axis assay_matmul_f32_axes[3];
extern const struct assay_axis assay_matmul_ternary_axes[3];

int assay_matmul_f32_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_matmul_f32_fill(struct assay_job *job);
int assay_matmul_f32_check(struct assay_job *job, struct assay_check *out);
int assay_matmul_ternary_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_matmul_ternary_fill(struct assay_job *job);
int assay_matmul_ternary_check(struct assay_job *job, struct assay_check *out);

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
	},
/* clang-format on */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The ops that measure threads without work: starting a region, meeting at a barrier, sharing a cache line. */
#ifndef ASSAY_BENCH_OVERHEAD_OPS_H
#define ASSAY_BENCH_OVERHEAD_OPS_H

#include "assay/plugin.h"

extern const struct assay_axis assay_overhead_axes[2];

int assay_overhead_dispatch_describe(const struct assay_shape *shape, struct assay_problem *out,
				     struct assay_reason *why);
int assay_overhead_barrier_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why);
int assay_overhead_rounds_check(struct assay_job *job, struct assay_check *out);
int assay_overhead_sharing_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why);
int assay_overhead_sharing_check(struct assay_job *job, struct assay_check *out);
int assay_overhead_fill(struct assay_job *job);

/* Exact, but they grow with the number of threads, so digests would not compare: no ASSAY_OP_EXACT. */
/* clang-format off */
#define ASSAY_OVERHEAD_OPS                                                                                             \
	{                                                                                                              \
		.name = "overhead.dispatch", .help = "starting and ending a parallel region",                          \
		.axis_stride = sizeof(struct assay_axis), .describe = assay_overhead_dispatch_describe,                \
		.fill = assay_overhead_fill, .check = assay_overhead_rounds_check,                                     \
	},                                                                                                             \
	{                                                                                                              \
		.name = "overhead.barrier", .help = "meeting at a barrier inside a region",                            \
		.axis_stride = sizeof(struct assay_axis), .describe = assay_overhead_barrier_describe,                 \
		.fill = assay_overhead_fill, .check = assay_overhead_rounds_check,                                     \
	},                                                                                                             \
	{                                                                                                              \
		.name = "overhead.false_sharing", .help = "counters of different threads, on one cache line or not",   \
		.axes = assay_overhead_axes, .n_axes = 2, .flags = ASSAY_OP_WORK_AXIS,                                 \
		.axis_stride = sizeof(struct assay_axis),                                                              \
		.describe = assay_overhead_sharing_describe, .fill = assay_overhead_fill,                              \
		.check = assay_overhead_sharing_check,                                                                 \
	},
/* clang-format on */

#endif

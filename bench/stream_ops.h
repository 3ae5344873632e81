/* SPDX-License-Identifier: Apache-2.0 */
/* The ops that measure the machine itself: memory bandwidth (stream.*) and arithmetic peaks (peak.*). */
#ifndef ASSAY_BENCH_STREAM_OPS_H
#define ASSAY_BENCH_STREAM_OPS_H

#include "assay/plugin.h"

extern const struct assay_axis assay_stream_axes[2];
extern const struct assay_axis assay_peak_axes[1];
extern const struct assay_axis assay_p2p_axes[2];
extern const char *const assay_p2p_counters[2];

int assay_stream_read_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_stream_read_fill(struct assay_job *job);
int assay_stream_read_check(struct assay_job *job, struct assay_check *out);
int assay_stream_copy_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_stream_copy_check(struct assay_job *job, struct assay_check *out);
int assay_stream_triad_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_stream_triad_check(struct assay_job *job, struct assay_check *out);
int assay_stream_floats_fill(struct assay_job *job);
int assay_stream_p2p_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);

int assay_peak_fma_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_peak_fma_fill(struct assay_job *job);
int assay_peak_fma_check(struct assay_job *job, struct assay_check *out);
int assay_peak_dot_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_peak_dot_fill(struct assay_job *job);
int assay_peak_dot_check(struct assay_job *job, struct assay_check *out);
int assay_peak_ternary_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_peak_ternary_fill(struct assay_job *job);

/* Their outputs are exact but grow with the number of threads, so digests would not compare: no ASSAY_OP_EXACT. */
#define ASSAY_STREAM_OP(op, text, what, fill_fn, describe_fn, check_fn)                                                \
	{                                                                                                              \
		.name = op, .help = text, .axes = assay_stream_axes, .n_axes = 2, .flags = ASSAY_OP_WORK_AXIS,         \
		.axis_stride = sizeof(struct assay_axis), .describe = describe_fn, .fill = fill_fn, .check = check_fn, \
		.measures = what,                                                                                      \
	}
#define ASSAY_PEAK_OP(op, text, fill_fn, describe_fn, check_fn)                                                        \
	{                                                                                                              \
		.name = op, .help = text, .axes = assay_peak_axes, .n_axes = 1, .flags = ASSAY_OP_WORK_AXIS,           \
		.axis_stride = sizeof(struct assay_axis), .describe = describe_fn, .fill = fill_fn, .check = check_fn, \
		.measures = ASSAY_MEASURES_PEAK,                                                                       \
	}
/* clang-format off */
#define ASSAY_STREAM_OPS                                                                                               \
	ASSAY_STREAM_OP("stream.read", "read bandwidth: sum of an array of integers", ASSAY_MEASURES_READ,             \
			assay_stream_read_fill, assay_stream_read_describe, assay_stream_read_check),                  \
	ASSAY_STREAM_OP("stream.copy", "copy bandwidth: b = a", ASSAY_MEASURES_COPY,                                   \
			assay_stream_floats_fill, assay_stream_copy_describe, assay_stream_copy_check),                \
	ASSAY_STREAM_OP("stream.triad", "read and write bandwidth: a = b + 3 c", ASSAY_MEASURES_OTHER,                 \
			assay_stream_floats_fill, assay_stream_triad_describe, assay_stream_triad_check),              \
	{                                                                                                              \
		.name = "stream.p2p", .help = "bandwidth from another device: b = a of its memory",                    \
		.axes = assay_p2p_axes, .n_axes = 2, .axis_stride = sizeof(struct assay_axis),                         \
		.flags = ASSAY_OP_EXACT, .n_counters = 2, .counters = assay_p2p_counters,                              \
		.describe = assay_stream_p2p_describe, .fill = assay_stream_floats_fill,                               \
		.check = assay_stream_copy_check, .measures = ASSAY_MEASURES_OTHER,                                    \
	},                                                                                                             \
	ASSAY_PEAK_OP("peak.f32_fma", "float multiply-add peak, operands in registers", assay_peak_fma_fill,           \
		      assay_peak_fma_describe, assay_peak_fma_check),                                                  \
	ASSAY_PEAK_OP("peak.i8_dot", "8-bit dot product peak, operands in registers", assay_peak_dot_fill,             \
		      assay_peak_dot_describe, assay_peak_dot_check),                                                  \
	ASSAY_PEAK_OP("peak.ternary_dot", "dot product peak of ternary codes and bytes, operands in registers",        \
		      assay_peak_ternary_fill, assay_peak_ternary_describe, assay_peak_dot_check),
/* clang-format on */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* generate.file: the model of a GGUF file. */
#ifndef ASSAY_GENERATE_FILE_OPS_H
#define ASSAY_GENERATE_FILE_OPS_H

#include "generate_ops.h"
#include "assay/op_generate_file.h"

extern const struct assay_axis assay_generate_file_axes[ASSAY_FILE_N_AXES];

int assay_generate_file_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_generate_file_fill(struct assay_job *job);
int assay_generate_file_check(struct assay_job *job, struct assay_check *out);
int assay_generate_file_respond(struct assay_job *job, struct assay_prompt *p);
int assay_generate_file_report(struct assay_job *job);
void assay_generate_file_release(struct assay_job *job);

#define ASSAY_GENERATE_FILE_OPS                                                                                        \
	{                                                                                                              \
		.name = "generate.file",                                                                               \
		.help = "read a prompt and generate tokens with the model of a GGUF file",                             \
		.axes = assay_generate_file_axes,                                                                      \
		.n_axes = ASSAY_FILE_N_AXES,                                                                           \
		.axis_stride = sizeof(struct assay_axis),                                                              \
		.flags = ASSAY_OP_EXACT | ASSAY_OP_MODEL_AXIS,                                                         \
		.n_metrics = ASSAY_GENERATE_N_METRICS,                                                                 \
		.metrics = assay_generate_metrics,                                                                     \
		.metric_stride = sizeof(struct assay_metric_def),                                                      \
		.n_counters = ASSAY_GENERATE_N_COUNTERS,                                                               \
		.counters = assay_generate_counters,                                                                   \
		.describe = assay_generate_file_describe,                                                              \
		.fill = assay_generate_file_fill,                                                                      \
		.check = assay_generate_file_check,                                                                    \
		.report = assay_generate_file_report,                                                                  \
		.respond = assay_generate_file_respond,                                                                \
		.release = assay_generate_file_release,                                                                \
	},

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generate ops: a decoder-only transformer in the BitNet b1.58 architecture with seeded weights, on the variants of
 * matmul.ternary. See bench/generate/generate_model.h for its shapes and tensors.
 */
#ifndef ASSAY_GENERATE_OPS_H
#define ASSAY_GENERATE_OPS_H

#include "assay/op_generate.h"

#define ASSAY_GENERATE_N_METRICS  20
#define ASSAY_GENERATE_N_COUNTERS 8

extern const struct assay_axis assay_generate_prefill_axes[4];
extern const struct assay_axis assay_generate_decode_axes[5];
extern const struct assay_axis assay_generate_chat_axes[8];
extern const struct assay_metric_def assay_generate_metrics[ASSAY_GENERATE_N_METRICS];
extern const char *const assay_generate_counters[ASSAY_GENERATE_N_COUNTERS];
extern const struct assay_variant assay_generate_prefill_driver, assay_generate_decode_driver,
	assay_generate_chat_driver;

int assay_generate_prefill_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why);
int assay_generate_decode_describe(const struct assay_shape *shape, struct assay_problem *out,
				   struct assay_reason *why);
int assay_generate_chat_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
int assay_generate_prefill_fill(struct assay_job *job);
int assay_generate_decode_fill(struct assay_job *job);
int assay_generate_chat_fill(struct assay_job *job);
int assay_generate_check(struct assay_job *job, struct assay_check *out);
int assay_generate_report(struct assay_job *job);
void assay_generate_release(struct assay_job *job);
/* Of generate.chat on the CPU. A prompt and its answer have room for what a conversation of the shape may take. */
int assay_generate_chat_respond(struct assay_job *job, struct assay_prompt *p);

#define ASSAY_GENERATE_OP(kind, n, more, answers, text)                                                                \
	{                                                                                                              \
		.name = "generate." #kind, .help = text, .axes = assay_generate_##kind##_axes, .n_axes = n,            \
		.axis_stride = sizeof(struct assay_axis), .flags = ASSAY_OP_EXACT | (more),                            \
		.n_metrics = ASSAY_GENERATE_N_METRICS, .metrics = assay_generate_metrics,                              \
		.metric_stride = sizeof(struct assay_metric_def), .n_counters = ASSAY_GENERATE_N_COUNTERS,             \
		.counters = assay_generate_counters, .composes = "matmul.ternary",                                     \
		.driver = &assay_generate_##kind##_driver, .describe = assay_generate_##kind##_describe,               \
		.fill = assay_generate_##kind##_fill, .check = assay_generate_check, .report = assay_generate_report,  \
		.release = assay_generate_release, .respond = answers,                                                 \
	}

#define ASSAY_GENERATE_OPS                                                                                             \
	ASSAY_GENERATE_OP(prefill, 4, ASSAY_OP_WORK_AXIS, NULL,                                                        \
			  "read a prompt of a BitNet b1.58 transformer, up to its first token"),                       \
		ASSAY_GENERATE_OP(decode, 5, ASSAY_OP_WORK_AXIS, NULL,                                                 \
				  "generate tokens one by one with a BitNet b1.58 transformer"),                       \
		ASSAY_GENERATE_OP(chat, 8, 0, assay_generate_chat_respond,                                             \
				  "answer turns of several users who share a prompt, with a prefix cache"),

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The tokenizer ops, as entries for the descriptor of ops.so, with the variant that defines what is right. */
#ifndef TOKENIZER_OPS_H
#define TOKENIZER_OPS_H

#include "gguf/tokenizer.h"

#define ASSAY_TOKENIZER_N_METRICS 3
#define ASSAY_TOKENIZER_N_AXES    6

extern const struct assay_axis assay_tokenizer_axes[ASSAY_TOKENIZER_N_AXES];
extern const char *const assay_tokenizer_counters[ASSAY_TOKENIZER_N_COUNTERS];
extern const struct assay_metric_def assay_tokenizer_metrics[ASSAY_TOKENIZER_N_METRICS];
int assay_tokenizer_encode_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why);
int assay_tokenizer_decode_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why);
int assay_tokenizer_encode_fill(struct assay_job *job);
int assay_tokenizer_decode_fill(struct assay_job *job);
int assay_tokenizer_encode_check(struct assay_job *job, struct assay_check *out);
int assay_tokenizer_decode_check(struct assay_job *job, struct assay_check *out);
int assay_tokenizer_report(struct assay_job *job);
void assay_tokenizer_free(struct assay_job *job);
int assay_tokenizer_ref_supports(const struct assay_shape *shape, struct assay_reason *why);
int assay_tokenizer_ref_encode(struct assay_job *job);
int assay_tokenizer_ref_decode(struct assay_job *job);

#define TOKENIZER_OP(direction, n_axes_, n_counters_, help_)                                                           \
	{                                                                                                              \
		.name = "tokenizer." #direction, .help = help_, .axes = assay_tokenizer_axes, .n_axes = n_axes_,       \
		.axis_stride = sizeof(struct assay_axis), .flags = ASSAY_OP_EXACT,                                     \
		.n_metrics = ASSAY_TOKENIZER_N_METRICS, .metrics = assay_tokenizer_metrics,                            \
		.metric_stride = sizeof(struct assay_metric_def), .n_counters = n_counters_,                           \
		.counters = assay_tokenizer_counters, .describe = assay_tokenizer_##direction##_describe,              \
		.fill = assay_tokenizer_##direction##_fill, .check = assay_tokenizer_##direction##_check,              \
		.report = assay_tokenizer_report, .release = assay_tokenizer_free                                      \
	}

#define ASSAY_TOKENIZER_OPS                                                                                            \
	TOKENIZER_OP(encode, ASSAY_TOKENIZER_N_AXES, ASSAY_TOKENIZER_N_COUNTERS, "a text to the ids of its tokens"),   \
		TOKENIZER_OP(decode, ASSAY_TOKENIZER_CACHE, 0, "ids of tokens back to their text"),

#define TOKENIZER_REF(direction, supports_, help_)                                                                     \
	{                                                                                                              \
		.op = "tokenizer." #direction, .name = "ref", .help = help_,                                           \
		.flags = ASSAY_VARIANT_ONE_THREAD | ASSAY_VARIANT_REFERENCE, .supports = supports_,                    \
		.run = assay_tokenizer_ref_##direction                                                                 \
	}

#define ASSAY_TOKENIZER_VARIANTS                                                                                       \
	TOKENIZER_REF(encode, assay_tokenizer_ref_supports, "linked list of symbols, and a heap of possible merges"),  \
		TOKENIZER_REF(decode, NULL, "one token after another"),

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* An op whose one variant runs a loop of TURNS turns of five instructions, so that a counter can be held against it. */
#include <assay/plugin.h>

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "turns", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { 1 }
	};
	out->cost = (struct assay_cost){ .ops = TURNS };
	return 0;
}

static int fill(struct assay_job *job)
{
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	out->correct = *(const int32_t *)job->tensors[0].data == TURNS;
	return 0;
}

static int run(struct assay_job *job)
{
	int32_t *turns = job->tensors[0].data;
	uint64_t left = TURNS;

	*turns = 0;
	__asm__ volatile("1: add w9, w9, #1\n\tadd %w1, %w1, #1\n\tadd w9, w9, #1\n\tsubs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(left), "+r"(*turns)
			 :
			 : "x9", "cc");
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "pmu.loop",
	  .name = "known",
	  .help = "five instructions a turn",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = run },
};

static const struct assay_op ops[] = {
	{ .name = "pmu.loop",
	  .help = "the number of turns",
	  .flags = ASSAY_OP_EXACT,
	  .describe = describe,
	  .fill = fill,
	  .check = check },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "known-loop", .version = "1",  .ops = ops,
	.n_ops = 1,          .variants = variants, .n_variants = 1,
};

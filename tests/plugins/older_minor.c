/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of ABI 1.0, whose ops end where `measures` begins, and variants where `bytes_read` does: what lies behind
 * one in memory is not of it.
 */
#include <assay/plugin.h>

#define OP_SIZE_1_0      offsetof(struct assay_op, measures)
#define VARIANT_SIZE_1_0 offsetof(struct assay_variant, bytes_read)

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_U8, .rank = 1, .dims = { 1 }
	};
	return 0;
}

static int fill(struct assay_job *job)
{
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	out->correct = *(const uint8_t *)job->tensors[0].data == 1;
	return 0;
}

static int run(struct assay_job *job)
{
	*(uint8_t *)job->tensors[0].data = 1;
	return 0;
}

static double never_called(const struct assay_shape *shape)
{
	(void)shape;
	__builtin_trap();
}

/* The stride ends the op before `measures`, which only a harness that steps over the stride would read. */
static const struct assay_op ops[] = {
	{ .name = "older.one", .help = "x", .describe = describe, .fill = fill, .check = check, .measures = 2 },
};

static const struct assay_variant variants[] = {
	{ .op = "older.one", .name = "ref", .help = "writes 1", .run = run, .bytes_read = never_called },
};

ASSAY_PLUGIN = {
	.magic = ASSAY_PLUGIN_MAGIC,
	.abi_major = 1,
	.abi_minor = 0,
	.size = sizeof(struct assay_plugin),
	.name = "older-minor",
	.version = "1",
	.ops = ops,
	.n_ops = 1,
	.op_stride = OP_SIZE_1_0,
	.variants = variants,
	.n_variants = 1,
	.variant_stride = VARIANT_SIZE_1_0,
};

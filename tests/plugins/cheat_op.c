/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op without outputs, so that nothing shows whether its variants read what they should; one that refuses to be
 * asked; and ops for the variants of cheat_base and cheat_kinds: of bytes, and with state of their own.
 */
#include "cheat_side.h"
#include "elements_op.h"

#define N 4096

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { N }
	};
	out->cost = (struct assay_cost){ .bytes_read = 4.0 * N };
	return 0;
}

static int refuse(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	snprintf(why->text, sizeof(why->text), "no shape is right");
	return -1;
}

static int fill(struct assay_job *job)
{
	for (int i = 0; i < N; i++)
		((int32_t *)job->tensors[0].data)[i] = i;
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	out->correct = 1;
	return 0;
}

static int reads(struct assay_job *job)
{
	const volatile int32_t *x = job->tensors[0].data;

	for (int i = 0; i < N; i++)
		(void)x[i];
	return 0;
}

static int idles(struct assay_job *job)
{
	return 0;
}

static int describe_i8(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	elements_describe(shape, ASSAY_I8, out);
	return 0;
}

static int describe_u8(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	elements_describe(shape, ASSAY_U8, out);
	return 0;
}

static int describe_state(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	elements_describe(shape, ASSAY_I32, out);
	return 0;
}

static int fill_bytes(struct assay_job *job)
{
	unsigned char *x = job->tensors[X].data;

	for (int64_t i = 0; i < side_n(job); i++)
		x[i] = (unsigned char)assay_random4(job->seed, X, (uint64_t)i / 4).v[i % 4];
	return 0;
}

static int fill_state(struct assay_job *job)
{
	int32_t *x = job->tensors[X].data, *factor = job->host->alloc(job, sizeof(*factor));

	if (!factor)
		return job->host->fail(job, "out of memory");
	job->op_state = factor;
	*factor = 3 + (int32_t)(job->seed % 5);
	for (int64_t i = 0; i < side_n(job); i++)
		x[i] = (int32_t)(assay_random4(job->seed, X, (uint64_t)i / 4).v[i % 4] >> 4);
	return 0;
}

static void release_state(struct assay_job *job)
{
	job->host->release(job, job->op_state);
}

static int64_t masked_i8(const struct assay_job *job, int64_t i)
{
	return (int8_t)(((const int8_t *)job->tensors[X].data)[i] ^ CHEAT_MASK);
}

static int64_t masked_u8(const struct assay_job *job, int64_t i)
{
	return ((const uint8_t *)job->tensors[X].data)[i] ^ CHEAT_MASK;
}

static int64_t multiple(const struct assay_job *job, int64_t i)
{
	return (int32_t)((uint32_t)side_x(job)[i] * (uint32_t) * (const int32_t *)job->op_state);
}

static int check_i8(struct assay_job *job, struct assay_check *out)
{
	return elements_check(job, masked_i8, 0, out);
}

static int check_u8(struct assay_job *job, struct assay_check *out)
{
	return elements_check(job, masked_u8, 0, out);
}

static int check_state(struct assay_job *job, struct assay_check *out)
{
	return elements_check(job, multiple, 0, out);
}

static const struct assay_op ops[] = {
	ELEMENTS_OP("cheat.i8", .describe = describe_i8, .fill = fill_bytes, .check = check_i8),
	ELEMENTS_OP("cheat.u8", .describe = describe_u8, .fill = fill_bytes, .check = check_u8),
	ELEMENTS_OP("cheat.state", .describe = describe_state, .fill = fill_state, .check = check_state,
		    .release = release_state),
	{ .name = "cheat.read",
	  .help = "reads 16 KiB",
	  .axis_stride = sizeof(struct assay_axis),
	  .describe = describe,
	  .fill = fill,
	  .check = check },
	{ .name = "cheat.refuses",
	  .help = "takes no shape",
	  .axis_stride = sizeof(struct assay_axis),
	  .describe = refuse,
	  .fill = fill,
	  .check = check },
};

static const struct assay_variant variants[] = {
	{ .op = "cheat.read", .name = "reads", .help = "does", .flags = ASSAY_VARIANT_ONE_THREAD, .run = reads },
	{ .op = "cheat.refuses", .name = "reads", .help = "never", .flags = ASSAY_VARIANT_ONE_THREAD, .run = reads },
	{ .op = "cheat.read", .name = "idles", .help = "does not", .flags = ASSAY_VARIANT_ONE_THREAD, .run = idles },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "cheat-op",
	.version = "1",
	.ops = ops,
	.n_ops = sizeof(ops) / sizeof(ops[0]),
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

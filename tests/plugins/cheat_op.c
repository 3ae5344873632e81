/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op without outputs, so that nothing shows whether its variants read what they should; and one that refuses to be
 * asked.
 */
#include <stdio.h>

#include <assay/plugin.h>

#define N 4096

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	(void)shape, (void)why;
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { N }
	};
	out->cost = (struct assay_cost){ .bytes_read = 4.0 * N };
	return 0;
}

static int refuse(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	(void)shape, (void)out;
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
	(void)job;
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
	(void)job;
	return 0;
}

static const struct assay_op ops[] = {
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

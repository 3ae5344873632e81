/* SPDX-License-Identifier: Apache-2.0 */
/* An op whose tensors can each be counted in 64 bits, but not together. Nothing of it may run. */
#include <assay/plugin.h>

static int huge_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 2;
	for (uint32_t i = 0; i < out->n_tensors; i++)
		out->tensors[i] = (struct assay_tensor_spec){ .name = i ? "y" : "x",
							      .role = i ? ASSAY_OUTPUT : ASSAY_INPUT,
							      .dtype = ASSAY_I32,
							      .rank = 1,
							      .dims = { shape->axis[0] } };
	return 0;
}

static int huge_fill(struct assay_job *job)
{
	return -1;
}

static int huge_check(struct assay_job *job, struct assay_check *out)
{
	return -1;
}

static int huge_run(struct assay_job *job)
{
	return -1;
}

static const struct assay_axis axes[] = {
	{ .name = "n", .help = "elements", .min = 1, .max = INT64_C(1) << 61, .def = INT64_MIN },
};

static const struct assay_op ops[] = {
	{ .name = "huge.copy",
	  .help = "y = x",
	  .axes = axes,
	  .n_axes = 1,
	  .axis_stride = sizeof(axes[0]),
	  .describe = huge_describe,
	  .fill = huge_fill,
	  .check = huge_check },
};

static const struct assay_variant variants[] = {
	{ .op = "huge.copy", .name = "ref", .help = "fails", .flags = ASSAY_VARIANT_REFERENCE, .run = huge_run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-huge",   .version = "1",  .ops = ops,
	.n_ops = 1,          .variants = variants, .n_variants = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* An op and its variants that do not come back: from making the inputs, preparing, releasing, and a late call. */
#include <stdio.h>
#include <unistd.h>

#include <assay/plugin.h>

enum { X, Y };

#define HANGS_IN_FILL 7   /* elements */
#define LATE_CALL     200 /* long after it was checked */

static void hang(void)
{
	for (;;)
		pause();
}

static int copy_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	int64_t n = shape->axis[0];

	out->n_tensors = 2;
	out->tensors[X] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->tensors[Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->cost = (struct assay_cost){ .bytes_read = 4.0 * (double)n, .bytes_written = 4.0 * (double)n };
	return 0;
}

static int copy_fill(struct assay_job *job)
{
	if (job->shape->axis[0] == HANGS_IN_FILL)
		hang();
	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		((int32_t *)job->tensors[X].data)[i] = (int32_t)i;
	return 0;
}

static int copy_check(struct assay_job *job, struct assay_check *out)
{
	out->correct = 1;
	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		out->correct &= ((const int32_t *)job->tensors[Y].data)[i] == (int32_t)i;
	return 0;
}

static int run(struct assay_job *job)
{
	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		((int32_t *)job->tensors[Y].data)[i] = ((const int32_t *)job->tensors[X].data)[i];
	return 0;
}

static int late_run(struct assay_job *job)
{
	static int calls;

	if (++calls == LATE_CALL)
		hang();
	return run(job);
}

static int prepare(struct assay_job *job)
{
	hang();
	return 0;
}

static void release(struct assay_job *job)
{
	hang();
}

static const struct assay_axis axes[] = {
	{ .name = "n", .help = "elements", .min = 1, .max = 1 << 20, .def = INT64_MIN },
};

static const struct assay_op ops[] = {
	{
		.name = "hang.copy",
		.help = "y = x",
		.axes = axes,
		.n_axes = 1,
		.axis_stride = sizeof(axes[0]),
		.flags = ASSAY_OP_EXACT,
		.describe = copy_describe,
		.fill = copy_fill,
		.check = copy_check,
	},
};

static const struct assay_variant variants[] = {
	{ .op = "hang.copy", .name = "ref", .help = "comes back", .flags = ASSAY_VARIANT_REFERENCE, .run = run },
	{ .op = "hang.copy", .name = "late", .help = "hangs in a late call", .run = late_run },
	{ .op = "hang.copy", .name = "prepare", .help = "hangs in prepare", .prepare = prepare, .run = run },
	{ .op = "hang.copy", .name = "release", .help = "hangs in release", .release = release, .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "hangs",      .version = "1",  .ops = ops,
	.n_ops = 1,          .variants = variants, .n_variants = 4,
};

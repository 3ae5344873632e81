/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exact op with an oracle that lets one off pass, so that two builds can both be right and yet give different bits.
 */
#include <stdio.h>
#include <stdlib.h>

#include <assay/plugin.h>
#include <assay/random.h>

enum { X, Y, WORK };

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	int64_t n = shape->axis[0];

	out->n_tensors = 3;
	out->tensors[X] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->tensors[Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->tensors[WORK] = (struct assay_tensor_spec){
		.name = "work", .role = ASSAY_SCRATCH, .dtype = ASSAY_I32, .rank = 1, .dims = { 1 }
	};
	out->cost = (struct assay_cost){ .ops = (double)n,
					 .bytes_read = 4.0 * (double)n,
					 .bytes_written = 4.0 * (double)n,
					 .items = (double)n,
					 .item_name = "elements" };
	return 0;
}

static int fill(struct assay_job *job)
{
	int32_t *x = job->tensors[X].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		x[i] = (int32_t)(assay_random4(job->seed, X, (uint64_t)i / 4).v[i % 4] >> 4);
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *x = job->tensors[X].data, *y = job->tensors[Y].data;

	out->correct = 1;
	for (int64_t i = 0; i < job->shape->axis[0] && out->correct; i++) {
		if (llabs((long long)y[i] - 3LL * x[i]) <= 1)
			continue;
		out->correct = 0;
		out->tensor = "y";
		out->first_bad = i;
		snprintf(out->reason.text, sizeof(out->reason.text), "got %d, want %lld", y[i], 3LL * x[i]);
	}
	return 0;
}

static const struct assay_axis axes[] = {
	{ .name = "n", .help = "elements", .min = 16, .max = 1 << 20, .def = INT64_MIN },
};

static const struct assay_op ops[] = {
	{
		.name = "lenient.triple",
		.help = "y = 3 x over int32, one off allowed",
		.axes = axes,
		.n_axes = 1,
		.axis_stride = sizeof(axes[0]),
		.flags = ASSAY_OP_EXACT,
		.describe = describe,
		.fill = fill,
		.check = check,
	},
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "compare-op", .version = "1", .ops = ops, .n_ops = 1,
};

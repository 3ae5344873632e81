/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op whose fill makes more than tensors: a factor that its oracle and its variant need. It writes every other
 * element and leaves the zeros that it finds between.
 */
#include <stdio.h>

#include <assay/plugin.h>

enum { X, Y };

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	const int64_t n = shape->axis[0];

	out->n_tensors = 2;
	out->tensors[X] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->tensors[Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	return 0;
}

static int fill(struct assay_job *job)
{
	int32_t *x = job->tensors[X].data, *factor = job->host->alloc(job, sizeof(*factor));

	if (!factor)
		return job->host->fail(job, "out of memory");
	*factor = 3;
	job->op_state = factor;
	for (int64_t i = 0; i < job->shape->axis[0]; i += 2)
		x[i] = (int32_t)i + 1;
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *factor = job->op_state, *y = job->tensors[Y].data;

	out->correct = factor != NULL;
	for (int64_t i = 0; i < job->shape->axis[0] && out->correct; i++) {
		const int32_t want = i % 2 ? 0 : *factor * ((int32_t)i + 1);

		if (y[i] == want)
			continue;
		out->correct = 0;
		out->tensor = "y";
		out->first_bad = i;
		snprintf(out->reason.text, sizeof(out->reason.text), "got %d, want %d", y[i], want);
	}
	return 0;
}

static void release(struct assay_job *job)
{
	job->host->release(job, job->op_state);
}

static int run(struct assay_job *job)
{
	const volatile int32_t *x = job->tensors[X].data;
	const int32_t *factor = job->op_state;
	volatile int32_t *y = job->tensors[Y].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = factor ? x[i] * *factor : 0;
	return 0;
}

static const struct assay_axis axes[] = {
	{ .name = "n", .help = "elements", .min = 16, .max = 1 << 20, .def = INT64_MIN },
};

static const struct assay_op ops[] = {
	{
		.name = "stateful.triple",
		.help = "y = 3 x over int32, and the factor is the op's own",
		.axes = axes,
		.n_axes = 1,
		.axis_stride = sizeof(axes[0]),
		.flags = ASSAY_OP_EXACT,
		.describe = describe,
		.fill = fill,
		.check = check,
		.release = release,
	},
};

static const struct assay_variant variants[] = {
	{ .op = "stateful.triple", .name = "work", .help = "triples", .flags = ASSAY_VARIANT_ONE_THREAD, .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "compare-state", .version = "1",  .ops = ops,
	.n_ops = 1,          .variants = variants,    .n_variants = 1,
};

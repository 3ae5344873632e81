/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Example: a plugin of a third party that brings an op of its own, y[i] = 2 x[i] + 1 over int32, with a reference
 * variant. Build: cc -shared -fPIC -I<prefix>/include -o example_op.so example_op.c; use: assay run --plugin
 * ./example_op.so …
 */
#include <stdio.h>

#include <assay/plugin.h>
#include <assay/random.h>

enum { X, Y };
enum { COUNTER_CALLS };

static int scale_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	int64_t n = shape->axis[0];

	if (n % 4) {
		snprintf(why->text, sizeof(why->text), "n is %lld, expected a multiple of 4", (long long)n);
		return -1;
	}
	out->n_tensors = 2;
	out->tensors[X] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->tensors[Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { n }
	};
	out->cost = (struct assay_cost){ .ops = 2.0 * (double)n,
					 .bytes_read = 4.0 * (double)n,
					 .bytes_written = 4.0 * (double)n,
					 .items = (double)n,
					 .item_name = "elements" };
	return 0;
}

static int scale_fill(struct assay_job *job)
{
	int32_t *x = job->tensors[X].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		x[i] = (int32_t)(assay_random4(job->seed, X, (uint64_t)i / 4).v[i % 4] >> 2);
	return 0;
}

static int scale_check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *x = job->tensors[X].data, *y = job->tensors[Y].data;

	out->correct = 1;
	for (int64_t i = 0; i < job->shape->axis[0]; i++) {
		int64_t want = (int64_t)x[i] * 2 + 1;

		if (y[i] == want)
			continue;
		out->correct = 0;
		out->tensor = "y";
		out->first_bad = i;
		snprintf(out->reason.text, sizeof(out->reason.text), "got %d, want %lld", y[i], (long long)want);
		break;
	}
	return 0;
}

static int scale_report(struct assay_job *job)
{
	job->host->metric(job, "example_last", ((const int32_t *)job->tensors[Y].data)[job->shape->axis[0] - 1]);
	return 0;
}

struct slice {
	struct assay_job *job;
};

static void scale_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_job *job = ((struct slice *)arg)->job;
	const int32_t *x = job->tensors[X].data;
	int32_t *y = job->tensors[Y].data;
	int64_t n = job->shape->axis[0], lo = n * tid / n_threads, hi = n * (tid + 1) / n_threads;

	for (int64_t i = lo; i < hi; i++)
		y[i] = x[i] * 2 + 1;
}

static int scale_run(struct assay_job *job)
{
	struct slice s = { job };

	assay_counter(job, COUNTER_CALLS, 1);
	job->host->parallel(job, scale_slice, &s);
	return 0;
}

static const struct assay_axis axes[] = {
	{ .name = "n", .help = "elements", .min = 4, .max = 1 << 30, .def = INT64_MIN },
};

static const struct assay_metric_def metrics[] = {
	{ .tag = "example_last", .unit = "1", .help = "last element of y", .better = 0, .lo = 0, .hi = 4e9 },
};

static const char *const counters[] = { [COUNTER_CALLS] = "example_calls" };

static const struct assay_op ops[] = {
	{
		.name = "example.scale",
		.help = "y = 2 x + 1 over int32",
		.axes = axes,
		.n_axes = 1,
		.axis_stride = sizeof(axes[0]),
		.flags = ASSAY_OP_EXACT,
		.metrics = metrics,
		.n_metrics = 1,
		.metric_stride = sizeof(metrics[0]),
		.counters = counters,
		.n_counters = 1,
		.describe = scale_describe,
		.fill = scale_fill,
		.check = scale_check,
		.report = scale_report,
	},
};

static const struct assay_variant variants[] = {
	{ .op = "example.scale",
	  .name = "ref",
	  .help = "plain loop",
	  .flags = ASSAY_VARIANT_REFERENCE,
	  .run = scale_run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "example-op", .version = "1",  .ops = ops,
	.n_ops = 1,          .variants = variants, .n_variants = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* An op whose calls observe known values, 1 to 10 ms from each thread, and variants that observe what they may not. */
#include <math.h>

#include <assay/plugin.h>

#define N 10

enum { LAST, STEP };

static int toy_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { N }
	};
	out->cost = (struct assay_cost){ .ops = 2e5 };
	return 0;
}

static int toy_fill(struct assay_job *job)
{
	return 0;
}

static int toy_check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *y = job->tensors[0].data;

	out->correct = 1;
	for (int32_t i = 0; i < N; i++)
		out->correct &= y[i] == i;
	return 0;
}

static int toy_report(struct assay_job *job)
{
	job->host->metric(job, "toy_last", 1);
	return 0;
}

static void observe_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;

	for (int i = 1; i <= N; i++)
		assay_observe(job, STEP, i * 1e-3);
}

static int put_output(struct assay_job *job)
{
	int32_t *y = job->tensors[0].data;

	for (int32_t i = 0; i < N; i++)
		y[i] = i;
	return 0;
}

static int ref_run(struct assay_job *job)
{
	job->host->parallel(job, observe_slice, job);
	return put_output(job);
}

static int quiet_run(struct assay_job *job)
{
	return put_output(job);
}

#define OBSERVES(name, metric, value)                                                                                  \
	static int name##_run(struct assay_job *job)                                                                   \
	{                                                                                                              \
		assay_observe(job, metric, value);                                                                     \
		return put_output(job);                                                                                \
	}
OBSERVES(nan, STEP, NAN)
OBSERVES(negative, STEP, -1e-3)
OBSERVES(infinite, STEP, INFINITY)
OBSERVES(huge, STEP, 1e30)
OBSERVES(gauge, LAST, 1)
OBSERVES(unknown, 1000000, 1)
OBSERVES(zero, STEP, 0)

static const struct assay_metric_def metrics[] = {
	[LAST] = { .tag = "toy_last", .unit = "1", .help = "a gauge", .lo = 0, .hi = 1 },
	[STEP] = { .tag = "step_s",
		   .unit = "s",
		   .help = "time of a step",
		   .better = -1,
		   .kind = ASSAY_METRIC_HISTOGRAM,
		   .lo = 0,
		   .hi = INFINITY },
};

static const struct assay_op ops[] = {
	{ .name = "observed.toy",
	  .help = "observes known values",
	  .metrics = metrics,
	  .n_metrics = 2,
	  .metric_stride = sizeof(metrics[0]),
	  .describe = toy_describe,
	  .fill = toy_fill,
	  .check = toy_check,
	  .report = toy_report },
};

#define VARIANT(n)                                                                                                     \
	{                                                                                                              \
		.op = "observed.toy", .name = #n, .help = "observes", .run = n##_run                                   \
	}

static const struct assay_variant variants[] = { VARIANT(ref),      VARIANT(quiet),    VARIANT(nan),
						 VARIANT(negative), VARIANT(infinite), VARIANT(huge),
						 VARIANT(gauge),    VARIANT(unknown),  VARIANT(zero) };

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "observed-op",
	.version = "1",
	.ops = ops,
	.n_ops = 1,
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

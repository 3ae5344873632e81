/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that each declare one thing wrongly, and one that is sound: only its cases can be measured. */
#include <math.h>
#include <stdio.h>

#include <assay/plugin.h>

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { 64 }
	};
	out->cost = (struct assay_cost){ .ops = 64, .bytes_written = 256 };
	return 0;
}

static int fill(struct assay_job *job)
{
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *y = job->tensors[0].data;

	out->correct = 1;
	for (int i = 0; i < 64; i++)
		out->correct &= y[i] == i;
	snprintf(out->reason.text, sizeof(out->reason.text), "not 0 to 63");
	return 0;
}

static int run(struct assay_job *job)
{
	int32_t *y = job->tensors[0].data;

	for (int i = 0; i < 64; i++)
		y[i] = i;
	return 0;
}

#define METRIC(t, u, b, l, h)                                                                                          \
	{                                                                                                              \
		.tag = t, .unit = u, .help = "of nothing", .better = b, .lo = l, .hi = h                               \
	}

static const struct assay_metric_def twice[] = { METRIC("same", "1", 0, 0, 1), METRIC("same", "1", 0, 0, 1) };
static const struct assay_metric_def null_tag[] = { METRIC(NULL, "1", 0, 0, 1) };
static const struct assay_metric_def odd_tag[] = { METRIC("time\033[31m", "1", 0, 0, 1) };
static const struct assay_metric_def long_tag[] = { METRIC("a_tag_of_many_letters_that_no_array_of_the_harness_holds",
							   "1", 0, 0, 1) };
static const struct assay_metric_def own_tag[] = { METRIC("time_s", "1", 0, 0, 1) };
static const struct assay_metric_def null_unit[] = { METRIC("bad_tag", NULL, 0, 0, 1) };
static const struct assay_metric_def odd_unit[] = { METRIC("bad_tag", "one\ntwo", 0, 0, 1) };
static const struct assay_metric_def long_unit[] = { METRIC("bad_tag", "furlongs/fortnight", 0, 0, 1) };
static const struct assay_metric_def better[] = { METRIC("bad_tag", "1", 7, 0, 1) };
static const struct assay_metric_def range[] = { METRIC("bad_tag", "1", 0, 2, 1) };
static const struct assay_metric_def nan_range[] = { METRIC("bad_tag", "1", 0, NAN, 1) };
static const struct assay_metric_def sound[] = { METRIC("bad_tag", "1", 0, -INFINITY, INFINITY) };
static const char *const counter_twice[] = { "same", "same" };
static const char *const counter_null[] = { NULL };
static const char *const counter_odd[] = { "one,two" };
static const char *const counter_own[] = { "page_faults" };
static const char *const counter_sound[] = { "bad_counter" };

#define AXIS(s, l, h, d)                                                                                               \
	{                                                                                                              \
		.name = "n", .help = "of nothing", .symbols = s, .min = l, .max = h, .def = d                          \
	}

static const char *const symbols[] = { "one", "two", NULL };
static const char *const symbols_twice[] = { "one", "one", NULL };
static const char *const symbols_odd[] = { "one", "a/b", NULL };
static const struct assay_axis axis_bounds[] = { AXIS(NULL, 9, 1, 1) };
static const struct assay_axis axis_default[] = { AXIS(NULL, 1, 9, 10) };
static const struct assay_axis axis_twice[] = { AXIS(NULL, 1, 9, 1), AXIS(NULL, 1, 9, 1) };
static const struct assay_axis axis_symbol[] = { AXIS(symbols, 1, 9, 2) };
static const struct assay_axis axis_symbols_twice[] = { AXIS(symbols_twice, 1, 9, 0) };
static const struct assay_axis axis_symbols_odd[] = { AXIS(symbols_odd, 1, 9, 0) };
static const struct assay_axis axis_work[] = { AXIS(NULL, 0, 9, 1) };
static const struct assay_axis axis_sound[] = { AXIS(NULL, 1, 9, 1) };

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define OP(n, ...)                                                                                                     \
	{                                                                                                              \
		.name = "bad." n, .help = "declares something", .describe = describe, .fill = fill, .check = check,    \
		__VA_ARGS__                                                                                            \
	}
#define METRICS(a)  .metrics = (a), .n_metrics = N_OF(a), .metric_stride = sizeof((a)[0])
#define COUNTERS(a) .counters = (a), .n_counters = N_OF(a)
#define AXES(a)     .axes = (a), .n_axes = N_OF(a), .axis_stride = sizeof((a)[0])

/* Each is named for what is wrong with it. */
static const struct assay_op ops[] = {
	OP("metric_twice", METRICS(twice)),
	OP("metric_null", METRICS(null_tag)),
	OP("metric_odd", METRICS(odd_tag)),
	OP("metric_long", METRICS(long_tag)),
	OP("metric_own", METRICS(own_tag)),
	OP("unit_null", METRICS(null_unit)),
	OP("unit_odd", METRICS(odd_unit)),
	OP("unit_long", METRICS(long_unit)),
	OP("better", METRICS(better)),
	OP("range", METRICS(range)),
	OP("range_nan", METRICS(nan_range)),
	OP("counter_twice", COUNTERS(counter_twice)),
	OP("counter_null", COUNTERS(counter_null)),
	OP("counter_odd", COUNTERS(counter_odd)),
	OP("counter_own", COUNTERS(counter_own)),
	OP("axis_bounds", AXES(axis_bounds)),
	OP("axis_default", AXES(axis_default)),
	OP("axis_twice", AXES(axis_twice)),
	OP("axis_symbol", AXES(axis_symbol)),
	OP("axis_symbols_twice", AXES(axis_symbols_twice)),
	OP("axis_symbols_odd", AXES(axis_symbols_odd)),
	OP("axis_work", AXES(axis_work), .flags = ASSAY_OP_WORK_AXIS),
	OP("axis_no_work", .flags = ASSAY_OP_WORK_AXIS),
	OP("axis_model", AXES(axis_work), .flags = ASSAY_OP_MODEL_AXIS),
	OP("sound", METRICS(sound), COUNTERS(counter_sound), AXES(axis_sound)),
};

#define VARIANT(o, n, ...)                                                                                             \
	{                                                                                                              \
		.op = "bad." o, .name = n, .help = "counts", .run = run, __VA_ARGS__                                   \
	}

static const struct assay_variant variants[] = {
	VARIANT("metric_twice", "ref"),
	VARIANT("metric_null", "ref"),
	VARIANT("metric_odd", "ref"),
	VARIANT("metric_long", "ref"),
	VARIANT("metric_own", "ref"),
	VARIANT("unit_null", "ref"),
	VARIANT("unit_odd", "ref"),
	VARIANT("unit_long", "ref"),
	VARIANT("better", "ref"),
	VARIANT("range", "ref"),
	VARIANT("range_nan", "ref"),
	VARIANT("counter_twice", "ref"),
	VARIANT("counter_null", "ref"),
	VARIANT("counter_odd", "ref"),
	VARIANT("counter_own", "ref"),
	VARIANT("axis_bounds", "ref"),
	VARIANT("axis_default", "ref"),
	VARIANT("axis_twice", "ref"),
	VARIANT("axis_symbol", "ref"),
	VARIANT("axis_symbols_twice", "ref"),
	VARIANT("axis_symbols_odd", "ref"),
	VARIANT("axis_work", "ref"),
	VARIANT("axis_no_work", "ref"),
	VARIANT("axis_model", "ref"),
	VARIANT("sound", "ref"),
	VARIANT("sound", "device", .device_kind = 99),
	VARIANT("sound", "needs", .needs = "avx2;\033[31m"),
	VARIANT("not_there", "ref"),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,  .name = "bad-declares",       .version = "1", .ops = ops, .n_ops = N_OF(ops),
	.variants = variants, .n_variants = N_OF(variants),
};

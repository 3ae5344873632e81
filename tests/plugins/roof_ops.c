/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits and a case that are held against them, on a device whose clock tells what a shape says and not what it took.
 * Their work is what the shape says, too. Names of ops mean nothing: the one that is no limit is called like one.
 */
#include <signal.h>
#include <unistd.h>

#include <assay/random.h>

#include "mock_device.h"

enum { LEVEL, TIME_US, READ, WRITTEN, OPS };
enum { X, Y };

#define LAST_CALL 15 /* of what dies or hangs: behind those that verify and find iterations */

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 2;
	out->tensors[X] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { 1 }
	};
	out->tensors[Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { 1 }
	};
	out->cost = (struct assay_cost){ .ops = (double)shape->axis[OPS],
					 .bytes_read = (double)shape->axis[READ],
					 .bytes_written = (double)shape->axis[WRITTEN],
					 .arith = shape->axis[OPS] ? ASSAY_ARITH_I8 : ASSAY_ARITH_NONE };
	return 0;
}

static int fill(struct assay_job *job)
{
	*(int32_t *)job->tensors[X].data = 1 + (int32_t)(job->seed & 0xff);
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	out->correct = *(const int32_t *)job->tensors[Y].data == *(const int32_t *)job->tensors[X].data;
	out->tensor = "y";
	return 0;
}

static int run(struct assay_job *job)
{
	*(int32_t *)job->tensors[Y].data = *(const int32_t *)job->tensors[X].data;
	((struct mock_stream *)job->stream)->ns += 1000 * (uint64_t)job->shape->axis[TIME_US];
	return 0;
}

/* Up to 30 % longer, by no pattern. */
static int run_unevenly(struct assay_job *job)
{
	static uint64_t calls;

	((struct mock_stream *)job->stream)->ns +=
		assay_random4(1, 1, calls++).v[0] % 300 * (uint64_t)job->shape->axis[TIME_US];
	return run(job);
}

static int run_and_die(struct assay_job *job)
{
	static int calls;

	if (++calls > LAST_CALL)
		raise(SIGSEGV);
	return run(job);
}

static int run_and_hang(struct assay_job *job)
{
	static int calls;

	while (++calls > LAST_CALL)
		pause();
	return run(job);
}

static const struct assay_axis axes[] = {
	[LEVEL] = { .name = "level", .help = "none", .min = 0, .max = 3, .def = 0 },
	[TIME_US] = { .name = "us", .help = "time of a call", .min = 1, .max = 1 << 20, .def = INT64_MIN },
	[READ] = { .name = "read", .help = "bytes", .min = 0, .max = 1 << 20, .def = 0 },
	[WRITTEN] = { .name = "written", .help = "bytes", .min = 0, .max = 1 << 20, .def = 0 },
	[OPS] = { .name = "ops", .help = "operations", .min = 0, .max = 1 << 20, .def = 0 },
};

#define OP(n, m)                                                                                                       \
	{                                                                                                              \
		.name = n, .help = "takes as long as it is told", .axes = axes,                                        \
		.n_axes = sizeof(axes) / sizeof(axes[0]), .axis_stride = sizeof(axes[0]), .describe = describe,        \
		.fill = fill, .check = check, .measures = ASSAY_MEASURES_##m,                                          \
	}

static const struct assay_op ops[] = {
	OP("roof.load", READ),
	OP("roof.move", COPY),
	OP("roof.dot", PEAK),
	OP("stream.case", NOTHING),
};

#define ON_DEVICE .device_kind = ASSAY_DEVICE_OTHER, .flags = ASSAY_VARIANT_ONE_THREAD
#define VARIANTS(o)                                                                                                    \
	{ .op = o, .name = "plain", .help = "works", .run = run, ON_DEVICE },                                          \
		{ .op = o, .name = "uneven", .help = "takes longer now and then", .run = run_unevenly, ON_DEVICE },    \
		{ .op = o, .name = "dies", .help = "dies after some calls", .run = run_and_die, ON_DEVICE },           \
	{                                                                                                              \
		.op = o, .name = "hangs", .help = "hangs after some calls", .run = run_and_hang, ON_DEVICE             \
	}

static const struct assay_variant variants[] = {
	VARIANTS("roof.load"),
	VARIANTS("roof.move"),
	VARIANTS("roof.dot"),
	VARIANTS("stream.case"),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "roof-ops",
	.version = "1",
	.ops = ops,
	.n_ops = sizeof(ops) / sizeof(ops[0]),
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
	.devices = devices,
	.n_devices = 1,
};

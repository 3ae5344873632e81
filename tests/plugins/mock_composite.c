/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A composite op, y = 2 x + 1 by the variants of example.scale on the CPU, with a variant that does the whole of it on
 * the mock device, and one on the CPU that no case can name.
 */
#include "mock_device.h"

#include "elements_op.h"

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	elements_describe(shape, ASSAY_I32, out);
	return 0;
}

static int fill(struct assay_job *job)
{
	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		((int32_t *)job->tensors[X].data)[i] = (int32_t)i;
	return 0;
}

static int64_t want(const struct assay_job *job, int64_t i)
{
	return 2 * i + 1;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	return elements_check(job, want, 0, out);
}

static int driver_run(struct assay_job *job)
{
	return job->kernel->run(job);
}

/* On the device there is no kernel inside. */
static int whole_run(struct assay_job *job)
{
	const int32_t *x = job->tensors[X].data;
	int32_t *y = job->tensors[Y].data;

	if (job->kernel || job->device_kind != ASSAY_DEVICE_OTHER || !job->stream)
		return job->host->fail(job, "called as a part of something");
	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = 2 * x[i] + 1;
	((struct mock_stream *)job->stream)->ns += 1000000;
	return 0;
}

static const struct assay_variant driver = { .op = "example.whole", .name = "driver", .run = driver_run };

static const struct assay_op ops[] = {
	ELEMENTS_OP("example.whole", .composes = "example.scale", .driver = &driver, .describe = describe, .fill = fill,
		    .check = check),
};

static const struct assay_variant variants[] = {
	{ .op = "example.whole",
	  .name = "mock_whole",
	  .help = "all of it on the mock device",
	  .device_kind = ASSAY_DEVICE_OTHER,
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = whole_run },
	{ .op = "example.whole", .name = "own_cpu", .help = "beside the driver", .run = driver_run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,  .name = "mock-composite", .version = "1",     .ops = ops,     .n_ops = 1,
	.variants = variants, .n_variants = 2,          .devices = devices, .n_devices = 1,
};

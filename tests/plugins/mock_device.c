/* SPDX-License-Identifier: Apache-2.0 */
/* A variant on a device of its own. */
#include "mock_device.h"

#define NS_PER_CALL 1000000u

static int mock_run(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	if (job->device_kind != ASSAY_DEVICE_OTHER || !job->stream)
		return job->host->fail(job, "called without the device");
	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = 2 * x[i] + 1;
	((struct mock_stream *)job->stream)->ns += NS_PER_CALL;
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale",
	  .name = "mock",
	  .help = "on the mock device",
	  .device_kind = ASSAY_DEVICE_OTHER,
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = mock_run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "mock-device", .version = "1", .variants = variants,
	.n_variants = 1,     .devices = devices,    .n_devices = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Example: a plugin of a third party that adds a variant to an op somebody else brought. It repacks nothing, needs no
 * CPU feature and runs on one thread.
 */
#include <assay/plugin.h>

static int doubled_run(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i += 4) {
		y[i] = x[i] + x[i] + 1;
		y[i + 1] = x[i + 1] + x[i + 1] + 1;
		y[i + 2] = x[i + 2] + x[i + 2] + 1;
		y[i + 3] = x[i + 3] + x[i + 3] + 1;
	}
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale",
	  .name = "doubled",
	  .help = "addition for multiplication, four at a time",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = doubled_run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "example-variant", .version = "1", .variants = variants, .n_variants = 1,
};

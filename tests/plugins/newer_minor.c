/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of a newer minor version: longer structures, which this program must step over, and a good variant in each.
 */
#include <assay/plugin.h>

struct longer_variant {
	struct assay_variant v;
	const char *new_member;
	int (*new_callback)(void);
};

static int newer_run(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = (x[i] << 1) | 1;
	return 0;
}

static const struct longer_variant variants[] = {
	{ { .op = "example.scale", .name = "newer_a", .help = "shift and or", .run = newer_run }, "a", 0 },
	{ { .op = "example.scale", .name = "newer_b", .help = "shift and or", .run = newer_run }, "b", 0 },
};

ASSAY_PLUGIN = {
	.magic = ASSAY_PLUGIN_MAGIC,
	.abi_major = ASSAY_ABI_MAJOR,
	.abi_minor = ASSAY_ABI_MINOR + 7,
	.size = sizeof(struct assay_plugin),
	.name = "newer-minor",
	.version = "2",
	.variants = &variants[0].v,
	.n_variants = 2,
	.variant_stride = sizeof(struct longer_variant),
};

/* SPDX-License-Identifier: Apache-2.0 */
/* A variant without a run function. */
#include <assay/plugin.h>

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "null", .help = "has no run function" },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-null-run", .version = "1", .variants = variants, .n_variants = 1,
};

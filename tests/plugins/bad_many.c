/* SPDX-License-Identifier: Apache-2.0 */
/* Claims more variants than any table holds. */
#include <assay/plugin.h>

static int run(struct assay_job *job)
{
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "many", .help = "one of many", .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-many", .version = "1", .variants = variants, .n_variants = 4000000000u,
};

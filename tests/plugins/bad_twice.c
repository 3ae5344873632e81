/* SPDX-License-Identifier: Apache-2.0 */
/* Offers the same variant twice: no case could say which it measures. */
#include <assay/plugin.h>

static int run(struct assay_job *job)
{
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "two", .help = "the one", .run = run },
	{ .op = "example.scale", .name = "two", .help = "the other", .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-twice", .version = "1", .variants = variants, .n_variants = 2,
};

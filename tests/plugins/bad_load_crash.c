/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes while it is loaded. */
#include <signal.h>

#include <assay/plugin.h>

static int never(struct assay_job *job)
{
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "load_crash", .help = "never loaded", .run = never },
};

__attribute__((constructor)) static void crash(void)
{
	raise(SIGSEGV);
}

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-load-crash", .version = "1", .variants = variants, .n_variants = 1,
};

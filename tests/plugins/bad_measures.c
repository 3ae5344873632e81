/* SPDX-License-Identifier: Apache-2.0 */
/* An op that measures a limit which nobody knows: it would pass for one that no case is held against. */
#include <assay/plugin.h>

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return 0;
}

static int fill(struct assay_job *job)
{
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	return 0;
}

static const struct assay_op ops[] = {
	{ .name = "bad.measures",
	  .help = "measures what nobody knows",
	  .describe = describe,
	  .fill = fill,
	  .check = check,
	  .measures = ASSAY_MEASURES_PEAK + 1 },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "bad-measures", .version = "1", .ops = ops, .n_ops = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The honest side of cheat_head. */
#include "cheat_side.h"

static const struct assay_variant variants[] = {
	CHEAT_VARIANT("honest", cheat_honest),
	CHEAT_VARIANT("branchy", cheat_branchy),
	CHEAT_VARIANT("peek", cheat_honest),
	CHEAT_VARIANT("glance", cheat_honest),
	CHEAT_VARIANT("burst", cheat_honest),
	CHEAT_VARIANT("cachecopy", cheat_honest),
	CHEAT_VARIANT("late", cheat_honest),
	CHEAT_VARIANT("memo", cheat_honest),
	{ .op = "example.scale",
	  .name = "prepared",
	  .help = "y = 2 x + 1, or not",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .prepare = cheat_prepare,
	  .run = cheat_honest },
	CHEAT_VARIANT("skip", cheat_honest),
};

CHEAT_PLUGIN("cheat-base", variants);

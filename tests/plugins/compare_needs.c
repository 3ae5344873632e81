/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of compare_two.c, of which one needs CPU features that no simulator has. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "lenient.triple",
	  .name = "work",
	  .help = "known work",
	  .needs = "avx512f",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = run },
	SIDE_VARIANT("lenient.triple", "extra", .run = run),
};

SIDE_PLUGIN("compare-needs", variants);

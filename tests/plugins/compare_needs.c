/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of compare_two.c, of which one needs CPU features that no simulator has. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "lenient.triple",
	  .name = "work",
	  .help = "known work",
	  .needs = "avx512f",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = run },
	{ .op = "lenient.triple",
	  .name = "extra",
	  .help = "the same work",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .run = run },
};

COMPARE_PLUGIN("compare-needs", variants);

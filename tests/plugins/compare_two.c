/* SPDX-License-Identifier: Apache-2.0 */
/* The work of compare_base.c, and a second variant that is lost where this is the base and new where it is the head. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("work", run), COMPARE_VARIANT("extra", run) };

COMPARE_PLUGIN("compare-two", variants);

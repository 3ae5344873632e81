/* SPDX-License-Identifier: Apache-2.0 */
/* The work of compare_base.c, and a second variant that is lost where this is the base and new where it is the head. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run), TRIPLE("extra", run) };

SIDE_PLUGIN("compare-two", variants);

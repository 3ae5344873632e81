/* SPDX-License-Identifier: Apache-2.0 */
/* Twice the work of compare_base.c, under a name of its own. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, 2 * TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("twice", run) };

SIDE_PLUGIN("compare-twice", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Ten times the work of compare_base.c: busy neighbours take less. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, 10 * TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-tenfold", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* What the others are compared with. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-base", variants);

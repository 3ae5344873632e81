/* SPDX-License-Identifier: Apache-2.0 */
/* A twentieth more work than compare_base.c. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS + TRIPLE_ROUNDS / 20);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-slower", variants);

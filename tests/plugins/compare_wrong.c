/* SPDX-License-Identifier: Apache-2.0 */
/* Less work than compare_base.c, and one element wrong. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS / 2);
	((int32_t *)job->tensors[1].data)[3] += 100;
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-wrong", variants);

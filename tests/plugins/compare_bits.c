/* SPDX-License-Identifier: Apache-2.0 */
/* The work of compare_base.c, with two elements one off: the oracle does not mind. */
#include "side.h"

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	((int32_t *)job->tensors[1].data)[5] += 1;
	((int32_t *)job->tensors[1].data)[9] -= 1;
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-bits", variants);

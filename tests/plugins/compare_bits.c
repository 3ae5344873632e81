/* SPDX-License-Identifier: Apache-2.0 */
/* The work of compare_base.c, with two elements one off: the oracle does not mind. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS);
	((int32_t *)job->tensors[1].data)[5] += 1;
	((int32_t *)job->tensors[1].data)[9] -= 1;
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("work", run) };

COMPARE_PLUGIN("compare-bits", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Less work than compare_base.c, and one element wrong. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS / 2);
	((int32_t *)job->tensors[1].data)[3] += 100;
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("work", run) };

COMPARE_PLUGIN("compare-wrong", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* What the others are compared with. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("work", run) };

COMPARE_PLUGIN("compare-base", variants);

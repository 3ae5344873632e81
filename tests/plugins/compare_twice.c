/* SPDX-License-Identifier: Apache-2.0 */
/* Twice the work of compare_base.c, under a name of its own. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, 2 * COMPARE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("twice", run) };

COMPARE_PLUGIN("compare-twice", variants);

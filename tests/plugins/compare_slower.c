/* SPDX-License-Identifier: Apache-2.0 */
/* A twentieth more work than compare_base.c. */
#include "compare_side.h"

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS + COMPARE_ROUNDS / 20);
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("work", run) };

COMPARE_PLUGIN("compare-slower", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes where compare_base.c works. */
#include <signal.h>

#include "side.h"

static int run(struct assay_job *job)
{
	raise(SIGSEGV);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-crash", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Right at first; one of the calls that take turns does not come back. */
#include <unistd.h>

#include "compare_side.h"

static int run(struct assay_job *job)
{
	static int runs;

	compare_triple(job, COMPARE_ROUNDS);
	while (++runs > 300)
		pause();
	return 0;
}

static const struct assay_variant variants[] = { COMPARE_VARIANT("work", run) };

COMPARE_PLUGIN("compare-hangs", variants);

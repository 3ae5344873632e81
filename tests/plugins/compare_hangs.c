/* SPDX-License-Identifier: Apache-2.0 */
/* Right at first; one of the calls that take turns does not come back. */
#include <unistd.h>

#include "side.h"

static int run(struct assay_job *job)
{
	static int runs;

	side_triple(job, TRIPLE_ROUNDS);
	while (++runs > 300)
		pause();
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-hangs", variants);

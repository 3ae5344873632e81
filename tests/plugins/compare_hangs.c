/* SPDX-License-Identifier: Apache-2.0 */
/* Right at first; behind ASSAY_TEST_CALLS calls, 300 if it is not set, one does not come back. */
#include <stdlib.h>
#include <unistd.h>

#include "side.h"

static int run(struct assay_job *job)
{
	static int runs;
	const char *calls = getenv("ASSAY_TEST_CALLS");

	side_triple(job, TRIPLE_ROUNDS);
	while (++runs > (calls ? atoi(calls) : 300))
		pause();
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-hangs", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Right at first; after some runs, long after it was checked, it changes an input. */
#include "side.h"

static int run(struct assay_job *job)
{
	static int runs;

	side_triple(job, TRIPLE_ROUNDS);
	if (++runs == 10)
		*(int32_t *)job->tensors[0].data ^= 1;
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-spoils", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps something in scratch from prepare on, and is wrong once another process has written there. */
#include <unistd.h>

#include "side.h"

static int prepare(struct assay_job *job)
{
	*(int32_t *)job->tensors[2].data = (int32_t)getpid();
	return 0;
}

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	if (*(const int32_t *)job->tensors[2].data != (int32_t)getpid())
		*(int32_t *)job->tensors[1].data += 1000;
	return 0;
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("lenient.triple", "work", .prepare = prepare, .run = run),
};

SIDE_PLUGIN("compare-scratch", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long call of eight parts. It is wrong once anybody else writes to its output while it waits between two of them.
 */
#include <unistd.h>

#include "side.h"

#define PARTS   8
#define PART_NS 1500000u

static int run(struct assay_job *job)
{
	int32_t *y = job->tensors[1].data;
	int right = 1;

	for (int i = 0; i < PARTS; i++) {
		const uint64_t start = job->host->now_ns();
		volatile int32_t *mark = &y[i];

		*mark = (int32_t)getpid();
		while (job->host->now_ns() - start < PART_NS)
			;
		assay_part(job);
		right &= *mark == (int32_t)getpid();
	}
	side_triple(job, 1);
	y[0] += right ? 0 : 1000;
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-parts", variants);

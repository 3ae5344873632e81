/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares three MiB, and is wrong once anybody else has written there. */
#include <unistd.h>

#include "side.h"

#define WORDS ((3 << 20) / sizeof(int32_t))
#define STEP  1024 /* words of a page */

static int prepare(struct assay_job *job)
{
	int32_t *kept = side_take(job, WORDS * sizeof(*kept));

	for (size_t i = 0; kept && i < WORDS; i++) {
		if (kept[i])
			return job->host->fail(job, "the memory is not zero");
		kept[i] = (int32_t)getpid();
	}
	return kept ? 0 : -1;
}

static int run(struct assay_job *job)
{
	const int32_t *kept = job->state;

	side_triple(job, 1);
	for (size_t i = 0; i < WORDS; i += STEP)
		if (kept[i] != (int32_t)getpid())
			*(int32_t *)job->tensors[1].data += 1000;
	return 0;
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("lenient.triple", "work", .prepare = prepare, .run = run, .release = side_release),
};

SIDE_PLUGIN("compare-hoards", variants);

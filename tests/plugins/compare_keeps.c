/* SPDX-License-Identifier: Apache-2.0 */
/* The same work as the base, and memory that prepare takes. */
#include "compare_side.h"

#define KEPT_BYTES 12345

static int prepare(struct assay_job *job)
{
	job->state = job->host->alloc(job, KEPT_BYTES);
	return job->state ? 0 : job->host->fail(job, "out of memory");
}

static int run(struct assay_job *job)
{
	compare_triple(job, COMPARE_ROUNDS);
	return 0;
}

static void release(struct assay_job *job)
{
	job->host->release(job, job->state);
}

static const struct assay_variant variants[] = {
	{ .op = "lenient.triple",
	  .name = "work",
	  .help = "known work, and 12345 bytes",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .prepare = prepare,
	  .run = run,
	  .release = release },
};

COMPARE_PLUGIN("compare-keeps", variants);

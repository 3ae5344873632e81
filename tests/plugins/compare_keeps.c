/* SPDX-License-Identifier: Apache-2.0 */
/* The same work as the base, and memory that prepare takes. */
#include "side.h"

#define KEPT_BYTES 12345

static int prepare(struct assay_job *job)
{
	return side_take(job, KEPT_BYTES) ? 0 : -1;
}

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("lenient.triple", "work", .prepare = prepare, .run = run, .release = side_release),
};

SIDE_PLUGIN("compare-keeps", variants);

/* SPDX-License-Identifier: Apache-2.0 */
/* Supports no shape at all, where compare_base.c supports any. */
#include <stdio.h>

#include "side.h"

static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	snprintf(why->text, sizeof(why->text), "cannot do %lld elements", (long long)shape->axis[0]);
	return -1;
}

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	return 0;
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("lenient.triple", "work", .supports = supports, .run = run),
};

SIDE_PLUGIN("compare-refuses", variants);

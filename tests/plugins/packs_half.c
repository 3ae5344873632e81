/* SPDX-License-Identifier: Apache-2.0 */
/* A variant that says that it reads half of what its op states, as one does that packs its inputs; or nonsense. */
#include "side.h"

static double half(const struct assay_shape *shape)
{
	return (double)shape->axis[0] * 2;
}

static double negative(const struct assay_shape *shape)
{
	return -(double)shape->axis[0];
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "half", .help = "reads half", .run = side_scale, .bytes_read = half },
	{ .op = "example.scale", .name = "negative", .help = "x", .run = side_scale, .bytes_read = negative },
};

SIDE_PLUGIN("packs-half", variants);

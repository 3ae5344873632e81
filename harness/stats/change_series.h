/* SPDX-License-Identifier: Apache-2.0 */
/* A growing series, its points by value, and the intervals whose best split is known. */
#ifndef ASSAY_STATS_CHANGE_SERIES_H
#define ASSAY_STATS_CHANGE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an interval of the grid says; later points do not change it. */
struct assay_change_split {
	uint32_t at;
	float z;
};

struct assay_change_layer {
	size_t half; /* of the length of its intervals, and from one to the next */
	struct assay_change_split *splits;
	size_t n;
};

/* A series. Its members are private. */
struct assay_change_points {
	size_t least_run;
	/* What the last search found: how much less the points tell than as many in random order, and whether levels */
	double inflated;
	bool takes_turns; /* come back too often for changes of code, so that they are taken for a machine's states. */
	/* Of points so few that only the clearest split shows a change, the z of that; else 0. */
	double clear_z;
	double *x;
	size_t n, n_ranked; /* points, and those that @order knows */
	uint32_t *order;    /* points by value */
	uint32_t *rank;     /* of each point */
	struct assay_change_layer layers[48];
};

#endif

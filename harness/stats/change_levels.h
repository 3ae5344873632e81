/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of a series: each from its bound up to the next one. */
#ifndef ASSAY_STATS_CHANGE_LEVELS_H
#define ASSAY_STATS_CHANGE_LEVELS_H

#include "stats/change_split.h"
#include "stats/interval.h"

struct assay_change_levels {
	size_t *bound; /* the first is 0, the last the number of points */
	double *z;     /* how clear the change at a bound is */
	size_t n;      /* levels */
};

size_t assay_change_level_of(const struct assay_change_levels *l, size_t point);
/* The points of each level, by value, in the place of the level, into w->cells. */
void assay_change_levels_fill(struct assay_change_work *w, const struct assay_change_levels *l);
/* Bounds besides those that are known, from the narrowest interval of the grid to the widest. */
void assay_change_choose(const struct assay_change_work *w, struct assay_change_levels *l, double least_z);
/* Bounds inside of levels, as long as there are any; at first that is the whole series. */
void assay_change_divide(struct assay_change_work *w, struct assay_change_levels *l, double least_z);
/* Bounds move to their best places, and go one by one where they are no changes there. w->cells as above. */
void assay_change_settle(struct assay_change_work *w, struct assay_change_levels *l, double least_z);
double assay_change_level_median(struct assay_change_work *w, const struct assay_change_levels *l, size_t level,
				 struct assay_interval *ci);

#endif

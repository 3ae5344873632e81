/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits intervals by the ranks of their points. The intervals of a layer are twice `half` long and `half` apart. They
 * have a fixed place on the series, so a later point changes none that is complete.
 */
#ifndef ASSAY_STATS_CHANGE_SPLIT_H
#define ASSAY_STATS_CHANGE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/distributions.h"

/* ---- change series ---- */

/* A growing series, its points by value, and the intervals whose best split is known. */

/* The statistic of an interval of the grid; later points do not change it. */
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
	/* The result of the last search: how much less the points tell than as many in random order. */
	double inflated;
	bool takes_turns; /* levels come back too often for changes of code, and are taken for a machine's states */
	/* Of points so few that only the clearest split shows a change, the z of that; else 0. */
	double clear_z;
	double *x;
	size_t n, n_ranked; /* points, and those that @order knows */
	uint32_t *order;    /* points by value */
	uint32_t *rank;     /* of each point */
	struct assay_change_layer layers[48];
};

#define ASSAY_CHANGE_LAYERS (sizeof(((struct assay_change_points *)0)->layers) / sizeof(struct assay_change_layer))

/* Room for one find. */
struct assay_change_work {
	struct assay_change_points *s;
	uint32_t *list, *cells, *kept; /* of n points each */
	double *scores, *in_time;      /* likewise */
	size_t n_scores;               /* whose scores are there */
};

/* Sort the points that were added since the last call into the order by value. ASSAY_ENOMEM. */
int assay_change_rank(struct assay_change_points *s);
/* Normal scores of @n ranks into w->scores. */
void assay_change_scores(struct assay_change_work *w, size_t n);
/*
 * The normal deviate that is as rare as a correlation whose square is @r2, between @n scores in random order and the
 * side that they are on.
 */
double assay_change_normal(double r2, size_t n);
/*
 * Of the @n points from @start on, which @list has by value. z is the greatest standardised difference of the scores of
 * both sides, as in a random order.
 */
struct assay_change_split assay_change_best_split(struct assay_change_work *w, const uint32_t *list, size_t start,
						  size_t n);
/* Both lists, by value. */
void assay_change_merge(const struct assay_change_work *w, const uint32_t *a, size_t n, const uint32_t *b, size_t m,
			uint32_t *out);
/* Split those intervals of all layers that have become complete. ASSAY_ENOMEM. */
int assay_change_complete(struct assay_change_work *w);

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of intervals by the ranks of their points. Layers of intervals twice `half` long, `half` apart, have a fixed
 * place on the series, so that a point that comes later touches none that is complete.
 */
#ifndef ASSAY_STATS_CHANGE_SPLIT_H
#define ASSAY_STATS_CHANGE_SPLIT_H

#include "stats/change_series.h"

#define ASSAY_CHANGE_LAYERS (sizeof(((struct assay_change_points *)0)->layers) / sizeof(struct assay_change_layer))

/* Room for one find. */
struct assay_change_work {
	struct assay_change_points *s;
	uint32_t *list, *cells, *kept; /* of n points each */
	double *scores, *in_time;      /* likewise */
	size_t n_scores;               /* whose scores are there */
};

/* Put the points that came since the last time among the others by value. ASSAY_ENOMEM. */
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
/* Split the intervals of all layers that became complete. ASSAY_ENOMEM. */
int assay_change_complete(struct assay_change_work *w);

#endif

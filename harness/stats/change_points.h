/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the level of a series changed. Pure: the same numbers and rule give the same answer, whether they came at once
 * or one by one.
 *
 * A split of an interval is judged by the ranks of its values, as normal scores (van der Waerden), so that neither
 * spikes nor the shape of the noise matter: whatever the values, a series in random order shows a change with
 * probability @alpha at most. The intervals are those of seeded binary segmentation (Kovács, Bühlmann, Li and Munk,
 * Biometrika 2023); the narrowest that shows a change names it (Baranowski, Chen and Fryzlewicz, JRSS B 2019). What
 * neighbours have in common makes a change harder to show: the autocorrelation is estimated within the levels.
 * harness/stats/README.md has the error rates.
 */
#ifndef ASSAY_STATS_CHANGE_POINTS_H
#define ASSAY_STATS_CHANGE_POINTS_H

#include "stats/change_split.h"
#include "stats/distributions.h"

#define ASSAY_CHANGE_POINTS_ALPHA      0.01
#define ASSAY_CHANGE_POINTS_LEAST_RUN  5
#define ASSAY_CHANGE_POINTS_LEAST_FRAC 0.005

/* All-zero has the defaults above. */
struct assay_change_rule {
	double alpha;      /* probability of any change in a series without one */
	double least_frac; /* smaller changes of the level are found, and left out of the answer; below 0: none is */
};

/*
 * From @at on, the level is @ratio times what it was from @from on; at @to the next change follows, or the end. The
 * changes next to it may be among those that are left out as too small.
 */
struct assay_change {
	size_t from, at, to;
	double ratio;             /* of the medians */
	struct assay_interval ci; /* 95 % */
	double p; /* probability that a series of this length, in random order, shows a change as clear as this */
};

/* No level is shorter than @least_run points; 0: the default, at least 3 otherwise. */
void assay_change_points_init(struct assay_change_points *s, size_t least_run);
/* Points of the shortest series in which a change can be found. */
size_t assay_change_points_least(size_t least_run);
/*
 * After a search: how many points a level must have at the end of the series to be found at @alpha (0: the default),
 * even where none of them reaches into the level before; 0: the series is too short for any.
 */
size_t assay_change_points_shortest(const struct assay_change_points *s, double alpha);
void assay_change_points_release(struct assay_change_points *s);

/* Append @n values, which are positive and finite (ASSAY_EUSAGE). On an error the series is as before. */
int assay_change_points_add(struct assay_change_points *s, const double *x, size_t n);
/*
 * The changes, in order; the caller frees *out. What earlier calls found about the points before is used again, so that
 * a call after a few more points takes little time.
 */
int assay_change_points_find(struct assay_change_points *s, const struct assay_change_rule *rule,
			     struct assay_change **out, size_t *n);

#endif

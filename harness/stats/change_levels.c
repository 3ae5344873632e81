/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels are divided where the grid or they themselves show a change; then bounds settle, and weak ones go, as do those
 * between states that take turns.
 */
#include "stats/change_split.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stats/stats.h"

/* Bounds may push each other to and fro. */
#define SETTLING_ROUNDS 4
/* The probability that a level in random order has a stretch that counts as a visit to another. */
#define VISIT_ALPHA 0.001

size_t assay_change_level_of(const struct assay_change_levels *l, size_t point)
{
	size_t lo = 0, hi = l->n;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (l->bound[mid] <= point)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The split of an interval is a bound, unless one is known inside. */
static void take(struct assay_change_levels *l, size_t start, size_t n, struct assay_change_split split, double least_z)
{
	size_t level;

	if (!(split.z >= least_z))
		return;
	level = assay_change_level_of(l, start);
	if (l->bound[level + 1] < start + n)
		return;
	memmove(&l->bound[level + 2], &l->bound[level + 1], (l->n - level) * sizeof(*l->bound));
	l->bound[level + 1] = split.at;
	l->n++;
}

void assay_change_choose(const struct assay_change_work *w, struct assay_change_levels *l, double least_z)
{
	const struct assay_change_points *s = w->s;

	for (size_t i = 0; i < ASSAY_CHANGE_LAYERS && 2 * s->layers[i].half < s->n; i++) {
		size_t half = s->layers[i].half;

		for (size_t k = 0; k < s->layers[i].n; k++)
			take(l, k * half, 2 * half, s->layers[i].splits[k], least_z);
	}
}

void assay_change_levels_fill(struct assay_change_work *w, const struct assay_change_levels *l)
{
	const struct assay_change_points *s = w->s;
	size_t at = 0;

	for (size_t k = 0; k < l->n; k++)
		for (at = l->bound[k]; at < l->bound[k + 1]; at++)
			w->kept[at] = (uint32_t)k;
	for (size_t k = 0; k < l->n; k++)
		w->list[k] = (uint32_t)l->bound[k];
	for (size_t i = 0; i < s->n; i++)
		w->cells[w->list[w->kept[s->order[i]]]++] = s->order[i];
}

void assay_change_divide(struct assay_change_work *w, struct assay_change_levels *l, double least_z)
{
	size_t known;

	do {
		known = l->n;
		assay_change_levels_fill(w, l);
		for (size_t k = l->n; k-- > 0;) {
			size_t from = l->bound[k], n = l->bound[k + 1] - from;

			if (n >= 2 * w->s->least_run)
				take(l, from, n, assay_change_best_split(w, w->cells + from, from, n), least_z);
		}
	} while (l->n > known);
}

/*
 * Where both levels are nearest to their points, in absolute distance from the medians. Ranks find a step, but a short
 * level takes the highest points of a long one with it.
 */
static size_t nearest(const struct assay_change_work *w, size_t from, size_t at, size_t to)
{
	const double *x = w->s->x;
	double before = x[w->cells[from + (at - from) / 2]], after = x[w->cells[at + (to - at) / 2]];
	double sum = 0, least = 0;
	size_t best = at;

	for (size_t k = from; k + w->s->least_run < to; k++) {
		sum += fabs(x[k] - before) - fabs(x[k] - after);
		if (k + 1 - from == w->s->least_run || (k + 1 - from > w->s->least_run && sum < least)) {
			least = sum;
			best = k + 1;
		}
	}
	return best;
}

/* Points by value, of which @list has those from @from up to @to, in two levels. */
static void part(struct assay_change_work *w, const uint32_t *list, size_t from, size_t at, size_t to)
{
	size_t low = from, high = at;

	for (size_t k = 0; k < to - from; k++)
		if (list[k] < at)
			w->cells[low++] = list[k];
		else
			w->cells[high++] = list[k];
}

/* Move bound @i to the best place between its neighbours. Was it elsewhere? */
static bool settle(struct assay_change_work *w, struct assay_change_levels *l, size_t i)
{
	size_t from = l->bound[i - 1], at = l->bound[i], to = l->bound[i + 1];
	struct assay_change_split best;

	assay_change_merge(w, w->cells + from, at - from, w->cells + at, to - at, w->list);
	best = assay_change_best_split(w, w->list, from, to - from);
	part(w, w->list, from, best.at, to);
	l->z[i] = best.z;
	l->bound[i] = nearest(w, from, best.at, to);
	part(w, w->list, from, l->bound[i], to);
	return l->bound[i] != at;
}

double assay_change_level_median(struct assay_change_work *w, const struct assay_change_levels *l, size_t level,
				 struct assay_interval *ci)
{
	size_t n = l->bound[level + 1] - l->bound[level];

	for (size_t i = 0; i < n; i++)
		w->in_time[i] = w->s->x[w->cells[l->bound[level] + i]];
	*ci = assay_stats_median_ci(w->in_time, n, 0.95, NULL);
	return assay_stats_median(w->in_time, n);
}

/*
 * Is there a stretch of points among @n from @from on, beyond @mid on the other level's side (@up: above), too long for
 * as many of them in random order?
 */
static bool visits(const double *x, size_t n, double mid, bool up)
{
	size_t beyond = 0, run = 0, longest = 0;

	for (size_t i = 0; i < n; i++) {
		bool is = up ? x[i] > mid : x[i] < mid;

		beyond += is;
		run = is ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return beyond && (double)n * pow((double)beyond / (double)n, (double)longest) < VISIT_ALPHA;
}

/* Was the level behind bound @i there before, or that before it afterwards? Then states of the machine take turns. */
static bool is_none(struct assay_change_work *w, const struct assay_change_levels *l, size_t i)
{
	const size_t from = l->bound[i - 1], at = l->bound[i], to = l->bound[i + 1];
	const double *x = w->s->x;
	struct assay_interval unused;
	double before = assay_change_level_median(w, l, i - 1, &unused);
	double after = assay_change_level_median(w, l, i, &unused), mid = sqrt(before * after);

	return visits(x + from, at - from, mid, after > before) || visits(x + at, to - at, mid, after < before);
}

/* The bound that is least of a change, or 0. */
static size_t weakest(struct assay_change_work *w, const struct assay_change_levels *l, double least_z)
{
	size_t found = 0;

	for (size_t i = 1; i < l->n; i++)
		if (l->z[i] < least_z && (!found || l->z[i] < l->z[found]))
			found = i;
	for (size_t i = 1; i < l->n && !found; i++)
		if (is_none(w, l, i))
			found = i;
	return found;
}

void assay_change_settle(struct assay_change_work *w, struct assay_change_levels *l, double least_z)
{
	size_t drop;

	do {
		bool moved = true;

		for (unsigned round = 0; round < SETTLING_ROUNDS && moved; round++) {
			moved = false;
			for (size_t i = 1; i < l->n; i++)
				moved |= settle(w, l, i);
		}
		drop = weakest(w, l, least_z);
		if (drop) {
			memmove(&l->bound[drop], &l->bound[drop + 1], (l->n - drop) * sizeof(*l->bound));
			l->n--;
			assay_change_levels_fill(w, l);
		}
	} while (drop);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals of a growing series that each name their best split; the choice among them; and what a change is.
 *
 * Layers of intervals twice @half long, @half apart, have a fixed place on the series, so that a point that comes later
 * touches none that is complete. Those that end with the last point come on top, and the whole.
 */
#include "stats/change_points.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/err.h"
#include "stats/distributions.h"
#include "stats/stats.h"

#define N_LAYERS (sizeof(((struct assay_change_points *)0)->layers) / sizeof(struct assay_change_layer))
/* Equal values stand in an order drawn from this stream: ties in order of time would look like a trend. */
#define TIES_SEED 0
/* Autocorrelations that are estimated: more see longer states of a machine, and take a change for one. */
#define MOST_LAGS      5
#define POINTS_PER_LAG 20
/* Of so many points at the end. */
#define OF_LATE 2000
/* Bounds may push each other to and fro. */
#define SETTLING_ROUNDS 4

void assay_change_points_init(struct assay_change_points *s, size_t least_run)
{
	size_t half;

	*s = (struct assay_change_points){ 0 };
	s->least_run = !least_run ? ASSAY_CHANGE_POINTS_LEAST_RUN : least_run < 3 ? 3 : least_run;
	half = s->least_run;
	for (size_t i = 0; i < N_LAYERS; i++) {
		s->layers[i].half = half;
		half = (size_t)ceil((double)half * M_SQRT2);
	}
}

void assay_change_points_release(struct assay_change_points *s)
{
	for (size_t i = 0; i < N_LAYERS; i++)
		free(s->layers[i].splits);
	free(s->x);
	free(s->order);
	free(s->rank);
	*s = (struct assay_change_points){ 0 };
}

int assay_change_points_add(struct assay_change_points *s, const double *x, size_t n)
{
	double *v;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]) || !(x[i] > 0))
			return ASSAY_EUSAGE;
	if (n > UINT32_MAX / 4 - s->n)
		return ASSAY_ELIMIT;
	v = realloc(s->x, (s->n + n + !n) * sizeof(*v));
	if (!v)
		return ASSAY_ENOMEM;
	if (n)
		memcpy(v + s->n, x, n * sizeof(*x));
	s->x = v;
	s->n += n;
	return 0;
}

/* ---- points by value ---- */

struct key {
	double x;
	uint32_t tie, at;
};

static struct key key_of(const struct assay_change_points *s, uint32_t i)
{
	return (struct key){ s->x[i], assay_random4(TIES_SEED, 0, i).v[0], i };
}

static int by_value(const void *a, const void *b)
{
	const struct key *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	if (p->tie != q->tie)
		return p->tie < q->tie ? -1 : 1;
	return (p->at > q->at) - (p->at < q->at);
}

static bool is_after(const struct assay_change_points *s, uint32_t i, const struct key *other)
{
	struct key key;

	if (s->x[i] != other->x)
		return s->x[i] > other->x;
	key = key_of(s, i);
	return by_value(&key, other) > 0;
}

/* Put the points that came since the last time among the others. */
static int rank_points(struct assay_change_points *s)
{
	size_t fresh = s->n - s->n_ranked, i = s->n_ranked;
	struct key *v;
	uint32_t *p;

	if (!fresh)
		return 0;
	p = realloc(s->order, s->n * sizeof(*p));
	if (!p)
		return ASSAY_ENOMEM;
	s->order = p;
	p = realloc(s->rank, s->n * sizeof(*p));
	if (!p)
		return ASSAY_ENOMEM;
	s->rank = p;
	v = malloc(fresh * sizeof(*v));
	if (!v)
		return ASSAY_ENOMEM;
	for (size_t k = 0; k < fresh; k++)
		v[k] = key_of(s, (uint32_t)(s->n_ranked + k));
	qsort(v, fresh, sizeof(*v), by_value);
	for (size_t at = s->n; fresh;)
		s->order[--at] = i && is_after(s, s->order[i - 1], &v[fresh - 1]) ? s->order[--i] : v[--fresh].at;
	for (size_t k = 0; k < s->n; k++)
		s->rank[s->order[k]] = (uint32_t)k;
	s->n_ranked = s->n;
	free(v);
	return 0;
}

/* ---- the best split of an interval ---- */

/* Room for one find. */
struct work {
	struct assay_change_points *s;
	uint32_t *list, *cells, *kept; /* of n points each */
	double *scores, *in_time;      /* likewise */
	size_t n_scores;               /* whose scores are there */
	struct assay_change_split ends[N_LAYERS], whole;
};

/* Normal scores of @n ranks; Abramowitz and Stegun 1964, 26.2.23, which is within 0.0005. */
static void fill_scores(struct work *w, size_t n)
{
	if (w->n_scores == n)
		return;
	w->n_scores = n;
	for (size_t i = 0; i < n / 2; i++) {
		double t = sqrt(-2 * log(((double)i + 0.5) / (double)n));
		double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
				       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

		w->scores[i] = -z;
		w->scores[n - 1 - i] = z;
	}
	if (n % 2)
		w->scores[n / 2] = 0;
}

/*
 * The normal deviate that is as rare as a correlation whose square is @r2, between @n scores in random order and the
 * side that they are on: Student's t of n - 2 degrees of freedom (Pitman 1937), as Wallace approximates it (1959).
 */
static double normal_of(double r2, size_t n)
{
	double df = (double)(n - 2);

	return (8 * df + 1) / (8 * df + 3) * sqrt(-df * log1p(-r2));
}

/*
 * Of the @n points from @start on, which @list has by value. z is the greatest standardised difference of the scores of
 * both sides, as in a random order.
 */
static struct assay_change_split best_split(struct work *w, const uint32_t *list, size_t start, size_t n)
{
	size_t least = w->s->least_run, best = 0;
	double sum = 0, squares = 0, most = 0;

	fill_scores(w, n);
	for (size_t i = 0; i < n; i++) {
		w->in_time[list[i] - start] = w->scores[i];
		squares += w->scores[i] * w->scores[i];
	}
	for (size_t k = 1; k + least <= n; k++) {
		double q;

		sum += w->in_time[k - 1];
		q = sum * sum / ((double)k * (double)(n - k));
		if (k >= least && q > most) {
			most = q;
			best = k;
		}
	}
	return (struct assay_change_split){ (uint32_t)(start + best), (float)normal_of(most * (double)n / squares, n) };
}

/* Both lists, by value. */
static void merge(const struct work *w, const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t *out)
{
	const uint32_t *rank = w->s->rank;

	while (n && m) {
		bool first = rank[*a] < rank[*b];

		*out++ = first ? *a : *b;
		a += first;
		n -= first;
		b += !first;
		m -= !first;
	}
	memcpy(out, n ? a : b, (n + m) * sizeof(*out));
}

/* The points of @cells from cell @first on, cell by cell, each by value. */
static void fill_cells(struct work *w, size_t half, size_t first, size_t n_cells, uint32_t *used)
{
	const struct assay_change_points *s = w->s;

	memset(used, 0, n_cells * sizeof(*used));
	for (size_t i = 0; i < s->n; i++) {
		size_t cell = s->order[i] / half;

		if (cell < first || cell - first >= n_cells)
			continue;
		cell -= first;
		w->cells[cell * half + used[cell]++] = s->order[i];
	}
}

/* The intervals that became complete. */
static int complete_layer(struct work *w, struct assay_change_layer *l)
{
	size_t n_cells = w->s->n / l->half, n = n_cells < 2 ? 0 : n_cells - 1, first = l->n;
	struct assay_change_split *v;

	if (n <= first)
		return 0;
	v = realloc(l->splits, n * sizeof(*v));
	if (!v)
		return ASSAY_ENOMEM;
	l->splits = v;
	fill_cells(w, l->half, first, n_cells - first, w->kept);
	for (; l->n < n; l->n++) {
		const uint32_t *cell = w->cells + (l->n - first) * l->half;

		merge(w, cell, l->half, cell + l->half, l->half, w->list);
		v[l->n] = best_split(w, w->list, l->n * l->half, 2 * l->half);
	}
	return 0;
}

static int complete_layers(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; i < N_LAYERS && !rc && 2 * w->s->layers[i].half <= w->s->n; i++)
		rc = complete_layer(w, &w->s->layers[i]);
	return rc;
}

/* The intervals that end with the last point: one a layer, and the whole. */
static void split_ends(struct work *w)
{
	const struct assay_change_points *s = w->s;
	size_t n = s->n;

	w->whole = best_split(w, s->order, 0, n);
	memcpy(w->kept, s->order, n * sizeof(*w->kept));
	for (size_t i = N_LAYERS; i-- > 0;) {
		size_t length = 2 * s->layers[i].half, kept = 0;

		if (length >= s->n)
			continue;
		for (size_t k = 0; k < n; k++)
			if (w->kept[k] >= s->n - length)
				w->kept[kept++] = w->kept[k];
		n = kept;
		w->ends[i] = best_split(w, w->kept, s->n - n, n);
	}
}

/* ---- what counts as a change ---- */

/*
 * The probability that the greatest z of an interval of @n points in random order is @z or more (Miller and Siegmund
 * 1982). It is that of a continuous path, so rather more than less.
 */
static double tail(double z, size_t n, size_t least)
{
	double odds = log((double)(n - least) / (double)least);

	return exp(-z * z / 2) / sqrt(2 * M_PI) * ((z - 1 / z) * 2 * odds + 4 / z);
}

/* That any interval has it; the sum over all, which they share with each other (Bonferroni). */
static double tail_of_all(const struct assay_change_points *s, double z)
{
	double p;

	if (z < 2)
		return 1;
	p = tail(z, s->n, s->least_run);
	for (size_t i = 0; i < N_LAYERS && 2 * s->layers[i].half < s->n; i++)
		p += (double)(s->layers[i].n + 1) * tail(z, 2 * s->layers[i].half, s->least_run);
	return fmin(p, 1);
}

/* Levels: each from its bound up to the next one; @z says how clear the change at a bound is. */
struct levels {
	size_t *bound; /* the first is 0, the last the number of points */
	double *z;
	size_t n; /* levels */
};

static size_t level_of(const struct levels *l, size_t point)
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
static void take(struct levels *l, size_t start, size_t n, struct assay_change_split split, double least_z)
{
	size_t level;

	if (!(split.z >= least_z))
		return;
	level = level_of(l, start);
	if (l->bound[level + 1] < start + n)
		return;
	memmove(&l->bound[level + 2], &l->bound[level + 1], (l->n - level) * sizeof(*l->bound));
	l->bound[level + 1] = split.at;
	l->n++;
}

/* Bounds besides those that are known, from the narrowest interval to the whole. */
static void choose(const struct work *w, struct levels *l, double least_z)
{
	const struct assay_change_points *s = w->s;

	for (size_t i = 0; i < N_LAYERS && 2 * s->layers[i].half < s->n; i++) {
		size_t half = s->layers[i].half;

		for (size_t k = 0; k < s->layers[i].n; k++)
			take(l, k * half, 2 * half, s->layers[i].splits[k], least_z);
		take(l, s->n - 2 * half, 2 * half, w->ends[i], least_z);
	}
	take(l, 0, s->n, w->whole, least_z);
}

/* The points of each level, by value, in the place of the level. */
static void fill_levels(struct work *w, const struct levels *l)
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

/* Bounds inside of levels, as long as there are any. */
static void divide(struct work *w, struct levels *l, double least_z)
{
	size_t known;

	do {
		known = l->n;
		fill_levels(w, l);
		for (size_t k = l->n; k-- > 0;) {
			size_t from = l->bound[k], n = l->bound[k + 1] - from;

			if (n >= 2 * w->s->least_run)
				take(l, from, n, best_split(w, w->cells + from, from, n), least_z);
		}
	} while (l->n > known);
}

/* Squared differences of points @lag apart on the same level, on average. */
static double mean_square(const double *x, const struct levels *l, size_t from, size_t lag)
{
	double sum = 0;
	size_t n = 0;

	for (size_t k = level_of(l, from); k < l->n; k++)
		for (size_t i = (l->bound[k] > from ? l->bound[k] : from) + lag; i < l->bound[k + 1]; i++, n++)
			sum += (x[i] - x[i - lag]) * (x[i] - x[i - lag]);
	return n ? sum / (double)n : 0;
}

/*
 * By how much z of a series whose neighbours have something in common exceeds that of one in random order: the root of
 * 1 + 2 * the sum of its autocorrelations of late on the levels that are known.
 */
static double inflation(struct work *w, const struct levels *l)
{
	size_t n = w->s->n, from = n > OF_LATE ? n - OF_LATE : 0, lags = (n - from) / POINTS_PER_LAG;
	double apart, sum = 1;

	lags = lags < 1 ? 1 : lags > MOST_LAGS ? MOST_LAGS : lags;
	for (size_t k = level_of(l, from); k < l->n; k++) {
		fill_scores(w, l->bound[k + 1] - l->bound[k]);
		for (size_t i = l->bound[k]; i < l->bound[k + 1]; i++)
			w->in_time[w->cells[i]] = w->scores[i - l->bound[k]];
	}
	apart = mean_square(w->in_time, l, from, lags + 1);
	for (size_t k = 1; k <= lags && apart > 0; k++)
		sum += 2 * (1 - mean_square(w->in_time, l, from, k) / apart);
	return sqrt(fmax(sum, 1));
}

/*
 * Where both levels are nearest to their points, in absolute distance from the medians. Ranks find a step, but a short
 * level takes the highest points of a long one with it.
 */
static size_t nearest(const struct work *w, size_t from, size_t at, size_t to)
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
static void part(struct work *w, const uint32_t *list, size_t from, size_t at, size_t to)
{
	size_t low = from, high = at;

	for (size_t k = 0; k < to - from; k++)
		if (list[k] < at)
			w->cells[low++] = list[k];
		else
			w->cells[high++] = list[k];
}

/* Move bound @i to the best place between its neighbours. Was it elsewhere? */
static bool settle(struct work *w, struct levels *l, size_t i)
{
	size_t from = l->bound[i - 1], at = l->bound[i], to = l->bound[i + 1];
	struct assay_change_split best;

	merge(w, w->cells + from, at - from, w->cells + at, to - at, w->list);
	best = best_split(w, w->list, from, to - from);
	part(w, w->list, from, best.at, to);
	l->z[i] = best.z;
	l->bound[i] = nearest(w, from, best.at, to);
	part(w, w->list, from, l->bound[i], to);
	return l->bound[i] != at;
}

static double level_median(struct work *w, const struct levels *l, size_t level, struct assay_interval *ci)
{
	size_t n = l->bound[level + 1] - l->bound[level];

	for (size_t i = 0; i < n; i++)
		w->in_time[i] = w->s->x[w->cells[l->bound[level] + i]];
	*ci = assay_stats_median_ci(w->in_time, n, 0.95, NULL);
	return assay_stats_median(w->in_time, n);
}

static struct assay_change change_at(struct work *w, const struct levels *l, size_t i, double inflated)
{
	struct assay_interval old, new;
	double before = level_median(w, l, i - 1, &old), after = level_median(w, l, i, &new);
	double down = inflated * hypot(log(after / new.lo), log(old.hi / before));
	double up = inflated * hypot(log(new.hi / after), log(before / old.lo));
	double ratio = after / before;

	return (struct assay_change){ .from = l->bound[i - 1],
				      .at = l->bound[i],
				      .to = l->bound[i + 1],
				      .ratio = ratio,
				      .ci = { ratio * exp(-down), ratio * exp(up) },
				      .p = tail_of_all(w->s, l->z[i] / inflated) };
}

/* The bound that is least of a change, or 0. */
static size_t weakest(struct work *w, const struct levels *l, double least_z, double least_frac)
{
	size_t found = 0;

	for (size_t i = 1; i < l->n; i++)
		if (l->z[i] < least_z && (!found || l->z[i] < l->z[found]))
			found = i;
	for (size_t i = 1; i < l->n && !found; i++) {
		struct assay_interval unused;
		double change = log(level_median(w, l, i, &unused) / level_median(w, l, i - 1, &unused));

		if (fabs(change) < log1p(least_frac))
			found = i;
	}
	return found;
}

/* Bounds move to their best places, and go one by one where they are no changes there. */
static void settle_all(struct work *w, struct levels *l, double least_z, double least_frac)
{
	size_t drop;

	do {
		bool moved = true;

		for (unsigned round = 0; round < SETTLING_ROUNDS && moved; round++) {
			moved = false;
			for (size_t i = 1; i < l->n; i++)
				moved |= settle(w, l, i);
		}
		drop = weakest(w, l, least_z, least_frac);
		if (drop) {
			memmove(&l->bound[drop], &l->bound[drop + 1], (l->n - drop) * sizeof(*l->bound));
			l->n--;
			fill_levels(w, l);
		}
	} while (drop);
}

/* The least z of a change in a series of which @inflated says what neighbours share. */
static double least_z(const struct assay_change_points *s, double alpha, double inflated)
{
	double lo = 2, hi = 40;

	for (unsigned i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (tail_of_all(s, mid) <= alpha)
			hi = mid;
		else
			lo = mid;
	}
	return hi * inflated;
}

/*
 * Changes that are not known look like something that neighbours have in common. So those that stand out nevertheless
 * are taken out first.
 */
static double find_levels(struct work *w, struct levels *l, double alpha, double least_frac)
{
	double inflated;
	size_t known;

	fill_levels(w, l);
	do {
		double least;

		known = l->n;
		inflated = inflation(w, l);
		least = least_z(w->s, alpha, inflated);
		choose(w, l, least);
		divide(w, l, least);
		settle_all(w, l, least, least_frac);
	} while (l->n > known);
	return inflated;
}

static int find(struct work *w, struct levels *l, const struct assay_change_rule *rule, struct assay_change **out,
		size_t *n)
{
	double alpha = rule->alpha > 0 ? rule->alpha : ASSAY_CHANGE_POINTS_ALPHA, inflated;
	double least = rule->least_frac != 0 ? fmax(rule->least_frac, 0) : ASSAY_CHANGE_POINTS_LEAST_FRAC;
	int rc = rank_points(w->s);

	if (!rc)
		rc = complete_layers(w);
	if (rc)
		return rc;
	split_ends(w);
	inflated = find_levels(w, l, alpha, least);
	*out = calloc(l->n, sizeof(**out));
	if (!*out)
		return ASSAY_ENOMEM;
	for (size_t i = 1; i < l->n; i++)
		(*out)[(*n)++] = change_at(w, l, i, inflated);
	return 0;
}

int assay_change_points_find(struct assay_change_points *s, const struct assay_change_rule *rule,
			     struct assay_change **out, size_t *n)
{
	struct work w = { .s = s };
	struct levels l = { .n = 1 };
	size_t most = s->n / s->least_run + 2;
	int rc = ASSAY_ENOMEM;

	*out = NULL;
	*n = 0;
	if (s->n < 2 * s->least_run)
		return 0;
	w.list = malloc(s->n * sizeof(*w.list));
	w.cells = malloc(s->n * sizeof(*w.cells));
	w.kept = malloc(s->n * sizeof(*w.kept));
	w.scores = malloc(s->n * sizeof(*w.scores));
	w.in_time = malloc(s->n * sizeof(*w.in_time));
	l.bound = calloc(most, sizeof(*l.bound));
	l.z = calloc(most, sizeof(*l.z));
	if (w.list && w.cells && w.kept && w.scores && w.in_time && l.bound && l.z) {
		l.bound[1] = s->n;
		rc = find(&w, &l, rule, out, n);
	}
	free(w.list);
	free(w.cells);
	free(w.kept);
	free(w.scores);
	free(w.in_time);
	free(l.bound);
	free(l.z);
	return rc;
}

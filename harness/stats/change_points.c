/* SPDX-License-Identifier: Apache-2.0 */
/* A growing series, what counts as a change of its level, and the changes. */
#include "stats/change_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "stats/change_split.h"
#include "stats/stats.h"

/* Autocorrelations that are estimated: more see longer states of a machine, and take a change for one. */
#define MOST_LAGS      5
#define POINTS_PER_LAG 20
/* Levels that come back: a regression and its fix bring back one. */
#define MOST_RETURNS 2
/* Of so many points at the end. */
#define OF_LATE 2000

/* No level is shorter. */
static size_t level_length(size_t least_run)
{
	return !least_run ? ASSAY_CHANGE_POINTS_LEAST_RUN : least_run < 3 ? 3 : least_run;
}

size_t assay_change_points_least(size_t least_run)
{
	return 2 * level_length(least_run);
}

void assay_change_points_init(struct assay_change_points *s, size_t least_run)
{
	size_t half;

	*s = (struct assay_change_points){ .inflated = 1 };
	s->least_run = level_length(least_run);
	half = s->least_run;
	for (size_t i = 0; i < ASSAY_CHANGE_LAYERS; i++) {
		s->layers[i].half = half;
		half = (size_t)ceil((double)half * M_SQRT2);
	}
}

void assay_change_points_release(struct assay_change_points *s)
{
	for (size_t i = 0; i < ASSAY_CHANGE_LAYERS; i++)
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

/* The chance that points in random order are split so by any of the splits: exact for one, and a bound for two. */
static double tail_of_few(const struct assay_change_points *s)
{
	const double n = (double)s->n, m = (double)s->least_run;

	return (n - 2 * m + 1) * 2 * exp(lgamma(m + 1) + lgamma(n - m + 1) - lgamma(n + 1));
}

/* That any interval has it; the sum over all, which they share with each other (Bonferroni). */
static double tail_of_all(const struct assay_change_points *s, double z)
{
	double p;

	if (z < 2)
		return 1;
	p = tail(z, s->n, s->least_run);
	for (size_t i = 0; i < ASSAY_CHANGE_LAYERS && 2 * s->layers[i].half < s->n; i++)
		p += (double)s->layers[i].n * tail(z, 2 * s->layers[i].half, s->least_run);
	if (s->clear_z > 0 && z > s->clear_z * (1 - 1e-6))
		p = fmin(p, tail_of_few(s));
	return fmin(p, 1);
}

/* Squared differences of points @lag apart on the same level, on average. */
static double mean_square(const double *x, const struct assay_change_levels *l, size_t from, size_t lag)
{
	double sum = 0;
	size_t n = 0;

	for (size_t k = assay_change_level_of(l, from); k < l->n; k++)
		for (size_t i = (l->bound[k] > from ? l->bound[k] : from) + lag; i < l->bound[k + 1]; i++, n++)
			sum += (x[i] - x[i - lag]) * (x[i] - x[i - lag]);
	return n ? sum / (double)n : 0;
}

/*
 * By how much z of a series whose neighbours have something in common exceeds that of one in random order: the root of
 * 1 + 2 * the sum of its autocorrelations of late on the levels that are known.
 */
static double inflation(struct assay_change_work *w, const struct assay_change_levels *l)
{
	size_t n = w->s->n, from = n > OF_LATE ? n - OF_LATE : 0, lags = (n - from) / POINTS_PER_LAG;
	double apart, sum = 1;

	if (n < POINTS_PER_LAG) /* too few to estimate any: chance alone would hide a step of five after five */
		return 1;
	lags = lags < 1 ? 1 : lags > MOST_LAGS ? MOST_LAGS : lags;
	for (size_t k = assay_change_level_of(l, from); k < l->n; k++) {
		assay_change_scores(w, l->bound[k + 1] - l->bound[k]);
		for (size_t i = l->bound[k]; i < l->bound[k + 1]; i++)
			w->in_time[w->cells[i]] = w->scores[i - l->bound[k]];
	}
	apart = mean_square(w->in_time, l, from, lags + 1);
	for (size_t k = 1; k <= lags && apart > 0; k++)
		sum += 2 * (1 - mean_square(w->in_time, l, from, k) / apart);
	/*
	 * less half of their standard error in a random order, else chance would raise the threshold of every other
	 * series
	 */
	return sqrt(fmax(sum - sqrt((double)lags / (double)(n - from)), 1));
}

static struct assay_change change_at(struct assay_change_work *w, const struct assay_change_levels *l, size_t i,
				     double inflated)
{
	struct assay_interval old, new;
	double before = assay_change_level_median(w, l, i - 1, &old), after = assay_change_level_median(w, l, i, &new);
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

/* Bounds that show a change of at least @least, beside those that are known. */
static void add_levels(struct assay_change_work *w, struct assay_change_levels *l, double least)
{
	assay_change_choose(w, l, least);
	assay_change_divide(w, l, least);
	assay_change_settle(w, l, least);
}

/* Do levels come back more often than a fix brings one back? Then they are states of the machine. */
static bool take_turns(struct assay_change_work *w, const struct assay_change_levels *l)
{
	unsigned returns = 0;

	for (size_t i = 2; i < l->n; i++) {
		struct assay_interval unused;
		double before = log(assay_change_level_median(w, l, i - 2, &unused));
		double between = log(assay_change_level_median(w, l, i - 1, &unused));
		double after = log(assay_change_level_median(w, l, i, &unused));

		returns += fabs(after - before) < fabs(after - between) / 2;
	}
	return returns > MOST_RETURNS;
}

/*
 * A change that is not known looks like something that neighbours have in common, and what they have in common looks
 * like changes. So the search begins with all levels that a series in random order would not show, and those go that
 * do not stand out of what neighbours share on them. Where levels take turns it begins with none.
 */
static double find_levels(struct assay_change_work *w, struct assay_change_levels *l, double alpha)
{
	double inflated;
	size_t known;

	assay_change_levels_fill(w, l);
	add_levels(w, l, least_z(w->s, alpha, 1));
	w->s->takes_turns = take_turns(w, l);
	if (w->s->takes_turns) {
		l->n = 1;
		l->bound[1] = w->s->n;
		assay_change_levels_fill(w, l);
	}
	do {
		known = l->n;
		inflated = inflation(w, l);
		assay_change_settle(w, l, least_z(w->s, alpha, inflated));
	} while (l->n < known);
	do {
		known = l->n;
		inflated = inflation(w, l);
		add_levels(w, l, least_z(w->s, alpha, inflated));
	} while (l->n > known);
	return inflated;
}

/* The z of a level of @m points at an end of @n, none of which reaches into the others. */
static double clearest(struct assay_change_work *w, size_t n, size_t m)
{
	double sum = 0, squares = 0;

	assay_change_scores(w, n);
	for (size_t i = 0; i < n; i++)
		squares += w->scores[i] * w->scores[i];
	for (size_t i = 0; i < m; i++)
		sum += w->scores[n - 1 - i];
	return assay_change_normal(sum * sum / ((double)m * (double)(n - m)) * (double)n / squares, n);
}

size_t assay_change_points_shortest(const struct assay_change_points *s, double alpha)
{
	struct assay_change_work w = { .s = NULL };
	size_t found = 0;
	double least;

	if (s->n < 2 * s->least_run || !(w.scores = malloc(s->n * sizeof(*w.scores))))
		return 0;
	least = least_z(s, alpha > 0 ? alpha : ASSAY_CHANGE_POINTS_ALPHA, s->inflated);
	for (size_t m = s->least_run; m <= s->n / 2 && !found; m++)
		if (clearest(&w, s->n, m) >= least)
			found = m;
	free(w.scores);
	return found;
}

static int find(struct assay_change_work *w, struct assay_change_levels *l, const struct assay_change_rule *rule,
		struct assay_change **out, size_t *n)
{
	double alpha = rule->alpha > 0 ? rule->alpha : ASSAY_CHANGE_POINTS_ALPHA, inflated;
	double least = rule->least_frac != 0 ? fmax(rule->least_frac, 0) : ASSAY_CHANGE_POINTS_LEAST_FRAC;
	int rc = assay_change_rank(w->s);

	if (!rc)
		rc = assay_change_complete(w);
	if (rc)
		return rc;
	w->s->clear_z = w->s->n <= 2 * w->s->least_run + 1 ? clearest(w, w->s->n, w->s->least_run) : 0;
	inflated = w->s->inflated = find_levels(w, l, alpha);
	*out = calloc(l->n, sizeof(**out));
	if (!*out)
		return ASSAY_ENOMEM;
	for (size_t i = 1; i < l->n; i++) {
		struct assay_change c = change_at(w, l, i, inflated);

		if (fabs(log(c.ratio)) >= log1p(least))
			(*out)[(*n)++] = c;
	}
	return 0;
}

int assay_change_points_find(struct assay_change_points *s, const struct assay_change_rule *rule,
			     struct assay_change **out, size_t *n)
{
	struct assay_change_work w = { .s = s };
	struct assay_change_levels l = { .n = 1 };
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Points by value, the best split of an interval by their ranks, and the grid of intervals that a series keeps. */
#include "stats/change_split.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/err.h"

/* Equal values stand in an order drawn from this stream: ties in order of time would look like a trend. */
#define TIES_SEED 0

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

int assay_change_rank(struct assay_change_points *s)
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

/* Abramowitz and Stegun 1964, 26.2.23, which is within 0.0005. */
void assay_change_scores(struct assay_change_work *w, size_t n)
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

/* Student's t of n - 2 degrees of freedom (Pitman 1937), as Wallace approximates it (1959). */
double assay_change_normal(double r2, size_t n)
{
	double df = (double)(n - 2);

	return (8 * df + 1) / (8 * df + 3) * sqrt(-df * log1p(-r2));
}

struct assay_change_split assay_change_best_split(struct assay_change_work *w, const uint32_t *list, size_t start,
						  size_t n)
{
	size_t least = w->s->least_run, best = 0;
	double sum = 0, squares = 0, most = 0;

	assay_change_scores(w, n);
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
	return (struct assay_change_split){ (uint32_t)(start + best),
					    (float)assay_change_normal(most * (double)n / squares, n) };
}

void assay_change_merge(const struct assay_change_work *w, const uint32_t *a, size_t n, const uint32_t *b, size_t m,
			uint32_t *out)
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

/* ---- the grid ---- */

/* The points of @cells from cell @first on, cell by cell, each by value. */
static void fill_cells(struct assay_change_work *w, size_t half, size_t first, size_t n_cells, uint32_t *used)
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
static int complete_layer(struct assay_change_work *w, struct assay_change_layer *l)
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

		assay_change_merge(w, cell, l->half, cell + l->half, l->half, w->list);
		v[l->n] = assay_change_best_split(w, w->list, l->n * l->half, 2 * l->half);
	}
	return 0;
}

int assay_change_complete(struct assay_change_work *w)
{
	int rc = 0;

	for (size_t i = 0; i < ASSAY_CHANGE_LAYERS && !rc && 2 * w->s->layers[i].half <= w->s->n; i++)
		rc = complete_layer(w, &w->s->layers[i]);
	return rc;
}

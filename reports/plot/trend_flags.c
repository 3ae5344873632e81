/* SPDX-License-Identifier: Apache-2.0 */
/* Flags over a trend: levels and their changes, releases and baselines, in rows of words that do not overlap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "reports/plot/trend.h"

#define CHAR_WIDTH 6.6 /* pixels of a small letter, about */
#define PLOT_LEFT  112
#define PLOT_WIDTH (ASSAY_PLOT_WIDTH - 162)
#define MAX_ROWS   8
/* Lines that change by so much more than others are told apart. */
#define RANGE_PERCENT 1

/* In the order of common.gp: how it is drawn. */
enum flag_kind { FLAG_SLOWER = 1, FLAG_FASTER, FLAG_MACHINE, FLAG_RELEASE, FLAG_BASELINE };

struct flag {
	double x;
	enum flag_kind kind;
	char text[ASSAY_NAME_MAX + 32];
	size_t row; /* from 1; 0: there is no room for its words */
	/* of a change: the commit, and the least and the most that lines changed there */
	char commit[12];
	size_t n_lines;
	double least, most;
};

struct flags {
	struct flag *v;
	size_t n, rows;
	bool failed;
};

static void add_flag(struct flags *f, const struct flag *flag)
{
	if (assay_grow(&f->v, f->n, sizeof(*f->v)))
		f->failed = true;
	else
		f->v[f->n++] = *flag;
}

/* Changes of several lines at one commit are one flag. */
static void add_change(struct flags *f, const struct flag *c)
{
	for (size_t i = 0; i < f->n; i++) {
		struct flag *o = &f->v[i];

		if (o->kind != c->kind || !c->commit[0] || strcmp(o->commit, c->commit))
			continue;
		o->x = fmin(o->x, c->x);
		o->least = fmin(o->least, c->least);
		o->most = fmax(o->most, c->most);
		o->n_lines++;
		return;
	}
	add_flag(f, c);
}

/* "+4.4 % dae21a5b", "+2.0 to +4.6 % dae21a5b (2/3)": the numbers of lines where not all of them did it. */
static void word_change(struct flag *f, size_t n_lines)
{
	char more[24] = "", of[48] = "";
	double first = f->least;

	if (100 * (f->most - f->least) >= RANGE_PERCENT)
		snprintf(more, sizeof(more), " to %+.1f", 100 * (f->most - 1));
	else
		first = sqrt(f->least * f->most);
	if (f->n_lines < n_lines)
		snprintf(of, sizeof(of), " (%zu/%zu)", f->n_lines, n_lines);
	snprintf(f->text, sizeof(f->text), "%+.1f%s %% %s%s%s", 100 * (first - 1), more, f->commit,
		 f->kind == FLAG_MACHINE ? " (machine)" : "", of);
}

/* The place of the point @p of a line; NaN: it has none. */
static double place_of(const struct assay_trend_dots *d, const struct assay_trend_point *p)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].run == p)
			return d->v[i].x;
	return NAN;
}

static void add_changes(const struct assay_plot_trend *s, const struct assay_trend_dots *d, struct flags *f)
{
	for (size_t i = 0; i < s->n_lines; i++) {
		const struct assay_trend_line *l = &s->lines[i];

		for (size_t k = 0; k < l->n_changes; k++) {
			const struct assay_trend_change *c = &l->changes[k];
			const struct assay_trend_point *p = &l->points[c->at];
			bool dirty;
			const char *hash = assay_trend_commit(p, &dirty);
			double x = place_of(d, p), before = place_of(d, &l->points[c->at - 1]);
			struct flag flag = { .kind = c->of_machine  ? FLAG_MACHINE
						     : c->ratio > 1 ? FLAG_SLOWER
								    : FLAG_FASTER,
					     .n_lines = 1,
					     .least = c->ratio,
					     .most = c->ratio };

			assay_plot_commit(hash, dirty, "", flag.commit);
			/* by commit between the two runs, by date where the first slower one started */
			flag.x = s->by_date || !isfinite(before) ? x : x - 0.5;
			if (isfinite(x))
				add_change(f, &flag);
		}
	}
	for (size_t i = 0; i < f->n; i++)
		word_change(&f->v[i], s->n_lines);
}

/* A release stands at the first run of its commit, a baseline at its newest run. */
static void add_marks(const struct assay_plot_trend *s, const struct assay_trend_dots *d, struct flags *f)
{
	for (size_t k = 0; k < s->n_marks; k++) {
		const struct assay_trend_mark *m = &s->marks[k];

		for (size_t i = 0; i < d->n; i++) {
			const struct assay_trend_dot *p = &d->v[i];
			bool dirty;

			if (m->commit[0] ? !strcmp(assay_trend_commit(p->run, &dirty), m->commit)
					 : p->run->run_id == m->run_id) {
				struct flag flag = { .x = p->x, .kind = m->commit[0] ? FLAG_RELEASE : FLAG_BASELINE };

				snprintf(flag.text, sizeof(flag.text), "%s", m->name);
				add_flag(f, &flag);
				break;
			}
		}
	}
}

static int by_place(const void *a, const void *b)
{
	const struct flag *x = a, *y = b;

	return x->x != y->x ? (x->x > y->x ? 1 : -1) : (int)x->kind - (int)y->kind;
}

/*
 * The lowest row in which the words have room, to the right of their line, or where that ends to its left. From right
 * to left, so that lines go through the words of few others, which cover them.
 */
static void find_rows(const struct assay_trend_dots *d, struct flags *f)
{
	double free_to[MAX_ROWS + 1];

	for (size_t r = 0; r <= MAX_ROWS; r++)
		free_to[r] = INFINITY;
	for (size_t i = f->n; i-- > 0;) {
		double at = PLOT_LEFT + (f->v[i].x - d->x_lo) / (d->x_hi - d->x_lo) * PLOT_WIDTH;
		double width = CHAR_WIDTH * (double)assay_plot_chars(f->v[i].text) + 14;
		double from = at + width > ASSAY_PLOT_WIDTH ? at - width : at;

		for (size_t r = 1; r <= MAX_ROWS && !f->v[i].row; r++) {
			if (from + width > free_to[r])
				continue;
			f->v[i].row = r;
			free_to[r] = from;
			f->rows = r > f->rows ? r : f->rows;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the points between two changes, as a line from the first to the last of them. */
static void add_level(const struct assay_trend_line *l, const struct assay_trend_dots *d, size_t line, size_t from,
		      size_t to, double factor, struct assay_text *t)
{
	double *v = malloc((to - from + 1) * sizeof(*v)), first, last;
	size_t n = 0;

	if (!v) {
		t->failed = true;
		return;
	}
	for (size_t i = from; i < to; i++)
		if (isfinite(l->points[i].median_ns))
			v[n++] = l->points[i].median_ns * 1e-9;
	first = place_of(d, &l->points[from]);
	last = place_of(d, &l->points[to - 1]);
	if (n && isfinite(first) && isfinite(last)) {
		qsort(v, n, sizeof(*v), by_value);
		assay_text_addf(t, "%.10g %.10g %.9g %zu\n", first, last, (v[n / 2] + v[(n - 1) / 2]) / 2 / factor,
				line + 1);
	}
	free(v);
}

static void set_levels(const struct assay_plot_trend *s, const struct assay_trend_dots *d,
		       const struct assay_plot_unit *unit, struct assay_text *t)
{
	assay_text_add(t, "$levels << END\n");
	for (size_t i = 0; i < s->n_lines; i++) {
		const struct assay_trend_line *l = &s->lines[i];

		for (size_t k = 0; k < l->n_changes; k++) {
			if (!k)
				add_level(l, d, i, l->changes[k].from, l->changes[k].at, unit->factor, t);
			add_level(l, d, i, l->changes[k].at, l->changes[k].to, unit->factor, t);
		}
	}
	assay_text_add(t, "END\n");
}

unsigned assay_trend_flags(const struct assay_plot_trend *s, const struct assay_trend_dots *d,
			   const struct assay_plot_unit *unit, struct assay_text *t)
{
	struct assay_plot_array words = { 0 };
	struct flags f = { 0 };

	set_levels(s, d, unit, t);
	add_changes(s, d, &f);
	add_marks(s, d, &f);
	if (f.n)
		qsort(f.v, f.n, sizeof(*f.v), by_place);
	find_rows(d, &f);
	if (f.n) {
		assay_text_addf(t, "array FLAG[%zu]\narray FLAG_X[%zu]\narray FLAG_IN[%zu]\n", f.n, f.n, f.n);
		for (size_t i = 0; i < f.n; i++) {
			assay_text_addf(t, "FLAG[%zu] = %d; FLAG_X[%zu] = %.10g; FLAG_IN[%zu] = %zu\n", i + 1,
					f.v[i].kind, i + 1, f.v[i].x, i + 1, f.v[i].row);
			assay_plot_array_add(&words, f.v[i].text);
		}
	}
	assay_plot_array_set(t, "FLAG_WORD", &words);
	assay_text_addf(t, "FLAG_ROWS = %zu\n", f.rows);
	t->failed |= f.failed;
	free(f.v);
	return (unsigned)f.rows;
}

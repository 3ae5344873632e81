/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of a case on one machine, in order of time, those of a commit side by side; the levels of their times and
 * the changes between them; and releases and baselines.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/hash.h"
#include "reports/plot/parts.h"

#define PLOT_LEFT   112
#define PLOT_WIDTH  (ASSAY_PLOT_WIDTH - 162)
#define PLOT_HEIGHT 330
#define FLAG_HEIGHT 16
#define LINE_HEIGHT 20
#define LABEL_WIDTH 88 /* pixels of a label, with some air */
#define MOST_TICKS  8
#define MOST_ROWS   8   /* of words above the plot */
#define CHAR_WIDTH  6.6 /* pixels of a small letter, about */

/* One run, in the base unit; value, lo and hi are NaN where it has none. */
struct dot {
	double x, value, lo, hi;
	size_t order, group; /* by time; group: of the runs of a commit, in order of their first run */
	int64_t run_id;
	uint64_t started_ns;
	const char *commit; /* of the program */
	bool program_dirty;
	const struct assay_commit *plugin; /* of the plugins that the user named */
	bool missing;                      /* otherwise a run without a value failed */
};

struct trend {
	const struct assay_plot_trend *s;
	struct assay_plot_unit unit;
	struct dot *v; /* in the order of their places */
	size_t n, n_values;
};

/* ---- runs ---- */

/* An interval that is missing becomes the value itself. False where the run has nothing to show. */
static bool take(const struct assay_plot_trend *s, const struct assay_trend_point *p, struct dot *out)
{
	*out = (struct dot){ .value = s->metric ? p->value : p->median_ns * 1e-9,
			     .lo = s->metric ? NAN : p->ci95_lo_ns * 1e-9,
			     .hi = s->metric ? NAN : p->ci95_hi_ns * 1e-9,
			     .run_id = p->run_id,
			     .started_ns = p->started_ns,
			     .commit = p->commit,
			     .program_dirty = p->dirty,
			     .plugin = &p->plugin };
	if (!isfinite(out->value) || (!s->metric && out->value <= 0))
		return false;
	if (!(out->lo > 0 && out->lo <= out->value))
		out->lo = out->value;
	if (!(out->hi >= out->value) || !isfinite(out->hi))
		out->hi = out->value;
	return true;
}

static struct dot of_gap(const struct assay_trend_gap *g)
{
	return (struct dot){ .value = NAN,
			     .lo = NAN,
			     .hi = NAN,
			     .run_id = g->run_id,
			     .started_ns = g->started_ns,
			     .commit = g->commit,
			     .program_dirty = g->dirty,
			     .plugin = &g->plugin,
			     .missing = g->missing || g->status == ASSAY_STATUS_SKIPPED };
}

static int by_time(const void *a, const void *b)
{
	const struct dot *x = a, *y = b;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

static int by_place(const void *a, const void *b)
{
	const struct dot *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static const char *commit_of(const struct dot *d)
{
	return assay_commit_is_own(d->plugin) ? d->plugin->hash : d->commit;
}

static bool is_dirty(const struct dot *d)
{
	return assay_commit_is_own(d->plugin) ? d->plugin->dirty : d->program_dirty;
}

/* Runs without a commit are groups of their own. */
static int place_runs(struct trend *d, struct assay_err *err)
{
	struct assay_name_index names = { 0 };
	size_t n = 0;
	int rc = 0;

	qsort(d->v, d->n, sizeof(*d->v), by_time);
	for (size_t i = 0; i < d->n && !rc; i++) {
		const char *commit = commit_of(&d->v[i]);
		char name[96];

		if (commit[0])
			snprintf(name, sizeof(name), "%.64s", commit);
		else
			snprintf(name, sizeof(name), "run %lld", (long long)d->v[i].run_id);
		rc = assay_name_index_put(&names, name, n, &d->v[i].group, NULL, err);
		n += !rc && d->v[i].group == n;
		d->v[i].order = i;
	}
	assay_name_index_release(&names);
	qsort(d->v, d->n, sizeof(*d->v), by_place);
	for (size_t i = 0; i < d->n; i++)
		d->v[i].x = (double)i + 1;
	return rc;
}

/* All runs, with a number or without. */
static int gather(struct trend *d, struct assay_err *err)
{
	const struct assay_plot_trend *s = d->s;
	const struct assay_trend_line *l = &s->line;

	d->v = calloc(l->n_points + l->n_gaps + 1, sizeof(*d->v));
	if (!d->v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the runs of '%s'", s->key);
	for (size_t k = 0; k < l->n_points; k++)
		d->n_values += take(s, &l->points[k], &d->v[d->n_values]);
	d->n = d->n_values;
	for (size_t k = 0; k < l->n_gaps; k++)
		d->v[d->n++] = of_gap(&l->gaps[k]);
	if (!d->n_values)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no stored run of '%s' has a %s, measure it with 'assay run' first", s->key,
				     s->metric ? s->metric : "time");
	if (d->n_values < 2)
		return assay_err_set(
			err, ASSAY_ENOTFOUND,
			"only one run of '%s' is stored, and a trend needs at least two: measure it again with "
			"'assay run'",
			s->key);
	return place_runs(d, err);
}

/*
 * The band the values take, a little wider. At least 5 %, so that pure noise does not look like a cliff; where all are
 * 0, one unit.
 */
static void find_range(const struct trend *d, double *lo, double *hi)
{
	double mid, half;

	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < d->n; i++) {
		*lo = fmin(*lo, d->v[i].lo);
		*hi = fmax(*hi, d->v[i].hi);
	}
	mid = (*lo + *hi) / 2;
	half = fmax((*hi - *lo) / 2 * 1.15, 0.025 * fabs(mid));
	if (half == 0)
		half = 1;
	*lo = d->s->metric ? mid - half : fmax(mid - half, 0);
	*hi = mid + half;
}

/* Where a run failed or is missing, blank lines end the line. */
static void set_runs(struct assay_text *t, const struct trend *d)
{
	assay_text_add(t, "$runs << END\n");
	for (size_t k = 0; k < d->n; k++) {
		const struct dot *p = &d->v[k];

		if (isnan(p->value))
			assay_text_addf(t, "\n%g NaN NaN NaN %d\n\n", p->x, p->missing ? 3 : 2);
		else
			assay_text_addf(t, "%g %.9g %.9g %.9g %d\n", p->x, p->value / d->unit.factor,
					p->lo / d->unit.factor, p->hi / d->unit.factor, is_dirty(p));
	}
	assay_text_add(t, "END\n");
	assay_plot_set_number(t, "POINT", d->n > 150 ? 0.35 : d->n > 60 ? 0.5 : d->n > 25 ? 0.65 : 0.8);
	assay_plot_set_number(t, "BAR", d->n > 150 ? 1 : d->n > 60 ? 1.5 : d->n > 25 ? 2.5 : 3.5);
}

static void describe(const struct trend *d, char *buf, size_t size)
{
	const char *machine = d->s->machine ? d->s->machine : "";
	char more[64] = "";

	if (d->n > d->n_values)
		snprintf(more, sizeof(more), ", %zu more without a number", d->n - d->n_values);
	snprintf(buf, size, "%.128s%s%zu runs%s", machine, machine[0] ? ". " : "", d->n_values, more);
}

/* Marks beside that of the runs, as the program of the plot knows them. */
enum key_kind { KEY_RUN = 1, KEY_INTERVAL = 11, KEY_LEVEL, KEY_DIRTY, KEY_FAILED, KEY_MISSING };

/* Explains the marks that this history has. Returns the height of the legend. */
static unsigned set_legend(struct assay_text *t, const struct trend *d)
{
	struct assay_plot_legend legend = { .left = 122 };
	bool dirty = false, failed = false, missing = false;

	for (size_t i = 0; i < d->n; i++) {
		failed |= isnan(d->v[i].value) && !d->v[i].missing;
		missing |= d->v[i].missing;
		dirty |= is_dirty(&d->v[i]) && !isnan(d->v[i].value);
	}
	assay_plot_legend_add(&legend, d->s->metric ? "value" : "median", KEY_RUN);
	if (!d->s->metric)
		assay_plot_legend_add(&legend, "95 % interval", KEY_INTERVAL);
	if (d->s->line.n_changes)
		assay_plot_legend_add(&legend, "level", KEY_LEVEL);
	if (dirty)
		assay_plot_legend_add(&legend, "uncommitted", KEY_DIRTY);
	if (failed)
		assay_plot_legend_add(&legend, "failed", KEY_FAILED);
	if (missing)
		assay_plot_legend_add(&legend, "not measured", KEY_MISSING);
	assay_text_addf(t, "INTERVALS = %d\n", !d->s->metric);
	return assay_plot_set_legend(t, &legend);
}

/* ---- labels below the axis ---- */

/* Commit, date and time (UTC) of a group whose newest run is @d. */
static void add_label(struct assay_plot_array *a, const struct dot *d, size_t n, bool plugins)
{
	char plugin[12], commit[12], date[32] = "", last[32] = "";
	time_t when = (time_t)(d->started_ns / 1000000000u);
	struct tm tm;

	assay_plot_commit(d->plugin->hash, d->plugin->dirty, "-", plugin);
	assay_plot_commit(d->commit, d->program_dirty, "run", commit);
	if (gmtime_r(&when, &tm)) {
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		strftime(last, sizeof(last), "%H:%M", &tm);
	}
	if (n > 1)
		snprintf(last, sizeof(last), "%zu runs", n);
	if (plugins)
		assay_plot_array_add(a, plugin);
	assay_plot_array_add(a, commit);
	assay_plot_array_add(a, date);
	assay_plot_array_add(a, last);
}

/* Of every commit, or from the newest back of those that leave room for their labels. Returns the height they take. */
static unsigned set_labels(const struct trend *d, struct assay_text *t)
{
	const double pixels = (double)PLOT_WIDTH / (double)d->n;
	struct assay_plot_array words = { 0 };
	struct assay_text at = { 0 };
	bool plugins = false, dirty = false, single = false, several = false;
	double free_to = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		plugins |= d->v[i].plugin->hash[0] != '\0';
		dirty |= d->v[i].program_dirty || d->v[i].plugin->dirty;
	}
	for (size_t last = d->n, first; last > 0; last = first) {
		const struct dot *newest = &d->v[last - 1];
		double centre;

		for (first = last; first > 0 && d->v[first - 1].group == newest->group;)
			first--;
		centre = (d->v[first].x + newest->x) / 2;
		if ((free_to - centre) * pixels < LABEL_WIDTH)
			continue;
		assay_text_addf(&at, "%s%.10g", n++ ? ", " : "", centre);
		add_label(&words, newest, last - first, plugins);
		several |= last - first > 1;
		single |= last - first == 1;
		free_to = centre;
	}
	assay_text_addf(t, "N_PLACES = %zu\narray PLACE[%zu] = [%s]\nLABEL_LINES = %d\n", n, n, at.s ? at.s : "",
			plugins ? 4 : 3);
	t->failed |= at.failed;
	assay_text_release(&at);
	assay_plot_array_set(t, "WORD", &words);
	assay_text_addf(t, "XLABEL = 'commit%s%s, date, %s'\n", plugins ? " of the plugins, of assay" : "",
			dirty ? " (+ with uncommitted changes)" : "",
			!several ? "time (UTC)"
			: single ? "time (UTC) or number of runs"
				 : "number of runs");
	return 104 + (plugins ? LINE_HEIGHT : 0);
}

/* ---- flags ---- */

/* In the order of trend.gp: how it is drawn. */
enum flag_kind { FLAG_SLOWER = 1, FLAG_FASTER, FLAG_MACHINE, FLAG_RELEASE, FLAG_BASELINE };

struct flag {
	double x;
	enum flag_kind kind;
	char text[ASSAY_NAME_MAX + 32];
	size_t row; /* from 1; 0: there is no room for its words */
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

/* The place of the point @p; NaN: it has none. */
static double place_of(const struct trend *d, const struct assay_trend_point *p)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].run_id == p->run_id && d->v[i].started_ns == p->started_ns && !isnan(d->v[i].value))
			return d->v[i].x;
	return NAN;
}

/* "+4.4 % dae21a5b", between the two runs. */
static void add_changes(const struct trend *d, struct flags *f)
{
	const struct assay_trend_line *l = &d->s->line;

	for (size_t k = 0; k < l->n_changes; k++) {
		const struct assay_trend_change *c = &l->changes[k];
		struct flag flag = { .kind = c->of_machine  ? FLAG_MACHINE
					     : c->ratio > 1 ? FLAG_SLOWER
							    : FLAG_FASTER,
				     .x = place_of(d, &l->points[c->at]) };
		char commit[12];
		bool dirty;
		const char *hash = assay_trend_commit(&l->points[c->at], &dirty);

		assay_plot_commit(hash, dirty, "", commit);
		snprintf(flag.text, sizeof(flag.text), "%+.1f %% %s%s", 100 * (c->ratio - 1), commit,
			 c->of_machine ? " (machine)" : "");
		if (isfinite(place_of(d, &l->points[c->at - 1])))
			flag.x -= 0.5;
		if (isfinite(flag.x))
			add_flag(f, &flag);
	}
}

/* A release stands at the first run of its commit, a baseline at its newest run. */
static void add_marks(const struct trend *d, struct flags *f)
{
	for (size_t k = 0; k < d->s->n_marks; k++) {
		const struct assay_trend_mark *m = &d->s->marks[k];
		struct flag flag = { .kind = m->commit[0] ? FLAG_RELEASE : FLAG_BASELINE };
		size_t i = 0;

		while (i < d->n &&
		       (m->commit[0] ? strcmp(commit_of(&d->v[i]), m->commit) != 0 : d->v[i].run_id != m->run_id))
			i++;
		if (i == d->n)
			continue;
		flag.x = d->v[i].x;
		snprintf(flag.text, sizeof(flag.text), "%s", m->name);
		add_flag(f, &flag);
	}
}

static int by_flag_place(const void *a, const void *b)
{
	const struct flag *x = a, *y = b;

	return x->x != y->x ? (x->x > y->x ? 1 : -1) : (int)x->kind - (int)y->kind;
}

/*
 * The lowest row in which the words have room, to the right of their line, or where that ends to its left. From right
 * to left, so that lines go through the words of few others, which cover them.
 */
static void find_rows(const struct trend *d, struct flags *f)
{
	double free_to[MOST_ROWS + 1];

	for (size_t r = 0; r <= MOST_ROWS; r++)
		free_to[r] = INFINITY;
	for (size_t i = f->n; i-- > 0;) {
		double at = PLOT_LEFT + (f->v[i].x - 0.5) / (double)d->n * PLOT_WIDTH;
		double width = CHAR_WIDTH * (double)assay_plot_chars(f->v[i].text) + 14;
		double from = at + width > ASSAY_PLOT_WIDTH ? at - width : at;

		for (size_t r = 1; r <= MOST_ROWS && !f->v[i].row; r++) {
			if (from + width > free_to[r])
				continue;
			f->v[i].row = r;
			free_to[r] = from;
			f->rows = r > f->rows ? r : f->rows;
		}
	}
}

/* Changes, releases and baselines; returns how many rows of words stand above the plot. */
static unsigned set_flags(const struct trend *d, struct assay_text *t)
{
	struct assay_plot_array words = { 0 };
	struct flags f = { 0 };

	add_changes(d, &f);
	add_marks(d, &f);
	if (f.n)
		qsort(f.v, f.n, sizeof(*f.v), by_flag_place);
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

/* ---- levels ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the points between two changes, as a line from the first to the last of them. */
static void add_level(const struct trend *d, size_t from, size_t to, struct assay_text *t)
{
	const struct assay_trend_point *p = d->s->line.points;
	double *v = malloc((to - from + 1) * sizeof(*v)), first, last;
	size_t n = 0;

	if (!v) {
		t->failed = true;
		return;
	}
	for (size_t i = from; i < to; i++)
		if (isfinite(p[i].median_ns))
			v[n++] = p[i].median_ns * 1e-9;
	first = place_of(d, &p[from]);
	last = place_of(d, &p[to - 1]);
	if (n && isfinite(first) && isfinite(last)) {
		qsort(v, n, sizeof(*v), by_value);
		assay_text_addf(t, "%.10g %.10g %.9g\n", first, last, (v[n / 2] + v[(n - 1) / 2]) / 2 / d->unit.factor);
	}
	free(v);
}

static void set_levels(const struct trend *d, struct assay_text *t)
{
	const struct assay_trend_line *l = &d->s->line;

	assay_text_add(t, "$levels << END\n");
	for (size_t k = 0; k < l->n_changes; k++) {
		if (!k)
			add_level(d, l->changes[k].from, l->changes[k].at, t);
		add_level(d, l->changes[k].at, l->changes[k].to, t);
	}
	assay_text_add(t, "END\n");
}

static void write_data(struct trend *d, struct assay_text *t)
{
	const char *tag = d->s->metric ? d->s->metric : "time_s", *base = d->s->metric ? d->s->unit : "s";
	unsigned key, top, bottom;
	char below[ASSAY_PLOT_TEXT];
	double lo, hi;

	find_range(d, &lo, &hi);
	d->unit = assay_plot_unit(tag, base, fmax(fabs(lo), fabs(hi)));
	describe(d, below, sizeof(below));
	key = assay_plot_set_head(t, d->s->key, below);
	top = key + set_legend(t, d) + 16;
	set_runs(t, d);
	bottom = set_labels(d, t);
	set_levels(d, t);
	top += set_flags(d, t) * FLAG_HEIGHT;
	assay_text_addf(t, "XLO = 0.5\nXHI = %zu.5\nYLO = %.9g\nYHI = %.9g\n", d->n, lo / d->unit.factor,
			hi / d->unit.factor);
	assay_plot_set_text(t, "YLABEL", d->s->metric ? tag : "time per call");
	assay_plot_set_ticks(t, "YTICK",
			     &(struct assay_plot_scale){ tag, base, lo, hi, d->unit.factor, .most = MOST_TICKS });
	assay_text_addf(t, "KEY_AT = %u\nTOP = %u\nBOTTOM = %u\nFLAG_ROW = %d\n", key + 12, top, bottom, FLAG_HEIGHT);
	assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH, top + PLOT_HEIGHT + bottom);
}

int assay_plot_trend_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	struct trend d = { .s = &p->trend };
	int rc = gather(&d, err);

	if (!rc)
		write_data(&d, t);
	free(d.v);
	return rc;
}

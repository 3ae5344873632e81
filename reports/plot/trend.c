/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of a case, of one machine or variant a line. Places along the axis are those of runs in order of time, where
 * the runs of a commit stand side by side, or times of day.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/plot/parts.h"
#include "reports/plot/trend.h"

#define PLOT_HEIGHT 330
#define ROW_HEIGHT  16
#define MOST_TICKS  8
/* Lines that differ by more than this factor go on a logarithmic axis. */
#define LOG_RANGE 6

/* An interval that is missing becomes the value itself. False where the run has nothing to show. */
static bool take(const struct assay_plot_trend *s, const struct assay_trend_point *p, struct assay_trend_dot *out)
{
	*out = (struct assay_trend_dot){ .run = p, .value = s->metric ? p->value : p->median_ns * 1e-9 };
	out->lo = s->metric ? NAN : p->ci95_lo_ns * 1e-9;
	out->hi = s->metric ? NAN : p->ci95_hi_ns * 1e-9;
	if (!isfinite(out->value) || (!s->metric && out->value <= 0))
		return false;
	if (!(out->lo > 0 && out->lo <= out->value))
		out->lo = out->value;
	if (!(out->hi >= out->value) || !isfinite(out->hi))
		out->hi = out->value;
	return true;
}

static struct assay_trend_dot of_gap(const struct assay_trend_gap *g)
{
	return (struct assay_trend_dot){ .run = &g->run,
					 .value = NAN,
					 .lo = NAN,
					 .hi = NAN,
					 .missing = g->missing || g->status == ASSAY_STATUS_SKIPPED };
}

static int by_time(const void *a, const void *b)
{
	const struct assay_trend_point *x = ((const struct assay_trend_dot *)a)->run;
	const struct assay_trend_point *y = ((const struct assay_trend_dot *)b)->run;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

/* All runs of all lines, with a number or without, in order of time. */
static int gather(const struct assay_plot_trend *s, struct assay_trend_dots *d, struct assay_err *err)
{
	size_t most = 1;

	for (size_t i = 0; i < s->n_lines; i++)
		most += s->lines[i].n_points + s->lines[i].n_gaps;
	d->v = calloc(most, sizeof(*d->v));
	if (!d->v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the runs of '%s'", s->key);
	for (size_t i = 0; i < s->n_lines; i++) {
		const struct assay_trend_line *l = &s->lines[i];

		for (size_t k = 0; k < l->n_points; k++) {
			if (take(s, &l->points[k], &d->v[d->n])) {
				d->v[d->n++].line = i;
				d->n_values++;
			}
		}
		for (size_t k = 0; k < l->n_gaps; k++) {
			d->v[d->n] = of_gap(&l->gaps[k]);
			d->v[d->n++].line = i;
		}
	}
	if (!d->n_values)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no stored run of '%s' has a %s, measure it with 'assay run' first", s->key,
				     s->metric ? s->metric : "time");
	qsort(d->v, d->n, sizeof(*d->v), by_time);
	return 0;
}

/*
 * The band the values take, a little wider. At least 5 %, so that pure noise does not look like a cliff; where all are
 * 0, one unit.
 */
static void find_range(const struct assay_plot_trend *s, const struct assay_trend_dots *d, double *lo, double *hi,
		       bool *logarithmic)
{
	double mid, half;

	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < d->n; i++) {
		*lo = fmin(*lo, isnan(d->v[i].lo) ? d->v[i].value : d->v[i].lo);
		*hi = fmax(*hi, isnan(d->v[i].hi) ? d->v[i].value : d->v[i].hi);
	}
	*logarithmic = s->n_lines > 1 && *lo > 0 && *hi > LOG_RANGE * *lo;
	if (*logarithmic) {
		*lo /= 1.3;
		*hi *= 1.3;
		return;
	}
	mid = (*lo + *hi) / 2;
	half = fmax((*hi - *lo) / 2 * 1.15, 0.025 * fabs(mid));
	if (half == 0)
		half = 1;
	*lo = s->metric ? mid - half : fmax(mid - half, 0);
	*hi = mid + half;
}

static bool is_dirty(const struct assay_trend_dot *d)
{
	bool dirty;

	assay_trend_commit(d->run, &dirty);
	return dirty;
}

/* The runs of each line; where one failed or is missing, blank lines end the line there. */
static void set_lines(struct assay_text *t, const struct assay_plot_trend *s, const struct assay_trend_dots *d,
		      const struct assay_plot_unit *unit)
{
	for (size_t i = 0; i < s->n_lines; i++) {
		assay_text_addf(t, "$line%zu << END\n", i + 1);
		for (size_t k = 0; k < d->n; k++) {
			const struct assay_trend_dot *p = &d->v[k];

			if (p->line == i && isnan(p->value))
				assay_text_addf(t, "\n%.10g NaN NaN NaN %d\n\n", p->x, p->missing ? 3 : 2);
			else if (p->line == i)
				assay_text_addf(t, "%.10g %.9g %.9g %.9g %d\n", p->x, p->value / unit->factor,
						p->lo / unit->factor, p->hi / unit->factor, is_dirty(p));
		}
		assay_text_add(t, "END\n");
	}
	assay_text_addf(t, "N_LINES = %zu\n", s->n_lines);
}

static void describe(const struct assay_plot_trend *s, const struct assay_trend_dots *d, char *buf, size_t size)
{
	size_t n = 0, without = d->n - d->n_values;

	if (s->machine && s->machine[0])
		n = (size_t)snprintf(buf, size, "%s. ", s->machine);
	if (n < size && s->n_lines > 1)
		n += (size_t)snprintf(buf + n, size - n, "%zu lines, %zu values", s->n_lines, d->n_values);
	else if (n < size)
		n += (size_t)snprintf(buf + n, size - n, "%zu run%s", d->n_values, d->n_values == 1 ? "" : "s");
	if (without && n < size)
		snprintf(buf + n, size - n, ", %zu more without a number", without);
}

/* Marks beside those of lines, as the program of the plot knows them. */
enum key_kind { KEY_INTERVAL = 11, KEY_LEVEL, KEY_DIRTY, KEY_FAILED, KEY_MISSING };

/* The lines, and what only some histories have. Returns the height of the legend. */
static unsigned set_legend(struct assay_text *t, const struct assay_plot_trend *s, const struct assay_trend_dots *d)
{
	struct assay_plot_legend legend = { .left = 122 };
	bool dirty = false, failed = false, missing = false, levels = false;

	for (size_t i = 0; i < d->n; i++) {
		failed |= isnan(d->v[i].value) && !d->v[i].missing;
		missing |= d->v[i].missing;
		dirty |= is_dirty(&d->v[i]) && !isnan(d->v[i].value);
	}
	for (size_t i = 0; i < s->n_lines; i++) {
		levels |= s->lines[i].n_changes > 0;
		assay_plot_legend_add(&legend,
				      s->lines[i].name[0] ? s->lines[i].name
				      : s->metric         ? "value"
							  : "median",
				      (int)i + 1);
	}
	if (!s->metric)
		assay_plot_legend_add(&legend, "95 % interval", KEY_INTERVAL);
	if (levels)
		assay_plot_legend_add(&legend, "level", KEY_LEVEL);
	if (dirty)
		assay_plot_legend_add(&legend, "uncommitted", KEY_DIRTY);
	if (failed)
		assay_plot_legend_add(&legend, "failed", KEY_FAILED);
	if (missing)
		assay_plot_legend_add(&legend, "not measured", KEY_MISSING);
	assay_text_addf(t, "INTERVALS = %d\n", !s->metric);
	return assay_plot_set_legend(t, &legend);
}

static void set_sizes(struct assay_text *t, const struct assay_trend_dots *d)
{
	const size_t n = d->n;

	assay_plot_set_number(t, "POINT", n > 150 ? 0.35 : n > 60 ? 0.5 : n > 25 ? 0.65 : 0.8);
	assay_plot_set_number(t, "BAR", n > 150 ? 1 : n > 60 ? 1.5 : n > 25 ? 2.5 : 3.5);
}

static int write_data(const struct assay_plot_trend *s, struct assay_trend_dots *d, struct assay_text *t,
		      struct assay_err *err)
{
	struct assay_plot_unit unit;
	unsigned key, top, bottom, rows;
	char below[ASSAY_PLOT_TEXT];
	bool logarithmic;
	double lo, hi;
	int rc = gather(s, d, err);

	if (!rc && d->n_values < 2)
		rc = assay_err_set(
			err, ASSAY_ENOTFOUND,
			"only one run of '%s' is stored, and a trend needs at least two: measure it again with "
			"'assay run'",
			s->key);
	if (!rc)
		rc = assay_trend_places(s, d, err);
	if (rc)
		return rc;
	find_range(s, d, &lo, &hi, &logarithmic);
	unit = assay_plot_unit(s->metric ? s->metric : "time_s", s->metric ? s->unit : "s",
			       logarithmic ? sqrt(fabs(lo * hi)) : fmax(fabs(lo), fabs(hi)));
	describe(s, d, below, sizeof(below));
	key = assay_plot_set_head(t, s->key, below);
	top = key + set_legend(t, s, d) + 8;
	set_lines(t, s, d, &unit);
	set_sizes(t, d);
	bottom = assay_trend_axis(s, d, t);
	rows = assay_trend_flags(s, d, &unit, t);
	assay_text_addf(t, "XLO = %.10g\nXHI = %.10g\nYLO = %.9g\nYHI = %.9g\nLOGARITHMIC = %d\n", d->x_lo, d->x_hi,
			lo / unit.factor, hi / unit.factor, logarithmic);
	assay_plot_set_text(t, "YLABEL", s->metric ? s->metric : "time per call");
	assay_plot_set_ticks(t, "YTICK",
			     &(struct assay_plot_scale){ s->metric ? s->metric : "time_s", s->metric ? s->unit : "s",
							 lo, hi, unit.factor, logarithmic, MOST_TICKS });
	assay_text_addf(t, "KEY_AT = %u\nTOP = %u\nBOTTOM = %u\nFLAG_ROW = %d\n", key + 12, top + rows * ROW_HEIGHT + 8,
			bottom, ROW_HEIGHT);
	assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH,
			top + rows * ROW_HEIGHT + 8 + PLOT_HEIGHT + bottom);
	return 0;
}

int assay_plot_trend_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	struct assay_trend_dots d = { 0 };
	int rc;

	if (p->trend.n_lines > ASSAY_PLOT_LINES)
		return assay_err_set(err, ASSAY_ENOTFOUND, "a plot can tell %d lines apart, but '%.200s' has %zu",
				     ASSAY_PLOT_LINES, p->trend.key, p->trend.n_lines);
	rc = write_data(&p->trend, &d, t, err);
	free(d.v);
	return rc;
}

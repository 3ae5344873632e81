/* SPDX-License-Identifier: Apache-2.0 */
/* Where the runs of a trend stand, and the labels below: commits and dates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "reports/plot/trend.h"

#define LINE_HEIGHT 20
#define LABEL_WIDTH 88 /* pixels of a label, with some air */
#define PLOT_WIDTH  (ASSAY_PLOT_WIDTH - 162)
#define DAY_S       86400.0

static const char *commit_of(const struct assay_trend_dot *d)
{
	bool dirty;

	return assay_trend_commit(d->run, &dirty);
}

/* Runs of one commit side by side: as many places as the line with most of them needs. */
struct group {
	size_t width, first;
	size_t *n; /* runs by line */
};

/* The common part of runs that stand side by side: nothing without a commit. */
static void group_name(const struct assay_trend_dot *d, char buf[96])
{
	const char *commit = commit_of(d);

	if (commit[0])
		snprintf(buf, 96, "%.64s", commit);
	else
		snprintf(buf, 96, "run %lld of line %zu", (long long)d->run->run_id, d->line);
}

static int group_runs(const struct assay_plot_trend *s, struct assay_trend_dots *d, struct group *groups, size_t *n,
		      struct assay_err *err)
{
	struct assay_name_index names = { 0 };
	int rc = 0;

	for (size_t i = 0; i < d->n && !rc; i++) {
		struct assay_trend_dot *dot = &d->v[i];
		char name[96];
		struct group *g;

		group_name(dot, name);
		rc = assay_name_index_put(&names, name, *n, &dot->group, NULL, err);
		if (rc)
			break;
		g = &groups[dot->group];
		if (dot->group == *n) {
			g->n = calloc(s->n_lines, sizeof(*g->n));
			if (!g->n)
				rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trend");
			++*n;
		}
		/* the place within its group, until all groups are known */
		if (!rc)
			dot->x = (double)++g->n[dot->line];
		if (!rc && g->n[dot->line] > g->width)
			g->width = g->n[dot->line];
	}
	assay_name_index_release(&names);
	return rc;
}

static int places_by_commit(const struct assay_plot_trend *s, struct assay_trend_dots *d, struct assay_err *err)
{
	struct group *groups = calloc(d->n, sizeof(*groups));
	size_t n = 0, place = 0;
	int rc = groups ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trend");

	if (!rc)
		rc = group_runs(s, d, groups, &n, err);
	for (size_t i = 0; i < n; i++) {
		groups[i].first = place;
		place += groups[i].width;
		free(groups[i].n);
	}
	for (size_t i = 0; i < d->n && !rc; i++)
		d->v[i].x += (double)groups[d->v[i].group].first;
	free(groups);
	d->x_lo = 0.5;
	d->x_hi = (double)place + 0.5;
	return rc;
}

static void places_by_date(struct assay_trend_dots *d)
{
	double range, air;

	for (size_t i = 0; i < d->n; i++)
		d->v[i].x = (double)(d->v[i].run->started_ns / 1000000u) / 1000;
	range = d->v[d->n - 1].x - d->v[0].x;
	/* runs that began in the same second have an axis, too */
	air = range >= 1 ? range * 0.03 : DAY_S / 4;
	d->x_lo = d->v[0].x - air;
	d->x_hi = d->v[d->n - 1].x + air;
}

static int by_place(const void *a, const void *b)
{
	const struct assay_trend_dot *x = a, *y = b;

	return x->x != y->x ? (x->x > y->x ? 1 : -1) : (x->line > y->line) - (x->line < y->line);
}

int assay_trend_places(const struct assay_plot_trend *s, struct assay_trend_dots *d, struct assay_err *err)
{
	int rc = 0;

	if (s->by_date)
		places_by_date(d);
	else
		rc = places_by_commit(s, d, err);
	qsort(d->v, d->n, sizeof(*d->v), by_place);
	return rc;
}

/* ---- labels ---- */

static unsigned date_axis(const struct assay_trend_dots *d, struct assay_text *t)
{
	double days = (d->x_hi - d->x_lo) / DAY_S;
	bool imported = false;

	assay_plot_set_text(t, "XFORMAT",
			    days > 900    ? "%Y-%m"
			    : days > 4    ? "%Y-%m-%d"
			    : days > 0.04 ? "%m-%d %H:%M"
					  : "%H:%M:%S");
	for (size_t i = 0; i < d->n; i++)
		imported |= d->v[i].run->started_unknown;
	assay_plot_set_text(t, "XLABEL",
			    imported ? "start of the run, or its import where it has no date (UTC)"
				     : "start of the run (UTC)");
	assay_text_add(t, "BY_DATE = 1\n");
	return 64;
}

/* Commit, date and time (UTC) of a group whose newest run is @d. */
static void add_label(struct assay_plot_array *a, const struct assay_trend_dot *d, size_t n, bool plugins)
{
	char plugin[12], commit[12], date[32] = "", last[32] = "";
	time_t when = (time_t)(d->run->started_ns / 1000000000u);
	struct tm tm;

	assay_plot_commit(d->run->plugin.hash, d->run->plugin.dirty, "-", plugin);
	assay_plot_commit(d->run->commit, d->run->dirty, "run", commit);
	if (d->run->started_unknown) {
		snprintf(date, sizeof(date), "imported");
	} else if (gmtime_r(&when, &tm)) {
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

/* The name of the axis explains the lines of a label: the last is the time of a commit's only run, or their number. */
static void add_axis_name(struct assay_text *t, bool plugins, bool dirty, bool single, bool several)
{
	assay_text_addf(t, "XLABEL = 'commit%s%s, date, %s'\n", plugins ? " of the plugins, of assay" : "",
			dirty ? " (+ with uncommitted changes)" : "",
			!several ? "time (UTC)"
			: single ? "time (UTC) or number of runs"
				 : "number of runs");
}

/* Of every commit, or from the newest back of those that leave room for their labels. */
static unsigned commit_axis(const struct assay_trend_dots *d, struct assay_text *t)
{
	const double pixels = PLOT_WIDTH / (d->x_hi - d->x_lo);
	struct assay_plot_array words = { 0 };
	struct assay_text at = { 0 };
	bool plugins = false, dirty = false, single = false, several = false;
	double free_to = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		plugins |= d->v[i].run->plugin.hash[0] != '\0';
		dirty |= d->v[i].run->dirty || d->v[i].run->plugin.dirty;
	}
	for (size_t last = d->n; last > 0;) {
		const struct assay_trend_dot *newest = &d->v[last - 1];
		size_t first = last;
		double centre, places;

		while (first > 0 && d->v[first - 1].group == newest->group)
			first--;
		centre = (d->v[first].x + newest->x) / 2;
		if ((free_to - centre) * pixels >= LABEL_WIDTH) {
			assay_text_addf(&at, "%s%.10g", n++ ? ", " : "", centre);
			places = newest->x - d->v[first].x + 1;
			add_label(&words, newest, (size_t)places, plugins);
			several |= places > 1;
			single |= !(places > 1);
			free_to = centre;
		}
		last = first;
	}
	assay_text_addf(t, "BY_DATE = 0\nN_PLACES = %zu\narray PLACE[%zu] = [%s]\nLABEL_LINES = %d\n", n, n,
			at.s ? at.s : "", plugins ? 4 : 3);
	t->failed |= at.failed;
	assay_text_release(&at);
	assay_plot_array_set(t, "WORD", &words);
	add_axis_name(t, plugins, dirty, single, several);
	return 104 + (plugins ? LINE_HEIGHT : 0);
}

unsigned assay_trend_axis(const struct assay_plot_trend *s, const struct assay_trend_dots *d, struct assay_text *t)
{
	return s->by_date ? date_axis(d, t) : commit_axis(d, t);
}

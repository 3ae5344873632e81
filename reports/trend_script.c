/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gnuplot program of a trend plot. Text from outside is only ever put between single quotes, in which gnuplot
 * expands nothing (between double quotes it would run what stands between backquotes).
 */
#include "reports/trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/quantity.h"
#include "reports/text_parts.h"

#define WIDTH       960
#define PLOT_HEIGHT 330 /* between the margins, so that a long title does not squeeze the plot */
#define TITLE_CHARS 100 /* of the title's font in WIDTH, with some air */
#define LINE_HEIGHT 20
#define MAX_LABELS  9 /* runs named below the axis */

/* Okabe & Ito's blue, told apart by all kinds of colour vision; bars and line are tints of it. */
#define COLOUR_POINT "#0072b2"
#define COLOUR_BAR   "#74b3d8"
#define COLOUR_LINE  "#b9d8ea"
#define COLOUR_TEXT  "#222222"
#define COLOUR_FAINT "#5f6368"
#define COLOUR_GRID  "#e4e4e4"

/* How values are shown: a factor of their base unit, and what stands behind the number. */
struct unit {
	char name[48];
	double factor;
};

/* One run, in the base unit. */
struct dot {
	double value, lo, hi;
	bool dirty; /* what was measured had uncommitted changes */
	const struct assay_trend_point *run;
};

/* The unit in which tables would write @value. */
static struct unit unit_for(const struct assay_report_history *s, double value)
{
	const char *tag = s->metric ? s->metric : "time_s", *space;
	char text[64], base[ASSAY_METRIC_UNIT_MAX];
	struct unit u = { "", 1 };

	assay_metric_text(tag, value, s->metric ? s->unit : "s", true, text, sizeof(text));
	space = strchr(text, ' ');
	if (space && assay_unit_read(tag, space + 1, &u.factor, base))
		snprintf(u.name, sizeof(u.name), "%s", space + 1);
	return u;
}

/* The first @n bytes of @s between single quotes; what cannot be shown becomes '?': broken text is no valid SVG. */
static void add_quoted(struct assay_text *t, const char *s, size_t n)
{
	const char *end = s + n, *from = s;
	uint32_t c;

	assay_text_add(t, "'");
	while (from < end && (c = assay_code_point_next(&s))) {
		if (c == '\'')
			assay_text_add(t, "''");
		else if (c == ASSAY_CODE_POINT_BAD || s > end || c < ' ' || c == 0x7f)
			assay_text_add(t, "?");
		else
			assay_code_point_add(t, c);
		from = s;
	}
	assay_text_add(t, "'");
}

static int by_time(const void *a, const void *b)
{
	const struct assay_trend_point *x = ((const struct dot *)a)->run, *y = ((const struct dot *)b)->run;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

/* False where the run has nothing to show. An interval that is missing becomes the value itself. */
static bool take(const struct assay_report_history *s, const struct assay_trend_point *p, struct dot *out)
{
	*out = (struct dot){ .value = s->metric ? p->value : p->median_ns * 1e-9, .run = p };
	out->dirty = p->plugin.hash[0] ? p->plugin.dirty : p->dirty;
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

/* Valid runs in order of time; malloc'ed. */
static int sorted_runs(const struct assay_report_history *s, struct dot **out, size_t *n, struct assay_err *err)
{
	struct dot *v = malloc((s->n_points ? s->n_points : 1) * sizeof(*v));

	*n = 0;
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu runs of '%s'", s->n_points, s->key);
	for (size_t i = 0; i < s->n_points; i++)
		*n += take(s, &s->points[i], &v[*n]);
	if (!*n) {
		free(v);
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no stored run of '%s' has a %s, measure it with 'assay run' first", s->key,
				     s->metric ? s->metric : "time");
	}
	qsort(v, *n, sizeof(*v), by_time);
	*out = v;
	return 0;
}

/* Bytes of the next title line: at most TITLE_CHARS, broken behind a '/' or ',' where there is one in its second half.
 */
static size_t title_line(const char *s)
{
	size_t len = strlen(s), at;

	if (len <= TITLE_CHARS)
		return len;
	for (at = TITLE_CHARS; at > TITLE_CHARS / 2; at--)
		if (s[at - 1] == '/' || s[at - 1] == ',')
			return at;
	/* Not inside a UTF-8 sequence. */
	for (at = TITLE_CHARS; at > 1 && ((unsigned char)s[at] & 0xc0) == 0x80; at--)
		;
	return at;
}

/* The lines of text above the plot. Returns the height they take, in pixels. */
static unsigned add_head(struct assay_text *t, const struct assay_report_history *s, size_t n)
{
	const char *rest = s->key;
	unsigned y = 30, label = 1;

	while (*rest) {
		size_t len = title_line(rest);

		assay_text_addf(t, "set label %u ", label++);
		add_quoted(t, rest, len);
		assay_text_addf(
			t,
			" at screen 20.0/width, screen 1-%u.0/height left noenhanced font ',14' textcolor rgb '%s'\n",
			y, COLOUR_TEXT);
		rest += len;
		y += LINE_HEIGHT;
	}
	assay_text_addf(t, "set label %u ", label);
	if (s->machine && s->machine[0]) {
		add_quoted(t, s->machine, 90);
		assay_text_add(t, ".', '.");
	}
	assay_text_addf(t,
			"'%zu run%s' at screen 20.0/width, screen 1-%u.0/height left noenhanced font ',11' "
			"textcolor rgb '%s'\n",
			n, n == 1 ? "" : "s", y, COLOUR_FAINT);
	return y + LINE_HEIGHT / 2;
}

/* A commit as a tick label. gnuplot takes '%' there for a format: only what revisions are made of goes through. */
static void commit_label(const char *hash, bool dirty, const char *none, char buf[11])
{
	size_t len = 0;

	for (const char *p = hash; *p && len < 8; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');

		buf[len++] = letter || (*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '_' ? *p : '?';
	}
	if (dirty)
		buf[len++] = '+';
	buf[len] = '\0';
	if (!len)
		snprintf(buf, 11, "%s", none);
}

/*
 * Below the axis: commit, date and time (UTC) of every run, or of every k-th back from the newest when there are many.
 * With @plugins, the commit of the plugins stands above that of the program.
 */
static void add_labels(struct assay_text *t, const struct dot *v, size_t n, bool plugins)
{
	size_t step = (n + MAX_LABELS - 1) / MAX_LABELS;
	const char *sep = "";

	assay_text_add(t, "set xtics (");
	for (size_t i = (n - 1) % step; i < n; i += step) {
		const struct assay_trend_point *run = v[i].run;
		time_t when = (time_t)(run->started_ns / 1000000000u);
		char plugin[11], commit[11], date[32] = "", clock[16] = "";
		struct tm tm;

		commit_label(run->plugin.hash, run->plugin.dirty, "-", plugin);
		commit_label(run->commit, run->dirty, "run", commit);
		if (gmtime_r(&when, &tm)) {
			strftime(date, sizeof(date), "%Y-%m-%d", &tm);
			strftime(clock, sizeof(clock), "%H:%M", &tm);
		}
		assay_text_add(t, sep);
		if (plugins)
			assay_text_addf(t, "'%s'.\"\\n\".", plugin);
		assay_text_addf(t, "'%s'.\"\\n\".'%s'.\"\\n\".'%s' %zu", commit, date, clock, i + 1);
		sep = ", ";
	}
	assay_text_add(t, ")\n");
}

/*
 * The band the values take, a little wider. At least 5 %, so that pure noise does not look like a cliff; where all are
 * 0, one unit.
 */
static void y_range(const struct assay_report_history *s, const struct dot *v, size_t n, double *lo, double *hi)
{
	double mid, half;

	*lo = v[0].lo;
	*hi = v[0].hi;
	for (size_t i = 1; i < n; i++) {
		*lo = fmin(*lo, v[i].lo);
		*hi = fmax(*hi, v[i].hi);
	}
	mid = (*lo + *hi) / 2;
	half = fmax((*hi - *lo) / 2 * 1.15, 0.025 * fabs(mid));
	if (half == 0)
		half = 1;
	*lo = s->metric ? mid - half : fmax(mid - half, 0);
	*hi = mid + half;
}

/* What only some histories have. */
struct marks {
	bool dirty, plugins;
};

static void add_axes(struct assay_text *t, const struct assay_report_history *s, const struct dot *v, size_t n,
		     const struct unit *unit, double lo, double hi, const struct marks *any)
{
	char name[ASSAY_METRIC_TAG_MAX + 64];

	assay_text_addf(t,
			"set border 3 linecolor rgb '%s'\nset grid ytics linetype 1 linewidth 1 linecolor rgb '%s'\n",
			COLOUR_FAINT, COLOUR_GRID);
	assay_text_addf(t, "set tics nomirror scale 0.5 font ',11' textcolor rgb '%s'\n", COLOUR_TEXT);
	/* A label of its own: the place of xlabel below three lines depends on the terminal. */
	assay_text_addf(
		t,
		"set label 99 'run: commit%s%s, date, time (UTC)' at graph 0.5, screen 18.0/height center font ',11' "
		"textcolor rgb '%s'\n",
		any->plugins ? " of the plugins, of assay" : "", any->dirty ? " (+ with uncommitted changes)" : "",
		COLOUR_FAINT);
	snprintf(name, sizeof(name), "%s%s%s%s", s->metric ? s->metric : "time per iteration",
		 unit->name[0] ? " (" : "", unit->name, unit->name[0] ? ")" : "");
	assay_text_add(t, "set ylabel ");
	add_quoted(t, name, strlen(name));
	assay_text_addf(t, " noenhanced font ',11' textcolor rgb '%s'\n", COLOUR_FAINT);
	assay_text_addf(t, "set xrange [0.5:%zu.5]\nset yrange [%.9g:%.9g]\n", n, lo / unit->factor, hi / unit->factor);
	add_labels(t, v, n, any->plugins);
}

static void add_plot(struct assay_text *t, const char *metric, size_t n, bool any_dirty)
{
	double size = n > 150 ? 0.35 : n > 60 ? 0.5 : n > 25 ? 0.65 : 0.8;
	double bar = n > 150 ? 1 : n > 60 ? 1.5 : n > 25 ? 2.5 : 3.5;

	assay_text_addf(t, "plot $runs using 1:2 with lines linewidth 1.2 linecolor rgb '%s' notitle, \\\n",
			COLOUR_LINE);
	/* Not yerrorbars, which clear a disc around every point. */
	if (!metric)
		assay_text_addf(t,
				"  $runs using 1:3:(0):($4-$3) with vectors nohead linewidth %g linecolor rgb '%s' "
				"title '95 %% interval', \\\n",
				bar, COLOUR_BAR);
	assay_text_addf(t, "  $runs using 1:2 with points pointtype 7 pointsize %g linecolor rgb '%s' title '%s'", size,
			COLOUR_POINT, metric ? "value" : "median");
	if (any_dirty) {
		/* White over the filled point, then its outline. */
		assay_text_addf(
			t,
			", \\\n  $runs using 1:($5 > 0 ? $2 : NaN) with points pointtype 7 pointsize %g linecolor "
			"rgb '#ffffff' notitle",
			size);
		assay_text_addf(
			t,
			", \\\n  $runs using 1:($5 > 0 ? $2 : NaN) with points pointtype 6 pointsize %g linewidth %g "
			"linecolor rgb '%s' title 'uncommitted'",
			size, size * 2, COLOUR_POINT);
	}
	assay_text_add(t, "\n");
}

int assay_trend_script(const struct assay_report_history *s, bool png, const char *output, struct assay_text *out,
		       struct assay_err *err)
{
	struct unit unit;
	struct dot *v = NULL;
	struct assay_text head = { 0 };
	struct marks any = { 0 };
	unsigned top, bottom = 104;
	double lo, hi;
	size_t n;
	int rc;

	rc = sorted_runs(s, &v, &n, err);
	if (rc)
		return rc;
	y_range(s, v, n, &lo, &hi);
	unit = unit_for(s, fmax(fabs(lo), fabs(hi)));

	assay_text_add(out, "$runs << END\n");
	for (size_t i = 0; i < n; i++) {
		any.dirty |= v[i].dirty || v[i].run->dirty;
		any.plugins |= v[i].run->plugin.hash[0] != '\0';
		assay_text_addf(out, "%zu %.9g %.9g %.9g %d\n", i + 1, v[i].value / unit.factor, v[i].lo / unit.factor,
				v[i].hi / unit.factor, v[i].dirty);
	}
	/* a line more below the axis */
	bottom += any.plugins ? LINE_HEIGHT : 0;
	assay_text_add(out, "END\nset encoding utf8\n");

	top = add_head(&head, s, n) + 26;
	assay_text_addf(out, "width = %d\nheight = %u\n", WIDTH, top + PLOT_HEIGHT + bottom);
	if (png)
		assay_text_add(out,
			       "set terminal pngcairo size width,height font 'sans-serif,10' background '#ffffff'\n");
	else
		assay_text_add(
			out,
			"set terminal svg size width,height name 'trend' font 'sans-serif,13' background '#ffffff'\n");
	assay_text_add(out, "set output ");
	add_quoted(out, output, strlen(output));
	assay_text_add(out, "\n");
	assay_text_addn(out, head.s ? head.s : "", head.len);
	assay_text_release(&head);
	assay_text_addf(out,
			"set lmargin at screen 92.0/width\nset rmargin at screen 1-50.0/width\n"
			"set tmargin at screen 1-%u.0/height\nset bmargin at screen %u.0/height\n",
			top, bottom);
	assay_text_addf(out,
			"set key at screen 1-44.0/width, screen 1-%u.0/height right center horizontal font ',11' "
			"textcolor rgb '%s' samplen 1.5\n",
			top - 12, COLOUR_FAINT);
	add_axes(out, s, v, n, &unit, lo, hi, &any);
	add_plot(out, s->metric, n, any.dirty);
	assay_text_add(out, "unset output\n");
	free(v);
	return out->failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for the plot of '%s'", s->key) : 0;
}

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

struct unit {
	const char *name;
	double ns;
};

static const struct unit *unit_for(double ns)
{
	static const struct unit units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "µs", 1e3 }, { "ns", 1 } };
	size_t i = 0;

	while (units[i].ns > 1 && ns < units[i].ns)
		i++;
	return &units[i];
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
	const struct assay_trend_point *x = a, *y = b;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

/* Valid runs in order of time; malloc'ed. An interval that is missing becomes the median itself. */
static int sorted_runs(const struct assay_report_history *s, struct assay_trend_point **out, size_t *n,
		       struct assay_err *err)
{
	struct assay_trend_point *v = malloc((s->n_points ? s->n_points : 1) * sizeof(*v));

	*n = 0;
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu runs of '%s'", s->n_points, s->key);
	for (size_t i = 0; i < s->n_points; i++) {
		struct assay_trend_point r = s->points[i];

		if (!isfinite(r.median_ns) || r.median_ns <= 0)
			continue;
		if (!(r.ci95_lo_ns > 0 && r.ci95_lo_ns <= r.median_ns))
			r.ci95_lo_ns = r.median_ns;
		if (!(r.ci95_hi_ns >= r.median_ns) || !isfinite(r.ci95_hi_ns))
			r.ci95_hi_ns = r.median_ns;
		v[(*n)++] = r;
	}
	if (!*n) {
		free(v);
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no stored run of '%s' has a time, measure it with 'assay run' first", s->key);
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

/* Below the axis: commit, date and time (UTC) of every run, or of every k-th back from the newest when there are many.
 */
static void add_labels(struct assay_text *t, const struct assay_trend_point *v, size_t n)
{
	size_t step = (n + MAX_LABELS - 1) / MAX_LABELS;
	const char *sep = "";

	assay_text_add(t, "set xtics (");
	for (size_t i = (n - 1) % step; i < n; i += step) {
		time_t when = (time_t)(v[i].started_ns / 1000000000u);
		char commit[11], date[32] = "", clock[16] = "";
		struct tm tm;
		size_t len = 0;

		/* gnuplot takes '%' in a tick label for a format: only what revisions are made of goes through. */
		for (const char *p = v[i].commit; *p && len < 8; p++) {
			bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');

			commit[len++] =
				letter || (*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '_' ? *p : '?';
		}
		if (v[i].dirty)
			commit[len++] = '+';
		commit[len] = '\0';
		if (gmtime_r(&when, &tm)) {
			strftime(date, sizeof(date), "%Y-%m-%d", &tm);
			strftime(clock, sizeof(clock), "%H:%M", &tm);
		}
		assay_text_addf(t, "%s'%s'.\"\\n\".'%s'.\"\\n\".'%s' %zu", sep, len ? commit : "run", date, clock,
				i + 1);
		sep = ", ";
	}
	assay_text_add(t, ")\n");
}

/* The band the values take, a little wider. At least 5 %, so that pure noise does not look like a cliff. */
static void y_range(const struct assay_trend_point *v, size_t n, double *lo, double *hi)
{
	double mid, half;

	*lo = v[0].ci95_lo_ns;
	*hi = v[0].ci95_hi_ns;
	for (size_t i = 1; i < n; i++) {
		*lo = fmin(*lo, v[i].ci95_lo_ns);
		*hi = fmax(*hi, v[i].ci95_hi_ns);
	}
	mid = (*lo + *hi) / 2;
	half = fmax((*hi - *lo) / 2 * 1.15, 0.025 * mid);
	*lo = fmax(mid - half, 0);
	*hi = mid + half;
}

static void add_axes(struct assay_text *t, const struct assay_trend_point *v, size_t n, const struct unit *unit,
		     double lo, double hi, bool any_dirty)
{
	assay_text_addf(t,
			"set border 3 linecolor rgb '%s'\nset grid ytics linetype 1 linewidth 1 linecolor rgb '%s'\n",
			COLOUR_FAINT, COLOUR_GRID);
	assay_text_addf(t, "set tics nomirror scale 0.5 font ',11' textcolor rgb '%s'\n", COLOUR_TEXT);
	/* A label of its own: the place of xlabel below three lines depends on the terminal. */
	assay_text_addf(
		t,
		"set label 99 'run: commit%s, date, time (UTC)' at graph 0.5, screen 18.0/height center font ',11' "
		"textcolor rgb '%s'\n",
		any_dirty ? " (+ with uncommitted changes)" : "", COLOUR_FAINT);
	assay_text_addf(t, "set ylabel 'time per iteration (%s)' font ',11' textcolor rgb '%s'\n", unit->name,
			COLOUR_FAINT);
	assay_text_addf(t, "set xrange [0.5:%zu.5]\nset yrange [%.9g:%.9g]\n", n, lo / unit->ns, hi / unit->ns);
	add_labels(t, v, n);
}

static void add_plot(struct assay_text *t, size_t n, bool any_dirty)
{
	double size = n > 150 ? 0.35 : n > 60 ? 0.5 : n > 25 ? 0.65 : 0.8;
	double bar = n > 150 ? 1 : n > 60 ? 1.5 : n > 25 ? 2.5 : 3.5;

	assay_text_addf(t, "plot $runs using 1:2 with lines linewidth 1.2 linecolor rgb '%s' notitle, \\\n",
			COLOUR_LINE);
	/* Not yerrorbars, which clear a disc around every point. */
	assay_text_addf(t,
			"  $runs using 1:3:(0):($4-$3) with vectors nohead linewidth %g linecolor rgb '%s' "
			"title '95 %% interval', \\\n",
			bar, COLOUR_BAR);
	assay_text_addf(t, "  $runs using 1:2 with points pointtype 7 pointsize %g linecolor rgb '%s' title 'median'",
			size, COLOUR_POINT);
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
	const struct unit *unit;
	struct assay_trend_point *v = NULL;
	struct assay_text head = { 0 };
	bool any_dirty = false;
	unsigned top, bottom = 104;
	double lo, hi;
	size_t n;
	int rc;

	rc = sorted_runs(s, &v, &n, err);
	if (rc)
		return rc;
	y_range(v, n, &lo, &hi);
	unit = unit_for(hi);

	assay_text_add(out, "$runs << END\n");
	for (size_t i = 0; i < n; i++) {
		any_dirty |= v[i].dirty;
		assay_text_addf(out, "%zu %.9g %.9g %.9g %d\n", i + 1, v[i].median_ns / unit->ns,
				v[i].ci95_lo_ns / unit->ns, v[i].ci95_hi_ns / unit->ns, v[i].dirty);
	}
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
	add_axes(out, v, n, unit, lo, hi, any_dirty);
	add_plot(out, n, any_dirty);
	assay_text_add(out, "unset output\n");
	free(v);
	return out->failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for the plot of '%s'", s->key) : 0;
}

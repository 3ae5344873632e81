/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a case, or one of its histograms: their density and their empirical distribution, of one side or of
 * two.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/plot/parts.h"

#define PANEL_HEIGHT 190
#define MOST_TICKS   9
/*
 * Samples outside of these quantiles, or farther from the quartiles than so many times their distance, do not stretch
 * the axis, but are counted.
 */
#define TAIL  0.01
#define FENCE 6
/* Every k-th of more is drawn, in order of size. */
#define MOST_SAMPLES   4000
#define DENSITY_POINTS 400

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static const char *tag_of(const struct assay_plot_distribution *s)
{
	return s->metric ? s->metric : "time_s";
}

static const char *unit_of(const struct assay_plot_distribution *s)
{
	return s->metric ? s->unit : "s";
}

struct side {
	const struct assay_sample_set *s;
	double *ns; /* sorted, malloc'ed */
	double median;
};

static int sort_sides(const struct assay_plot_distribution *s, struct side *v, struct assay_err *err)
{
	for (size_t i = 0; i < s->n_sides; i++) {
		const struct assay_sample_set *from = &s->sides[i];

		v[i].s = from;
		if (!from->n)
			return assay_err_set(err, ASSAY_ENOTFOUND, "no samples of '%.200s' in %s", s->key, from->name);
		v[i].ns = malloc(from->n * sizeof(*v[i].ns));
		if (!v[i].ns)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", from->n);
		memcpy(v[i].ns, from->ns, from->n * sizeof(*v[i].ns));
		qsort(v[i].ns, from->n, sizeof(*v[i].ns), by_value);
		v[i].median = from->median_ns > 0 ? from->median_ns : quantile(v[i].ns, from->n, 0.5);
	}
	return 0;
}

static void find_range(const struct side *v, size_t n, double *lo, double *hi)
{
	double air;

	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		double first = quantile(v[i].ns, v[i].s->n, 0.25), third = quantile(v[i].ns, v[i].s->n, 0.75);
		double far = fmax(FENCE * (third - first), 0.002 * third);

		*lo = fmin(*lo, fmax(first - far, quantile(v[i].ns, v[i].s->n, TAIL)));
		*hi = fmax(*hi, fmin(third + far, quantile(v[i].ns, v[i].s->n, 1 - TAIL)));
	}
	air = fmax(0.08 * (*hi - *lo), 0.002 * *hi);
	*lo = fmax(0, *lo - air);
	*hi += air;
}

static size_t outside(const struct side *v, double lo, double hi)
{
	size_t n = 0;

	for (size_t i = 0; i < v->s->n; i++)
		n += v->ns[i] < lo || v->ns[i] > hi;
	return n;
}

/*
 * Silverman's rule with the smaller of deviation and interquartile range, so that far samples do not blur the rest; at
 * least a step of the axis.
 */
static double bandwidth(const struct side *v, double range)
{
	double mean = 0, square = 0, n = (double)v->s->n;
	double quartiles = (quantile(v->ns, v->s->n, 0.75) - quantile(v->ns, v->s->n, 0.25)) / 1.34;

	for (size_t i = 0; i < v->s->n; i++)
		mean += v->ns[i] / n;
	for (size_t i = 0; i < v->s->n; i++)
		square += (v->ns[i] - mean) * (v->ns[i] - mean);
	square = n > 1 ? sqrt(square / (n - 1)) : 0;
	return fmax(range / 250, 0.9 * (quartiles > 0 ? fmin(square, quartiles) : square) * pow(n, -0.2));
}

/* A kernel density of Gauss's curve; gnuplot's own "smooth kdensity" interpolates, and so falls below zero. */
static void set_density(struct assay_text *t, size_t number, const struct side *v, const struct assay_plot_unit *unit,
			double lo, double hi)
{
	const double factor = 1e-9 / unit->factor, width = bandwidth(v, hi - lo);
	const size_t step = (v->s->n + MOST_SAMPLES - 1) / MOST_SAMPLES;

	assay_text_addf(t, "$density%zu << END\n", number);
	for (unsigned k = 0; k <= DENSITY_POINTS; k++) {
		const double x = lo + (hi - lo) * k / DENSITY_POINTS;
		double sum = 0;

		for (size_t i = 0; i < v->s->n; i += step)
			sum += exp(-0.5 * pow((x - v->ns[i]) / width, 2));
		assay_text_addf(t, "%.9g %.6g\n", x * factor, sum * (double)step / ((double)v->s->n * width));
	}
	assay_text_add(t, "END\n");
}

/* The share of the samples up to each, over the whole axis. */
static void set_side(struct assay_text *t, size_t number, const struct side *v, const struct assay_plot_unit *unit,
		     double lo, double hi)
{
	const double factor = 1e-9 / unit->factor, each = 100.0 / (double)v->s->n;
	size_t step = (v->s->n + MOST_SAMPLES - 1) / MOST_SAMPLES;

	assay_text_addf(t, "$share%zu << END\n%.9g 0\n", number, fmin(lo, v->ns[0]) * factor);
	for (size_t i = 0; i < v->s->n; i += step)
		assay_text_addf(t, "%.9g %.6g\n", v->ns[i] * factor, each * (double)(i + 1));
	assay_text_addf(t, "%.9g 100\nEND\n", fmax(hi, v->ns[v->s->n - 1]) * factor);
}

/* The description of a side, for the legend. */
static void describe(const struct assay_plot_distribution *of, const struct side *v, double lo, double hi,
		     char buf[512])
{
	const struct assay_sample_set *s = v->s;
	const uint64_t all = s->n_values ? s->n_values : s->n;
	const size_t size = 512;
	char median[64], name[ASSAY_PLOT_TEXT];
	size_t far = outside(v, lo, hi) * all / s->n, n;

	assay_plot_fit(s->name, 40, name);
	assay_metric_text(tag_of(of), v->median * 1e-9, unit_of(of), true, median, sizeof(median));
	n = (size_t)snprintf(buf, size, "%s: median %s of %" PRIu64 " %s%s", name, median, all,
			     s->n_values ? "value" : "sample", all == 1 ? "" : "s");
	if (s->n_dropped && n < size)
		n += (size_t)snprintf(buf + n, size - n, ", %zu disturbed left out", s->n_dropped);
	if (far && n < size)
		snprintf(buf + n, size - n, ", %zu beyond the axis", far);
}

static void write_data(const struct assay_plot_distribution *s, const struct side *v, struct assay_text *t)
{
	struct assay_plot_legend legend = { .left = 110 };
	struct assay_plot_unit unit;
	struct assay_text numbers = { 0 };
	char below[256], name[512];
	size_t n;
	double lo, hi;
	unsigned top, key;

	find_range(v, s->n_sides, &lo, &hi);
	unit = assay_plot_unit(tag_of(s), unit_of(s), hi * 1e-9);
	n = (size_t)snprintf(below, sizeof(below), "%s", s->machine ? s->machine : "");
	if (s->n_sides == 2 && n < sizeof(below))
		snprintf(below + n, sizeof(below) - n, "%smedians differ by %+.2f %%", n ? ". " : "",
			 100 * (v[1].median / v[0].median - 1));
	key = assay_plot_set_head(t, s->key, below);
	for (size_t i = 0; i < s->n_sides; i++) {
		set_density(t, i + 1, &v[i], &unit, lo, hi);
		set_side(t, i + 1, &v[i], &unit, lo, hi);
		describe(s, &v[i], lo, hi, name);
		assay_plot_legend_add(&legend, name, (int)i + 1);
		assay_text_addf(&numbers, "MEDIAN[%zu] = %.9g\n", i + 1, v[i].median * 1e-9 / unit.factor);
	}
	assay_text_addf(t, "array MEDIAN[2]\n%s", numbers.s ? numbers.s : "");
	t->failed |= numbers.failed;
	assay_text_release(&numbers);
	top = key + assay_plot_set_legend(t, &legend) + 14;
	assay_plot_set_text(t, "SHARED", s->metric ? "values" : "samples");
	assay_plot_set_text(t, "XLABEL", s->metric ? s->metric : "time per call");
	assay_plot_set_ticks(t, "XTICK",
			     &(struct assay_plot_scale){ tag_of(s), unit_of(s), lo * 1e-9, hi * 1e-9, unit.factor,
							 false, MOST_TICKS });
	assay_text_addf(t, "XLO = %.9g\nXHI = %.9g\nTOP = %u\nKEY_AT = %u\nPANEL = %d\n", lo * 1e-9 / unit.factor,
			hi * 1e-9 / unit.factor, top, key + 12, PANEL_HEIGHT);
	assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH, top + 2 * PANEL_HEIGHT + 24 + 60);
}

int assay_plot_distribution_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	struct side v[2] = { { 0 } };
	int rc = sort_sides(&p->distribution, v, err);

	if (!rc)
		write_data(&p->distribution, v, t);
	free(v[0].ns);
	free(v[1].ns);
	return rc;
}

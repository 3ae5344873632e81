/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline of Williams, Waterman and Patterson (CACM 2009): what the run measured as limits, each case as a point
 * below them, and its share of its own limit. Limits and cases have as many threads each and one device: a GPU has a
 * roof of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "model/quantity.h"
#include "reports/plot/parts.h"
#include "reports/run/parts.h"

#define ROOF_HEIGHT 360
#define MAX_PEAKS   12
/* Peaks that differ by less are one line, with the names of both. */
#define SAME_PEAK   1.06
#define MOST_TICKS  8
#define NAME_HEIGHT 14

static const char *const levels[] = { "l1", "l2", "l3", "dram" };
static const char *const level_names[] = { "L1", "L2", "L3", "DRAM" };
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))
static const char *const ariths[] = { "f32", "i8" }; /* that a roofline should have */

struct peak {
	char name[80];
	double rate;
};

struct roofline {
	const struct assay_run *run;
	const char *only;
	unsigned threads;
	const char *device;         /* "": the CPU */
	double bandwidth[N_LEVELS]; /* 0: not measured */
	struct peak peaks[MAX_PEAKS];
	size_t n_peaks;
	const struct assay_result **cases;                /* with a share */
	size_t n_cases, n_left_out, n_other, n_elsewhere; /* those of other devices */
	const char *elsewhere;                            /* one of these devices */
	struct assay_strings families;
};

static double value_of(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	return r->status == ASSAY_STATUS_OK && m ? m->value : NAN;
}

/* Is it drawn: selected, no limit itself, and with a share? */
static bool is_drawn(const struct roofline *f, const struct assay_result *r)
{
	char portable[ASSAY_KEY_MAX];

	assay_case_portable_key(&r->c, portable);
	return !assay_case_is_limit(&r->c) && value_of(r, "roof_frac") > 0 &&
	       (!f->only || assay_glob_match(f->only, r->c.key) || assay_glob_match(f->only, portable));
}

static bool is_beside(const struct assay_case *a, const struct assay_case *b)
{
	return a->threads == b->threads && !strcmp(a->device, b->device);
}

/* The device and number of threads of most cases with a share. */
static void choose_roof(struct roofline *r)
{
	const struct assay_run *run = r->run;
	size_t most = 0;

	r->threads = 1;
	r->device = "";
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_case *c = &run->results[i].c;
		size_t n = 0;

		for (size_t k = i; k < run->n_results && is_drawn(r, &run->results[i]); k++)
			n += is_drawn(r, &run->results[k]) && is_beside(&run->results[k].c, c);
		if (n > most) {
			most = n;
			r->threads = c->threads;
			r->device = c->device;
		}
	}
}

static void take_peak(struct roofline *r, const struct assay_result *result)
{
	const char *name = result->c.op + strlen("peak.");
	const size_t len = strcspn(name, "_");
	const double rate = value_of(result, "ops_per_s");
	size_t i = 0;

	while (i < r->n_peaks && (strlen(r->peaks[i].name) != len || strncmp(r->peaks[i].name, name, len)))
		i++;
	if (!(rate > 0) || i == MAX_PEAKS)
		return;
	if (i == r->n_peaks) {
		r->peaks[r->n_peaks++].rate = 0;
		snprintf(r->peaks[i].name, sizeof(r->peaks[i].name), "%.*s", (int)len, name);
	}
	r->peaks[i].rate = fmax(r->peaks[i].rate, rate);
}

static void take_limits(struct roofline *r)
{
	for (size_t i = 0; i < r->run->n_results; i++) {
		const struct assay_result *result = &r->run->results[i];
		double rate = value_of(result, "bytes_per_s");

		if (result->c.threads != r->threads || strcmp(result->c.device, r->device) ||
		    !assay_case_is_limit(&result->c))
			continue;
		if (!strncmp(result->c.op, "peak.", 5))
			take_peak(r, result);
		for (size_t k = 0; k < N_LEVELS && result->c.n_axes && rate > 0; k++)
			if (!strcmp(result->c.axes[0].text, levels[k]))
				r->bandwidth[k] = fmax(r->bandwidth[k], rate);
	}
}

static int by_rate(const void *a, const void *b)
{
	double x = ((const struct peak *)a)->rate, y = ((const struct peak *)b)->rate;

	return (x > y) - (x < y);
}

/* Sort the peaks and put names of those together that would be written over each other. */
static void merge_peaks(struct roofline *r)
{
	size_t kept = 0;

	qsort(r->peaks, r->n_peaks, sizeof(*r->peaks), by_rate);
	for (size_t i = 0; i < r->n_peaks; i++) {
		struct peak *last = &r->peaks[kept ? kept - 1 : 0];
		char name[sizeof(last->name)];

		if (!kept || r->peaks[i].rate > SAME_PEAK * last->rate) {
			r->peaks[kept++] = r->peaks[i];
			continue;
		}
		snprintf(name, sizeof(name), "%.38s, %.38s", last->name, r->peaks[i].name);
		memcpy(last->name, name, sizeof(name));
		last->rate = r->peaks[i].rate;
	}
	r->n_peaks = kept;
}

/* "matmul" of "matmul.ternary": from 1, in the order of the run. */
static size_t family_of(struct roofline *r, const struct assay_case *c)
{
	size_t len = strcspn(c->op, "."), i = 0;

	while (i < r->families.n && (strlen(r->families.v[i]) != len || strncmp(r->families.v[i], c->op, len)))
		i++;
	if (i == r->families.n && assay_strings_addn(&r->families, c->op, len, NULL))
		return 1;
	return i % ASSAY_PLOT_LINES + 1;
}

/* From the largest share to the least. */
static int by_share(const void *a, const void *b)
{
	const struct assay_result *x = *(const struct assay_result *const *)a,
				  *y = *(const struct assay_result *const *)b;
	const double s = value_of(x, "roof_frac"), t = value_of(y, "roof_frac");

	return s != t ? (s < t ? 1 : -1) : strcmp(x->c.key, y->c.key);
}

static int take_cases(struct roofline *r, struct assay_err *err)
{
	char why[512];

	r->cases = calloc(r->run->n_results + 1, sizeof(*r->cases));
	if (!r->cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a roofline");
	for (size_t i = 0; i < r->run->n_results; i++) {
		const struct assay_result *result = &r->run->results[i];

		if (!is_drawn(r, result))
			continue;
		if (strcmp(result->c.device, r->device)) {
			r->n_elsewhere++;
			r->elsewhere = result->c.device[0] ? result->c.device : "the CPU";
		} else if (result->c.threads != r->threads)
			r->n_other++;
		else
			r->cases[r->n_cases++] = result;
	}
	if (r->n_cases) {
		qsort(r->cases, r->n_cases, sizeof(*r->cases), by_share);
		r->n_left_out = r->n_cases > ASSAY_PLOT_ROWS ? r->n_cases - ASSAY_PLOT_ROWS : 0;
		r->n_cases -= r->n_left_out;
		return 0;
	}
	assay_run_cells_no_roof(r->run, why, sizeof(why));
	return assay_err_set(err, ASSAY_ENOTFOUND, "no case of run %lld has a limit%s%.300s", (long long)r->run->id,
			     why[0] ? ": " : "", why);
}

static bool has_peak(const struct roofline *r, const char *arith)
{
	for (size_t i = 0; i < r->n_peaks; i++)
		if (strstr(r->peaks[i].name, arith))
			return true;
	return false;
}

/* "not measured: L1 bandwidth, f32 peak"; of a device nobody measures the levels one by one. */
static void add_missing(const struct roofline *r, struct assay_text *t)
{
	const char *sep = "not measured: ";

	for (size_t k = r->device[0] ? N_LEVELS - 1 : 0; k < N_LEVELS; k++)
		if (!(r->bandwidth[k] > 0)) {
			assay_text_addf(t, "%s%s bandwidth", sep, level_names[k]);
			sep = ", ";
		}
	for (size_t k = 0; k < sizeof(ariths) / sizeof(ariths[0]); k++)
		if (!has_peak(r, ariths[k])) {
			assay_text_addf(t, "%s%s peak", sep, ariths[k]);
			sep = ", ";
		}
}

/* The limits that the run lacks, and the cases outside of the picture. */
static void tell_missing(const struct roofline *r, char *buf, size_t size)
{
	struct assay_text t = { 0 };

	add_missing(r, &t);
	if (!r->device[0] && !r->n_elsewhere)
		assay_text_addf(&t, "%sno GPU measured", t.len ? "; " : "");
	if (r->n_elsewhere)
		assay_text_addf(&t, "%s%zu case%s on %s %s a roof of %s own", t.len ? "; " : "", r->n_elsewhere,
				r->n_elsewhere == 1 ? "" : "s", r->elsewhere, r->n_elsewhere == 1 ? "has" : "have",
				r->n_elsewhere == 1 ? "its" : "their");
	if (r->n_other)
		assay_text_addf(&t, ". %zu case%s with other thread counts left out", r->n_other,
				r->n_other == 1 ? "" : "s");
	if (r->n_left_out)
		assay_text_addf(&t, ". the %zu with the least share left out", r->n_left_out);
	snprintf(buf, size, "%s", t.s ? t.s : "");
	assay_text_release(&t);
}

struct frame {
	double x_lo, x_hi, y_lo, y_hi;
};

/* The memories stand in the legend, as line 11 and on. */
static void set_memories(struct assay_text *t, const struct roofline *r, const struct assay_plot_unit *unit,
			 struct assay_plot_legend *legend)
{
	char text[128], number[64];
	int n = 0;

	/* gnuplot evaluates the first bandwidth and peak even where there is none */
	assay_text_addf(t, "array BANDWIDTH[%zu]\nBANDWIDTH[1] = 1\n", N_LEVELS);
	for (size_t k = 0; k < N_LEVELS; k++) {
		if (!(r->bandwidth[k] > 0))
			continue;
		assay_metric_text("bytes_per_s", r->bandwidth[k], "B/s", true, number, sizeof(number));
		snprintf(text, sizeof(text), "%s %s", level_names[k], number);
		assay_text_addf(t, "BANDWIDTH[%d] = %.9g\n", ++n, r->bandwidth[k] / unit->factor);
		assay_plot_legend_add(legend, text, 10 + n);
	}
	assay_text_addf(t, "N_BAND = %d\n", n);
}

/* The names of the peaks stand to the right of the picture, one above the other where the lines are close. */
static void set_peaks(struct assay_text *t, const struct roofline *r, const struct assay_plot_unit *unit,
		      const struct frame *f)
{
	struct assay_plot_array peaks = { 0 };
	char number[64];
	double y = -INFINITY;

	assay_text_addf(t, "array PEAK_RATE[%d]\nPEAK_RATE[1] = 1\narray PEAK_Y[%d]\n", MAX_PEAKS, MAX_PEAKS);
	for (size_t i = 0; i < r->n_peaks; i++) {
		const double rate = r->peaks[i].rate;

		assay_metric_text("ops_per_s", rate, "op/s", true, number, sizeof(number));
		assay_plot_array_addf(&peaks, "%s peak %s", r->peaks[i].name, number);
		y = fmax(y + NAME_HEIGHT, ROOF_HEIGHT * log(rate / f->y_lo) / log(f->y_hi / f->y_lo));
		assay_text_addf(t, "PEAK_RATE[%zu] = %.9g; PEAK_Y[%zu] = %.0f\n", peaks.n, rate / unit->factor, peaks.n,
				y);
	}
	assay_plot_array_set(t, "PEAK", &peaks);
}

/* The points, and their rows below. Returns the height of these. */
static unsigned set_cases(struct assay_text *t, struct roofline *r, const struct assay_plot_unit *unit,
			  struct assay_plot_legend *legend)
{
	struct assay_plot_array names = { 0 }, shares = { 0 };

	assay_text_add(t, "$cases << END\n");
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_result *c = r->cases[i];
		double share = 100 * value_of(c, "roof_frac");

		/* what states no arithmetic has a row alone; gnuplot leaves out what is NaN */
		assay_text_addf(t, "%zu %.9g %.9g %.9g %zu\n", i + 1, value_of(c, "arith_intensity"),
				value_of(c, "ops_per_s") / unit->factor, share, family_of(r, &c->c));
		assay_plot_add_row(&names, c->c.key, 58);
		assay_plot_array_addf(&shares, share < 0.95 ? "%.1f %% of %s%s" : "%.0f %% of %s%s", share,
				      c->roof.name[0] ? c->roof.name : "its roof", assay_limit_mark(share / 100));
	}
	assay_text_add(t, "END\n");
	for (size_t i = 0; i < r->families.n && i < ASSAY_PLOT_LINES; i++)
		assay_plot_legend_add(legend, r->families.v[i], (int)i + 1);
	assay_plot_array_set(t, "SHARE", &shares);
	return assay_plot_set_rows(t, &names);
}

static struct frame find_range(const struct roofline *r, const struct assay_plot_unit *unit)
{
	double x_lo = INFINITY, x_hi = -INFINITY, y_lo = INFINITY, y_hi = -INFINITY, most = 0, left;

	for (size_t i = 0; i < r->n_cases; i++) {
		double x = value_of(r->cases[i], "arith_intensity"), y = value_of(r->cases[i], "ops_per_s");

		if (!(x > 0) || !(y > 0))
			continue;
		x_lo = fmin(x_lo, x);
		x_hi = fmax(x_hi, x);
		y_lo = fmin(y_lo, y);
		y_hi = fmax(y_hi, y);
	}
	if (!(x_lo <= x_hi)) {
		x_lo = x_hi = 1;
		y_lo = y_hi = unit->factor;
	}
	for (size_t i = 0; i < r->n_peaks; i++)
		most = fmax(most, r->peaks[i].rate);
	/* as far as the bend of the slowest memory, where roofs become flat */
	for (size_t k = 0; k < N_LEVELS; k++)
		if (r->bandwidth[k] > 0 && most > 0)
			x_hi = fmax(x_hi, most / r->bandwidth[k]);
	left = x_lo / 4;
	for (size_t k = 0; k < N_LEVELS; k++)
		if (r->bandwidth[k] > 0)
			y_lo = fmin(y_lo, left * r->bandwidth[k] * 1.5);
	return (struct frame){ left, x_hi * 12, y_lo / 2, fmax(most, y_hi) * 2.2 };
}

static void set_range(struct assay_text *t, const struct frame *f, const struct assay_plot_unit *unit)
{
	assay_text_addf(t, "XLO = %.9g\nXHI = %.9g\nYLO = %.9g\nYHI = %.9g\n", f->x_lo, f->x_hi, f->y_lo / unit->factor,
			f->y_hi / unit->factor);
	assay_plot_set_text(t, "YLABEL", "operations per second");
	assay_plot_set_ticks(
		t, "YTICK",
		&(struct assay_plot_scale){ "ops_per_s", "op/s", f->y_lo, f->y_hi, unit->factor, true, MOST_TICKS });
}

static int draw(struct roofline *r, struct assay_text *t, struct assay_err *err)
{
	struct frame frame;
	struct assay_plot_legend legend = { .left = 112 };
	struct assay_plot_unit unit;
	char title[128], below[512], missing[256];
	unsigned key, top, rows;
	double most = 0;
	int rc;

	choose_roof(r);
	rc = take_cases(r, err);
	if (rc)
		return rc;
	take_limits(r);
	for (size_t i = 0; i < r->n_cases; i++)
		most = fmax(most,
			    isfinite(value_of(r->cases[i], "ops_per_s")) ? value_of(r->cases[i], "ops_per_s") : 0);
	unit = assay_plot_unit("ops_per_s", "op/s", most > 0 ? most : 1e9);
	tell_missing(r, missing, sizeof(missing));
	merge_peaks(r);
	if (r->device[0])
		snprintf(title, sizeof(title), "roofline of run %lld on %s", (long long)r->run->id, r->device);
	else
		snprintf(title, sizeof(title), "roofline of run %lld, %u thread%s", (long long)r->run->id, r->threads,
			 r->threads == 1 ? "" : "s");
	snprintf(below, sizeof(below), "%.80s. %zu case%s; %.256s", r->run->machine.label, r->n_cases,
		 r->n_cases == 1 ? "" : "s", missing);
	key = assay_plot_set_head(t, title, below);
	frame = find_range(r, &unit);
	rows = set_cases(t, r, &unit, &legend);
	set_memories(t, r, &unit, &legend);
	set_peaks(t, r, &unit, &frame);
	set_range(t, &frame, &unit);
	top = key + assay_plot_set_legend(t, &legend) + 16;
	assay_text_addf(t, "KEY_AT = %u\nTOP = %u\nROOF_HEIGHT = %d\nROWS_TOP = %u\n", key + 12, top, ROOF_HEIGHT,
			top + ROOF_HEIGHT + 90);
	assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH, top + ROOF_HEIGHT + 90 + rows + 40);
	return 0;
}

int assay_plot_roofline_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	struct roofline r = { .run = p->run.run, .only = p->run.only };
	int rc = draw(&r, t, err);

	assay_strings_release(&r.families);
	free(r.cases);
	return rc;
}

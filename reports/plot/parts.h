/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of all kinds of plots are made of: variables and data for gnuplot, units, and text cut to fit.
 * Internal to the plots.
 */
#ifndef ASSAY_REPORTS_PLOT_PARTS_H
#define ASSAY_REPORTS_PLOT_PARTS_H

#include "base/text.h"
#include "reports/plot/plot.h"

#define ASSAY_PLOT_WIDTH 960 /* pixels of a picture at 1× */
#define ASSAY_PLOT_LINES                                                                                               \
	8 /* most lines that colours and shapes tell apart; reports/plot/gnuplot/common.gp has as many */
#define ASSAY_PLOT_TEXT 320 /* bytes of a text that assay_plot_fit() made of at most 80 characters */

/* "NAME = 'text'": text from outside is only ever put between single quotes, in which gnuplot expands nothing. */
void assay_plot_set_text(struct assay_text *t, const char *name, const char *text);
void assay_plot_set_number(struct assay_text *t, const char *name, double value);

/* Text as an array, of which gnuplot wants to know the length before: add to it, then set it. */
struct assay_plot_array {
	struct assay_text list;
	size_t n, widest; /* widest: characters, of rows */
};
void assay_plot_array_add(struct assay_plot_array *a, const char *text);
void assay_plot_array_addf(struct assay_plot_array *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "array NAME[n] = [...]", or one that is empty; @a is released. */
void assay_plot_array_set(struct assay_text *t, const char *name, struct assay_plot_array *a);

/* How numbers are shown: a factor of their base unit, and what stands behind them. */
struct assay_plot_unit {
	char name[48]; /* "": nothing */
	double factor;
};
/* The unit in which tables would write @value of the metric @tag. */
struct assay_plot_unit assay_plot_unit(const char *tag, const char *unit, double value);

/* An axis from @lo to @hi, in base units of the metric @tag; data are in @factor of these. */
struct assay_plot_scale {
	const char *tag, *unit;
	double lo, hi, factor;
	bool logarithmic;
	size_t most; /* ticks that there is room for, about */
};
/*
 * The words NAME[1] to NAME[N_NAME] of its ticks, and NAME_AT, their places. Each is in the unit that tables would
 * write it in, so that "500 ns" is followed by "1 µs" and not by "1000 ns".
 */
void assay_plot_set_ticks(struct assay_text *t, const char *name, const struct assay_plot_scale *s);

/* @s in at most @most (80 or fewer) characters: what does not fit is left out of its middle. */
void assay_plot_fit(const char *s, size_t most, char buf[ASSAY_PLOT_TEXT]);
/* Its characters. */
size_t assay_plot_chars(const char *s);

/*
 * Title and the line below it; a long title takes several lines. Returns their height in pixels, behind which a kind
 * may put what it likes.
 */
unsigned assay_plot_set_head(struct assay_text *t, const char *title, const char *below);
/* A row, or several, of names with their marks, between @left and the right margin. */
struct assay_plot_legend {
	struct assay_plot_array words;
	struct assay_text places;
	double left, x;
	unsigned row;
};
/* @kind says to the program of the plot how the mark is drawn. */
void assay_plot_legend_add(struct assay_plot_legend *l, const char *word, int kind);
/* Set KEY, KEY_KIND, KEY_X and KEY_Y, pixels from the top of the legend; @l is released. Returns its height. */
unsigned assay_plot_set_legend(struct assay_text *t, struct assay_plot_legend *l);

/* "8c1f0aa4+", "@none" where there is no commit; without what gnuplot takes for a format. */
void assay_plot_commit(const char *hash, bool dirty, const char *none, char buf[12]);

/*
 * The data and variables of a kind. They set WIDTH, HEIGHT, and what gnuplot/KIND.gp says at its top. ASSAY_ENOTFOUND
 * where there is nothing to draw.
 */
typedef int assay_plot_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err);
assay_plot_data assay_plot_trend_data, assay_plot_comparison_data, assay_plot_roofline_data,
	assay_plot_distribution_data, assay_plot_scaling_data, assay_plot_sweep_data, assay_plot_generate_data;

/* ---- rows ---- */

/* A row a case: names to the left of a plot, as tall as there are rows. Internal to the plots. */

/* More are left out, with a word about it: nobody reads them, and a picture has its limits. */
#define ASSAY_PLOT_ROWS 300

/* Height of one of @n rows. */
unsigned assay_plot_row_height(size_t n);
/*
 * Set ROW, the names, ROWS, how many, ROW_HEIGHT and LEFT, the pixels that the names take; @names is released. Returns
 * the height of all rows.
 */
unsigned assay_plot_set_rows(struct assay_text *t, struct assay_plot_array *names);
/* Add a name, cut to @most characters. */
void assay_plot_add_row(struct assay_plot_array *names, const char *name, size_t most);

/* ---- program ---- */

/* The files under reports/plot/gnuplot/, which this program carries, and the colours in them. Internal to the plots. */

/* The text of the file @name ("trend.gp"); "" where there is none of this name. */
const char *assay_plot_program(const char *name);

/* A colour of the light theme and what it is in the dark one, both as "#rrggbb". */
struct assay_plot_colour {
	char light[8], dark[8];
};
/* Colour @i of both; false behind the last. */
bool assay_plot_colour(size_t i, struct assay_plot_colour *out);

/*
 * Turn the SVG that gnuplot wrote into one for people: @about becomes its title, and colours "#rrggbb". @style adds
 * rules that turn it dark where the reader's system is.
 */
void assay_plot_finish_svg(const char *about, bool style, const char *svg, struct assay_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The axis and the marks of a trend. Internal to the plots. */
#ifndef ASSAY_REPORTS_PLOT_TREND_H
#define ASSAY_REPORTS_PLOT_TREND_H

#include "reports/plot/parts.h"

/* One run, in the base unit; value, lo and hi are NaN where it has none. */
struct assay_trend_dot {
	double x, value, lo, hi;
	size_t line, group; /* group: of the runs of a commit, in order of their first run; by date unused */
	const struct assay_trend_point *run;
	bool missing; /* otherwise a run without a value failed */
};

/* All of a plot: in order of time, once they have places in the order of these. */
struct assay_trend_dots {
	struct assay_trend_dot *v;
	size_t n, n_values;
	double x_lo, x_hi;
};

/* Give each run its place. */
int assay_trend_places(const struct assay_plot_trend *s, struct assay_trend_dots *d, struct assay_err *err);
/* The labels below the axis; returns the height they take. */
unsigned assay_trend_axis(const struct assay_plot_trend *s, const struct assay_trend_dots *d, struct assay_text *t);
/* Levels, changes, releases and baselines; returns how many rows of words stand above the plot. */
unsigned assay_trend_flags(const struct assay_plot_trend *s, const struct assay_trend_dots *d,
			   const struct assay_plot_unit *unit, struct assay_text *t);

#endif

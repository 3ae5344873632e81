/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures: what each kind of plot shows, as plain structs, and the functions that have gnuplot draw it. The drawing
 * itself stands in gnuplot/KIND.gp; the C of a kind gives it numbers and text.
 */
#ifndef ASSAY_REPORTS_PLOT_PLOT_H
#define ASSAY_REPORTS_PLOT_PLOT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "model/gate_report.h"
#include "model/history.h"
#include "model/result.h"

/* In the order in which messages name them. */
enum assay_plot_kind {
	ASSAY_PLOT_TREND,        /* the runs of a case over time */
	ASSAY_PLOT_COMPARISON,   /* what came of a comparison, or of a gate: a row a case */
	ASSAY_PLOT_ROOFLINE,     /* the limits of a machine, and the cases below them */
	ASSAY_PLOT_DISTRIBUTION, /* the samples of a case */
	ASSAY_PLOT_SCALING,      /* what further threads bring */
	ASSAY_PLOT_SWEEP,        /* over one axis of a shape */
	ASSAY_PLOT_GENERATE,     /* where generation spends its time */
	ASSAY_N_PLOTS,
};

/* "trend"; the name of its gnuplot program, too. */
const char *assay_plot_name(enum assay_plot_kind kind);
/* The kind called @name; ASSAY_N_PLOTS where there is none. */
enum assay_plot_kind assay_plot_find(const char *name);

struct assay_plot_trend {
	const char *key;     /* title */
	const char *metric;  /* tag of what is shown, NULL: time */
	const char *unit;    /* then: its base unit */
	const char *machine; /* label for people, subtitle; NULL: the lines say it */
	/*
	 * Points and gaps in any order, but points with changes in order of time. Points whose median is not a positive
	 * number are left out; of a metric those without a value.
	 */
	const struct assay_trend_line *lines;
	size_t n_lines;
	const struct assay_trend_mark *marks;
	size_t n_marks;
	bool by_date; /* the axis is time; otherwise a place for each run, those of a commit side by side */
};

struct assay_plot_comparison {
	const struct assay_gate_report *gate;
	const char *machine; /* NULL: not named */
};

/* The results of a run that the kind shows; select with assay_stored_run(). */
struct assay_plot_run {
	const struct assay_run *run;
	const char
		*only; /* of a roofline: a glob or part of the keys to draw; NULL: all. Limits are of the whole run */
	const char *axis;   /* of a sweep; NULL: the one with most values */
	const char *metric; /* of a sweep: what goes up the axis, in place of the rate; NULL: none */
};

struct assay_plot_distribution {
	const char *key;
	const char *machine; /* NULL: not named */
	const char *metric;  /* tag of a histogram, NULL: times of calls */
	const char *unit;    /* then: its base unit */
	const struct assay_sample_set *sides;
	size_t n_sides; /* 1 or 2 */
};

struct assay_plot {
	enum assay_plot_kind kind;
	union {
		struct assay_plot_trend trend;
		struct assay_plot_comparison comparison;
		struct assay_plot_distribution distribution;
		struct assay_plot_run run; /* of ROOFLINE, SCALING, SWEEP and GENERATE */
	};
};

enum assay_plot_theme {
	ASSAY_THEME_AUTO, /* SVG: light or dark as the reader's system says, light in print; PNG: light */
	ASSAY_THEME_LIGHT,
	ASSAY_THEME_DARK,
};

/* All-zero is the default. */
struct assay_plot_options {
	enum assay_plot_theme theme;
	const volatile sig_atomic_t *interrupted; /* then drawing ends with ASSAY_EINTERRUPTED; NULL: never */
};

/*
 * The gnuplot program that draws @p to the file @output, with its data; self-contained. ASSAY_ENOTFOUND
 * says why there is nothing to draw. Pure, for tests and the curious.
 */
int assay_plot_script(const struct assay_plot *p, const struct assay_plot_options *o, bool png, const char *output,
		      struct assay_text *out, struct assay_err *err);

#endif

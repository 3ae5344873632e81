/* SPDX-License-Identifier: Apache-2.0 */
/* Trend plots: the stored runs of one case in order of time, drawn by gnuplot, and a page that lists such plots. */
#ifndef ASSAY_REPORTS_TREND_H
#define ASSAY_REPORTS_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* One run of the case; times per iteration. */
struct assay_trend_run {
	int64_t run_id;
	uint64_t started_ns; /* unix time */
	char commit[65];     /* "" unknown; shortened for the label */
	bool dirty;          /* drawn hollow */
	double median_ns, ci95_lo_ns, ci95_hi_ns;
};

/* Runs of one case on one machine, in any order. Those whose median is not a positive number are left out. */
struct assay_trend_series {
	const char *key;     /* title */
	const char *machine; /* label for people, subtitle; NULL: none */
	const struct assay_trend_run *runs;
	size_t n_runs;
};

/*
 * Draw @s into @path, whose ending says how: ".svg" or ".png". All or nothing: a file that was there stays until the
 * new one is complete. ASSAY_EUSAGE for another ending, ASSAY_ENOTFOUND when @s has no run, ASSAY_EUNAVAILABLE when
 * gnuplot is missing.
 */
int assay_trend_plot(const struct assay_trend_series *s, const char *path, struct assay_err *err);

/* The gnuplot program that assay_trend_plot() runs; it writes the picture to @output. Pure, for tests and the curious.
 */
int assay_trend_script(const struct assay_trend_series *s, bool png, const char *output, struct assay_text *out,
		       struct assay_err *err);

/*
 * A file name for the plot of a case, without a folder: '/' becomes '~', the rest stays readable, different keys give
 * different names. @ending is ".svg" or ".png"; @buf holds ASSAY_TREND_NAME_MAX.
 */
#define ASSAY_TREND_NAME_MAX 256
void assay_trend_file_name(const char *key, const char *ending, char *buf);

struct assay_trend_link {
	const char *key;
	const char *file;   /* relative to the page */
	const char *last;   /* median of the last run as text: "61.2 µs" */
	double change_frac; /* last / first - 1; NaN where there is nothing to compare */
	size_t n_runs;
};

/* Write @folder/index.html, one self-contained page with all plots. @machine may be NULL. */
int assay_trend_index(const char *folder, const char *machine, const struct assay_trend_link *links, size_t n,
		      struct assay_err *err);

#endif

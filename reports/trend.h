/* SPDX-License-Identifier: Apache-2.0 */
/* Trend plots: the stored runs of one case in order of time, drawn by gnuplot. */
#ifndef ASSAY_REPORTS_TREND_H
#define ASSAY_REPORTS_TREND_H

#include "reports/emitter.h"

/*
 * The gnuplot program of the plot; it writes the picture to @output. ASSAY_ENOTFOUND when @h has no run with a time.
 * Pure, for tests and the curious.
 */
int assay_trend_script(const struct assay_report_history *h, bool png, const char *output, struct assay_text *out,
		       struct assay_err *err);

/*
 * A file name for the plot of a case, without a folder: '/' becomes '~', the rest stays readable, different keys give
 * different names. @ending is ".svg" or ".png"; @buf holds ASSAY_TREND_NAME_MAX.
 */
#define ASSAY_TREND_NAME_MAX 256
void assay_trend_file_name(const char *key, const char *ending, char *buf);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A row a case: names to the left of a plot, as tall as there are rows. Internal to the plots. */
#ifndef ASSAY_REPORTS_PLOT_ROWS_H
#define ASSAY_REPORTS_PLOT_ROWS_H

#include "reports/plot/parts.h"

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

#endif

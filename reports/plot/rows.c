/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/plot/rows.h"

#define CHAR_WIDTH 6.5 /* pixels of a small letter, about */

unsigned assay_plot_row_height(size_t n)
{
	return n <= 40 ? 22 : 16;
}

void assay_plot_add_row(struct assay_plot_array *names, const char *name, size_t most)
{
	char text[ASSAY_PLOT_TEXT];
	size_t chars;

	assay_plot_fit(name, most, text);
	chars = assay_plot_chars(text);
	if (chars > names->widest)
		names->widest = chars;
	assay_plot_array_add(names, text);
}

unsigned assay_plot_set_rows(struct assay_text *t, struct assay_plot_array *names)
{
	const size_t n = names->n;
	const unsigned height = assay_plot_row_height(n);

	assay_text_addf(t, "ROW_HEIGHT = %u\nLEFT = %u\n", height, 30 + (unsigned)(CHAR_WIDTH * (double)names->widest));
	assay_plot_array_set(t, "ROW", names);
	return height * (unsigned)n;
}

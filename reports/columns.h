/* SPDX-License-Identifier: Apache-2.0 */
/* Text in aligned columns, for terminals: UTF-8 and colour codes take the width that is seen. */
#ifndef ASSAY_REPORTS_COLUMNS_H
#define ASSAY_REPORTS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define ASSAY_COLUMNS_MAX 12

struct assay_columns_row;

/* All-zero with @align set is an empty table; a failed allocation shows in @failed and in the text it is printed to. */
struct assay_columns {
	const char *align;  /* one letter a column: 'l' or 'r' */
	const char *indent; /* before each row; NULL: none */
	unsigned width;     /* wrap tails and lines to this; 0: never */
	struct assay_columns_row *rows;
	size_t n_rows, cap_rows;
	bool failed;
};

/* One row with a cell a column; cells are copied, NULL is empty. */
void assay_columns_row(struct assay_columns *t, const char *const *cells);
/* The first @n cells as above, then @tail running over the other columns, wrapped under itself. */
void assay_columns_tail(struct assay_columns *t, const char *const *cells, size_t n, const char *tail);
/* A line of its own that takes no part in the widths, @indent columns in, wrapped under itself. */
void assay_columns_line(struct assay_columns *t, unsigned indent, const char *text);
void assay_columns_print(const struct assay_columns *t, struct assay_text *out);
/* The same as a table of HTML, whose first row is its head; columns in which all is empty are left out. */
void assay_columns_html(const struct assay_columns *t, struct assay_text *out);
void assay_columns_release(struct assay_columns *t);

/* Columns of the terminal that its rows take, tails and lines left aside. */
size_t assay_columns_natural_width(const struct assay_columns *t);

/* Columns that @s takes on a terminal: UTF-8 sequences count one, colour codes nothing. */
size_t assay_columns_width(const char *s);
/* Add @s to @out in lines of at most @width columns (0: any), the second and later ones indented by @indent. */
void assay_columns_wrap(struct assay_text *out, const char *s, size_t at, size_t indent, unsigned width);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Text in aligned columns: cells are kept until the widths are known, then printed in one go. */
#include "reports/columns.h"

#include <stdlib.h>
#include <string.h>

#include "reports/text_parts.h"

#define GAP 2

struct assay_columns_row {
	char *cells[ASSAY_COLUMNS_MAX];
	char *tail; /* follows the first n_cells columns */
	size_t n_cells;
	bool line; /* only the tail, at column `indent` */
	unsigned indent;
};

size_t assay_columns_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++) {
		if (assay_is_paint(s))
			s += ASSAY_PAINT_BYTES - 1;
		else if (((unsigned char)*s & 0xc0) != 0x80)
			n++;
	}
	return n;
}

static struct assay_columns_row *new_row(struct assay_columns *t)
{
	if (t->n_rows == t->cap_rows) {
		size_t cap = t->cap_rows ? 2 * t->cap_rows : 32;
		struct assay_columns_row *rows = realloc(t->rows, cap * sizeof(*rows));

		if (!rows) {
			t->failed = true;
			return NULL;
		}
		t->rows = rows;
		t->cap_rows = cap;
	}
	memset(&t->rows[t->n_rows], 0, sizeof(t->rows[0]));
	return &t->rows[t->n_rows++];
}

static char *copy(struct assay_columns *t, const char *s)
{
	char *d = strdup(s ? s : "");

	if (!d)
		t->failed = true;
	return d;
}

void assay_columns_tail(struct assay_columns *t, const char *const *cells, size_t n, const char *tail)
{
	struct assay_columns_row *r = new_row(t);

	if (!r)
		return;
	for (size_t i = 0; i < n && i < ASSAY_COLUMNS_MAX; i++)
		r->cells[i] = copy(t, cells[i]);
	r->n_cells = n;
	if (tail)
		r->tail = copy(t, tail);
}

void assay_columns_row(struct assay_columns *t, const char *const *cells)
{
	assay_columns_tail(t, cells, strlen(t->align), NULL);
}

void assay_columns_line(struct assay_columns *t, unsigned indent, const char *text)
{
	struct assay_columns_row *r = new_row(t);

	if (!r)
		return;
	r->line = true;
	r->indent = indent;
	r->tail = copy(t, text);
}

static void blanks(struct assay_text *out, size_t n)
{
	static const char blank[] = "                                ";

	while (n) {
		size_t k = n < sizeof(blank) - 1 ? n : sizeof(blank) - 1;

		assay_text_addn(out, blank, k);
		n -= k;
	}
}

void assay_columns_wrap(struct assay_text *out, const char *s, size_t at, size_t indent, unsigned width)
{
	bool first = true;

	while (*s) {
		size_t len = strcspn(s, " ");
		char word[512];
		size_t w, n = len < sizeof(word) - 1 ? len : sizeof(word) - 1;

		memcpy(word, s, n);
		word[n] = '\0';
		w = assay_columns_width(word);
		if (!first) {
			if (width && at + 1 + w > width) {
				assay_text_add(out, "\n");
				blanks(out, indent);
				at = indent;
			} else {
				assay_text_add(out, " ");
				at++;
			}
		}
		assay_text_addn(out, s, len);
		at += w;
		first = false;
		s += len;
		if (*s == ' ')
			s++;
	}
}

static void print_cells(const struct assay_columns *t, const struct assay_columns_row *r, const size_t *widths,
			struct assay_text *out)
{
	size_t n_cols = strlen(t->align), last = 0, at = 0;
	const char *indent = t->indent ? t->indent : "";

	for (size_t c = 0; c < r->n_cells; c++)
		if (r->cells[c] && r->cells[c][0])
			last = c + 1;
	if (r->tail)
		last = r->n_cells;

	assay_text_add(out, indent);
	at = assay_columns_width(indent);
	for (size_t c = 0, shown = 0; c < last; c++) {
		const char *cell = r->cells[c] ? r->cells[c] : "";
		size_t pad = widths[c] - assay_columns_width(cell);

		if (!widths[c])
			continue;
		if (shown++) {
			blanks(out, GAP);
			at += GAP;
		}
		if (t->align[c] == 'r')
			blanks(out, pad);
		assay_text_add(out, cell);
		if (t->align[c] != 'r' && (c + 1 < last || r->tail))
			blanks(out, pad);
		at += widths[c];
	}
	if (r->tail) {
		if (r->n_cells < n_cols && last) {
			blanks(out, GAP);
			at += GAP;
		}
		assay_columns_wrap(out, r->tail, at, at, t->width);
	}
	assay_text_add(out, "\n");
}

static void find_widths(const struct assay_columns *t, size_t *widths)
{
	memset(widths, 0, ASSAY_COLUMNS_MAX * sizeof(*widths));
	for (size_t i = 0; i < t->n_rows && !t->failed; i++)
		for (size_t c = 0; c < t->rows[i].n_cells; c++) {
			size_t w = assay_columns_width(t->rows[i].cells[c]);

			if (w > widths[c])
				widths[c] = w;
		}
}

size_t assay_columns_natural_width(const struct assay_columns *t)
{
	size_t widths[ASSAY_COLUMNS_MAX], sum = 0;

	find_widths(t, widths);
	for (size_t c = 0; c < ASSAY_COLUMNS_MAX; c++)
		if (widths[c])
			sum += (sum ? GAP : 0) + widths[c];
	return sum + (t->indent ? assay_columns_width(t->indent) : 0);
}

void assay_columns_print(const struct assay_columns *t, struct assay_text *out)
{
	size_t widths[ASSAY_COLUMNS_MAX];

	if (t->failed) {
		out->failed = true;
		return;
	}
	find_widths(t, widths);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct assay_columns_row *r = &t->rows[i];

		if (!r->line) {
			print_cells(t, r, widths, out);
			continue;
		}
		blanks(out, r->tail[0] ? r->indent : 0);
		assay_columns_wrap(out, r->tail, r->indent, r->indent + GAP, t->width);
		assay_text_add(out, "\n");
	}
}

/* Where the page is narrow a row is a card, whose cells begin with the heading of their column. */
static void add_html_row(const struct assay_columns *t, const struct assay_columns_row *r, const size_t *widths,
			 bool head, struct assay_text *out)
{
	const struct assay_columns_row *heads = &t->rows[0];

	assay_text_add(out, "<tr role=\"row\">");
	for (size_t c = 0; c < strlen(t->align); c++) {
		if (!widths[c])
			continue;
		assay_text_addf(out, "<%s role=\"%s\"%s", head ? "th" : "td", head ? "columnheader" : "cell",
				t->align[c] == 'r' ? " class=\"number\"" : "");
		if (!head && c < heads->n_cells && heads->cells[c] && heads->cells[c][0]) {
			assay_text_add(out, " data-label=\"");
			assay_xml_add(out, heads->cells[c]);
			assay_text_add(out, "\"");
		}
		assay_text_add(out, ">");
		assay_xml_add(out, c < r->n_cells && r->cells[c] ? r->cells[c] : "");
		assay_text_add(out, head ? "</th>" : "</td>");
	}
	assay_text_add(out, "</tr>\n");
}

void assay_columns_html(const struct assay_columns *t, struct assay_text *out)
{
	size_t widths[ASSAY_COLUMNS_MAX];

	out->failed |= t->failed;
	if (t->failed || !t->n_rows)
		return;
	find_widths(t, widths);
	assay_text_add(out, "<div class=\"scroll\"><table class=\"cards\" role=\"table\">\n<thead>");
	add_html_row(t, &t->rows[0], widths, true, out);
	assay_text_add(out, "</thead>\n<tbody>\n");
	for (size_t i = 1; i < t->n_rows; i++)
		if (!t->rows[i].line)
			add_html_row(t, &t->rows[i], widths, false, out);
	assay_text_add(out, "</tbody>\n</table></div>\n");
}

void assay_columns_release(struct assay_columns *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		for (size_t c = 0; c < ASSAY_COLUMNS_MAX; c++)
			free(t->rows[i].cells[c]);
		free(t->rows[i].tail);
	}
	free(t->rows);
	t->rows = NULL;
	t->n_rows = t->cap_rows = 0;
}

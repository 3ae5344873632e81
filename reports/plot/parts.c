/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of gnuplot programs. Between double quotes gnuplot would run what stands between backquotes. */
#include "reports/plot/parts.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/quantity.h"

#define TITLE_CHARS 100 /* of the title's font in the width of a picture, with some air */
#define LINE_HEIGHT 20

/*
 * What cannot be shown becomes '?': broken text is no valid SVG. Between single quotes gnuplot 5.4 takes two quotes for
 * one only behind another character, so that text with a quote stands between double ones, all but letters in octal: a
 * digit behind an octal number would be taken for a part of it.
 */
static void add_quoted(struct assay_text *t, const char *s, size_t n)
{
	const char *end = s + n, *from = s, *mark = memchr(s, '\'', n) ? "\"" : "'";
	uint32_t c;

	assay_text_add(t, mark);
	while (from < end && (c = assay_code_point_next(&s))) {
		if (*mark == '"' && c >= ' ' && c < 0x7f && !isalpha((int)c))
			assay_text_addf(t, "\\%03o", (unsigned)c);
		else if (c == ASSAY_CODE_POINT_BAD || s > end || c < ' ' || c == 0x7f)
			assay_text_add(t, "?");
		else
			assay_code_point_add(t, c);
		from = s;
	}
	assay_text_add(t, mark);
}

void assay_plot_set_text(struct assay_text *t, const char *name, const char *text)
{
	assay_text_addf(t, "%s = ", name);
	add_quoted(t, text, strlen(text));
	assay_text_add(t, "\n");
}

void assay_plot_set_number(struct assay_text *t, const char *name, double value)
{
	assay_text_addf(t, "%s = %.9g\n", name, value);
}

static void array_addn(struct assay_plot_array *a, const char *text, size_t n)
{
	if (a->n++)
		assay_text_add(&a->list, ", ");
	add_quoted(&a->list, text, n);
}

void assay_plot_array_add(struct assay_plot_array *a, const char *text)
{
	array_addn(a, text, strlen(text));
}

void assay_plot_array_addf(struct assay_plot_array *a, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assay_plot_array_add(a, text);
}

/* gnuplot has no empty arrays: N_NAME says how many there are. */
void assay_plot_array_set(struct assay_text *t, const char *name, struct assay_plot_array *a)
{
	assay_text_addf(t, "N_%s = %zu\n", name, a->n);
	if (a->n)
		assay_text_addf(t, "array %s[%zu] = [%s]\n", name, a->n, a->list.s ? a->list.s : "");
	t->failed |= a->list.failed;
	assay_text_release(&a->list);
	*a = (struct assay_plot_array){ 0 };
}

struct assay_plot_unit assay_plot_unit(const char *tag, const char *unit, double value)
{
	char text[64], base[ASSAY_METRIC_UNIT_MAX];
	struct assay_plot_unit u = { "", 1 };
	const char *space;

	assay_metric_text(tag, value, unit, true, text, sizeof(text));
	space = strchr(text, ' ');
	if (space && assay_unit_read(tag, space + 1, &u.factor, base))
		snprintf(u.name, sizeof(u.name), "%s", space + 1);
	return u;
}

/* 1, 2 or 5 times a power of ten, and at least @least. */
static double round_up(double least)
{
	const double digit = pow(10, floor(log10(least)));

	return least <= 1.0001 * digit   ? digit
	       : least <= 2.0001 * digit ? 2 * digit
	       : least <= 5.0001 * digit ? 5 * digit
					 : 10 * digit;
}

struct ticks {
	struct assay_plot_array words;
	struct assay_text places;
};

/* Tables write counts in full; on an axis they would be too long. */
static struct assay_plot_unit unit_of_tick(const struct assay_plot_scale *s, double value)
{
	static const char *const prefixes[] = { "k", "M", "G", "T" };
	struct assay_plot_unit u = assay_plot_unit(s->tag, s->unit, value);

	for (size_t i = 0;
	     i < sizeof(prefixes) / sizeof(prefixes[0]) && (!u.name[0] || i) && fabs(value) >= 1000 * u.factor; i++)
		u = (struct assay_plot_unit){ .name = { prefixes[i][0] }, .factor = 1000 * u.factor };
	return u;
}

/* With as many digits as tell it from the next, which is @step away. gnuplot takes a label for a format. */
static void add_tick(struct ticks *to, const struct assay_plot_scale *s, double value, double step)
{
	const struct assay_plot_unit u = unit_of_tick(s, value);
	const int digits = (int)fmax(0, ceil(-log10(step / u.factor) - 1e-6));

	assay_text_addf(&to->places, "%s%.9g", to->words.n ? ", " : "", value / s->factor);
	if (value == 0)
		assay_plot_array_add(&to->words, "0");
	else
		assay_plot_array_addf(&to->words, "%.*f%s%s", digits, value / u.factor, u.name[0] ? " " : "",
				      strcmp(u.name, "%") ? u.name : "%%");
}

/* Every @every-th decade, or 1, 2 and 5 of each. */
static void add_decades(struct ticks *to, const struct assay_plot_scale *s, int every, bool between)
{
	static const int steps[] = { 1, 2, 5 };

	for (int k = (int)floor(log10(s->lo)); k <= (int)ceil(log10(s->hi)); k++)
		for (size_t i = 0; i < (between ? 3 : 1); i++) {
			const double v = steps[i] * pow(10, k);

			if (k % every == 0 && v >= s->lo && v <= s->hi)
				add_tick(to, s, v, v);
		}
}

void assay_plot_set_ticks(struct assay_text *t, const char *name, const struct assay_plot_scale *s)
{
	struct ticks ticks = { 0 };
	char place[64];

	if (s->logarithmic) {
		const double decades = log10(s->hi / s->lo);
		const bool between = 3 * decades <= (double)s->most;

		add_decades(&ticks, s, between ? 1 : (int)fmax(1, ceil(decades / (double)s->most)), between);
	} else {
		const double step = round_up((s->hi - s->lo) / (double)s->most);

		for (double k = ceil(s->lo / step - 1e-6); k * step <= s->hi + 1e-6 * step; k++)
			add_tick(&ticks, s, k == 0 ? 0 : k * step, step);
	}
	snprintf(place, sizeof(place), "%s_AT", name);
	if (ticks.words.n)
		assay_text_addf(t, "array %s[%zu] = [%s]\n", place, ticks.words.n,
				ticks.places.s ? ticks.places.s : "");
	t->failed |= ticks.places.failed;
	assay_text_release(&ticks.places);
	assay_plot_array_set(t, name, &ticks.words);
}

size_t assay_plot_chars(const char *s)
{
	size_t n = 0;

	while (assay_code_point_next(&s))
		n++;
	return n;
}

void assay_plot_fit(const char *s, size_t most, char buf[ASSAY_PLOT_TEXT])
{
	const size_t n = assay_plot_chars(s), begin = most * 2 / 5, rest = most - 1 - begin;
	struct assay_text t = { 0 };
	uint32_t c;

	for (size_t i = 0; (c = assay_code_point_next(&s)); i++) {
		if (n <= most || i < begin || i >= n - rest)
			assay_code_point_add(&t, c);
		else if (i == begin)
			assay_text_add(&t, "\xe2\x80\xa6");
	}
	snprintf(buf, ASSAY_PLOT_TEXT, "%s", t.s ? t.s : "");
	assay_text_release(&t);
}

/* Bytes of the next title line: at most TITLE_CHARS, broken behind a '/' or ',' where there is one in its second half.
 */
static size_t title_line(const char *s)
{
	size_t len = strlen(s), at;

	if (len <= TITLE_CHARS)
		return len;
	for (at = TITLE_CHARS; at > TITLE_CHARS / 2; at--)
		if (s[at - 1] == '/' || s[at - 1] == ',')
			return at;
	/* Not inside a UTF-8 sequence. */
	for (at = TITLE_CHARS; at > 1 && ((unsigned char)s[at] & 0xc0) == 0x80; at--)
		;
	return at;
}

unsigned assay_plot_set_head(struct assay_text *t, const char *title, const char *below)
{
	struct assay_plot_array lines = { 0 };
	unsigned height;

	for (size_t len; *title; title += len) {
		len = title_line(title);
		array_addn(&lines, title, len);
	}
	height = (unsigned)(lines.n + 1) * LINE_HEIGHT + 20;
	assay_plot_array_set(t, "TITLE", &lines);
	assay_plot_set_text(t, "BELOW", below);
	return height;
}

void assay_plot_commit(const char *hash, bool dirty, const char *none, char buf[12])
{
	size_t len = 0;

	for (const char *p = hash; *p && len < 8; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');

		buf[len++] = letter || (*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '_' ? *p : '?';
	}
	if (dirty && len) /* changes to a commit that nobody knows say nothing */
		buf[len++] = '+';
	buf[len] = '\0';
	if (!len)
		snprintf(buf, 12, "%s", none);
}

#define LEGEND_ROW   18
#define LEGEND_MARK  40 /* pixels of a mark and the air behind its word */
#define LETTER_WIDTH 6.4

void assay_plot_legend_add(struct assay_plot_legend *l, const char *word, int kind)
{
	const double width = LEGEND_MARK + LETTER_WIDTH * (double)assay_plot_chars(word);
	size_t i = l->words.n + 1;

	if (l->x < l->left)
		l->x = l->left;
	if (l->x > l->left && l->x + width > ASSAY_PLOT_WIDTH - 10) {
		l->x = l->left;
		l->row++;
	}
	assay_text_addf(&l->places, "KEY_KIND[%zu] = %d; KEY_X[%zu] = %.0f; KEY_Y[%zu] = %u\n", i, kind, i, l->x, i,
			l->row * LEGEND_ROW);
	assay_plot_array_add(&l->words, word);
	l->x += width;
}

unsigned assay_plot_set_legend(struct assay_text *t, struct assay_plot_legend *l)
{
	const size_t n = l->words.n;
	const unsigned height = n ? (l->row + 1) * LEGEND_ROW : 0;

	if (n)
		assay_text_addf(t, "array KEY_KIND[%zu]\narray KEY_X[%zu]\narray KEY_Y[%zu]\n%s", n, n, n,
				l->places.s ? l->places.s : "");
	t->failed |= l->places.failed;
	assay_text_release(&l->places);
	assay_plot_array_set(t, "KEY", &l->words);
	*l = (struct assay_plot_legend){ 0 };
	return height;
}

/* ---- rows ---- */

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

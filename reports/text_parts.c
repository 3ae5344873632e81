/* SPDX-License-Identifier: Apache-2.0 */
/* Colours, times of day and XML. */
#include "reports/text_parts.h"

#include <string.h>
#include <time.h>

#include "base/text.h"
#include "model/quantity.h"
#include "reports/columns.h"

#define NAME_WIDTH 10

const char *assay_paint(const struct assay_emit_style *style, const char *code)
{
	return style->colour ? code : "";
}

const char *assay_paint_verdict(const struct assay_emit_style *style, enum assay_verdict v)
{
	switch (v) {
	case ASSAY_PASS:
	case ASSAY_IMPROVED:
		return assay_paint(style, ASSAY_GREEN);
	case ASSAY_INCONCLUSIVE:
	case ASSAY_INCOMPARABLE:
		return assay_paint(style, ASSAY_YELLOW);
	default:
		return assay_paint(style, ASSAY_RED);
	}
}

static const char *const escapes[] = { "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[0m" };
#define FIRST_PAINT 0x90 /* the last byte of the first */

bool assay_is_paint(const char *s)
{
	return !strncmp(s, ASSAY_BOLD, ASSAY_PAINT_BYTES - 1) && (unsigned char)s[2] >= FIRST_PAINT &&
	       (unsigned char)s[2] < FIRST_PAINT + sizeof(escapes) / sizeof(escapes[0]);
}

void assay_show(struct assay_text *t, size_t from, const struct assay_emit_style *style)
{
	struct assay_text shown = { 0 };
	size_t at = from;

	while (at < t->len) {
		size_t end = at;

		/* a zero byte ends no text, but would end what is looked at */
		while (end < t->len && t->s[end] && !assay_is_paint(t->s + end) && strncmp(t->s + end, "\r\n", 2) != 0)
			end++;
		if (end > at) {
			char *part = assay_text_room(&shown, end - at);

			if (part) {
				memcpy(part, t->s + at, end - at);
				part[end - at] = '\0';
				assay_text_grow(&shown, assay_printable_lines(part, end - at));
			}
		}
		if (end == t->len)
			break;
		if (!t->s[end]) {
			assay_text_add(&shown, "?");
			at = end + 1;
		} else if (t->s[end] == '\r') {
			assay_text_add(&shown, "\r\n");
			at = end + 2;
		} else {
			if (style->colour)
				assay_text_add(&shown, escapes[(unsigned char)t->s[end + 2] - FIRST_PAINT]);
			at = end + ASSAY_PAINT_BYTES;
		}
	}
	if (shown.failed)
		t->failed = true;
	t->len = from;
	if (shown.len && !style->utf8)
		shown.len = assay_ascii_signs(shown.s, shown.len);
	if (shown.len)
		assay_text_addn(t, shown.s, shown.len);
	else if (t->s)
		t->s[from] = '\0';
	assay_text_release(&shown);
}

void assay_named_line(struct assay_text *out, const struct assay_emit_style *style, const char *name, const char *text)
{
	assay_text_addf(out, "%s%-*s%s", assay_paint(style, ASSAY_DIM), NAME_WIDTH, name,
			assay_paint(style, ASSAY_RESET));
	assay_columns_wrap(out, text, NAME_WIDTH, NAME_WIDTH, style->width);
	assay_text_add(out, "\n");
}

void assay_when_text(uint64_t unix_ns, char *buf, size_t size)
{
	time_t t = (time_t)(unix_ns / 1000000000u);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(buf, size, "%Y-%m-%d %H:%M UTC", &tm);
}

void assay_xml_add(struct assay_text *out, const char *s)
{
	uint32_t c;

	while ((c = assay_code_point_next(&s))) {
		switch (c) {
		case '&':
			assay_text_add(out, "&amp;");
			break;
		case '<':
			assay_text_add(out, "&lt;");
			break;
		case '>':
			assay_text_add(out, "&gt;");
			break;
		case '"':
			assay_text_add(out, "&quot;");
			break;
		case '\t':
		case '\n':
		case '\r':
			assay_text_addf(out, "&#%u;", (unsigned)c);
			break;
		default:
			if (c < ' ' || c == 0xfffe || c == 0xffff)
				c = ASSAY_CODE_POINT_BAD;
			assay_code_point_add(out, c);
		}
	}
}

void assay_csv_add(struct assay_text *out, const char *s)
{
	/* a blank before it is passed over by some; others separate fields by ';' or tabs */
	const char *begin = s + strspn(s, " \t\r\n");
	const bool formula = *begin && strchr("=+-@", *begin), quoted = formula || strpbrk(s, ",;\"\t\r\n");

	assay_text_add(out, quoted ? "\"" : "");
	assay_text_add(out, formula ? "'" : "");
	for (; *s; s++)
		assay_text_addf(out, "%s%c", *s == '"' ? "\"" : "", *s);
	assay_text_add(out, quoted ? "\"" : "");
}

void assay_xml_attribute(struct assay_text *out, const char *name, const char *value)
{
	assay_text_addf(out, " %s=\"", name);
	assay_xml_add(out, value);
	assay_text_add(out, "\"");
}

void assay_log_text(struct assay_text *out, const char *of, const char *log)
{
	if (!log || !log[0])
		return;
	assay_text_addf(out, "\n%s%swrote to standard output and standard error:\n", of, of[0] ? " " : "");
	while (*log) {
		size_t len = strcspn(log, "\n");

		assay_text_addf(out, "  %.*s\n", (int)len, log);
		log += len + (log[len] == '\n');
	}
}

void assay_raw_metrics_text(const struct assay_result *r, const char **raw, bool utf8, struct assay_text *out)
{
	char tag[ASSAY_METRIC_TAG_MAX], text[64];
	const char *between = "";
	double value;

	while (assay_raw_metric_next(raw, tag, &value)) {
		const struct assay_metric *m = assay_result_metric(r, tag);

		assay_metric_text(tag, value, m ? m->unit : "1", utf8, text, sizeof(text));
		assay_text_addf(out, "%s%s %s", between, tag, text);
		between = ", ";
	}
}

/* ---- markdown parts ---- */

void assay_markdown_prose(struct assay_text *out, const char *s)
{
	uint32_t c;

	while ((c = assay_code_point_next(&s))) {
		if (c < ' ' || c == 0x7f)
			c = ' ';
		if (c == '|') {
			/* a backslash before a pipe means something else inside a table than outside */
			assay_text_add(out, "&#124;");
			continue;
		}
		if (c < 0x80 && strchr("\\`*_[]<>~&", (int)c))
			assay_text_add(out, "\\");
		assay_code_point_add(out, c);
	}
}

void assay_markdown_name(struct assay_text *out, const char *s)
{
	bool plain = !strpbrk(s, "`|\\");
	uint32_t c;

	assay_text_add(out, plain ? "`" : "<code>");
	while ((c = assay_code_point_next(&s))) {
		if (c < ' ' || c == 0x7f)
			c = ' ';
		if (!plain && c < 0x80 && strchr("`|\\*_[]<>~&#", (int)c))
			assay_text_addf(out, "&#%u;", (unsigned)c);
		else
			assay_code_point_add(out, c);
	}
	assay_text_add(out, plain ? "`" : "</code>");
}

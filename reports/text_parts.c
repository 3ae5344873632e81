/* SPDX-License-Identifier: Apache-2.0 */
/* Colours, times of day and XML. */
#include "reports/text_parts.h"

#include <string.h>
#include <time.h>

#include "reports/columns.h"

#define NAME_WIDTH 10

const char *assay_paint(const struct assay_emit_style *style, const char *code)
{
	return style->colour ? code : "";
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

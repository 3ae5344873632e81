/* SPDX-License-Identifier: Apache-2.0 */
/* Colours, times of day, XML, and UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, none above U+10FFFF. */
#include "reports/text_parts.h"

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

	localtime_r(&t, &tm);
	strftime(buf, size, "%Y-%m-%d %H:%M", &tm);
}

uint32_t assay_code_point_next(const char **s)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*s;
	size_t more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
	uint32_t c;

	if (!*p)
		return 0;
	(*s)++;
	if (*p < 0x80)
		return *p;
	if (!more || *p > 0xf4)
		return ASSAY_CODE_POINT_BAD;
	c = *p & (0x3fu >> more);
	for (size_t i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return ASSAY_CODE_POINT_BAD;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return ASSAY_CODE_POINT_BAD;
	*s += more;
	return c;
}

void assay_code_point_add(struct assay_text *out, uint32_t c)
{
	char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		n = 4;
	}
	assay_text_addn(out, b, n);
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

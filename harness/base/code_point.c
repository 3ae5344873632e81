/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, none above U+10FFFF. A '?' is never longer than what it
 * stands for: text is made printable in place, and no array is too small for it.
 */
#include "base/code_point.h"

#include <string.h>

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

/* Unicode's control and format characters, separators of lines, and what is no character: first and last of each. */
static const uint32_t unfit[][2] = {
	{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x61c, 0x61c },   { 0x180e, 0x180e },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },   { 0xfdd0, 0xfdef }, { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe0fff },
};

static bool fits(uint32_t c)
{
	for (size_t i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++)
		if (c >= unfit[i][0] && c <= unfit[i][1])
			return false;
	return true;
}

static bool is_space(char c)
{
	return c == '\n' || c == '\t';
}

/* @line: a blank for each line end and tab. */
static size_t make_printable(char *s, size_t len, bool line)
{
	const char *p = s;
	size_t n = 0;

	while (p < s + len) {
		const char *from = p;
		uint32_t c = assay_code_point_next(&p);

		if (!c)
			p++;
		if (is_space(*from))
			s[n++] = line ? ' ' : *from;
		else if (!fits(c) || (c == ASSAY_CODE_POINT_BAD && p == from + 1))
			s[n++] = '?';
		else
			while (from < p)
				s[n++] = *from++;
	}
	s[n] = '\0';
	return n;
}

void assay_printable_line(char *s, size_t size)
{
	s[size - 1] = '\0';
	make_printable(s, strlen(s), true);
}

size_t assay_printable_lines(char *s, size_t len)
{
	return make_printable(s, len, false);
}

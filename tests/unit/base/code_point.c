/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 one character at a time, and what is left of text that a terminal would obey. */
#include "base/text.h"

#include <string.h>

#include "unit.h"

TEST(code_points)
{
	static const struct {
		const char *s;
		uint32_t want[4];
	} cases[] = {
		{ "a\x7f", { 'a', 0x7f } },
		{ "\xc3\xa9", { 0xe9 } },
		{ "\xe2\x82\xac", { 0x20ac } },
		{ "\xf0\x9f\x98\x80", { 0x1f600 } },
		{ "\xf4\x8f\xbf\xbf", { 0x10ffff } },
		/* a lone follower, a start without one, a cut end */
		{ "\x80z", { ASSAY_CODE_POINT_BAD, 'z' } },
		{ "\xc3z", { ASSAY_CODE_POINT_BAD, 'z' } },
		{ "\xe2\x82", { ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD } },
		/* overlong, surrogate, too high */
		{ "\xc0\xaf", { ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD } },
		{ "\xe0\x80\xaf", { ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD } },
		{ "\xed\xa0\x80", { ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD } },
		{ "\xf4\x90\x80", { ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD } },
		{ "\xf4\x90\x80\x80",
		  { ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD, ASSAY_CODE_POINT_BAD } },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *p = cases[i].s;
		struct assay_text back = { 0 };
		bool bad = false;

		for (size_t k = 0; k < 4 && cases[i].want[k]; k++) {
			uint32_t c = assay_code_point_next(&p);

			if (c != cases[i].want[k])
				fail_msg("case %zu: U+%04X instead of U+%04X", i, (unsigned)c,
					 (unsigned)cases[i].want[k]);
			bad |= c == ASSAY_CODE_POINT_BAD;
			assay_code_point_add(&back, c);
		}
		assert_int_equal(assay_code_point_next(&p), 0);
		if (!bad)
			assert_string_equal(back.s, cases[i].s);
		assay_text_release(&back);
	}
}

TEST(lines_are_made_printable)
{
	static const struct {
		const char *s, *want;
	} cases[] = {
		{ "", "" },
		{ "plain text, \xc3\xa9 and \xe2\x82\xac and \xf0\x9f\x98\x80",
		  "plain text, \xc3\xa9 and \xe2\x82\xac and \xf0\x9f\x98\x80" },
		{ "two\nlines\tand a tab", "two lines and a tab" },
		{ "\033[31mred\033]0;title\a", "?[31mred?]0;title?" },
		{ "over\rwritten\b\x7f", "over?written??" },
		/* C1 has an escape of its own */
		{ "\xc2\x9b"
		  "31m",
		  "?31m" },
		/* embeddings, isolates, marks, and one letter of Hebrew that may stay */
		{ "a\xe2\x80\xae"
		  "b\xe2\x81\xa6"
		  "c\xe2\x80\x8f"
		  "d\xd8\x9c"
		  "\xd7\x90",
		  "a?b?c?d?\xd7\x90" },
		/* unseen: zero width, byte order mark, tags, separators of lines */
		{ "a\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x81\x81\xe2\x80\xa8z", "a????z" },
		{ "\xff\xfe"
		  "ab\xc3",
		  "??ab?" },
		{ "\xed\xa0\x80\xc0\xaf", "?????" },
		/* what stands for a bad character is a good one */
		{ "\xef\xbf\xbd", "\xef\xbf\xbd" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char buf[96];

		snprintf(buf, sizeof(buf), "%s", cases[i].s);
		assay_printable_line(buf, sizeof(buf));
		if (strcmp(buf, cases[i].want))
			fail_msg("case %zu: '%s' instead of '%s'", i, buf, cases[i].want);
	}
}

TEST(a_line_is_terminated)
{
	char full[4] = { 'a', 'b', 'c', 'd' }, cut[4] = { 'a', 'b', '\xc3', '\xa9' };

	assay_printable_line(full, sizeof(full));
	assert_string_equal(full, "abc");
	assay_printable_line(cut, sizeof(cut));
	assert_string_equal(cut, "ab?");
}

TEST(lines_stay_lines)
{
	char text[] = "one\n\ttwo\0three\r\n\xff\033";

	assert_int_equal(assay_printable_lines(text, sizeof(text) - 1), sizeof(text) - 1);
	assert_string_equal(text, "one\n\ttwo?three?\n??");
	text[0] = '\0';
	assert_int_equal(assay_printable_lines(text, 0), 0);
	assert_string_equal(text, "");
}

UNIT_GROUP(NULL, NULL)

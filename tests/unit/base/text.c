/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, lists, globs, suggestions, and the parsing of numbers. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "unit.h"

TEST(words_survive_a_shell)
{
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "plain/file-1.so", "plain/file-1.so" },
		{ "", "\"\"" },
		{ "a b", "\"a b\"" },
		{ "it's", "\"it's\"" },
		{ "$x`y`\\\"", "\"\\$x\\`y\\`\\\\\\\"\"" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_text t = { 0 };

		assay_text_add_word(&t, cases[i].word);
		assert_string_equal(cases[i].want, t.s);
		assay_text_release(&t);
	}
}

TEST(parses_u64)
{
	static const struct {
		const char *s;
		uint64_t lo, hi;
		bool ok;
		uint64_t want;
	} cases[] = {
		{ "0", 0, 10, true, 0 },
		{ "10", 0, 10, true, 10 },
		{ "007", 0, 10, true, 7 },
		{ "18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX },
		{ "18446744073709551616", 0, UINT64_MAX, false, 0 },
		{ "99999999999999999999", 0, UINT64_MAX, false, 0 },
		{ "11", 0, 10, false, 0 },
		{ "0", 1, 10, false, 0 },
		{ "-1", 0, 10, false, 0 },
		{ "+1", 0, 10, false, 0 },
		{ " 1", 0, 10, false, 0 },
		{ "1 ", 0, 10, false, 0 },
		{ "1x", 0, 10, false, 0 },
		{ "0x1", 0, 10, false, 0 },
		{ "", 0, 10, false, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t v = 77;
		int rc = assay_parse_u64(cases[i].s, "--n", cases[i].lo, cases[i].hi, &v, NULL);

		assert_int_equal(rc, cases[i].ok ? 0 : ASSAY_EUSAGE);
		assert_true(v == (cases[i].ok ? cases[i].want : 77));
	}
}

TEST(parses_seed)
{
	static const struct {
		const char *s;
		bool ok;
		uint64_t want;
	} cases[] = {
		{ "42", true, 42 },
		{ "0x2a", true, 42 },
		{ "0XFFFFffffFFFFffff", true, UINT64_MAX },
		{ "0x10000000000000000", false, 0 },
		{ "0x", false, 0 },
		{ "0xg", false, 0 },
		{ "abc", false, 0 },
		{ "-1", false, 0 },
		{ "1.5", false, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t v = 77;

		assert_int_equal(assay_parse_seed(cases[i].s, "S", &v, NULL), cases[i].ok ? 0 : ASSAY_EUSAGE);
		assert_true(v == (cases[i].ok ? cases[i].want : 77));
	}
}

TEST(parses_durations)
{
	static const struct {
		const char *s;
		bool ok;
		uint64_t want;
	} cases[] = {
		{ "250ms", true, 250000000 },
		{ "2s", true, 2000000000 },
		{ "2", true, 2000000000 },
		{ "0.5", true, 500000000 },
		{ "1.5min", true, UINT64_C(90000000000) },
		{ "5m", true, UINT64_C(300000000000) },
		{ "1h", true, UINT64_C(3600000000000) },
		{ "10us", true, 10000 },
		{ "10\302\265s", true, 10000 },
		{ "7ns", true, 7 },
		{ "0s", false, 0 },
		{ "0.4ns", false, 0 },
		{ "5124096h", false, 0 }, /* over 2^64 ns */
		{ "1 s", false, 0 },
		{ "s", false, 0 },
		{ "1.s", false, 0 },
		{ ".5s", false, 0 },
		{ "-1s", false, 0 },
		{ "1e3", false, 0 },
		{ "1S", false, 0 },
		{ "1M", false, 0 },
		{ "nan", false, 0 },
		{ "", false, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t v = 77;

		assert_int_equal(assay_parse_duration_ns(cases[i].s, "T", &v, NULL), cases[i].ok ? 0 : ASSAY_EUSAGE);
		assert_true(v == (cases[i].ok ? cases[i].want : 77));
	}
}

TEST(parses_bytes)
{
	static const struct {
		const char *s;
		bool ok;
		uint64_t want;
	} cases[] = {
		{ "4096", true, 4096 },
		{ "4096B", true, 4096 },
		{ "512MiB", true, UINT64_C(512) << 20 },
		{ "2G", true, UINT64_C(2) << 30 },
		{ "1.5K", true, 1536 },
		{ "3TiB", true, UINT64_C(3) << 40 },
		{ "0", true, 0 },
		{ "16777215T", true, UINT64_C(16777215) << 40 },
		{ "16777216T", false, 0 },
		{ "2GB", false, 0 },
		{ "2g", false, 0 },
		{ "2 G", false, 0 },
		{ "-2G", false, 0 },
		{ "G", false, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t v = 77;

		assert_int_equal(assay_parse_bytes(cases[i].s, "M", &v, NULL), cases[i].ok ? 0 : ASSAY_EUSAGE);
		assert_true(v == (cases[i].ok ? cases[i].want : 77));
	}
}

TEST(parses_shares)
{
	static const struct {
		const char *s;
		double lo, hi;
		bool ok;
		double want;
	} cases[] = {
		{ "0.005", 0, 1, true, 0.005 }, { "0.5%", 0, 1, true, 0.005 }, /* the very same double */
		{ "3%", 0, 1, true, 0.03 },     { "100%", 0, 1, true, 1 },
		{ "-10%", -1, 1, true, -0.1 },  { "0.000000000000000001%", 0, 1, false, 0 }, /* 19 digits */
		{ "101%", 0, 1, false, 0 },     { "-0.1", 0, 1, false, 0 },
		{ "0.5 %", 0, 1, false, 0 },    { "%", 0, 1, false, 0 },
		{ "0.5%%", 0, 1, false, 0 },    { "nan", 0, 1, false, 0 },
		{ "inf", 0, 1, false, 0 },      { "", 0, 1, false, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		double v = 77;

		assert_int_equal(assay_parse_frac(cases[i].s, "F", cases[i].lo, cases[i].hi, &v, NULL),
				 cases[i].ok ? 0 : ASSAY_EUSAGE);
		assert_true(v == (cases[i].ok ? cases[i].want : 77));
	}
}

TEST(parses_cpu_lists)
{
	static const struct {
		const char *s;
		size_t n; /* 0: refused */
		int want[8];
	} cases[] = {
		{ "0", 1, { 0 } },         { "0,2,4-7", 6, { 0, 2, 4, 5, 6, 7 } },
		{ "3,1", 2, { 3, 1 } },    { "5-5", 1, { 5 } },
		{ "65535", 1, { 65535 } }, { "65536", 0, { 0 } },
		{ "1,1", 0, { 0 } },       { "0-3,2", 0, { 0 } },
		{ "3-1", 0, { 0 } },       { "1,", 0, { 0 } },
		{ ",1", 0, { 0 } },        { "1-", 0, { 0 } },
		{ "-1", 0, { 0 } },        { "a", 0, { 0 } },
		{ "1 2", 0, { 0 } },       { "0-99999999999999999999", 0, { 0 } },
		{ "", 0, { 0 } },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		int *v = NULL;
		size_t n = 0;
		int rc = assay_parse_cpu_list(cases[i].s, "C", &v, &n, NULL);

		assert_int_equal(rc, cases[i].n ? 0 : ASSAY_EUSAGE);
		assert_int_equal(n, cases[i].n);
		if (n)
			assert_memory_equal(v, cases[i].want, n * sizeof(*v));
		free(v);
	}
}

TEST(messages_quote_the_value)
{
	struct assay_err err = { 0 };
	char longer[1000];
	uint64_t v;
	int *cpus;
	size_t n;

	assay_parse_seed("abc", "ASSAY_SEED", &v, &err);
	assert_int_equal(err.code, ASSAY_EUSAGE);
	assert_string_equal(err.text,
			    "ASSAY_SEED is 'abc', expected a whole number from 0 to 18446744073709551615, or 0x...");
	assay_parse_u64("9", "--threads", 1, 8, &v, &err);
	assert_string_equal(err.text, "--threads is '9', expected a whole number from 1 to 8");
	assay_parse_cpu_list("0,1,0", "--cpus", &cpus, &n, &err);
	assert_string_equal(err.text, "--cpus is '0,1,0', which names CPU 0 twice, name each once");

	/* A hostile value stays on one line and does not push the expectation out. */
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[3] = '\n';
	assay_parse_seed(longer, "ASSAY_SEED", &v, &err);
	assert_null(strchr(err.text, '\n'));
	assert_non_null(strstr(err.text, "xxx?xxx"));
	assert_non_null(strstr(err.text, "x...', expected a whole number"));
}

TEST(globs_match)
{
	static const struct {
		const char *pattern, *s;
		bool want;
	} cases[] = {
		{ "*", "matmul.f32/ref/m=1/t=1/warm", true },
		{ "matmul.*", "matmul.f32/ref/m=1/t=1/warm", true },
		{ "*/ref/*", "matmul.f32/ref/m=1/t=1/warm", true },
		{ "*/t=1/*", "matmul.f32/ref/m=1/t=16/warm", false },
		{ "matmul", "matmul.f32/ref/m=1/t=1/warm", true },
		{ "f32/ref", "matmul.f32/ref/m=1/t=1/warm", true },
		{ "f32/refs", "matmul.f32/ref/m=1/t=1/warm", false },
		{ "f32?", "matmul.f32/ref", false },
		{ "matmul.[fi]32/*", "matmul.f32/ref", true },
		{ "", "anything", true },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(assay_glob_match(cases[i].pattern, cases[i].s), cases[i].want);
}

TEST(suggests_the_nearest)
{
	static const char *const names[] = { "smoke", "quick", "full", "matmul.ternary", "matmul.f32", "l1" };
	static const struct {
		const char *s, *want;
	} cases[] = {
		{ "quik", "quick" },
		{ "qiuck", "quick" }, /* two neighbours swapped */
		{ "ful", "full" },
		{ "matmul.tenrary", "matmul.ternary" },
		{ "matmul.f16", "matmul.f32" },
		{ "1l", "l1" },
		{ "quickquick", NULL }, /* letters too many count as well */
		{ "generate", NULL },
		{ "x", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *got = assay_nearest(cases[i].s, names, N_OF(names));

		if (cases[i].want) {
			assert_non_null(got);
			assert_string_equal(got, cases[i].want);
		} else {
			assert_null(got);
		}
	}
	assert_null(assay_nearest("quick", NULL, 0));
}

/* ---- code point ---- */

/* UTF-8 one character at a time, and what is left of text that a terminal would obey. */

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

TEST(signs_become_ascii)
{
	char text[] = "1.5 µs ±2 %\n×3 · a…b → é 字\0µ", all[] = "µ±×·…→";

	assert_int_equal(assay_ascii_signs(text, sizeof(text) - 1), sizeof("1.5 us +-2 %\nx3 | a...b -> é 字\0u") - 1);
	assert_memory_equal(text, "1.5 us +-2 %\nx3 | a...b -> é 字\0u", sizeof("1.5 us +-2 %\nx3 | a...b -> é 字\0u"));
	assert_int_equal(assay_ascii_signs(all, strlen(all)), strlen("u+-x|...->"));
	assert_string_equal(all, "u+-x|...->");
	assert_int_equal(assay_ascii_signs(all, 0), 0);
	assert_string_equal(all, "");
}

/* ---- demangle ---- */

/* Names in the source of symbols of C++ and Rust, without what c++filt prints of parameters and results. */

UNIT_GROUP(NULL, NULL)

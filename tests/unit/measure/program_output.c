/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a program, as a terminal shows it, and the numbers that patterns find in it. */
#include "unit.h"

#include "measure/program.h"

TEST(a_line_that_is_written_again_is_what_it_is_in_the_end)
{
	static const struct {
		const char *printed;
		size_t len;
		const char *shown;
	} cases[] = {
		{ "a\nb\n", 4, "a\nb\n" },
		{ "1 %\r50 %\r100 %\n", 15, "100 %\n" },
		{ "x\n1 %\r2 %", 9, "x\n2 %" },
		{ "|-a -> 12 \r/-a -> 12 MB/s \r1#\n", 30, "1#a -> 12 MB/s \n" }, /* as lz4 -b ends */
		{ "a\r\rb\n\rc", 7, "b\nc" },
		{ "dos\r\nlines\r\n", 12, "dos\nlines\n" },
		{ "end\r", 4, "end" },
		{ "a\0b\n", 4, "a b\n" },
		{ "", 0, "" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_text t = { 0 };

		assay_text_addn(&t, cases[i].printed, cases[i].len);
		assay_program_as_shown(&t);
		assert_string_equal(t.s, cases[i].shown);
		assert_int_equal(t.len, strlen(cases[i].shown));
		assay_text_release(&t);
	}
}

TEST(a_number_stands_where_its_pattern_says_and_only_there)
{
	static const struct {
		const char *text, *pattern;
		double value;
		const char *why; /* NULL: it is found */
	} cases[] = {
		{ "x\nspeed: 12.5 MB/s\n", "speed: ([0-9.]+) MB/s", 12.5, NULL },
		{ "a 1\nb 2\n", "^b ([0-9])$", 2, NULL },
		{ "1e-3 s", "^([0-9e.-]+) s", 1e-3, NULL },
		{ "-7", "(-?[0-9]+)", -7, NULL },
		{ "", "([0-9]+)", 0, "its pattern finds nothing, as the program printed nothing" },
		{ "a\nlast words\n\n", "([0-9]+)", 0,
		  "its pattern finds nothing in the output, which ends in 'last words'" },
		{ "  v 1\nv 2\n", "v ([0-9])", 0, "its pattern finds two numbers, in 'v 1' and in 'v 2'" },
		{ "v 1 v 2", "v ([0-9])", 0, "its pattern finds two numbers, in 'v 1 v 2' and in 'v 1 v 2'" },
		{ "v x", "v (.)", 0, "its pattern found 'x', which is not a number" },
		{ "v ", "v ([0-9]*)", 0, "its pattern found '', which is not a number" },
		{ "v inf", "v ([a-z]+)", 0, "its pattern found 'inf', which is not a number" },
		{ "v nan", "v ([a-z]+)", 0, "its pattern found 'nan', which is not a number" },
		{ "v 1.2.3", "v ([0-9.]+)", 0, "its pattern found '1.2.3', which is not a number" },
		{ "b", "a(1)|b", 0, "its pattern found '', which is not a number" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char why[256] = "";
		double value = 0;

		assert_int_equal(assay_program_find_number(cases[i].text, cases[i].pattern, &value, why, sizeof(why)),
				 !cases[i].why);
		if (cases[i].why)
			assert_string_equal(why, cases[i].why);
		else
			assert_true(value == cases[i].value);
	}
}

UNIT_GROUP(NULL, NULL)

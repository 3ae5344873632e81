/* SPDX-License-Identifier: Apache-2.0 */
/* Words of commands as a shell splits them, and the parameters in them. */
#include "unit.h"

#include "drive/time/time.h"

TEST(words_are_those_of_a_shell)
{
	static const struct {
		const char *command;
		const char *words; /* each in brackets; NULL: refused … */
		const char *why;   /* … with this in its reason */
	} cases[] = {
		{ "sort -u words", "[sort][-u][words]", NULL },
		{ "  a\t b\n", "[a][b]", NULL },
		{ "echo 'a b' \"c d\"", "[echo][a b][c d]", NULL },
		{ "a'b c'd\"e\"", "[ab cde]", NULL },
		{ "a\\ b \\'c", "[a b]['c]", NULL },
		{ "x '' \"\"", "[x][][]", NULL },
		{ "x \"a\\\"b\\\\c\\d\"", "[x][a\"b\\c\\d]", NULL },
		{ "x 'a\\b' '|$*'", "[x][a\\b][|$*]", NULL },
		{ "x \"a|b*\"", "[x][a|b*]", NULL },
		{ "x a~b a=b", "[x][a~b][a=b]", NULL },
		{ "", NULL, "empty" },
		{ "  ", NULL, "empty" },
		{ "a 'b", NULL, "a ' is not closed in 'a 'b'" },
		{ "a \"b", NULL, "a \" is not closed" },
		{ "a \\", NULL, "nothing follows" },
		{ "a | b", NULL, "only a shell understands the '|' in 'a | b'" },
		{ "a >b", NULL, "the '>'" },
		{ "a \"$b\"", NULL, "the '$'" },
		{ "a *.c", NULL, "the '*'" },
		{ "a ~/b", NULL, "the '~'" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_strings words = { 0 };
		struct assay_text all = { 0 };
		struct assay_err err = { 0 };
		const int rc = assay_words_split(cases[i].command, &words, &err);

		for (size_t w = 0; w < words.n; w++)
			assay_text_addf(&all, "[%s]", words.v[w]);
		if (cases[i].words) {
			assert_int_equal(rc, 0);
			assert_string_equal(all.s, cases[i].words);
		} else {
			assert_int_equal(rc, ASSAY_EUSAGE);
			assert_non_null(strstr(err.text, cases[i].why));
		}
		assay_text_release(&all);
		assay_strings_release(&words);
	}
}

TEST(parameters_take_all_values_in_turn)
{
	static const char *const want[] = { "x -j1 a {c} 1", "x -j2 a {c} 2", "x -j1 b {c} 1", "x -j2 b {c} 2" };
	struct assay_parameter p[2];
	struct assay_err err = { 0 };

	assert_int_equal(assay_parameter_read("n=1,2", "-L", &p[0], &err), 0);
	assert_int_equal(assay_parameter_read("file=a,b", "-L", &p[1], &err), 0);
	assert_int_equal(assay_parameters_count(p, 2), 4);
	assert_int_equal(assay_parameters_count(p, 0), 1);
	for (size_t at = 0; at < 4; at++) {
		char *filled = assay_parameters_fill("x -j{n} {file} {c} {n}", p, 2, at);

		assert_string_equal(filled, want[at]);
		free(filled);
	}
	assert_string_equal(assay_parameters_value(p, 1, 2), "b");
	assay_strings_release(&p[0].values);
	assay_strings_release(&p[1].values);
}

TEST(a_parameter_has_a_name_and_values)
{
	static const char *const bad[] = { "n", "n=", "=1", "" };

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct assay_parameter p;
		struct assay_err err = { 0 };

		assert_int_equal(assay_parameter_read(bad[i], "--parameter-list", &p, &err), ASSAY_EUSAGE);
		assay_strings_release(&p.values);
	}
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* Words of commands as a shell splits them. */
#include "unit.h"

#include "base/text.h"

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

static const char *letter(const void *arg, const char *name)
{
	return !strcmp(name, "a") ? arg : NULL;
}

TEST(names_in_braces_are_filled_in)
{
	static const char *const cases[][2] = {
		{ "x{a}y", "x1y" }, { "{a}{a}", "11" }, { "{b} {a", "{b} {a" },
		{ "{{a}}", "{1}" }, { "{}", "{}" },     { "", "" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char *filled = assay_words_fill(cases[i][0], letter, "1");

		assert_string_equal(filled, cases[i][1]);
		free(filled);
	}
}

UNIT_GROUP(NULL, NULL)

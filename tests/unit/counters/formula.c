/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas over counts: value, precedence, and every way to be wrong. */
#include "counters/groups.h"
#include "unit.h"

TEST(test_values)
{
	static const struct {
		const char *text;
		double values[3], want;
	} cases[] = {
		{ "1 - a / b", { 25, 100 }, 0.75 },
		{ "1-a/b", { 25, 100 }, 0.75 },
		{ "a - b - 1", { 10, 3 }, 6 },
		{ "a / b / 2", { 12, 3 }, 2 },
		{ "a + b * 2", { 1, 3 }, 7 },
		{ "(a + b) * 2", { 1, 3 }, 8 },
		{ "-a * -2", { 4 }, 8 },
		{ "--a", { 4 }, 4 },
		{ "1e3 * PAPI_TLB_DM / PAPI_TOT_INS", { 2, 1000 }, 2 },
		{ "a + b + a", { 1, 10 }, 12 },
		{ " .5 ", { 0 }, 0.5 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };
		struct assay_formula f;
		double v = -1;

		if (assay_formula_parse(&f, cases[i].text, &err) || assay_formula_value(&f, cases[i].values, &v, &err))
			fail_msg("%s: %s", cases[i].text, err.text);
		if (v != cases[i].want)
			fail_msg("%s is %g, not %g", cases[i].text, v, cases[i].want);
		assay_formula_release(&f);
	}
}

TEST(test_names)
{
	struct assay_formula f;

	assert_int_equal(assay_formula_parse(&f, "b / (a + b) + a_2", NULL), 0);
	assert_int_equal(f.names.n, 3);
	assert_string_equal(f.names.v[0], "b");
	assert_string_equal(f.names.v[1], "a");
	assert_string_equal(f.names.v[2], "a_2");
	assay_formula_release(&f);
}

TEST(test_syntax)
{
	static const char *const cases[][2] = {
		{ "", "cannot read '': expected a number, a name or '(' at its end" },
		{ "1 -", "cannot read '1 -': expected a number, a name or '(' at its end" },
		{ "1 - / a", "cannot read '1 - / a': expected a number, a name or '(' at column 5, not '/'" },
		{ "(a", "cannot read '(a': expected ')' at its end" },
		{ "a)", "cannot read 'a)': expected an operator at column 2, not ')'" },
		{ "a b", "cannot read 'a b': expected an operator at column 3, not 'b'" },
		{ "a ^ 2", "cannot read 'a ^ 2': expected an operator at column 3, not '^'" },
		{ "a.b", "cannot read 'a.b': expected an operator at column 2, not '.'" },
		{ ".", "cannot read '.': expected a number at column 1, not '.'" },
	};
	char deep[400];
	struct assay_err err;
	struct assay_formula f;

	for (size_t i = 0; i < N_OF(cases); i++) {
		err.text[0] = '\0';
		assert_int_equal(assay_formula_parse(&f, cases[i][0], &err), ASSAY_EUSAGE);
		assert_string_equal(err.text, cases[i][1]);
	}
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(assay_formula_parse(&f, deep, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "fewer nested parts at column 65"));
}

TEST(test_no_value)
{
	static const struct {
		const char *text;
		double values[2];
		const char *want;
	} cases[] = {
		{ "a / b", { 1, 0 }, "division by zero: 'b' is 0" },
		{ "1 / (a - b)", { 3, 3 }, "division by zero: '(a - b)' is 0" },
		{ "a / b", { 1e300, 1e-300 }, "'a / b' is no finite number" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_formula f;
		struct assay_err err;
		double v = 7;

		assert_int_equal(assay_formula_parse(&f, cases[i].text, NULL), 0);
		assert_int_equal(assay_formula_value(&f, cases[i].values, &v, &err), ASSAY_EUNAVAILABLE);
		assert_string_equal(err.text, cases[i].want);
		assert_true(v == 7);
		assay_formula_release(&f);
	}
}

UNIT_GROUP(NULL, NULL)

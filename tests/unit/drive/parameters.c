/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of commands, as --parameter-list names them. */
#include "unit.h"

#include "drive/time/time.h"

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

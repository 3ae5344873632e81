/* SPDX-License-Identifier: Apache-2.0 */
/* One shared object, built over and over with one thing changed: which functions' digests see it? */
#include "unit.h"

#include <limits.h>

#include "base/file.h"
#include "worker/plugin/function_code.h"

static const char *const functions[] = { "callee", "step_one",  "step_two",     "step_three",
					 "choose", "probe_run", "probe_release" };

static int read_codes(const char *name, struct assay_function_codes *c, struct assay_err *err)
{
	char exe[PATH_MAX], path[PATH_MAX + 64];

	assert_int_equal(assay_file_exe_dir(exe, sizeof(exe), NULL), 0);
	snprintf(path, sizeof(path), "%s/code_hash/%s.so", exe, name);
	return assay_function_codes_read(c, path, err);
}

TEST(only_what_changed_differs)
{
	static const struct {
		const char *name;
		const char *differ[4];
	} rows[] = {
		{ "base", { NULL } },           { "unrelated", { NULL } }, /* everything lies elsewhere */
		{ "callee", { "callee" } },     { "constant", { "callee" } },  { "table", { "probe_run" } },
		{ "pointer", { "probe_run" } }, { "pointed", { "step_two" } }, { "jumps", { "choose" } },
		{ "data", { "probe_run" } },    { "string", { "probe_run" } }, { "import", { "probe_run" } },
	};
	struct assay_function_codes base;

	assert_int_equal(read_codes("base", &base, NULL), 0);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_function_codes other;

		assert_int_equal(read_codes(rows[i].name, &other, NULL), 0);
		for (size_t f = 0; f < N_OF(functions); f++) {
			const uint64_t a = assay_function_codes_find(&base, functions[f]);
			const uint64_t b = assay_function_codes_find(&other, functions[f]);
			bool differs = false;

			for (size_t k = 0; k < N_OF(rows[i].differ) && rows[i].differ[k]; k++)
				differs |= !strcmp(rows[i].differ[k], functions[f]);
			assert_true(a && b);
			if ((a != b) != differs)
				fail_msg("%s of '%s' %s", functions[f], rows[i].name,
					 differs ? "is the same" : "differs");
		}
		assay_function_codes_release(&other);
	}
	assert_int_equal(assay_function_codes_find(&base, "none"), 0);
	assert_true(assay_function_codes_find(&base, "callee.constprop.0") ==
		    assay_function_codes_find(&base, "callee"));
	assay_function_codes_release(&base);
}

/* Without relocations nothing that changed passes for the same. */
TEST(a_file_without_relocations)
{
	struct assay_function_codes bare, again;

	assert_int_equal(read_codes("bare", &bare, NULL), 0);
	assert_int_equal(read_codes("bare", &again, NULL), 0);
	for (size_t f = 0; f < N_OF(functions); f++) {
		assert_true(assay_function_codes_find(&bare, functions[f]) != 0);
		assert_true(assay_function_codes_find(&bare, functions[f]) ==
			    assay_function_codes_find(&again, functions[f]));
	}
	assay_function_codes_release(&bare);
	assay_function_codes_release(&again);
}

TEST(a_file_without_symbols)
{
	struct assay_function_codes c;
	struct assay_err err = { 0 };

	assert_int_equal(read_codes("stripped", &c, &err), ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "has no symbols"));
	assay_function_codes_release(&c);
	assert_true(read_codes("none", &c, &err) < 0);
	assay_function_codes_release(&c);
}

UNIT_GROUP(NULL, NULL)

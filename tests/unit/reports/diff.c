/* SPDX-License-Identifier: Apache-2.0 */
/* A diff as text, JSON, Markdown and CSV. */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

static struct assay_diff_number roof = { "roof_frac", "1", "", 1, { 0.27, 0.53 } };

static struct assay_diff_case cases[] = {
	{ .c = { .key = "op/x|y/t=1/warm", .variant = "x|y", .threads = 1 },
	  .result = ASSAY_DIFF_FASTER,
	  .ns = { 61200, 31700 },
	  .ratio = 0.518,
	  .lo = 0.51,
	  .hi = 0.526,
	  .slow_core = { false, true },
	  .numbers = &roof,
	  .n_numbers = 1,
	  .because = { "exact_instructions", "exact", { 9, 3 }, 0.97, "3.0x fewer instructions (exact): 9 to 3" } },
	{ .c = { .key = "op/unclear/t=1/warm" },
	  .result = ASSAY_DIFF_UNCLEAR,
	  .ns = { 100, 101 },
	  .ratio = 1.01,
	  .lo = 0.99,
	  .hi = 1.03,
	  .because = { .explained_frac = NAN } },
	{ .c = { .key = "=op/crashed/t=1/warm" },
	  .result = ASSAY_DIFF_NOT_MEASURED,
	  .reason = "head: crashed: \"SIGSEGV\"",
	  .ns = { 100, NAN },
	  .ratio = NAN,
	  .lo = NAN,
	  .hi = NAN,
	  .because = { .explained_frac = NAN } },
};
static char measure[] = "assay compare a b";
static const struct assay_diff diff = {
	.side = { { .name = "run 1", .n_runs = 1, .run = 1, .machine_id = "m", .machine_label = "a machine" },
		  { .name = "baseline 'b' (2 runs)",
		    .n_runs = 2,
		    .run = 3,
		    .machine_id = "m",
		    .machine_label = "a machine" } },
	.cases = cases,
	.n_cases = N_OF(cases),
	.n_same_code = 7,
	.n_same_code_moved = 2,
	.same_code_most = 1.06,
	.uncovered = "not all is covered",
	.measure = measure,
};
static const struct assay_report report = { .kind = ASSAY_REPORT_DIFF, .diff = { .diff = &diff } };
static const struct assay_report by_roof = { .kind = ASSAY_REPORT_DIFF, .diff = { &diff, "roof_frac" } };

TEST(text_shows_what_moved)
{
	const char *text = emit(&report, "text", NULL), *all;

	assert_true(has_line(text, "base", "run 1 ("));
	assert_true(has_line(text, "  faster", "1.93x  1.90x to 1.96x"));
	assert_true(has_line(text, "  faster", "61.2 us  31.7 us  27.0 % to 53.0 %"));
	has(text, "      because: 3.0x fewer instructions (exact): 9 to 3\n");
	has(text, "the core was slow in the head");
	has(text, "  not measured");
	has(text, "head: crashed");
	assert_null(strstr(text, "op/unclear"));
	has(text, "3 cases: 1 faster, 1 unclear, 1 not measured; -v shows");
	has(text, "2 of 7 cases whose machine code is the same on both sides moved all the same, by up to 6.0 %");
	has(text, "covers    not all is covered\n");
	has(text, "'assay compare a b' measures both in turn");
	all = emit(&report, "text", &(struct assay_emit_style){ .verbose = true });
	has(all, "op/unclear");
	has(all, "roof_frac 27.0 % to 53.0 %");
}

TEST(a_metric_takes_the_place_of_time)
{
	const char *text = emit(&by_roof, "text", NULL);

	assert_true(has_line(text, "    ", "+96.3 %  27.0 %  53.0 %  op/x|y/t=1/warm"));
	has(text, "1 of 3 cases have roof_frac on both sides, it differs in 1\n");
	/* what holds of times alone is not told */
	assert_null(strstr(text, "faster"));
	assert_null(strstr(text, "covers"));
	assert_null(strstr(text, "op/unclear"));
	assert_null(strstr(text, "61.2"));
	has(emit(&by_roof, "markdown", NULL), "| result | `roof_frac` |");
	has(emit(&by_roof, "csv", NULL), ",roof_frac,0.27,0.53\n");
}

TEST(json_has_everything)
{
	json_t *o = json_loads(emit(&report, "json", NULL), 0, NULL), *c;

	assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "head"), "runs")), 2);
	assert_string_equal(json_string_value(json_object_get(o, "uncovered")), "not all is covered");
	c = json_array_get(json_object_get(o, "cases"), 0);
	assert_true(json_real_value(json_object_get(c, "ratio")) == 0.518);
	assert_true(fabs(json_real_value(json_array_get(json_object_get(c, "speedup_ci"), 0)) - 1 / 0.526) < 1e-9);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(json_object_get(c, "because"), 0), "name")),
		"exact_instructions");
	assert_true(json_is_null(json_object_get(c, "because_unknown")));
	assert_true(json_real_value(json_object_get(json_object_get(json_object_get(c, "numbers"), "roof_frac"),
						    "head")) == 0.53);
	c = json_array_get(json_object_get(o, "cases"), 2);
	assert_string_equal(json_string_value(json_object_get(c, "result")), "not_measured");
	assert_true(json_is_null(json_object_get(c, "ratio")) && json_is_null(json_object_get(c, "same_code")));
	json_decref(o);
}

TEST(lists_escape_what_names_may_hold)
{
	const char *markdown = emit(&report, "markdown", NULL), *csv = emit(&report, "csv", NULL);

	has(markdown, "<code>op/x&#124;y/t=1/warm</code>");
	has(markdown, "> **Control:** 2 of 7");
	has(markdown, "`assay compare a b`");
	assert_int_equal(times(csv, "\n"), 4);
	has(csv, "op/x|y/t=1/warm,,faster,,61200,31700,0.518,0.51,0.526,0,3.0x fewer");
	has(csv, "\"'=op/crashed/t=1/warm\",,not_measured,\"head: crashed: \"\"SIGSEGV\"\"\",100,,,,,,");
}

UNIT_GROUP(NULL, NULL)

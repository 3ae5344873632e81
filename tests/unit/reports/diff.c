/* SPDX-License-Identifier: Apache-2.0 */
/* A diff as text and JSON. */
#include "emit_fixture.h"
#include "golden.h"

#include <math.h>

static struct assay_diff_number roof = { "roof_frac", "1", "", 1, { 0.27, 1.08 } };

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
	.side = { { .name = "run 1",
		    .n_runs = 1,
		    .run = 1,
		    .started_ns = 1,
		    .machine_id = "m",
		    .machine_label = "a machine" },
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

TEST(diffs)
{
	golden("text", emit(&report, "text", NULL));
	golden("of a metric in place of time", emit(&by_roof, "text", NULL));
	golden("verbose", emit(&report, "text", &(struct assay_emit_style){ .verbose = true }));
	golden_json("json", emit(&report, "json", NULL));
}

GOLDEN_GROUP("diff", NULL, NULL)

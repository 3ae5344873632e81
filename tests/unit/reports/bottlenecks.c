/* SPDX-License-Identifier: Apache-2.0 */
/* Bottlenecks and advice as text and JSON. */
#include "emit_fixture.h"
#include "golden.h"

#include <math.h>

static struct assay_bottleneck list[] = {
	{ .key = "op/ref/t=1/warm",
	  .bound = ASSAY_BOUND_BY_COMPUTE,
	  .roof_frac = 0.018,
	  .roof = "peak.f32_fma",
	  .evidence = "the numbers",
	  .missing = "instructions",
	  .advice = { { .rule = "vector",
			.evidence = "more numbers",
			.text = "use vectors",
			.priority = 1,
			.gain = 26,
			.most = 56,
			.steps = { { "avx2", 13 } },
			.n_steps = 1 },
		      { .rule = "waits",
			.evidence = "9 waits",
			.text = "spin",
			.priority = 3,
			.gain = NAN,
			.most = NAN } },
	  .n_advice = 2 },
	{ .key = "op/above/t=1/warm",
	  .bound = ASSAY_BOUND_BY_MEMORY,
	  .roof_frac = 1.13,
	  .evidence = "a share that cannot be" },
	{ .key = "op/none/t=1/warm", .roof_frac = NAN, .evidence = "no roof" },
};
static const struct assay_report report = { .kind = ASSAY_REPORT_BOTTLENECKS, .bottlenecks = { 7, list, N_OF(list) } };

TEST(bounds_evidence_and_advice)
{
	golden("bottlenecks", emit(&report, "text", NULL));
	golden("verbose", emit(&report, "text", &(struct assay_emit_style){ .verbose = true }));
	golden_json("json", emit(&report, "json", NULL));
	/* a promise that is the limit is told once */
	list[0].advice[0].gain = 55;
	has(emit(&report, "text", NULL), "(more numbers; expect 55x)\n");
	list[0].advice[0].gain = 99.7;
	list[0].advice[0].most = 234.5;
	has(emit(&report, "text", NULL), "(more numbers; expect 100x, 234x at most)\n");
}

GOLDEN_GROUP("bottlenecks", NULL, NULL)

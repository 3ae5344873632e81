/* SPDX-License-Identifier: Apache-2.0 */
/* Bottlenecks and advice as text and JSON. */
#include "emit_fixture.h"

#include <jansson.h>
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
	{ .key = "op/none/t=1/warm", .roof_frac = NAN, .evidence = "no roof" },
};
static const struct assay_report report = { .kind = ASSAY_REPORT_BOTTLENECKS, .bottlenecks = { 7, list, N_OF(list) } };

TEST(text_tells_bound_evidence_and_advice)
{
	const char *text = emit(&report, "text", NULL);

	assert_true(has_line(text, "  compute        1.8 %", "op/ref/t=1/warm"));
	has(text, "      the numbers\n");
	has(text, "      1. vector: use vectors (more numbers; expect 26x, 56x at most)\n");
	/* counted through, whatever their priority */
	has(text, "      2. waits: spin (9 waits)\n");
	assert_true(has_line(text, "  unknown", "op/none/t=1/warm"));
	has(text, "1 of 2 cases with advice");
	assert_null(strstr(text, "not measured:"));
	has(emit(&report, "text", &(struct assay_emit_style){ .verbose = true }), "not measured: instructions\n");
	/* that the promise is the roof needs not be said twice */
	list[0].advice[0].gain = 55;
	has(emit(&report, "text", NULL), "(more numbers; expect 55x)\n");
	list[0].advice[0].gain = 99.7;
	list[0].advice[0].most = 234.5;
	has(emit(&report, "text", NULL), "(more numbers; expect 100x, 234x at most)\n");
	list[0].advice[0].gain = 26;
	list[0].advice[0].most = 56;
}

TEST(json_has_everything)
{
	json_t *o = json_loads(emit(&report, "json", NULL), 0, NULL), *c, *a;

	assert_int_equal(json_integer_value(json_object_get(o, "run")), 7);
	c = json_array_get(json_object_get(o, "cases"), 0);
	assert_string_equal(json_string_value(json_object_get(c, "bound")), "compute");
	a = json_array_get(json_object_get(c, "advice"), 0);
	assert_true(json_real_value(json_object_get(a, "gain_most")) == 56);
	assert_int_equal(json_integer_value(json_object_get(a, "priority")), 1);
	assert_true(json_real_value(json_object_get(json_object_get(a, "steps"), "avx2")) == 13);
	assert_true(json_is_null(json_object_get(json_array_get(json_object_get(c, "advice"), 1), "gain")));
	c = json_array_get(json_object_get(o, "cases"), 1);
	assert_true(json_is_null(json_object_get(c, "roof_frac")) && json_is_null(json_object_get(c, "roof")));
	json_decref(o);
}

UNIT_GROUP(NULL, NULL)

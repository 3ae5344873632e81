/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts: what is recorded, what repeats cost, and what joins a run. */
#include <math.h>

#include "drive/exact/exact.h"
#include "exact_fixture.h"
#include "unit.h"

/* ---- exact join ---- */

/* Exact counts in the result of a case, and their agreement with its time. */

#define KEY "example.scale/ref/n=1024/t=1/warm"

static void join(double median_ns, uint64_t instructions, struct assay_result *r)
{
	struct assay_exact_case c = { .key = KEY, .status = ASSAY_STATUS_OK };
	const struct assay_exact_run counts = { .cases = &c, .n_cases = 1 };
	const struct assay_plan plan = { 0 };
	bool changed = false;

	*r = (struct assay_result){
		.c = { .key = KEY }, .status = ASSAY_STATUS_OK, .correct = true, .median_ns = median_ns
	};
	c.total.v[ASSAY_EXACT_INSTRUCTIONS] = instructions;
	assert_int_equal(0, assay_exact_counting_join(r, &counts, &plan, "", &changed, NULL));
	assert_true(changed);
}

/* 72000 instructions take 1.5 µs at the very least. */
TEST(counts_agree_with_the_time)
{
	struct assay_result r;

	join(1500, 72000, &r);
	assert_int_equal(ASSAY_STATUS_OK, r.status);
	assert_true(assay_result_metric(&r, "exact_instructions")->value == 72000);
	assay_result_release(&r);
	join(1499, 72000, &r);
	assert_int_equal(ASSAY_STATUS_WRONG, r.status);
	assert_false(r.correct);
	assert_string_equal(r.reason, "faster than any machine allows: 72000 instructions a call, in 1.50 µs");
	assay_result_release(&r);
}

/* ---- exact packet ---- */

/* A counted case goes from one process to another whole, or not at all. */

/* ---- exact price ---- */

/* The time of counting a case, estimated from its record. */

TEST(recorded_cases_have_a_price)
{
	struct assay_exact_case here[] = {
		{ .key = "simulated", .total = { { [ASSAY_EXACT_INSTRUCTIONS] = 70000 } } },
		{ .key = "stepped", .how = ASSAY_EXACT_STEPPED, .total = { { [ASSAY_EXACT_INSTRUCTIONS] = 9000 } } },
	};
	struct assay_exact_case there[] = {
		{ .key = "stepped-long",
		  .how = ASSAY_EXACT_STEPPED,
		  .total = { { [ASSAY_EXACT_INSTRUCTIONS] = 70000 } } },
	};
	struct assay_exact_run builds[] = { { .cases = here, .n_cases = N_OF(here) },
					    { .cases = there, .n_cases = N_OF(there) } };
	const struct assay_exact_baseline b = { .builds = builds, .n_builds = N_OF(builds) }, none = { .n_builds = 0 };

	assert_ptr_equal(assay_exact_price_case(&b, "stepped-long"), &there[0]);
	assert_null(assay_exact_price_case(&b, "new"));
	assert_null(assay_exact_price_case(&none, "stepped"));
	/* a step takes over a hundred times as long as a simulated instruction, a simulator longer to begin */
	assert_true(assay_exact_price_ns(&b, "stepped") < assay_exact_price_ns(&b, "simulated"));
	assert_true(assay_exact_price_ns(&b, "simulated") < assay_exact_price_ns(&b, "stepped-long"));
	assert_true(isinf(assay_exact_price_ns(&b, "new")));
	assert_true(assay_exact_price_steps(&b, "stepped") == 9000);
	assert_true(assay_exact_price_steps(&b, "simulated") == 0);
	assert_true(assay_exact_price_steps(&b, "new") == 0);
}

UNIT_GROUP(NULL, NULL)

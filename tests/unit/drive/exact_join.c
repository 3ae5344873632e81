/* SPDX-License-Identifier: Apache-2.0 */
/* What exact counts add to the result of a case, and what they say of its time. */
#include "unit.h"

#include "drive/exact/counting.h"

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
	assert_string_equal(r.reason, "faster than any machine can: 72000 instructions a call, in 1.50 µs");
	assay_result_release(&r);
}

UNIT_GROUP(NULL, NULL)

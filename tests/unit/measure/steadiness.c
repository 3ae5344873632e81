/* SPDX-License-Identifier: Apache-2.0 */
/* Times are kept in their order; without memory for them the measuring ends, and no case is called unsteady for it. */
#include <stdbool.h>

#include "measure/samples.h"
#include "unit.h"

static bool full;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
	return full ? NULL : __real_realloc(p, size);
}

TEST(test_add)
{
	const struct assay_sample samples[] = { { .ns = 7 }, { .ns = 5 }, { .ns = 6 } };
	struct assay_steadiness s = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(assay_steadiness_add(&s, samples, 0, &err), 0);
	assert_int_equal(assay_steadiness_add(&s, samples, 2, &err), 0);
	full = true;
	assert_int_equal(assay_steadiness_add(&s, samples + 2, 1, &err), ASSAY_ENOMEM);
	assert_string_equal(err.text, "out of memory for the times of 3 samples");
	assert_int_equal(s.n, 2);
	full = false;
	assert_int_equal(assay_steadiness_add(&s, samples + 2, 1, &err), 0);
	assert_int_equal(s.n, 3);
	assert_true(s.ns[0] == 7 && s.ns[1] == 5 && s.ns[2] == 6);
	assay_steadiness_release(&s);
}

/* Series of samples, each between two clocks of the device. */
TEST(test_clock)
{
	static const struct {
		double least, most;
		bool moves;
	} rows[] = {
		{ 0, 0, false },         /* nobody tells */
		{ 8e8, 8.1e8, true },    /* nothing to hold it against */
		{ 9e8, 9e8, true },      /* steady in itself, but higher */
		{ 9e8, 9.05e8, false },  /* a hundredth is none */
		{ 8.8e8, 9.05e8, true }, /* within one */
		{ 9e8, 9e8, false },     { 8.9e8, 8.9e8, true }, { 0, 0, false },
	};
	struct assay_steadiness s = { 0 };

	for (size_t i = 0; i < N_OF(rows); i++) {
		assay_steadiness_clock(&s, rows[i].least, rows[i].most);
		if (s.clock_moves != rows[i].moves)
			fail_msg("series %zu", i);
	}
}

UNIT_GROUP(NULL, NULL)

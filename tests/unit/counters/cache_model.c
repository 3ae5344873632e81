/* SPDX-License-Identifier: Apache-2.0 */
/* Caches against sequences worked out by hand. That callgrind agrees is step_agree.c's. */
#include "unit.h"
#include "counters/callgrind/cache_model.h"

static struct assay_cache_sim cache(uint64_t bytes, unsigned ways, unsigned line_bytes)
{
	struct assay_cache_sim c;

	assert_int_equal(assay_cache_sim_init(&c, &(struct assay_cache_level){ bytes, ways, line_bytes }, NULL), 0);
	return c;
}

/* Two sets of two ways, 64-byte lines: lines of even numbers share a set. */
TEST(the_line_used_longest_ago_leaves)
{
	static const struct {
		uint64_t line;
		bool hit;
	} uses[] = {
		{ 0, false }, { 0, true },  { 2, false }, { 0, true },  { 4, false }, /* takes the place of 2 */
		{ 0, true },  { 2, false },                                           /* takes the place of 4 */
		{ 4, false }, { 2, true },  { 1, false }, { 3, false }, { 1, true },  { 2, true },
	};
	struct assay_cache_sim c = cache(256, 2, 64);

	for (size_t i = 0; i < N_OF(uses); i++)
		if (assay_cache_sim_use(&c, uses[i].line * 64, 8) != uses[i].hit)
			fail_msg("use %zu", i);
	assay_cache_sim_empty(&c);
	assert_false(assay_cache_sim_use(&c, 2 * 64, 1));
	assay_cache_sim_release(&c);
}

TEST(an_access_across_lines_uses_both)
{
	struct assay_cache_sim c = cache(4096, 4, 64);

	assert_true(!assay_cache_sim_use(&c, 60, 8));
	assert_true(assay_cache_sim_use(&c, 0, 64));
	assert_true(assay_cache_sim_use(&c, 64, 64));
	assert_true(!assay_cache_sim_use(&c, 127, 2)); /* one of the two is missing */
	assert_true(assay_cache_sim_use(&c, 128, 1));
	assert_true(!assay_cache_sim_use(&c, 1000, 200)); /* more than two */
	assert_true(assay_cache_sim_use(&c, 1000, 200));
	assert_true(!assay_cache_sim_use(&c, UINT64_C(0xfffffffffffff000), 64));
	assay_cache_sim_release(&c);
}

TEST(caches_that_cannot_be_are_refused)
{
	static const struct assay_cache_level cases[] = {
		{ 0, 2, 64 }, { 256, 0, 64 }, { 256, 2, 0 }, { 256, 2, 48 }, { 3 * 128, 2, 64 }, { 300, 2, 64 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_cache_sim c;

		assert_int_equal(assay_cache_sim_init(&c, &cases[i], NULL), ASSAY_EUSAGE);
	}
}

UNIT_GROUP(NULL, NULL)

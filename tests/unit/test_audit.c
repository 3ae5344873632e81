/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that do less when they are timed than when they are checked are found out, alone and in a comparison. */
#include "sides_world.h"

#include "counters/sanitized.h"

#define N 4096

static const char *const cheats[] = { "peek", "glance", "burst", "cachecopy", "prepared", "skip", "late", "memo" };

/* With a sanitizer not the last two: too few calls fit into a pair, and to compare blocks takes as long as the work. */
#define N_CHEATS (N_OF(cheats) - 2 * ASSAY_SANITIZED_HEAP)

static void expect_alone(struct sides *s, const char *variant, int64_t n, enum assay_cache cache,
			 enum assay_status status)
{
	struct assay_result r;

	measure_alone(s, variant, n, cache, 1, &r);
	if (r.status != status)
		fail_msg("'%s': %s, '%s'", r.c.key, assay_status_name(r.status), r.reason);
	if (status == ASSAY_STATUS_WRONG)
		assert_int_equal(r.n_samples, 0);
	assay_result_release(&r);
}

static void expect_in_pair(struct sides *s, const char *variant, enum assay_status head)
{
	struct assay_pair p;

	measure_in_pair(s, variant, N, &p);
	if (p.side[ASSAY_BASE].status != ASSAY_STATUS_OK || p.side[ASSAY_HEAD].status != head)
		fail_msg("'%s': base '%s', head '%s'", variant, p.side[ASSAY_BASE].reason, p.side[ASSAY_HEAD].reason);
	assay_pair_release(&p);
}

TEST(alone)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	expect_alone(&s, "honest", N, ASSAY_CACHE_WARM, ASSAY_STATUS_OK);
	for (size_t i = 0; i < N_CHEATS; i++)
		expect_alone(&s, cheats[i], N, ASSAY_CACHE_WARM, ASSAY_STATUS_WRONG);
	close_sides(&s);
}

/* What a processor learns of the data is no cheating. */
TEST(branches_are_honest)
{
	static const int64_t lengths[] = { 16, 64, 256, 1024, N };
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	for (size_t i = 0; i < N_OF(lengths); i++)
		expect_alone(&s, "branchy", lengths[i], ASSAY_CACHE_WARM, ASSAY_STATUS_OK);
	close_sides(&s);
}

TEST(in_a_pair)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	expect_in_pair(&s, "honest", ASSAY_STATUS_OK);
	for (size_t i = 0; i < N_CHEATS; i++)
		expect_in_pair(&s, cheats[i], ASSAY_STATUS_WRONG);
	close_sides(&s);
}

/* Each copy may hold the answer of its last call. */
TEST(cold)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	expect_alone(&s, "honest", N, ASSAY_CACHE_COLD, ASSAY_STATUS_OK);
	expect_alone(&s, "glance", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	expect_alone(&s, "cachecopy", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	expect_alone(&s, "late", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	expect_alone(&s, "skip", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	close_sides(&s);
}

MEASURE_MAIN

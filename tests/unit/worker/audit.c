/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that do less when they are timed than when they are checked are found out, alone and in a comparison. */
#include "audit_world.h"

static const char *const cheats[] = { "glance", "burst", "cachecopy", "prepared", "skip", "late", "memo", "peek" };

/* With a sanitizer not the last three: too few calls fit into a pair, and to compare takes as long as the work. */
#define N_CHEATS (N_OF(cheats) - 3 * ASSAY_SANITIZED_HEAP)

TEST(alone)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	check_alone(&s, "honest", N, ASSAY_CACHE_WARM, 1, NULL);
	for (size_t i = 0; i < N_CHEATS; i++)
		check_alone(&s, cheats[i], N, ASSAY_CACHE_WARM, 1, "");
	close_sides(&s);
}

/* What a processor learns of the data is no cheating. */
TEST(branches_are_honest)
{
	static const int64_t lengths[] = { 16, 64, 256, 1024, N };
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	for (size_t i = 0; i < N_OF(lengths); i++)
		check_alone(&s, "branchy", lengths[i], ASSAY_CACHE_WARM, 1, NULL);
	close_sides(&s);
}

TEST(in_a_pair)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	check_in_pair(&s, "honest", N, NULL);
	for (size_t i = 0; i < N_CHEATS; i++)
		check_in_pair(&s, cheats[i], N, "");
	close_sides(&s);
}

/* Each copy may hold the answer of its last call. */
TEST(cold)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	check_alone(&s, "honest", N, ASSAY_CACHE_COLD, 1, NULL);
	check_alone(&s, "glance", N, ASSAY_CACHE_COLD, 1, "");
	check_alone(&s, "cachecopy", N, ASSAY_CACHE_COLD, 1, "");
	check_alone(&s, "late", N, ASSAY_CACHE_COLD, 1, "");
	check_alone(&s, "skip", N, ASSAY_CACHE_COLD, 1, "");
	close_sides(&s);
}

MEASURE_GROUP

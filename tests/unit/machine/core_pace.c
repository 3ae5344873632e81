/* SPDX-License-Identifier: Apache-2.0 */
/* When a core counts as slow, and what a survey of cores looks like to the doctor. No time is measured. */
#include <math.h>

#include "machine/core_pace.h"
#include "recorded_machine.h"

TEST(test_slow_is_a_quarter_more)
{
	static const struct {
		uint64_t ticks, least;
		bool slow;
	} rows[] = {
		{ 1000, 1000, false }, { 1250, 1000, false }, { 1251, 1000, true },
		{ 9000, 1000, true },  { 500, 1000, false },  { 1000, 0, false },
	};

	for (size_t i = 0; i < N_OF(rows); i++)
		if (assay_core_pace_slow(rows[i].ticks, rows[i].least) != rows[i].slow)
			fail_msg("row %zu", i);
}

TEST(test_where_the_loop_would_tell_nothing)
{
	static const struct {
		const char *machine;
		double step_ns;
		int cpus[3];
		size_t n;
		const char *why;
	} rows[] = {
		{ "two-sockets", 20, { 0, 1, 2 }, 3, NULL },
		{ "two-sockets", 60, { 0, 1, 2 }, 3, NULL },
		{ "two-sockets", 61, { 0 }, 1, "the steps of the clock are too coarse" },
		{ "two-sockets", 20, { 0, 1, 16 }, 3, "threads of the case share a core" },
		{ "two-sockets", 20, { 16 }, 1, NULL },
		{ "two-sockets", 20, { 0, 9999 }, 2, NULL },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_clock c = { .resolution_ns = rows[i].step_ns, .ns_per_tick = 1 };
		struct assay_topology *t = machine_open(rows[i].machine);
		const char *why = assay_core_pace_untold(t, &c, rows[i].cpus, rows[i].n);

		if (!why != !rows[i].why || (why && strcmp(why, rows[i].why)))
			fail_msg("row %zu: '%s'", i, why ? why : "");
		assay_topology_close(t);
	}
}

TEST(test_slow_loops_are_counted)
{
	static const struct {
		uint64_t ticks[8];
		size_t n, slow;
		double ratio; /* of the median slow one */
	} rows[] = {
		{ { 100 }, 1, 0, 1 },
		{ { 110, 125, 100, 120 }, 4, 0, 1 },
		{ { 300, 100, 126, 100, 100, 150, 100, 100 }, 8, 3, 1.5 },
		{ { 100, 200, 100 }, 3, 1, 2 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_core_share s = { .cpu = 7 };
		uint64_t ticks[8];

		memcpy(ticks, rows[i].ticks, sizeof(ticks));
		assay_core_share_count(&s, ticks, rows[i].n);
		if (s.loops != rows[i].n || s.slow != rows[i].slow || s.ratio != rows[i].ratio || s.cpu != 7)
			fail_msg("row %zu: %zu of %zu slow, %g times", i, s.slow, s.loops, s.ratio);
	}
}

TEST(test_what_the_doctor_says)
{
	static const struct {
		size_t n, n_cores;
		struct assay_core_share share[8];
		enum assay_health health;
		const char *value;
	} rows[] = {
		{ 1,
		  1,
		  { { .cpu = 5, .loops = 100, .slow = 5, .ratio = 1.4 } },
		  ASSAY_HEALTH_GOOD,
		  "the core at full speed" },
		{ 2,
		  2,
		  { { .cpu = 0, .loops = 1000, .slow = 51, .ratio = 1.3 },
		    { .cpu = 1, .loops = 10, .slow = 8, .ratio = 1.84 } },
		  ASSAY_HEALTH_WARN,
		  "2 of 2 cores are slow at times: CPU 1 most, for 80 % of the time, when a loop takes 1.8 times as "
		  "long" },
		{ 8,
		  64,
		  { [3] = { .cpu = 1006, .loops = 10, .slow = 10, .ratio = 1.3 } },
		  ASSAY_HEALTH_WARN,
		  "1 of 8 cores tried is slow at times: CPU 1006 for 100 % of the time, when a loop takes 1.3 times as "
		  "long" },
		{ 8, 64, { { 0 } }, ASSAY_HEALTH_GOOD, "8 of 64 cores tried, all at full speed" },
		{ 2, 2, { { 0 } }, ASSAY_HEALTH_GOOD, "both cores at full speed" },
		{ 4, 4, { { 0 } }, ASSAY_HEALTH_GOOD, "all 4 cores at full speed" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_findings all = { 0 };

		assay_core_share_add(&all, rows[i].share, rows[i].n, rows[i].n_cores);
		assert_int_equal(all.n, 1);
		assert_string_equal(all.v[0].name, "core_pace");
		assert_string_equal(all.v[0].value, rows[i].value);
		assert_int_equal(all.v[0].health, rows[i].health);
		assert_int_equal(!all.v[0].advice[0], rows[i].health != ASSAY_HEALTH_WARN);
		assay_findings_release(&all);
	}
}

/* Something has a part of the core that makes many loops slow, or stops few for long. */
TEST(what_shares_a_core)
{
	static const struct {
		size_t slow;
		uint64_t slow_ticks;
		bool want;
	} rows[] = {
		{ 0, 0, false }, { 40, 1500, false }, { 80, 1500, true }, { 2, 10000, false }, { 2, 90000, true }
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_core_share s = { .cpu = 1 };
		uint64_t ticks[1000];

		for (size_t k = 0; k < N_OF(ticks); k++)
			ticks[k] = k < rows[i].slow ? rows[i].slow_ticks : 1000;
		assay_core_share_count(&s, ticks, N_OF(ticks));
		if (assay_core_share_taken(&s) != rows[i].want)
			fail_msg("%zu slow loops of %llu ticks", rows[i].slow, (unsigned long long)rows[i].slow_ticks);
	}
}

/* Turns of loops that take as long every time, that drift, and of which one in two blocks is hit. */
TEST(noise_of_turns)
{
	uint64_t ticks[4000];

	for (size_t i = 0; i < N_OF(ticks); i++)
		ticks[i] = 1000;
	assert_true(assay_core_share_noise(ticks, N_OF(ticks), 10000) == 0);
	/* ABBA takes a steady drift away */
	for (size_t i = 0; i < N_OF(ticks); i++)
		ticks[i] = 1000000 + i;
	assert_true(assay_core_share_noise(ticks, N_OF(ticks), 1e7) < 1e-6);
	/* in every other block one turn takes 1 % longer */
	for (size_t i = 0; i < N_OF(ticks); i++)
		ticks[i] = i / 40 % 2 ? 1000 : i % 40 < 10 ? 1010 : 1000;
	assert_true(fabs(assay_core_share_noise(ticks, N_OF(ticks), 10000) - 0.0025) < 0.0005);
	/* too few blocks, and none */
	assert_true(isnan(assay_core_share_noise(ticks, 80, 10000)));
	assert_true(isnan(assay_core_share_noise(ticks, 0, 10000)));
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pace of a core, with a clock of the test's own; what a survey of real cores looks like to the doctor. No time is
 * measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "machine/core_pace.h"
#include "machine/core_survey.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static const struct assay_clock clock_of_test = { .source = ASSAY_CLOCK_MONOTONIC_RAW, .ns_per_tick = 1 };
static uint64_t now_ns, step_ns = 100;
static unsigned reads;

/* Stands before that of the C library: the clock goes on by a step at each read, by a tenth of one at the tenth. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	now_ns += ++reads == 10 ? step_ns / 10 : step_ns;
	*ts = (struct timespec){ .tv_nsec = (long)now_ns };
	return 0;
}

/* A short loop for the caches, and the one that counts. */
static void test_a_loop_lies_between_two_reads(void **state)
{
	(void)state;
	reads = 10;
	assert_int_equal(assay_core_pace_ticks(&clock_of_test), 100);
	assert_int_equal(reads, 14);
	reads = 8; /* the tenth read ends the short one */
	assert_int_equal(assay_core_pace_ticks(&clock_of_test), 100);
	reads = 6;
	assert_int_equal(assay_core_pace_ticks(&clock_of_test), 10);
}

static void test_slow_is_a_quarter_more(void **state)
{
	static const struct {
		uint64_t ticks, least;
		bool slow;
	} rows[] = {
		{ 1000, 1000, false }, { 1250, 1000, false }, { 1251, 1000, true },
		{ 9000, 1000, true },  { 500, 1000, false },  { 1000, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (assay_core_pace_slow(rows[i].ticks, rows[i].least) != rows[i].slow)
			fail_msg("row %zu", i);
}

static void test_each_cpu_is_known_by_its_least(void **state)
{
	static struct assay_core_pace p;

	(void)state;
	assay_core_pace_learn(&p, 3, 700);
	assay_core_pace_learn(&p, 3, 900);
	assay_core_pace_learn(&p, 3, 0);
	assert_int_equal(assay_core_pace_known(&p, 3), 700);
	assay_core_pace_learn(&p, 3, 600);
	assert_int_equal(assay_core_pace_known(&p, 3), 600);
	assert_int_equal(assay_core_pace_known(&p, 2), 0);
	/* what cannot be watched is not known, and nobody's table is nobody's */
	assay_core_pace_learn(&p, ASSAY_PACE_CPUS, 5);
	assay_core_pace_learn(&p, -1, 5);
	assay_core_pace_learn(NULL, 3, 5);
	assert_int_equal(assay_core_pace_known(&p, ASSAY_PACE_CPUS), 0);
	assert_int_equal(assay_core_pace_known(&p, -1), 0);
	assert_int_equal(assay_core_pace_known(NULL, 3), 0);
}

/* A core with all others busy, or behind wide vectors, is not slow: its clock is lower. */
static void test_a_table_for_each_variant_and_number_of_threads(void **state)
{
	struct assay_core_paces all = { 0 };
	struct assay_core_pace *one = assay_core_paces_of(&all, "avx2", 1), *two = assay_core_paces_of(&all, "avx2", 2),
			       *wide = assay_core_paces_of(&all, "avx512", 1);

	(void)state;
	assert_true(one && two && wide && one != two && one != wide && two != wide);
	assay_core_pace_learn(one, 0, 700);
	assert_int_equal(assay_core_pace_known(two, 0), 0);
	assert_int_equal(assay_core_pace_known(wide, 0), 0);
	assert_ptr_equal(assay_core_paces_of(&all, "avx2", 1), one);
	assert_ptr_equal(assay_core_paces_of(&all, "avx512", 1), wide);
	assert_int_equal(all.n, 3);
	assert_null(assay_core_paces_of(NULL, "avx2", 1));
	assay_core_paces_release(&all);
	assert_int_equal(all.n, 0);
}

static void test_where_the_loop_would_tell_nothing(void **state)
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

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_clock c = { .resolution_ns = rows[i].step_ns, .ns_per_tick = 1 };
		struct assay_topology *t = NULL;
		struct assay_err err = { 0 };
		char path[128];
		const char *why;

		snprintf(path, sizeof(path), "tests/fixtures/topology/%s.xml", rows[i].machine);
		if (assay_topology_open(&t, path, &err))
			fail_msg("%s", err.text);
		why = assay_core_pace_untold(t, &c, rows[i].cpus, rows[i].n);
		if (!why != !rows[i].why || (why && strcmp(why, rows[i].why)))
			fail_msg("row %zu: '%s'", i, why ? why : "");
		assay_topology_close(t);
	}
}

static void test_slow_loops_are_counted(void **state)
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

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_core_share s = { .cpu = 7 };
		uint64_t ticks[8];

		memcpy(ticks, rows[i].ticks, sizeof(ticks));
		assay_core_share_count(&s, ticks, rows[i].n);
		if (s.loops != rows[i].n || s.slow != rows[i].slow || s.ratio != rows[i].ratio || s.cpu != 7)
			fail_msg("row %zu: %zu of %zu slow, %g times", i, s.slow, s.loops, s.ratio);
	}
}

static void test_what_the_doctor_says(void **state)
{
	static const struct {
		struct assay_core_survey s;
		size_t n;
		enum assay_health health[2];
		const char *value[2];
	} rows[] = {
		{ { .n = 1, .n_cores = 1, .share = { { .cpu = 5, .loops = 100, .slow = 5, .ratio = 1.4 } } },
		  1,
		  { ASSAY_HEALTH_GOOD },
		  { "1 core calculated at its own pace" } },
		{ { .n = 2,
		    .n_cores = 2,
		    .share = { { .cpu = 0, .loops = 1000, .slow = 51, .ratio = 1.3 },
			       { .cpu = 1, .loops = 10, .slow = 8, .ratio = 1.84 } },
		    .distance = { .cpu = { 0, 1 }, .least_ns = 52, .most_ns = 331 } },
		  2,
		  { ASSAY_HEALTH_WARN, ASSAY_HEALTH_WARN },
		  { "2 of 2 cores are slow at times: CPU 1 most, for 80 % of the time, when a loop takes 1.8 times as "
		    "long",
		    "a cache line goes from CPU 0 to 1 and back in 52, then in 331 ns" } },
		{ { .n = 8,
		    .n_cores = 64,
		    .share = { [3] = { .cpu = 1006, .loops = 10, .slow = 10, .ratio = 1.3 } },
		    .distance_untold = "no answer" },
		  2,
		  { ASSAY_HEALTH_WARN, ASSAY_HEALTH_MISSING },
		  { "1 of 8 cores tried is slow at times: CPU 1006 for 100 % of the time, when a loop takes 1.3 times "
		    "as long",
		    "no answer" } },
		{ { .n = 8, .n_cores = 64, .distance = { .cpu = { 0, 2 }, .least_ns = 52, .most_ns = 104 } },
		  2,
		  { ASSAY_HEALTH_GOOD, ASSAY_HEALTH_GOOD },
		  { "8 of 64 cores calculated at their own pace",
		    "a cache line goes from CPU 0 to 2 and back in 52 to 104 ns" } },
		{ { .n = 2,
		    .n_cores = 2,
		    .share_untold = "the steps",
		    .distance = { .cpu = { 0, 2 }, .least_ns = 52, .most_ns = 104 } },
		  2,
		  { ASSAY_HEALTH_MISSING, ASSAY_HEALTH_GOOD },
		  { "the steps", "a cache line goes from CPU 0 to 2 and back in 52 to 104 ns" } },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_findings all = { 0 };

		assay_core_survey_add(&all, &rows[i].s);
		assert_int_equal(all.n, rows[i].n);
		for (size_t k = 0; k < all.n; k++) {
			assert_string_equal(all.v[k].name, k ? "core_distance" : "core_pace");
			assert_string_equal(all.v[k].value, rows[i].value[k]);
			assert_int_equal(all.v[k].health, rows[i].health[k]);
			assert_int_equal(!all.v[k].advice[0], rows[i].health[k] != ASSAY_HEALTH_WARN);
		}
		assay_findings_release(&all);
	}
}

/* With a clock that always goes on by as much no loop is slow. */
static void test_a_survey_of_this_machine(void **state)
{
	const struct assay_placement_options one_a_core = { 0 };
	struct assay_topology *t = NULL;
	struct assay_core_survey s;
	struct assay_err err = { 0 };
	size_t n;

	(void)state;
	reads = 10;
	step_ns = 50000;
	assert_int_equal(assay_topology_open(&t, NULL, &err), 0);
	n = assay_placement_max(t, &one_a_core);
	assay_core_survey(t, &clock_of_test, &s);
	assert_string_equal(s.share_untold, "");
	assert_int_equal(s.n, n < ASSAY_SURVEY_CPUS ? n : ASSAY_SURVEY_CPUS);
	assert_int_equal(s.n_cores, n);
	for (size_t i = 0; i < s.n; i++) {
		assert_in_range(s.share[i].loops, 300, 500);
		assert_int_equal(s.share[i].slow, 0);
		assert_true(s.share[i].ratio == 1);
	}
	if (s.n > 1)
		assert_true(s.distance.cpu[0] == s.share[0].cpu && s.distance.cpu[1] == s.share[1].cpu &&
			    (s.distance.least_ns > 0) == !s.distance_untold[0]);
	assay_topology_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_loop_lies_between_two_reads),
		cmocka_unit_test(test_slow_is_a_quarter_more),
		cmocka_unit_test(test_each_cpu_is_known_by_its_least),
		cmocka_unit_test(test_a_table_for_each_variant_and_number_of_threads),
		cmocka_unit_test(test_where_the_loop_would_tell_nothing),
		cmocka_unit_test(test_slow_loops_are_counted),
		cmocka_unit_test(test_what_the_doctor_says),
		cmocka_unit_test(test_a_survey_of_this_machine),
	};

	return cmocka_run_group_tests_name("core pace", tests, NULL, NULL);
}

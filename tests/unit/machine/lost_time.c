/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread lost, from two readings of its clocks. */
#include <time.h>

#include "unit.h"
#include "machine/lost_time.h"

TEST(from_two_readings)
{
	static const struct {
		const char *name;
		uint64_t wall_ns, cpu_ns, waited_ns; /* that went by */
		bool waits_told;
		uint64_t voluntary, involuntary;
		struct assay_lost_time want;
		bool coarse;
	} rows[] = {
		{ "all its own", 1000, 1000, 0, true, 0, 0, { 0, 0, true }, false },
		{ "a clock that is a little ahead", 1000, 1003, 0, true, 0, 0, { 0, 0, true }, false },
		{ "others had the CPU", 1000, 600, 400, true, 0, 1, { 400, 0, true }, false },
		{ "the hypervisor had it", 1000, 600, 0, true, 0, 0, { 0, 400, true }, false },
		{ "both", 1000, 600, 100, true, 0, 1, { 100, 300, true }, false },
		{ "no more than all", 1000, 600, 700, true, 0, 1, { 400, 0, true }, false },
		{ "asleep is not lost", 1000, 600, 100, true, 3, 1, { 100, 0, true }, false },
		{ "a wait that nobody tells, by a switch", 1000, 600, 0, false, 0, 1, { 400, 0, true }, false },
		{ "nobody tells, no switch", 1000, 600, 0, false, 0, 0, { 0, 400, true }, false },
		{ "nobody tells, and asleep", 1000, 600, 0, false, 1, 1, { 0, 0, false }, false },
		{ "waking up is not lost", 1000, 600, 100, true, 3, 0, { 0, 0, true }, false },
		{ "asleep, nobody tells, no switch", 1000, 600, 0, false, 3, 0, { 0, 0, true }, false },
		{ "a coarse clock", 1000, 0, 100, true, 0, 1, { 100, 0, true }, true },
		{ "a coarse clock, and nobody tells", 1000, 0, 0, false, 0, 1, { 0, 0, false }, true },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_thread_time before = { 50, 20, 7, rows[i].waits_told, !rows[i].coarse };
		const struct assay_thread_time after = { 50 + rows[i].wall_ns, 20 + rows[i].cpu_ns,
							 7 + rows[i].waited_ns, rows[i].waits_told, !rows[i].coarse };
		struct assay_lost_time lost =
			assay_lost_time_between(&before, &after, rows[i].voluntary, rows[i].involuntary);

		if (lost.waited_ns != rows[i].want.waited_ns || lost.stolen_ns != rows[i].want.stolen_ns ||
		    lost.told != rows[i].want.told)
			fail_msg("%s: waited %llu, stolen %llu, told %d", rows[i].name,
				 (unsigned long long)lost.waited_ns, (unsigned long long)lost.stolen_ns, lost.told);
	}
}

/* One thread of which nothing is known makes the most unknown. */
TEST(most_of_threads)
{
	const struct assay_lost_time a = { 5, 7, true }, b = { 6, 1, true }, unknown = { 0, 0, false };
	struct assay_lost_time most = { .told = true };

	assay_lost_time_most(&most, &a);
	assay_lost_time_most(&most, &b);
	assert_true(most.waited_ns == 6 && most.stolen_ns == 7 && most.told);
	assay_lost_time_most(&most, &unknown);
	assert_true(most.waited_ns == 6 && most.stolen_ns == 7 && !most.told);
}

TEST(ticks_give_way_to_clocks)
{
	assert_true(assay_steal_is_timed(0, 0));
	assert_false(assay_steal_is_timed(2499999, 1));
	assert_true(assay_steal_is_timed(2500000, 1));
	assert_false(assay_steal_is_timed(7000000, 3));
}

/* A thread that sleeps lets the wall clock run, and its own clock stand. */
TEST(this_thread)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	struct assay_thread_time before, after;

	assay_thread_time_read(&before);
	nanosleep(&nap, NULL);
	assay_thread_time_read(&after);
	assert_true(after.wall_ns - before.wall_ns >= 20000000);
	assert_true(after.cpu_ns > before.cpu_ns || !after.cpu_told);
	assert_true(after.cpu_ns - before.cpu_ns < after.wall_ns - before.wall_ns);
	assert_true(after.waited_ns >= before.waited_ns);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's counts of a thread: page faults are exact, sums are sums. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "counters/counting.h"
#include "counters/provider.h"
#include "unit.h"

#define PAGES 64

/* ---- migrations: a thread that is moved a known number of times -------------------------------------------------- */

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	fn(arg, 0, 1);
}

static void count_moves(const struct assay_counter_provider *p, const char *how)
{
	struct assay_counter_context ctx = { 0 };
	const struct assay_counting_options o = { .ctx = &ctx,
						  .events = "migrations\tmigrations\nfaults\tminor_faults\n",
						  .n_threads = 1,
						  .parallel = alone,
						  .providers = &p,
						  .n_providers = 1 };
	struct assay_counters out = { 0 };
	struct assay_counter_probe found;
	struct assay_counting *c;
	struct assay_os_counts os;
	cpu_set_t before;
	int cpu[2], n = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &before))
			cpu[n++] = i;
	p->probe(&ctx, &found);
	assert_true(found.works ? !found.advice[0] : found.value[0] && found.advice[0]);
	if (!found.works || n < 2)
		skip();
	assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
	for (int i = 0; i < 3; i++) {
		move_to(cpu[0]);
		assay_counting_before(c, 0, &os);
		for (int k = 1; k <= 4; k++)
			move_to(cpu[k % 2]);
		assay_counting_after(c, 0, &os);
		assay_counting_add(c, 2);
	}
	sched_setaffinity(0, sizeof(before), &before);
	assert_int_equal(assay_counting_result(c, &out), 0);
	assert_int_equal(out.n, 1);
	assert_true(out.v[0].value == 2); /* four moves in two iterations */
	assert_string_equal(out.v[0].source, ASSAY_SOURCE_OS);
	assert_string_equal(out.v[0].how, how);
	assert_non_null(assay_counters_find_missing(&out, "faults"));
	assay_counting_close(c);
	assay_counters_release(&out);
}

/* Every move is counted, though what counts them is read only after a switch. */
TEST(test_moves_in_proc)
{
	count_moves(&assay_provider_sched, "/proc/thread-self/sched");
}

TEST(test_moves_by_perf_event)
{
	count_moves(&assay_provider_perf, "perf_event_open");
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's counts of a thread: page faults are exact, sums are sums. */
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "counters/counting.h"
#include "counters/provider.h"
#include "unit.h"

#define PAGES 64

/* Touch pages that were never touched, each of which faults once; huge pages would make it fewer. */
static void touch_fresh_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	madvise(p, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)p)[i * page] = 1;
	munmap(p, PAGES * page);
}

TEST(test_counts_of_this_thread)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct assay_os_counts a, b, d;

	assay_os_counts_read(&a);
	assay_os_counts_read(&b);
	d = assay_os_counts_between(&a, &b);
	assert_int_equal(d.major_faults, 0);

	assay_os_counts_read(&a);
	touch_fresh_pages();
	nanosleep(&nap, NULL);
	assay_os_counts_read(&b);
	d = assay_os_counts_between(&a, &b);
	assert_in_range(d.minor_faults, PAGES, PAGES + 16);
	assert_in_range(d.voluntary_switches, 1, 16);
	assert_int_equal(d.cpu, b.cpu);
}

TEST(test_differences_and_sums)
{
	const struct assay_os_counts a = { 1, 2, 3, 4, 0 }, b = { 11, 13, 15, 17, 3 };
	struct assay_os_counts d = assay_os_counts_between(&a, &b), sum = { 0 };

	assert_int_equal(d.cpu, 3);
	assay_os_counts_add(&sum, &d);
	assay_os_counts_add(&sum, &d);
	assert_int_equal(sum.minor_faults, 20);
	assert_int_equal(sum.major_faults, 22);
	assert_int_equal(sum.voluntary_switches, 24);
	assert_int_equal(sum.involuntary_switches, 26);
}

/* One reading gives all of getrusage's events, which hang together. */
TEST(test_rusage_events)
{
	enum { MINOR, MAJOR, VOLUNTARY, FORCED, SWITCHES, TASK_CLOCK, N };
	const struct assay_counter_provider *p = &assay_provider_rusage;
	struct assay_counter_context ctx = { 0 };
	struct assay_os_counts now;
	uint64_t v[N];
	void *set;

	assert_string_equal(p->events[VOLUNTARY], "voluntary_switches");
	assert_string_equal(p->events[SWITCHES], "context_switches");
	assert_string_equal(p->events[TASK_CLOCK], "task_clock_ns");
	assert_null(p->events[N]);
	sched_yield();
	assay_os_counts_read(&now);
	assert_int_equal(0, p->open(&ctx, &set, NULL));
	assert_int_equal(0, p->read_os(set, &now, v));
	assert_int_equal(v[MINOR], now.minor_faults);
	assert_int_equal(v[SWITCHES], v[VOLUNTARY] + v[FORCED]);
	assert_true(v[TASK_CLOCK] > 0);
}

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

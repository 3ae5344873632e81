/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's counts of a thread: page faults are exact, sums are sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "counters/os_events.h"
#include "counters/provider.h"

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

static void test_counts_of_this_thread(void **state)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct assay_os_counts a, b, d;

	(void)state;
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
	assert_int_equal(d.migrations, a.cpu != b.cpu);
}

static void test_differences_and_sums(void **state)
{
	const struct assay_os_counts a = { 1, 2, 3, 4, 0, 0 }, b = { 11, 12, 13, 14, 0, 0 },
				     c = { 12, 12, 13, 15, 0, 3 };
	struct assay_os_counts d = assay_os_counts_between(&a, &b), sum = { 0 };

	(void)state;
	assert_int_equal(d.minor_faults, 10);
	assert_int_equal(d.migrations, 0);
	assay_os_counts_add(&sum, &d);
	d = assay_os_counts_between(&b, &c);
	assert_int_equal(d.migrations, 1);
	assay_os_counts_add(&sum, &d);
	assert_int_equal(sum.minor_faults, 11);
	assert_int_equal(sum.major_faults, 10);
	assert_int_equal(sum.voluntary_switches, 10);
	assert_int_equal(sum.involuntary_switches, 11);
	assert_int_equal(sum.migrations, 1);
	assert_int_equal(sum.cpu, 3);
}

/* One reading gives all of getrusage's events, which hang together. */
static void test_rusage_events(void **state)
{
	static const char *const names[] = { "context_switches", "voluntary_switches", "forced_switches",
					     "task_clock_ns" };
	const struct assay_counter_provider *p = &assay_provider_rusage;
	struct assay_counter_context ctx = { 0 };
	struct assay_os_counts now;
	struct assay_err err = { 0 };
	uint64_t v[4];
	void *set;

	(void)state;
	assert_int_equal(0, p->open(&ctx, &set, &err));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(0, p->add(set, names[i], &err));
	assert_int_equal(ASSAY_ENOTFOUND, p->add(set, "migrations", &err));
	sched_yield();
	assay_os_counts_read(&now);
	assert_int_equal(0, p->read_os(set, &now, v));
	assert_int_equal(v[0], v[1] + v[2]);
	assert_true(v[3] > 0);
	p->close(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_of_this_thread),
		cmocka_unit_test(test_differences_and_sums),
		cmocka_unit_test(test_rusage_events),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}

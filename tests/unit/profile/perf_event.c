/* SPDX-License-Identifier: Apache-2.0 */
/* Which event samples are taken by, on machines with and without a PMU. */
#include "unit.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "profile/cpu_sampler.h"

/* A machine: what opening cycles, and the software clock, gives. */
struct machine {
	int cycles_errno; /* 0: they open */
	uint64_t cycles;  /* that were counted */
	int clock_errno;
	unsigned opened, closed;
};

static int open_one(void *arg, const struct perf_event_attr *a)
{
	struct machine *m = arg;
	const bool cycles = a->type == PERF_TYPE_HARDWARE && a->config == PERF_COUNT_HW_CPU_CYCLES;
	const int e = cycles ? m->cycles_errno : m->clock_errno;

	assert_true(cycles || (a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CPU_CLOCK));
	assert_true(a->exclude_kernel && a->exclude_hv && !a->disabled);
	if (e) {
		errno = e;
		return -1;
	}
	m->opened++;
	return cycles ? 100 : 101;
}

static uint64_t close_one(void *arg, int fd)
{
	struct machine *m = arg;

	m->closed++;
	return fd == 100 ? m->cycles : 0;
}

TEST(cycles_where_they_tick)
{
	static const struct {
		struct machine m;
		const char *want; /* NULL: nothing samples */
		bool by_frequency;
	} rows[] = {
		{ { 0, 123456, 0, 0, 0 }, "perf_event_open's cycles", true },
		/* no PMU, as in most virtual machines */
		{ { ENOENT, 0, 0, 0, 0 }, "perf_event_open's cpu-clock", false },
		{ { EOPNOTSUPP, 0, 0, 0, 0 }, "perf_event_open's cpu-clock", false },
		{ { EBUSY, 0, 0, 0, 0 }, "perf_event_open's cpu-clock", false },
		/* a counter that opens and never counts */
		{ { 0, 0, 0, 0, 0 }, "perf_event_open's cpu-clock", false },
		/* a container */
		{ { EPERM, 0, EPERM, 0, 0 }, NULL, false },
		{ { EACCES, 0, EACCES, 0, 0 }, NULL, false },
		{ { ENOENT, 0, ENOSYS, 0, 0 }, NULL, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = rows[i].m;
		const struct assay_perf_opener o = { open_one, close_one, &m };
		const struct assay_perf_event *e = assay_perf_event_choose(&o);

		assert_int_equal(m.opened, m.closed);
		if (!rows[i].want) {
			assert_null(e);
			assert_int_equal(errno, m.clock_errno);
			continue;
		}
		assert_non_null(e);
		assert_string_equal(e->name, rows[i].want);
		assert_true(e->by_frequency == rows[i].by_frequency);
	}
}

UNIT_GROUP(NULL, NULL)

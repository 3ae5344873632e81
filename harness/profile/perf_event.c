/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine may offer a counter of cycles that never counts, so an event has to tick before it is chosen. The
 * software clock needs no such test: nothing counts it but the kernel itself.
 */
#include "profile/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORK_ROUNDS 200000

static const struct assay_perf_event events[] = {
	{ "perf_event_open's cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ "perf_event_open's cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false },
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

const struct assay_perf_event *assay_perf_event_choose(const struct assay_perf_opener *opener)
{
	for (size_t i = 0; i < N_EVENTS; i++) {
		struct perf_event_attr a = { .type = events[i].type,
					     .size = sizeof(a),
					     .config = events[i].config,
					     .exclude_kernel = 1,
					     .exclude_hv = 1 };
		const int fd = opener->open(opener->arg, &a);
		const uint64_t count = fd < 0 ? 0 : opener->close(opener->arg, fd);

		if (fd >= 0 && (count || events[i].type == PERF_TYPE_SOFTWARE))
			return &events[i];
	}
	return NULL;
}

static int open_own(void *arg, const struct perf_event_attr *a)
{
	(void)arg;
	return (int)syscall(SYS_perf_event_open, a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t close_own(void *arg, int fd)
{
	volatile uint64_t work = 0;
	uint64_t count = 0;

	(void)arg;
	for (int i = 0; i < WORK_ROUNDS; i++)
		work += (uint64_t)i;
	(void)work;
	if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		count = 0;
	close(fd);
	return count;
}

const struct assay_perf_opener assay_perf_kernel = { open_own, close_own, NULL };

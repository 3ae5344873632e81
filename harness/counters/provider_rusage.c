/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts of a thread by getrusage and its CPU clock: allowed everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/provider.h"

enum { MINOR_FAULTS, MAJOR_FAULTS, VOLUNTARY, FORCED, SWITCHES, TASK_CLOCK, N_EVENTS };

static const char *const events[N_EVENTS] = {
	[MINOR_FAULTS] = "minor_faults", [MAJOR_FAULTS] = "major_faults", [VOLUNTARY] = "voluntary_switches",
	[FORCED] = "forced_switches",    [SWITCHES] = "context_switches", [TASK_CLOCK] = "task_clock_ns",
};

struct rusage_set {
	size_t n;
	unsigned event[N_EVENTS];
	bool task_clock; /* one of them: a system call of its own */
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	(void)ctx;
	*out = (struct assay_counter_probe){ .works = true, .value = "faults, switches and CPU time of every thread" };
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	(void)ctx;
	*set = calloc(1, sizeof(struct rusage_set));
	return *set ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct rusage_set *s = set;

	for (unsigned i = 0; i < N_EVENTS; i++) {
		if (strcmp(events[i], event))
			continue;
		if (s->n == N_EVENTS)
			return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
		s->event[s->n++] = i;
		s->task_clock |= i == TASK_CLOCK;
		return 0;
	}
	return assay_err_set(err, ASSAY_ENOTFOUND, "getrusage does not count '%s'", event);
}

static int read_os(void *set, const struct assay_os_counts *now, uint64_t *values)
{
	const struct rusage_set *s = set;
	struct timespec cpu = { 0 };
	uint64_t all[N_EVENTS];

	if (s->task_clock)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	all[MINOR_FAULTS] = now->minor_faults;
	all[MAJOR_FAULTS] = now->major_faults;
	all[VOLUNTARY] = now->voluntary_switches;
	all[FORCED] = now->involuntary_switches;
	all[SWITCHES] = now->voluntary_switches + now->involuntary_switches;
	all[TASK_CLOCK] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	for (size_t i = 0; i < s->n; i++)
		values[i] = all[s->event[i]];
	return 0;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)ctx;
	snprintf(buf, size, "%s",
		 strcmp(event, events[TASK_CLOCK]) ? "getrusage" : "clock_gettime, CPU time of the thread");
}

const struct assay_counter_provider assay_provider_rusage = {
	.name = "getrusage",
	.source = ASSAY_SOURCE_OS,
	.probe = probe,
	.open = open_set,
	.add = add,
	.read_os = read_os,
	.close = free,
	.how = how,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts of a thread by getrusage and its CPU clock: allowed everywhere. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "counters/provider.h"

#define TASK_CLOCK "task_clock_ns"

/* In the order of read_os(). */
static const char *const events[] = {
	"minor_faults", "major_faults", "voluntary_switches", "forced_switches", "context_switches", TASK_CLOCK, NULL,
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	(void)ctx;
	*out = (struct assay_counter_probe){ .works = true, .value = "faults, switches and CPU time of every thread" };
}

static int read_os(void *set, const struct assay_os_counts *now, uint64_t *values)
{
	struct timespec cpu = { 0 };

	(void)set;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	*values++ = now->minor_faults;
	*values++ = now->major_faults;
	*values++ = now->voluntary_switches;
	*values++ = now->involuntary_switches;
	*values++ = now->voluntary_switches + now->involuntary_switches;
	*values = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	return 0;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)ctx;
	snprintf(buf, size, "%s", strcmp(event, TASK_CLOCK) ? "getrusage" : "clock_gettime, CPU time of the thread");
}

const struct assay_counter_provider assay_provider_rusage = {
	.name = "getrusage",
	.source = ASSAY_SOURCE_OS,
	.events = events,
	.probe = probe,
	.read_os = read_os,
	.how = how,
};

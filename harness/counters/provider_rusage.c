/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts of a thread by getrusage and its CPU clock: allowed everywhere. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "counters/provider.h"

void assay_os_counts_read(struct assay_os_counts *out)
{
	struct rusage u = { 0 };

	getrusage(RUSAGE_THREAD, &u);
	out->minor_faults = (uint64_t)u.ru_minflt;
	out->major_faults = (uint64_t)u.ru_majflt;
	out->voluntary_switches = (uint64_t)u.ru_nvcsw;
	out->involuntary_switches = (uint64_t)u.ru_nivcsw;
	out->cpu = sched_getcpu();
}

struct assay_os_counts assay_os_counts_between(const struct assay_os_counts *before,
					       const struct assay_os_counts *after)
{
	return (struct assay_os_counts){
		.minor_faults = after->minor_faults - before->minor_faults,
		.major_faults = after->major_faults - before->major_faults,
		.voluntary_switches = after->voluntary_switches - before->voluntary_switches,
		.involuntary_switches = after->involuntary_switches - before->involuntary_switches,
		.cpu = after->cpu,
	};
}

void assay_os_counts_add(struct assay_os_counts *sum, const struct assay_os_counts *d)
{
	sum->minor_faults += d->minor_faults;
	sum->major_faults += d->major_faults;
	sum->voluntary_switches += d->voluntary_switches;
	sum->involuntary_switches += d->involuntary_switches;
}

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

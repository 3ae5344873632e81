/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts of a thread, or of children, by getrusage and CPU clocks: allowed everywhere. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "counters/provider.h"

static void read_usage(int who, struct assay_os_counts *out)
{
	struct rusage u = { 0 };

	getrusage(who, &u);
	out->minor_faults = (uint64_t)u.ru_minflt;
	out->major_faults = (uint64_t)u.ru_majflt;
	out->voluntary_switches = (uint64_t)u.ru_nvcsw;
	out->involuntary_switches = (uint64_t)u.ru_nivcsw;
}

void assay_os_counts_read(struct assay_os_counts *out)
{
	read_usage(RUSAGE_THREAD, out);
	out->cpu = sched_getcpu();
}

void assay_os_counts_read_children(struct assay_os_counts *out)
{
	read_usage(RUSAGE_CHILDREN, out);
	out->cpu = -1;
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

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	(void)err;
	*set = ctx;
	return 0;
}

static uint64_t children_cpu_ns(void)
{
	struct rusage u = { 0 };

	getrusage(RUSAGE_CHILDREN, &u);
	return 1000 * ((uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000u +
		       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec cpu = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	return (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

static int read_os(void *set, const struct assay_os_counts *now, uint64_t *values)
{
	const struct assay_counter_context *ctx = set;

	*values++ = now->minor_faults;
	*values++ = now->major_faults;
	*values++ = now->voluntary_switches;
	*values++ = now->involuntary_switches;
	*values++ = now->voluntary_switches + now->involuntary_switches;
	*values = ctx->children ? children_cpu_ns() : thread_cpu_ns();
	return 0;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	snprintf(buf, size, "%s",
		 ctx->children               ? "getrusage, of the process and what it started"
		 : strcmp(event, TASK_CLOCK) ? "getrusage"
					     : "clock_gettime, CPU time of the thread");
}

const struct assay_counter_provider assay_provider_rusage = {
	.name = "getrusage",
	.source = ASSAY_SOURCE_OS,
	.events = events,
	.probe = probe,
	.open = open_set,
	.read_os = read_os,
	.how = how,
};

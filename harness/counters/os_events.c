/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts, by getrusage and the thread's CPU clock. */
#include "counters/os_events.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void assay_os_counts_read(struct assay_os_counts *out)
{
	struct rusage u = { 0 };
	struct timespec ts = { 0 };

	getrusage(RUSAGE_THREAD, &u);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	out->minor_faults = (uint64_t)u.ru_minflt;
	out->major_faults = (uint64_t)u.ru_majflt;
	out->voluntary_switches = (uint64_t)u.ru_nvcsw;
	out->involuntary_switches = (uint64_t)u.ru_nivcsw;
	out->migrations = 0;
	out->cpu_time_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
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
		.migrations = before->cpu != after->cpu,
		.cpu_time_ns = after->cpu_time_ns - before->cpu_time_ns,
		.cpu = after->cpu,
	};
}

void assay_os_counts_add(struct assay_os_counts *sum, const struct assay_os_counts *d)
{
	sum->minor_faults += d->minor_faults;
	sum->major_faults += d->major_faults;
	sum->voluntary_switches += d->voluntary_switches;
	sum->involuntary_switches += d->involuntary_switches;
	sum->migrations += d->migrations;
	sum->cpu_time_ns += d->cpu_time_ns;
	sum->cpu = d->cpu;
}

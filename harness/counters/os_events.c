/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts, by getrusage. */
#include "counters/provider.h"

#include <sched.h>
#include <sys/resource.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
/* What the operating system counts for a thread: faults, switches, CPU time. Works everywhere. */
#ifndef ASSAY_COUNTERS_OS_EVENTS_H
#define ASSAY_COUNTERS_OS_EVENTS_H

#include <stdint.h>

/* Of one thread since it began; or a difference; or a sum over threads. */
struct assay_os_counts {
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t migrations;  /* differences only: 1 when the CPU at the end is another */
	uint64_t cpu_time_ns; /* user and kernel */
	int cpu;              /* where it ran when it was read, -1 unknown */
};

/* Of the calling thread; two system calls, under 1 us. Not for the timed region, but right beside it. */
void assay_os_counts_read(struct assay_os_counts *out);

/* From @before to @after, both of the same thread. */
struct assay_os_counts assay_os_counts_between(const struct assay_os_counts *before,
					       const struct assay_os_counts *after);

/* Add the difference @d of one thread to @sum (which starts all-zero); `cpu` is the last one added. */
void assay_os_counts_add(struct assay_os_counts *sum, const struct assay_os_counts *d);

#endif

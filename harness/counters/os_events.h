/* SPDX-License-Identifier: Apache-2.0 */
/* What the operating system counts for a thread: faults and switches. Works everywhere. */
#ifndef ASSAY_COUNTERS_OS_EVENTS_H
#define ASSAY_COUNTERS_OS_EVENTS_H

#include <stdint.h>

/* Counts of one thread since it began, or a difference, or a sum over threads. */
struct assay_os_counts {
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	int cpu; /* where it ran when it was read, -1 unknown */
};

/*
 * Read the counts of the calling thread; one system call, under 0.5 us. Not for the timed region, but right beside it.
 */
void assay_os_counts_read(struct assay_os_counts *out);

/* From @before to @after, both of the same thread. */
struct assay_os_counts assay_os_counts_between(const struct assay_os_counts *before,
					       const struct assay_os_counts *after);

/* Add the difference @d of one thread to @sum (which starts all-zero); its `cpu` stays. */
void assay_os_counts_add(struct assay_os_counts *sum, const struct assay_os_counts *d);

#endif

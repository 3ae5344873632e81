/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs of disturbance that the host shows while samples are taken: stolen time, throttling of the control group,
 * changes of the CPU's frequency, pressure stall information. What the kernel itself counts for each sample (switches,
 * faults) is not here.
 */
#ifndef ASSAY_MACHINE_DISTURBANCE_H
#define ASSAY_MACHINE_DISTURBANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counters as they were last read. Whatever the host does not show stays unknown and never flags a sample. */
struct assay_disturbance {
	const char *root; /* "" is this machine, see host_files.h */
	const int *cpus;  /* borrowed */
	size_t n_cpus;
	bool steal_known, quota_known, pressure_known;
	uint64_t steal_ticks, throttled_ns, pressure_us;
	int64_t frequency_khz; /* of the first CPU; 0: not shown */
};

void assay_disturbance_begin(struct assay_disturbance *d, const char *root, const int *cpus, size_t n_cpus);
/*
 * Flags (enum assay_disturb) of what happened since the last call, and the steal ticks. Costs some 20 µs, and steal
 * is counted in ticks of 10 ms: to be called about so often.
 */
uint32_t assay_disturbance_poll(struct assay_disturbance *d, uint32_t *steal_ticks);

#endif

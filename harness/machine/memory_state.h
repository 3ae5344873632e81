/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory the machine has, how much of it may be used, and what the hypervisor took of the CPUs. @root as in
 * host_files.h.
 */
#ifndef ASSAY_MACHINE_MEMORY_STATE_H
#define ASSAY_MACHINE_MEMORY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct assay_memory_state {
	uint64_t total_bytes;     /* of the machine */
	uint64_t available_bytes; /* without swapping; not above what the container still allows */
	uint64_t limit_bytes;     /* of the container (cgroup v1 or v2); 0: none */
	uint64_t usable_bytes;    /* of the container where it has less than the machine, else of the machine */
	uint64_t used_bytes;      /* of these */
};
int assay_memory_state(struct assay_memory_state *out, struct assay_err *err);
int assay_memory_state_at(const char *root, struct assay_memory_state *out, struct assay_err *err);

/*
 * Steal ticks (USER_HZ) summed over @cpus, and whether the host shows them at all. Reads /proc/stat, which takes tens
 * of microseconds, and more on big machines, so this is not for timed regions.
 */
bool assay_steal_ticks_at(const char *root, const int *cpus, size_t n, uint64_t *ticks);
/* Share of all CPU time since boot. */
bool assay_steal_frac_at(const char *root, double *frac);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a core calculates at this moment. A loop that keeps its arithmetic units busy always takes the same time,
 * unless something else uses part of the core: another hardware thread, which on a virtual machine is often another
 * guest's, or a lower frequency. The operating system shows neither stolen time nor a switch then, and without a PMU
 * nothing else reveals it.
 */
#ifndef ASSAY_MACHINE_CORE_PACE_H
#define ASSAY_MACHINE_CORE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/clock.h"
#include "machine/topology.h"
#include "model/case.h"

/* CPUs whose pace is remembered between cases. */
#define ASSAY_PACE_CPUS 4096

/*
 * The least ticks that the loop took so far, by the number of the CPU; 0: not known. Cores of different kinds differ,
 * and a core lowers its clock when many cores are busy or vectors are wide, so there is a table for each number of
 * threads and each variant.
 */
struct assay_core_pace {
	unsigned threads;
	char variant[ASSAY_NAME_MAX];
	uint64_t least[ASSAY_PACE_CPUS];
};

/* Those of a run. */
struct assay_core_paces {
	struct assay_core_pace **v;
	size_t n;
};

/* The ticks of one loop on the calling thread's CPU; the loop takes about 1 µs. */
uint64_t assay_core_pace_ticks(const struct assay_clock *c);
/* Did the loop take so long that something else used part of the core? Never true while @least is 0. */
bool assay_core_pace_slow(uint64_t ticks, uint64_t least);
/* Why the loop would say nothing about threads that are bound to @cpus; NULL: it does. */
const char *assay_core_pace_untold(const struct assay_topology *t, const struct assay_clock *c, const int *cpus,
				   size_t n);

/* The table of @variant with @threads, which is empty at first. NULL when out of memory, or without @all. */
struct assay_core_pace *assay_core_paces_of(struct assay_core_paces *all, const char *variant, unsigned threads);
void assay_core_paces_release(struct assay_core_paces *all);
/* The least ticks known of @cpu; 0 if none, or if @p is NULL. */
uint64_t assay_core_pace_known(const struct assay_core_pace *p, int cpu);
/* Keep @least for @cpu if it is the shortest time so far; 0 is not a time. Does nothing if @p is NULL. */
void assay_core_pace_learn(struct assay_core_pace *p, int cpu, uint64_t least);

#endif

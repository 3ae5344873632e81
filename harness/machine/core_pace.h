/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a core calculates right now. A loop that keeps its arithmetic units busy takes as long every time, unless something
 * else takes part of the core: another hardware thread of it, on a virtual machine often another guest's, or a lower frequency.
 * The operating system shows neither steal nor a switch then, and without a PMU nothing else tells.
 */
#ifndef ASSAY_MACHINE_CORE_PACE_H
#define ASSAY_MACHINE_CORE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/clock.h"

/* CPUs with higher numbers are not watched. */
#define ASSAY_PACE_CPUS 4096

/* The least ticks that the loop ever took, by number of the CPU; 0: not known. Cores of different kinds differ. */
struct assay_core_pace {
	uint64_t least[ASSAY_PACE_CPUS];
};

/* Of one loop on the calling thread's CPU; some 1 µs. */
uint64_t assay_core_pace_ticks(const struct assay_clock *c);
/* The least of many, for about @ns. */
uint64_t assay_core_pace_least(const struct assay_clock *c, uint64_t ns);
/* Did the loop take so long that something had part of the core? Never while @least is 0. */
bool assay_core_pace_slow(uint64_t ticks, uint64_t least);

uint64_t assay_core_pace_known(const struct assay_core_pace *p, int cpu);
/* Keep @least for @cpu when it is the shortest so far; 0 is no time. */
void assay_core_pace_learn(struct assay_core_pace *p, int cpu, uint64_t least);

#endif

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
#include "model/reports.h"

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

/* ---- core survey ---- */

/*
 * Does this machine have its cores to itself? Measures for up to 0.8 s what the hypervisor, or another hardware thread
 * of a core, takes.
 */

/* For one CPU, how many of the loops of core_pace.h were slow, and how many times the shortest time these took. */
struct assay_core_share {
	int cpu;
	size_t loops, slow;
	double ratio;     /* of the median slow loop; 1: none was slow */
	double lost_frac; /* share of the time beyond that of as many median loops: few may be stopped for long */
	/* Spread of the log ratio of the turns of a block, short and long ones; NaN: too few blocks. */
	double short_noise, long_noise;
};

/* The lengths of turns, as calls under and above 1 ms would take them. */
#define ASSAY_SURVEY_SHORT_NS 200000.0
#define ASSAY_SURVEY_LONG_NS  2000000.0
/* Cores that are tried at most. */
#define ASSAY_SURVEY_CPUS 8

/*
 * Try one CPU of each core that @where allows, and fill @v (ASSAY_SURVEY_CPUS entries) and *n;
 * *n_cores is the number of cores. Returns NULL, or why nothing can be said: a constant text, or the text in @err.
 * ASSAY_ENOMEM in @err.
 */
const char *assay_core_survey_take(const struct assay_topology *t, const struct assay_placement_options *where,
				   const struct assay_clock *clock, struct assay_core_share *v, size_t *n,
				   size_t *n_cores, struct assay_err *err);

/*
 * Parts of assay_core_survey_take(). The spread over blocks of four turns (ABBA) of @turn_ticks each, from
 * loops in order of time.
 */
double assay_core_share_noise(const uint64_t *ticks, size_t n, double turn_ticks);
/* Sort @ticks of @n loops, and count them. */
void assay_core_share_count(struct assay_core_share *s, uint64_t *ticks, size_t n);
/* Were so many of its loops slow, or was so much of its time lost, that something else uses part of the core? */
bool assay_core_share_taken(const struct assay_core_share *c);
/* Add the finding "core_pace", from the shares of @n cores out of @n_cores. */
void assay_core_share_add(struct assay_findings *l, const struct assay_core_share *v, size_t n, size_t n_cores);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does this machine have its cores to itself? Measures for up to 0.8 s what the hypervisor, or another hardware thread
 * of a core, takes.
 */
#ifndef ASSAY_MACHINE_CORE_SURVEY_H
#define ASSAY_MACHINE_CORE_SURVEY_H

#include "machine/core_pace.h"
#include "model/finding.h"
#include "machine/topology.h"

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
 * Try one CPU of each core that @where allows, for @share_ns each, and fill @v (ASSAY_SURVEY_CPUS entries) and *n;
 * *n_cores is the number of cores. Returns NULL, or why nothing can be said: a constant text, or the text in @err.
 * ASSAY_ENOMEM in @err.
 */
const char *assay_core_survey_take(const struct assay_topology *t, const struct assay_placement_options *where,
				   const struct assay_clock *clock, uint64_t share_ns, struct assay_core_share *v,
				   size_t *n, size_t *n_cores, struct assay_err *err);

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

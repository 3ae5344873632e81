/* SPDX-License-Identifier: Apache-2.0 */
/* Are the cores this machine's own? Tries for up to 0.8 s what the hypervisor, or another thread of a core, takes. */
#ifndef ASSAY_MACHINE_CORE_SURVEY_H
#define ASSAY_MACHINE_CORE_SURVEY_H

#include "machine/core_pace.h"
#include "model/finding.h"
#include "machine/topology.h"

/* Of one CPU: how many of the loops of core_pace.h were slow, and how many times the least those took. */
struct assay_core_share {
	int cpu;
	size_t loops, slow;
	double ratio;     /* of the median slow loop; 1: none was slow */
	double lost_frac; /* of the time, beyond what as many median loops take: few loops may be stopped for long */
	/* Spread of the log ratio of the turns of a block, short and long ones; NaN: too few blocks. */
	double short_noise, long_noise;
};

/* Turns as calls under and above 1 ms take them: their lengths. */
#define ASSAY_SURVEY_SHORT_NS 200000.0
#define ASSAY_SURVEY_LONG_NS  2000000.0
/* Cores that are tried at most. */
#define ASSAY_SURVEY_CPUS 8

/*
 * Try one CPU of each core that @where allows, for @share_ns each, and fill @v (ASSAY_SURVEY_CPUS) and *n; *n_cores is
 * how many there are. NULL, or why nothing can be told: a text of the program, or in err. ASSAY_ENOMEM in err.
 */
const char *assay_core_survey_take(const struct assay_topology *t, const struct assay_placement_options *where,
				   const struct assay_clock *clock, uint64_t share_ns, struct assay_core_share *v,
				   size_t *n, size_t *n_cores, struct assay_err *err);

/* Its parts. The spread over blocks of four turns (ABBA) of @turn_ticks each, of loops in order of time. */
double assay_core_share_noise(const uint64_t *ticks, size_t n, double turn_ticks);
/* Sort @ticks of @n loops, and count them. */
void assay_core_share_count(struct assay_core_share *s, uint64_t *ticks, size_t n);
/* Were so many of its loops slow, or so much of its time lost, that something else has a part of the core? */
bool assay_core_share_taken(const struct assay_core_share *c);
/* Add the finding "core_pace", from the shares of @n cores out of @n_cores. */
void assay_core_share_add(struct assay_findings *l, const struct assay_core_share *v, size_t n, size_t n_cores);

#endif

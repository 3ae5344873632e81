/* SPDX-License-Identifier: Apache-2.0 */
/* Are the cores this machine's own? Tries for up to 0.8 s what the hypervisor, or another thread of a core, takes. */
#ifndef ASSAY_MACHINE_CORE_SURVEY_H
#define ASSAY_MACHINE_CORE_SURVEY_H

#include "machine/core_pace.h"
#include "machine/findings.h"
#include "machine/topology.h"

/* Of one CPU: how many of the loops of core_pace.h were slow, and how many times the least those took. */
struct assay_core_share {
	int cpu;
	size_t loops, slow;
	double ratio; /* of the median slow loop; 1: none was slow */
};

/* Try one CPU of each core, eight at most, and add the finding "core_pace". */
void assay_core_survey(const struct assay_topology *t, const struct assay_clock *clock, struct assay_findings *l);

/* Its parts. Sort @ticks of @n loops, and count them. */
void assay_core_share_count(struct assay_core_share *s, uint64_t *ticks, size_t n);
/* The finding, from the shares of @n cores out of @n_cores. */
void assay_core_share_add(struct assay_findings *l, const struct assay_core_share *v, size_t n, size_t n_cores);

#endif

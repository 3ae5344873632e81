/* SPDX-License-Identifier: Apache-2.0 */
/* Are the cores this machine's own? Tries for a few tenths of a second what the hypervisor, or another thread of a core, takes. */
#ifndef ASSAY_MACHINE_CORE_SURVEY_H
#define ASSAY_MACHINE_CORE_SURVEY_H

#include "machine/core_pace.h"
#include "machine/environment.h"
#include "machine/topology.h"

#define ASSAY_SURVEY_CPUS 8

/* Of one CPU: how many of the loops of core_pace.h were slow, and how much longer the slower ones took. */
struct assay_core_share {
	int cpu;
	size_t loops, slow;
	double ratio; /* of the ninth tenth of all loops to the least; 1: nothing was taken */
};

/* A cache line there and back between two CPUs; over the batches of a survey. */
struct assay_core_distance {
	int cpu[2];
	double least_ns, most_ns; /* 0: there is one CPU only */
};

struct assay_core_survey {
	struct assay_core_share share[ASSAY_SURVEY_CPUS];
	size_t n;
	struct assay_core_distance distance; /* of the first two */
};

/* One CPU a core, the first eight. ASSAY_EUNAVAILABLE and the like when threads cannot be bound. */
int assay_core_survey(const struct assay_topology *t, const struct assay_clock *clock, struct assay_core_survey *out,
		      struct assay_err *err);
/* As findings of the doctor. */
void assay_core_survey_add(struct assay_findings *l, const struct assay_core_survey *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the cores this machine's own? Tries for some 0.5 to 1.3 s what the hypervisor, or another thread of a core,
 * takes.
 */
#ifndef ASSAY_MACHINE_CORE_SURVEY_H
#define ASSAY_MACHINE_CORE_SURVEY_H

#include "machine/core_pace.h"
#include "machine/environment.h"
#include "machine/topology.h"

#define ASSAY_SURVEY_CPUS 8

/* Of one CPU: how many of the loops of core_pace.h were slow, and how many times the least those took. */
struct assay_core_share {
	int cpu;
	size_t loops, slow;
	double ratio; /* of the median slow loop; 1: none was slow */
};

/* A cache line there and back between two CPUs; over the batches of a survey. */
struct assay_core_distance {
	int cpu[2];
	double least_ns, most_ns; /* 0: not known */
};

struct assay_core_survey {
	struct assay_core_share share[ASSAY_SURVEY_CPUS]; /* one CPU a core, the first eight */
	size_t n, n_cores;
	char share_untold[160];              /* why the shares say nothing; "": they do */
	struct assay_core_distance distance; /* of the first two */
	char distance_untold[160];           /* "": known, or there is one core only */
};

/* Sort @ticks of @n loops, and count them. */
void assay_core_share_count(struct assay_core_share *s, uint64_t *ticks, size_t n);
void assay_core_survey(const struct assay_topology *t, const struct assay_clock *clock, struct assay_core_survey *out);
/* As findings of the doctor. */
void assay_core_survey_add(struct assay_findings *l, const struct assay_core_survey *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to take exact counts on this machine, and which of them a case is counted with. */
#ifndef ASSAY_MEASURE_EXACT_MEANS_H
#define ASSAY_MEASURE_EXACT_MEANS_H

#include "machine/topology.h"
#include "model/catalog.h"
#include "model/exact.h"

/* Why each way of counting cannot be used here; "" if it can. */
struct assay_exact_means {
	enum assay_exact_source source; /* that is asked for */
	char no_callgrind[384];
	char no_steps[384];
};

/* Find what decides the counts of cases under @model, and the ways to take them. */
int assay_exact_setting_take(const struct assay_topology *t, const char *model, enum assay_exact_source source,
			     struct assay_cache_model *cache, struct assay_exact_setting *out,
			     struct assay_exact_means *means, struct assay_err *err);
/*
 * Why most cases cannot be counted here; NULL: they can. If callgrind is missing, cases that it cannot simulate may
 * still be stepped.
 */
const char *assay_exact_unavailable(const struct assay_exact_means *means);

/*
 * Choose how @c is counted and set out->how. False if it cannot be counted; out->status and out->reason then say why.
 * @tool names callgrind's version in reasons, such as "valgrind-3.19.0"; "" if it is not known.
 */
bool assay_exact_means_choose(const struct assay_exact_means *m, const char *tool, const struct assay_case *c,
			      const struct assay_catalog *cat, const struct assay_case_facts *facts,
			      struct assay_exact_case *out);

#endif

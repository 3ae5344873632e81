/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to take exact counts with on this machine, and which way a case is counted. */
#ifndef ASSAY_MEASURE_EXACT_MEANS_H
#define ASSAY_MEASURE_EXACT_MEANS_H

#include "machine/topology.h"
#include "model/catalog.h"
#include "model/exact.h"

/* What there is to count with here; "" where it can be used, or why not. */
struct assay_exact_means {
	enum assay_exact_source source; /* that is asked for */
	char no_callgrind[384];
	char no_steps[384];
};

/* What decides the counts of cases under @model, and what there is to take them with. */
int assay_exact_setting_take(const struct assay_topology *t, const char *model, enum assay_exact_source source,
			     struct assay_cache_model *cache, struct assay_exact_setting *out,
			     struct assay_exact_means *means, struct assay_err *err);
/*
 * Why what is mostly counted cannot be counted here; NULL: it can. Where callgrind is missing, what it cannot simulate
 * may be stepped all the same.
 */
const char *assay_exact_unavailable(const struct assay_exact_means *means);

/*
 * Choose how @c is counted, by out->how. False where it cannot be counted; out->status and out->reason then say why.
 * @tool names callgrind's version in reasons, such as "valgrind-3.19.0"; "" where it is not known.
 */
bool assay_exact_means_choose(const struct assay_exact_means *m, const char *tool, const struct assay_case *c,
			      const struct assay_catalog *cat, const struct assay_case_facts *facts,
			      struct assay_exact_case *out);

#endif

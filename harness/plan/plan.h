/* SPDX-License-Identifier: Apache-2.0 */
/* From bench and suite files to cases. Must not run plugin code: it works on the catalog. */
#ifndef ASSAY_PLAN_PLAN_H
#define ASSAY_PLAN_PLAN_H

#include "model/case.h"
#include "model/catalog.h"
#include "plan/options.h"

/* A smaller shape of a case, for counts that would take too many steps. */
struct assay_plan_smaller {
	struct assay_case c;
	size_t of; /* index of the case */
};

struct assay_plan {
	char suite[ASSAY_NAME_MAX];
	struct assay_case *cases; /* in the order of the suite; keys are unique */
	size_t n_cases;
	unsigned rounds; /* how often a run measures each of them */
	/* The cache model that exact counts are taken with; "" where the suite names no case for them. */
	char exact_model[ASSAY_NAME_MAX];
	bool *exact;                        /* one a case: is it among those? */
	bool *exact_small;                  /* one a case: is it counted at its smaller shapes alone? */
	uint64_t exact_steps;               /* of a call that is stepped; 0: the suite does not say */
	uint64_t exact_budget_ns;           /* for all counts; 0: likewise */
	struct assay_plan_smaller *smaller; /* by index of their case, in the order of the bench */
	size_t n_smaller;
};

/*
 * Every problem is ASSAY_EUSAGE with "file:line: …, expected …" or what the nearest known name is: syntax, unknown
 * suite, op, variant, axis, symbol, value out of range, glob that selects nothing. Variants that cannot run here are
 * planned with their skip_reason, never left out; those built for another architecture only by a glob of @only that
 * selects no others. On error @plan is unchanged.
 */
int assay_plan_load(struct assay_plan *plan, const struct assay_plan_options *o, const struct assay_catalog *cat,
		    struct assay_err *err);
void assay_plan_release(struct assay_plan *plan);

#endif

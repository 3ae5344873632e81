/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the cases that a comparison found to have changed, so that its report says which function did. */
#ifndef ASSAY_DRIVE_COMPARE_CAUSE_PROFILES_H
#define ASSAY_DRIVE_COMPARE_CAUSE_PROFILES_H

#include "drive/compare/plan.h"
#include "model/gate_report.h"
#include "store/store.h"

#define ASSAY_BECAUSE_FOR_NS 4000000000u

/* Where evidence is stored: by the ids of the cases of the plan. */
struct assay_because_keeping {
	struct assay_store *store;
	const int64_t *case_ids;
};

/*
 * Collect evidence for the cases of @plan that q->profile asks for, by @r, and fill in `because` there. Whatever
 * prevents profiling is recorded there and is not an error. ASSAY_EINTERRUPTED leaves the rest as it is.
 */
int assay_profile_because(struct assay_compare_plan *plan, const struct assay_compare_request *q,
			  const struct assay_watch *w, const struct assay_because_keeping *keep,
			  struct assay_gate_report *r, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the cases that a comparison found to have changed, so that its report says which function did. */
#ifndef ASSAY_DRIVE_PROFILE_BECAUSE_H
#define ASSAY_DRIVE_PROFILE_BECAUSE_H

#include "drive/compare_plan.h"
#include "model/gate_report.h"

#define ASSAY_BECAUSE_FOR_NS 4000000000u

/*
 * Fill `because` of cases of @r, which @plan was judged to: of those that q->profile asks for. What keeps from
 * profiling is told there, and is no error. ASSAY_EINTERRUPTED leaves the rest as it is.
 */
int assay_profile_because(struct assay_compare_plan *plan, const struct assay_compare_request *q,
			  const struct assay_watch *w, struct assay_gate_report *r, struct assay_err *err);

#endif

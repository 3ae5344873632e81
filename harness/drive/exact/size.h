/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large the calls are that are counted: what their steps cost, and the smaller shapes that stand for those too
 * large.
 */
#ifndef ASSAY_DRIVE_EXACT_SIZE_H
#define ASSAY_DRIVE_EXACT_SIZE_H

#include "drive/request.h"
#include "drive/watch.h"
#include "measure/exact.h"
#include "plan/plan.h"

/* Report what the steps of a case are going to cost before they are taken, and how far they are; to @watch. */
void assay_exact_size_tell(void *watch, const struct assay_exact_steps *steps);
/* Does the suite say that case @key of @plan is counted at its smaller shapes alone? Not where steps are asked for. */
bool assay_exact_size_small(const struct assay_plan *plan, const struct assay_request *q, const char *key);
/* Why it is not counted itself, then. */
#define ASSAY_EXACT_SMALL "the suite counts it at a smaller shape, and in full where --steps is given"
/*
 * Behind the reason of @c, which took too many steps as case @key of @plan: the smaller ones that are counted for it,
 * or what would help.
 */
void assay_exact_size_name_smaller(const struct assay_plan *plan, const char *key, struct assay_exact_case *c);

#endif

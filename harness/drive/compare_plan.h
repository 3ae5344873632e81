/* SPDX-License-Identifier: Apache-2.0 */
/* What is compared with what: the two sides, what their workers load, the cases they share, the controls. */
#ifndef ASSAY_DRIVE_COMPARE_PLAN_H
#define ASSAY_DRIVE_COMPARE_PLAN_H

#include "drive/compare_state.h"

/*
 * Resolve, build where needed, load, plan. ASSAY_EUSAGE before anything is measured: unknown revision, one that does
 * not build, a plugin that cannot be used, nothing to compare. A base whose plugins have another ABI is no error: its
 * cases say so. Release in either case.
 */
int assay_compare_plan_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
			    const struct assay_watch *w, struct assay_err *err);
/* The same of unchanged code: q->base (NULL: the installed plugins) against itself, without controls. */
int assay_compare_plan_make_same(struct assay_compare_plan *p, const struct assay_compare_request *q,
				 const struct assay_watch *w, struct assay_err *err);
void assay_compare_plan_release(struct assay_compare_plan *p);

/*
 * The loop over the cases of @p, which was made from @r; whoever runs it adds what it should tell. All pointers stay
 * the callers'.
 */
struct assay_comparing assay_compare_plan_comparing(struct assay_compare_plan *p, const struct assay_request *r,
						    const struct assay_clock *clock, const struct assay_watch *w);

#endif

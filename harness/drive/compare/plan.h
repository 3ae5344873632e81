/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a comparison: the two sides, what their workers load, the cases they share, the controls. */
#ifndef ASSAY_DRIVE_COMPARE_PLAN_H
#define ASSAY_DRIVE_COMPARE_PLAN_H

#include "drive/compare/state.h"

/*
 * Resolve, build where needed, load, plan. ASSAY_EUSAGE before anything is measured: unknown revision, one that does
 * not build, a plugin that cannot be used, nothing to compare. A base whose plugins have another ABI is no error: its
 * cases say so. Release in either case.
 */
int assay_compare_plan_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
			    const struct assay_watch *w, struct assay_err *err);
/* The same for unchanged code: q->base (NULL: the installed plugins) against itself, without controls. */
int assay_compare_plan_make_same(struct assay_compare_plan *p, const struct assay_compare_request *q,
				 const struct assay_watch *w, struct assay_err *err);
void assay_compare_plan_release(struct assay_compare_plan *p);

/* Parts of making a plan. Append a case that both sides have; @f NULL: nothing is known of it. NULL: out of memory. */
struct assay_comparison_case *assay_compare_plan_add(struct assay_compare_plan *p, const struct assay_case *c,
						     const struct assay_case_facts *f, bool exact);
/* Why a side that has the variant does not run case @i of its plan; NULL: it does. */
const char *assay_compare_plan_refusal(const struct assay_session *s, size_t i);
/* When all cases are there: controls, the check of the policy, the machine, the names. */
int assay_compare_plan_complete(struct assay_compare_plan *p, const struct assay_compare_request *q,
				struct assay_err *err);

/*
 * The loop over the cases of @p, which was made from @r; whoever runs it adds what it should tell. All pointers stay
 * the callers'.
 */
struct assay_comparing assay_compare_plan_comparing(struct assay_compare_plan *p, const struct assay_request *r,
						    const struct assay_clock *clock, const struct assay_watch *w);

#endif

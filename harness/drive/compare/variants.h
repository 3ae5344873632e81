/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of two variants of one op, on the same inputs, in place of two builds of one variant. */
#ifndef ASSAY_DRIVE_COMPARE_VARIANTS_H
#define ASSAY_DRIVE_COMPARE_VARIANTS_H

#include "drive/compare/state.h"

/*
 * The same as assay_compare_plan_make where q->base and q->head name variants, "OP/NAME": the cases of the suite that
 * both can run. A variant that only few benches name takes the cases of the other. ASSAY_EUSAGE when a name is none,
 * the ops differ, two plugins bring a variant, or one of the two cannot run here. Release @p in either case.
 */
int assay_compare_variants_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
				const struct assay_watch *w, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts of both sides of a comparison: no clock, so no pairs and no controls. */
#ifndef ASSAY_DRIVE_EXACT_COMPARE_H
#define ASSAY_DRIVE_EXACT_COMPARE_H

#include "drive/compare/plan.h"

/*
 * ASSAY_EUSAGE when no case of @p is one that assay_exact_counting_all() says: to be asked before anything is measured.
 */
int assay_exact_compare_check(const struct assay_compare_plan *p, const struct assay_request *q, struct assay_err *err);

/*
 * A case that takes too many steps on either side is skipped on both, and the smaller ones that its bench names follow.
 * Count those cases into p->cmp.exact, each in a worker of either side. ASSAY_EINTERRUPTED when the watch says so: the
 * cases that were not counted by then say so. Not counted is
 * - what times have told already: a case that is lost or failed in a pair is left out, and one whose machine code is
 *   the same on both sides is skipped on both, with that reason;
 * - anything where nothing can be counted: every case is skipped with the reason;
 * - the base of a case that fails in the head. The base of one that is skipped in the head is kept where it can be
 *   counted;
 * - a case that the suite does not name for counts. Where counts alone are taken, it is skipped in the head with that
 *   reason if the policy requires anything of it, and left out otherwise.
 */
int assay_exact_compare(struct assay_compare_plan *p, const struct assay_request *q, const struct assay_watch *w,
			struct assay_err *err);

#endif

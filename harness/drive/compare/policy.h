/* SPDX-License-Identifier: Apache-2.0 */
/* The policy of a comparison: read, with what the request says on top, and checked against what there is. */
#ifndef ASSAY_DRIVE_COMPARE_POLICY_H
#define ASSAY_DRIVE_COMPARE_POLICY_H

#include "drive/compare/state.h"

/* Fill p->policy, and of p->cmp the text that a replay judges by, alpha, budget and number of pairs. ASSAY_EUSAGE. */
int assay_compare_policy_load(struct assay_compare_plan *p, const struct assay_compare_request *q,
			      struct assay_err *err);

/*
 * ASSAY_EUSAGE with "file:line: …" when the policy names a case that neither any suite nor the comparison nor a
 * manifest has, or a metric that its cases lack: a limit with a typing error guards nothing. After the cases are
 * planned.
 */
int assay_compare_policy_check(struct assay_compare_plan *p, const struct assay_strings *events, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The command that a reader of a verdict would type next, as it stands. */
#ifndef ASSAY_DRIVE_NEXT_STEP_H
#define ASSAY_DRIVE_NEXT_STEP_H

#include "drive/compare/plan.h"
#include "model/gate_report.h"

/*
 * Append what follows comparison @id, without a newline: of REGRESSED the command that says why, of an undecided case
 * the one that decides it. "next: 'assay show c3' shows its pairs".
 */
void assay_next_of_comparison(struct assay_text *out, const struct assay_compare_request *q,
			      const struct assay_gate_report *r, int64_t id);

/* Append the command that makes the same comparison, of one case where @key is not NULL. */
void assay_next_add_compare(struct assay_text *out, const struct assay_compare_request *q, const char *key);

/* Append what follows a stored run that was judged. */
void assay_next_of_gate(struct assay_text *out, const struct assay_gate_report *r, const char *suite, const char *db);

#endif

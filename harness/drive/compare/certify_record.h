/* SPDX-License-Identifier: Apache-2.0 */
/* Certifications as JSON: what the store keeps of one, what --json prints, and adding up those of one question. */
#ifndef ASSAY_DRIVE_COMPARE_CERTIFY_RECORD_H
#define ASSAY_DRIVE_COMPARE_CERTIFY_RECORD_H

#include "model/certify_report.h"
#include "model/comparison.h"
#include "store/comparison.h"

/*
 * The question that the certification of @cmp answers: rule, rates, budget, margin and cases, always in the same words.
 * A new string; NULL: out of memory.
 */
char *assay_certify_question(const struct assay_comparison *cmp, double margin_frac);

/* @o as a JSON object, indented for people or not. A new string; NULL: out of memory. */
char *assay_certify_text(const struct assay_certify_report *o, bool indented);

/* Add what @from counted to @to, and of its slowdowns those that @to has. */
void assay_certify_add(struct assay_certify_report *to, const struct assay_certify_report *from);

/* Add all stored certifications of @question on the machine of @to. ASSAY_ESTORE: one makes no sense. */
int assay_certify_add_stored(struct assay_certify_report *to, struct assay_store *store, const char *question,
			     struct assay_err *err);

#endif

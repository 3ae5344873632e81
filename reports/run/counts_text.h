/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts as text: alone, under a run, or of both sides of a comparison. */
#ifndef ASSAY_REPORTS_RUN_COUNTS_TEXT_H
#define ASSAY_REPORTS_RUN_COUNTS_TEXT_H

#include "reports/emitter.h"

/* The setting, a line a case, and with style->verbose a line a function. */
void assay_counts_text(const struct assay_exact_run *run, const struct assay_emit_style *style, struct assay_text *out);
/*
 * What the head counted and how that differs from the base; with style->verbose by function. Cases are those of the
 * head.
 */
void assay_counts_sides_text(const struct assay_exact_run *base, const struct assay_exact_run *head,
			     const struct assay_emit_style *style, struct assay_text *out);

#endif

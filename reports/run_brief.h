/* SPDX-License-Identifier: Apache-2.0 */
/* A run in short: the best variant of each shape, and the lines that sum a run up. */
#ifndef ASSAY_REPORTS_RUN_BRIEF_H
#define ASSAY_REPORTS_RUN_BRIEF_H

#include "reports/emitter.h"

/* The table with its legend, the sum, why cases were skipped or not counted, what is not known well and why. */
void assay_run_brief_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			  struct assay_text *out);
/* How many cases ended how, and what is not known well and why. */
void assay_run_summary_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			    struct assay_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The reasons why cases of a gate have no verdict, where many share one reason. */
#ifndef ASSAY_REPORTS_GATE_WARNINGS_H
#define ASSAY_REPORTS_GATE_WARNINGS_H

#include "base/text.h"
#include "model/gate_report.h"
#include "reports/emitter.h"

/* A line for each kind of doubt, with its number of cases and the case that is furthest off, then what to do. */
void assay_gate_doubts(const struct assay_gate_report *r, const struct assay_emit_style *style, struct assay_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds a case and what may be done: pure rules over measured numbers. reports/ADVICE.md names them. */
#ifndef ASSAY_JUDGE_ADVICE_H
#define ASSAY_JUDGE_ADVICE_H

#include "judge/case_evidence.h"
#include "model/bottleneck.h"

/* The bound, the evidence for it, what is missing, and the advice of every rule whose condition is met. */
void assay_bottleneck_find(const struct assay_case_evidence *e, struct assay_bottleneck *out);

#endif

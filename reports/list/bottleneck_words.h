/* SPDX-License-Identifier: Apache-2.0 */
/* The wording of advice, wherever it is shown. */
#ifndef ASSAY_REPORTS_LIST_BOTTLENECK_WORDS_H
#define ASSAY_REPORTS_LIST_BOTTLENECK_WORDS_H

#include "model/bottleneck.h"

/* "; expect 12x, 15x at most"; "" where neither is told. */
void assay_advice_gain_text(const struct assay_advice *a, char *buf, size_t size);

#endif

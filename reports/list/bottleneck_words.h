/* SPDX-License-Identifier: Apache-2.0 */
/* How advice is worded wherever it is told. */
#ifndef ASSAY_REPORTS_LIST_BOTTLENECK_WORDS_H
#define ASSAY_REPORTS_LIST_BOTTLENECK_WORDS_H

#include "model/bottleneck.h"

/* "; expect 12x, 15x at most"; "" where neither is told. */
void assay_advice_gain_text(const struct assay_advice *a, char *buf, size_t size);

#endif

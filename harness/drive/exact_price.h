/* SPDX-License-Identifier: Apache-2.0 */
/* What it takes to count a case, told from the counts that are recorded of it. */
#ifndef ASSAY_DRIVE_EXACT_PRICE_H
#define ASSAY_DRIVE_EXACT_PRICE_H

#include "judge/exact_baseline.h"

/* Of any build in @b; NULL: it is not recorded. */
const struct assay_exact_case *assay_exact_price_case(const struct assay_exact_baseline *b, const char *key);
/* To tell which of two cases is cheaper, in the way that the record was counted; INFINITY where it is not recorded. */
double assay_exact_price_ns(const struct assay_exact_baseline *b, const char *key);
/* Steps of a call, an instruction each, but for repeated ones. 0: it is not recorded, or was not stepped. */
double assay_exact_price_steps(const struct assay_exact_baseline *b, const char *key);

#endif

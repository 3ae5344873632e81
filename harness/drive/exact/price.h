/* SPDX-License-Identifier: Apache-2.0 */
/* How long it takes to count a case, estimated from its recorded counts. */
#ifndef ASSAY_DRIVE_EXACT_PRICE_H
#define ASSAY_DRIVE_EXACT_PRICE_H

#include "judge/exact_baseline.h"

/* The record of the case @key, of whichever build in @b has it first; NULL: it is not recorded. */
const struct assay_exact_case *assay_exact_price_case(const struct assay_exact_baseline *b, const char *key);
/*
 * About how long it takes to count the case in the way that its record was counted: good enough to tell which of two
 * cases is cheaper. INFINITY: it is not recorded.
 */
double assay_exact_price_ns(const struct assay_exact_baseline *b, const char *key);
/* About the steps of a call: its instructions, though one that repeats takes more. 0: not recorded, or not stepped. */
double assay_exact_price_steps(const struct assay_exact_baseline *b, const char *key);

#endif

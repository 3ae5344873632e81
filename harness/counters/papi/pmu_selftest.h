/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a hardware counter be believed? The test counts loops with known numbers of loads, stores, branches and
 * multiply-adds, scalar and vector, a loop whose branches no predictor foresees, walks and calls that must miss every
 * cache and the TLB, and a walk that the second cache must serve.
 */
#ifndef ASSAY_COUNTERS_PAPI_PMU_SELFTEST_H
#define ASSAY_COUNTERS_PAPI_PMU_SELFTEST_H

#include "counters/provider.h"

/* A counter may be off by this share of what it must count. */
#define ASSAY_SELFTEST_TOLERANCE_FRAC 0.05

/*
 * true: @event ticks as it must, @what says how ("counts 1.00 branches a turn"), or nothing is known that it must
 * count. false:
 * @what says what is wrong.
 */
bool assay_pmu_selftest(const struct assay_counter_context *ctx, const char *event, char *what, size_t size);
/* The events of which it is known what they must count, by number from 0 on; NULL after the last. */
const char *assay_pmu_selftest_event(size_t i);

#endif

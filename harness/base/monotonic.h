/* SPDX-License-Identifier: Apache-2.0 */
/* The clock for waiting and for progress. Samples are taken with machine/clock.h. */
#ifndef ASSAY_BASE_MONOTONIC_H
#define ASSAY_BASE_MONOTONIC_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t assay_monotonic_ns(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Clears what a processor has learnt about branches. */
#ifndef ASSAY_WORKER_CASE_BRANCH_MEMORY_H
#define ASSAY_WORKER_CASE_BRANCH_MEMORY_H

#include <stdint.h>

/*
 * Run branches on bits drawn from @seed, until the calling core's predictor has no room for what it had learnt. It
 * touches no memory. Takes about 0.3 ms.
 */
void assay_branch_memory_clear(uint64_t seed);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch predictors as callgrind simulates them (valgrind's manual, "Branch Prediction Simulation"): 16384 two-bit
 * counters by address and the last seven conditional branches, and a table of 512 last targets of indirect ones.
 * Returns are never mispredicted. Must not know where the branches come from.
 */
#ifndef ASSAY_COUNTERS_CALLGRIND_BRANCH_MODEL_H
#define ASSAY_COUNTERS_CALLGRIND_BRANCH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* Untrained when all-zero. */
struct assay_branch_model {
	uint64_t history;
	uint8_t counters[1 << 14];
	uint64_t targets[1 << 9];
};

/* Train with a branch at @address; false where it was mispredicted. */
bool assay_branch_conditional(struct assay_branch_model *m, uint64_t address, bool taken);
bool assay_branch_indirect(struct assay_branch_model *m, uint64_t address, uint64_t target);

#endif

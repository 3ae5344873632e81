/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches as callgrind simulates them (valgrind's manual, "Cachegrind: Simulation Details"): set-associative, with the
 * least recently used line leaving and writes allocating. Sizes come from struct assay_cache_model, for both ways to
 * count. Must not know where the addresses come from.
 *
 * A level sees an access only if the one before it misses, and takes no line away from that one.
 *
 * All but init and release are async-signal-safe.
 */
#ifndef ASSAY_COUNTERS_CALLGRIND_CACHE_MODEL_H
#define ASSAY_COUNTERS_CALLGRIND_CACHE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/exact.h"

/* One level. Fields belong to this module. */
struct assay_cache_sim {
	uint64_t *lines; /* malloc'ed: ways of each set, last used first */
	uint64_t set_mask;
	unsigned ways, line_shift;
};

/*
 * An empty cache; ASSAY_EUSAGE for a size, a line or a number of sets that is no power of two, ASSAY_ENOMEM. On error
 * there is nothing to release.
 */
int assay_cache_sim_init(struct assay_cache_sim *c, const struct assay_cache_level *level, struct assay_err *err);
void assay_cache_sim_release(struct assay_cache_sim *c);
void assay_cache_sim_empty(struct assay_cache_sim *c);

/*
 * Use the lines that hold the @bytes (at least 1) at @address. False where one of them was missing; an access that
 * crosses lines uses all, and is one miss at most, as for callgrind.
 */
bool assay_cache_sim_use(struct assay_cache_sim *c, uint64_t address, uint32_t bytes);
/* Drop the lines that hold these bytes, if they are there, because another core has written to them. */
void assay_cache_sim_lose(struct assay_cache_sim *c, uint64_t address, uint32_t bytes);

enum assay_cache_found {
	ASSAY_CACHE_L1,
	ASSAY_CACHE_L2,
	ASSAY_CACHE_LL,
	ASSAY_CACHE_MEMORY,
};

/* One access through @first (a D1 or I1), @l2 where that misses (NULL: there is none), and @ll where that does. */
enum assay_cache_found assay_cache_sim_access(struct assay_cache_sim *first, struct assay_cache_sim *l2,
					      struct assay_cache_sim *ll, uint64_t address, uint32_t bytes);

/* ---- branch model ---- */

/*
 * Branch predictors as callgrind simulates them (valgrind's manual, "Branch Prediction Simulation"): 16384 two-bit
 * counters by address and the last seven conditional branches, and a table of 512 last targets of indirect ones.
 * Returns are never mispredicted. Must not know where the branches come from.
 */

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From traces to counts: what threads wrote down while they were stepped goes through the models of caches and
 * branches, each thread with a D1, an I1 and predictors of its own, all with one last level. Within a region the
 * threads take turns, an instruction each, in the order of their numbers, whatever the order was in which they ran:
 * equal traces give equal counts.
 *
 * One thread has the two levels that callgrind simulates. Each of several has an L2 of its own between them, for code
 * and data, and a line that one of them writes leaves the D1 and the L2 of all others.
 */
#ifndef ASSAY_COUNTERS_STEP_REPLAY_H
#define ASSAY_COUNTERS_STEP_REPLAY_H

#include "counters/step/stepper.h"
#include "model/exact.h"

struct assay_step_replay;

/* ASSAY_EUSAGE for caches that cannot be simulated. */
int assay_step_replay_new(struct assay_step_replay **out, const struct assay_cache_model *model, unsigned threads,
			  struct assay_err *err);
void assay_step_replay_free(struct assay_step_replay *r);

/* Empty caches, untrained predictors. */
void assay_step_replay_empty(struct assay_step_replay *r);

/*
 * Run the traces of @s, one pass, and count it from 0. ASSAY_EIO where the threads did not meet at the same points.
 */
int assay_step_replay_run(struct assay_step_replay *r, const struct assay_stepper *s, struct assay_err *err);

/* The counts of one instruction of a thread. */
struct assay_step_counts {
	uint64_t address;
	struct assay_exact_counts counts;
	uint64_t taken;
	uint64_t l2_misses; /* of code and data; 0 where there is no L2 */
};
/* All of a thread, in the order of their first step. Valid until the next run. */
const struct assay_step_counts *assay_step_replay_counts(const struct assay_step_replay *r, unsigned thread, size_t *n);

#endif

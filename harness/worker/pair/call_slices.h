/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long calls of the two sides of a pair, cut by a timer into slices that take turns. What a neighbour takes from a core
 * comes and goes within milliseconds; turns as long as the calls meet it unequally, slices of a fraction of a
 * millisecond meet it alike. A call stands still between its slices: all threads of the pool in a signal handler, the
 * clocks of the sample, and that which plugins are shown.
 */
#ifndef ASSAY_WORKER_PAIR_CALL_SLICES_H
#define ASSAY_WORKER_PAIR_CALL_SLICES_H

#include "worker/case/state.h"
#include "worker/protocol.h"

/* A side of a pair and its calls. */
struct assay_call_slices {
	struct assay_case_job *job;
	struct assay_pair_turn *turn;
	unsigned side;
	uint64_t order_seed, slice_ns;
	/* Called by thread @tid in a signal handler when it is stopped and when it goes on. */
	void (*stand)(void *arg, uint32_t tid);
	void (*go_on)(void *arg, uint32_t tid);
	void *arg;
};

/* Does this system have such timers? Some sandboxes lack them. */
bool assay_call_slices_possible(void);
/* Prepare this process to cut calls; once is enough. FAILED, where there is no timer. */
struct assay_outcome assay_call_slices_open(const struct assay_call_slices *c);
/* The calls from here on are cut, number @call of the series being the next; off between series. */
void assay_call_slices_on(const struct assay_call_slices *c, uint32_t call);
void assay_call_slices_off(void);

/*
 * Right after the clock of a call has started, and before it stops; between a leave and an enter the harness can do
 * what is not to be cut. Nothing happens where calls are not cut.
 */
void assay_call_slices_enter(void);
void assay_call_slices_leave(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long calls of the two sides of a pair, cut by a timer into slices that take turns. What a neighbour takes from a core
 * comes and goes within milliseconds; turns as long as the calls meet it unequally, slices of a fraction of a
 * millisecond meet it alike. A call stands still between its slices: all threads of the pool in a signal handler, the
 * clocks of the sample, and that which plugins are shown.
 */
#ifndef ASSAY_WORKER_CALL_SLICES_H
#define ASSAY_WORKER_CALL_SLICES_H

#include "worker/served_case.h"

/* Does this system have such timers? Some sandboxes lack them. */
bool assay_call_slices_possible(void);
/*
 * Prepare this process to cut the calls of @w; once is enough. FAILED, where there is no timer. A slice lasts as long as
 * the order says.
 */
struct assay_outcome assay_call_slices_open(struct assay_served *w);
/* The calls from here on are cut, number @call of the series being the next; off between series. */
void assay_call_slices_on(struct assay_served *w, uint32_t call);
void assay_call_slices_off(void);

/*
 * Around the timed part of a call, and within it around what the harness does; nothing happens where calls are not cut.
 */
void assay_call_slices_enter(void);
void assay_call_slices_leave(void);

#endif

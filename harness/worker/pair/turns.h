/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a process pair: samples in turn with the partner. */
#ifndef ASSAY_WORKER_PAIR_TURNS_H
#define ASSAY_WORKER_PAIR_TURNS_H

#include "worker/case/served.h"

/*
 * Take turns with the partner, sample by sample, and within long calls slice by slice or part by part, as the order
 * says. Both sides come to the end of their turns even where one fails.
 */
struct assay_outcome assay_served_take_turns(struct assay_served *w);

#endif

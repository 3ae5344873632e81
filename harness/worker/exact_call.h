/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a case that are counted exactly. The simulator's and the stepper's have their stack at the same place. */
#ifndef ASSAY_WORKER_EXACT_CALL_H
#define ASSAY_WORKER_EXACT_CALL_H

#include "worker/case_job.h"

/* Call run() once, untimed. */
struct assay_outcome assay_exact_call_once(struct assay_case_job *j);

/*
 * Call run() once with the simulator counting, after @warm calls that fill its caches (0: they are empty), and all of
 * that twice: the simulator's file gets the dumps ASSAY_CALLGRIND_CHECK and ASSAY_CALLGRIND_RUN. FAILED outside of the
 * simulator.
 */
struct assay_outcome assay_exact_call_simulate(struct assay_case_job *j, unsigned warm);

#endif

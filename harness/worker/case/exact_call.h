/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a case that are counted exactly. The simulator and the stepper have their stack at the same place. */
#ifndef ASSAY_WORKER_CASE_EXACT_CALL_H
#define ASSAY_WORKER_CASE_EXACT_CALL_H

#include <sys/uio.h>

#include "worker/case/job.h"

/*
 * The data that a counted call begins with: poison in the outputs of copy 0, and the inputs of the case, from which
 * those of the call before differed where they can.
 */
struct assay_exact_data {
	int fd; /* a file in memory: inputs, poison, other inputs */
	struct iovec v[2 * ASSAY_MAX_TENSORS];
	unsigned n_inputs, n;
	size_t input_bytes, bytes;
};

/* Of a verified case. Release in either case. */
struct assay_outcome assay_exact_data_keep(struct assay_case_job *j, struct assay_exact_data *d);
void assay_exact_data_release(struct assay_exact_data *d);
/* Call run() once on other inputs, where the case has any; what the op keeps from call to call stays as it was. */
struct assay_outcome assay_exact_data_call_other(struct assay_case_job *j, const struct assay_exact_data *d);
/* Put the data of a counted call in place. */
struct assay_outcome assay_exact_data_renew(const struct assay_exact_data *d);
/* Did the counted call give the right outputs? */
struct assay_outcome assay_exact_data_check(struct assay_case_job *j);

/* Call run() once, untimed. */
struct assay_outcome assay_exact_call_once(struct assay_case_job *j);

/*
 * Call run() once with the simulator counting, after @warm calls that fill its caches (0: they are empty), and all of
 * that twice: the simulator's file gets the dumps ASSAY_CALLGRIND_CHECK and ASSAY_CALLGRIND_RUN. The outputs of counted
 * calls are checked. FAILED outside of the simulator.
 */
struct assay_outcome assay_exact_call_simulate(struct assay_case_job *j, unsigned warm);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a first stretch of steps has come with the outputs of a case, and so how many steps all of it takes. Must not
 * know what the case calculates.
 */
#ifndef ASSAY_WORKER_CASE_STEP_PROGRESS_H
#define ASSAY_WORKER_CASE_STEP_PROGRESS_H

#include "counters/step/stepper.h"
#include "worker/case/state.h"

struct assay_step_outputs {
	struct assay_step_range v[ASSAY_MAX_TENSORS];
	size_t n;
	uint64_t bytes; /* of all together */
};

/* The outputs that the next call of @j writes. */
void assay_step_outputs_of(const struct assay_case_job *j, struct assay_step_outputs *out);

/*
 * Steps of the whole call, at the rate at which @threads, the first stretch of one, wrote bytes of @o that they had not
 * written before. 0 where that tells nothing: nothing or all was written, or there is no memory for a map.
 */
double assay_step_outputs_expect(const struct assay_step_outputs *o, const struct assay_step_trace *threads,
				 unsigned n_threads);

#endif

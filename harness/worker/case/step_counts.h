/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a case, stepped through, and its counts as a file in callgrind's format, by thread, function and line.
 * Must not run on what the controller did not ask for: a step costs thousands of times what it counts.
 */
#ifndef ASSAY_WORKER_CASE_STEP_COUNTS_H
#define ASSAY_WORKER_CASE_STEP_COUNTS_H

#include "counters/step/stepper.h"
#include "model/exact.h"
#include "worker/case/state.h"

/*
 * Step the first @max_steps instructions of a call, and say in @out how many of how many that may be. Unless @behind is
 * 0, stepping ends sooner, @behind instructions behind the first write into an output. The call runs to its end.
 */
struct assay_outcome assay_step_counts_try(struct assay_case_job *j, uint64_t max_steps, uint64_t behind,
					   struct assay_step_reply *out);

/*
 * Step two calls, which must do the same. The second is counted with caches as the first left them, or, not @warm, with
 * empty ones, and written to spec->counts_path: the dump is ASSAY_CALLGRIND_RUN. More than @max_steps in either fail.
 * *progress gets the steps of both so far.
 */
struct assay_outcome assay_step_counts_take(struct assay_case_job *j, bool warm, uint64_t max_steps,
					    _Atomic uint64_t *progress, struct assay_step_reply *out);

/* ---- step progress ---- */

/*
 * How far a first stretch of steps has come with the outputs of a case, and so how many steps all of it takes. Must not
 * know what the case calculates.
 */

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

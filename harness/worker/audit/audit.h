/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a variant also do its work when it is timed? A check from poison shows that it can. But a kernel that finds its
 * answer in the output, keeps one from an earlier call, or leaves out every second call passes that check, and a sample
 * of it says nothing. An audit makes calls between samples: outputs are scrambled before them, inputs change, and calls
 * must neither leave scrambled elements behind nor take longer than those in the samples.
 */
#ifndef ASSAY_WORKER_AUDIT_AUDIT_H
#define ASSAY_WORKER_AUDIT_AUDIT_H

#include "worker/case/state.h"

/* The approximate number of calls that an audit looks at. */
#define ASSAY_AUDIT_CALLS 14

/* With the calls before them in their series, which has half the length of a sample on average. */
static inline double assay_audit_calls(uint64_t iterations)
{
	return ASSAY_AUDIT_CALLS + 0.5 * (double)(iterations - 1);
}

/*
 * Choose what audits look at, and check the variant on other inputs. To be called after the first check, while the
 * outputs of copy 0 hold the right answer. Inputs and outputs are left as they were.
 */
struct assay_outcome assay_case_audit_begin(struct assay_case_job *j);
/* Check the variant on other inputs at another time than before the samples. */
struct assay_outcome assay_case_audit_other(struct assay_case_job *j);

/* Call these before and after a sample that is a single call: nothing is nearer to what is timed. */
void assay_case_audit_scramble(struct assay_case_job *j);
struct assay_outcome assay_case_audit_look(struct assay_case_job *j);

/*
 * Make an audit if one is due: audits take a fiftieth of the time of the samples. Since the last call of this function,
 * samples had @iterations calls each and took @sampled_ns; the shortest call took @call_ns. If it is the @last, because
 * no samples follow, an audit is also due if there was none, or if calls are short.
 */
struct assay_outcome assay_case_audit_take(struct assay_case_job *j, uint64_t iterations, double call_ns,
					   double sampled_ns, bool last);

#endif

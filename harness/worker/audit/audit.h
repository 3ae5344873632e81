/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a variant do its work when it is timed, too? A check from poison shows that it can. A kernel that finds its
 * answer in the output, keeps one of an earlier call, or leaves out every second call passes that check, and a sample
 * of it says nothing. An audit runs calls between samples: outputs are scrambled before them, inputs change, and calls
 * must neither leave scrambled elements behind nor take longer than those of the samples.
 */
#ifndef ASSAY_WORKER_AUDIT_AUDIT_H
#define ASSAY_WORKER_AUDIT_AUDIT_H

#include "worker/case/state.h"

/* So many calls, about, are in an audit. */
#define ASSAY_AUDIT_CALLS 14

/*
 * Choose what audits look at, and check the variant on other inputs. To be called after the first check, while the
 * outputs of copy 0 hold the right answer. Inputs and outputs are left as they were.
 */
struct assay_outcome assay_case_audit_begin(struct assay_case_job *j);
/* Check the variant on other inputs, at another time than before the samples. */
struct assay_outcome assay_case_audit_other(struct assay_case_job *j);

/* Before and after a sample that is a single call: nothing is nearer to what is timed. */
void assay_case_audit_scramble(struct assay_case_job *j);
struct assay_outcome assay_case_audit_look(struct assay_case_job *j);

/*
 * An audit, where one is due: audits take a fiftieth of the time of the samples. Samples since the last call of this
 * function had @iterations calls each and took @sampled_ns (infinite: none follow, and an audit is due where there was
 * none, or calls are short), the shortest call @call_ns.
 */
struct assay_outcome assay_case_audit_take(struct assay_case_job *j, uint64_t iterations, double call_ns,
					   double sampled_ns);

#endif

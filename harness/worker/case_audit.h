/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a variant do its work when it is timed, too? A check from poison shows that it can. A kernel that finds its
 * answer in the output, keeps one of an earlier call, or leaves every second call out passes that check, and a sample of
 * it says nothing. An audit runs calls between samples, at moments that the seed draws: outputs are scrambled before
 * each, inputs change, and calls must neither leave scrambled elements behind nor take longer than those of the samples.
 */
#ifndef ASSAY_WORKER_CASE_AUDIT_H
#define ASSAY_WORKER_CASE_AUDIT_H

#include "worker/case_state.h"

/*
 * Choose what audits look at, and check the variant on changed inputs. After the first check: the outputs of copy 0 hold
 * the right answer. Variants of devices are not audited. Inputs are left as they were.
 */
struct assay_outcome assay_case_audit_begin(struct assay_case_job *j);

/* Before and after a sample of one call: no audit of such a case is nearer to what is timed. */
void assay_case_audit_scramble(struct assay_case_job *j);
struct assay_outcome assay_case_audit_look(struct assay_case_job *j);

/*
 * An audit, where @sampled_ns of samples since the last call of this function make one due: audits take a fiftieth of
 * the time of the samples, but the first is always due. A sample had @iterations calls of @call_ns. Once the seed has
 * drawn a layout, @draw tells audits of a case apart.
 */
struct assay_outcome assay_case_audit_take(struct assay_case_job *j, uint64_t iterations, double call_ns,
					   double sampled_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Is the output right? Everything that turns a faster but wrong kernel into a wrong one; and what the op reports. */
#ifndef ASSAY_WORKER_CASE_CHECK_H
#define ASSAY_WORKER_CASE_CHECK_H

#include "worker/case/state.h"

/* Fill the outputs of the copies that are checked with a pattern that no right answer has. */
struct assay_outcome assay_case_job_poison(struct assay_case_job *j);
/*
 * Compare the outputs of copy @i with the oracle; the digest (exact ops) and the error are filled in if they are right.
 * The oracle is not asked again about bits that it accepted.
 */
struct assay_outcome assay_case_job_check(struct assay_case_job *j, uint64_t i, double *max_rel_err, char *digest);
/* Ask the oracle about the outputs of copy @i, whatever it said before. */
struct assay_outcome assay_case_job_ask(struct assay_case_job *j, uint64_t i, double *max_rel_err);
/* Are the canaries of all copies, and the inputs of those that are checked, unchanged, on a device as well? */
struct assay_outcome assay_case_job_intact(struct assay_case_job *j);
/* Let the op publish its metrics. */
struct assay_outcome assay_case_job_report(struct assay_case_job *j);
/* Put copy 0's outputs, laid end to end, from byte @from on into the window of @r, with what lies there. */
void assay_case_job_output(const struct assay_case_job *j, uint64_t from, struct assay_worker_reply *r);
/* The digest of the outputs of copy @i, as they lie in host memory. */
void assay_case_job_digest(const struct assay_case_job *j, uint64_t i, char *digest);
struct assay_digest assay_case_input_digest(const struct assay_case_job *j, uint64_t copy);

#endif

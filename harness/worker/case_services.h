/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a case in its worker that its own files share: outcomes, the services behind struct assay_host, digests. */
#ifndef ASSAY_WORKER_CASE_SERVICES_H
#define ASSAY_WORKER_CASE_SERVICES_H

#include "worker/case_job.h"

struct assay_outcome assay_outcome_ok(void);
struct assay_outcome assay_outcome_set(enum assay_status status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A callback returned an error: "@what of 'op/variant' failed: " and what it gave to host->fail. */
struct assay_outcome assay_case_job_failed(const struct assay_case_job *j, const char *what);

void assay_case_job_phase(struct assay_case_job *j, enum assay_phase phase);
/* Let a copy's job point to the host's tensors, or to the device's where the variant runs on one. */
void assay_case_job_aim(struct assay_case_job *j, uint64_t copy, bool at_device);

void assay_case_services_init(struct assay_case_job *j);
/* Free what plugins left behind of host->alloc. */
void assay_case_services_release(struct assay_case_job *j);

struct assay_digest assay_case_input_digest(const struct assay_case_job *j, uint64_t copy);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The member `requests` of assay_generate_state. */
#ifndef ASSAY_GENERATE_REQUESTS_H
#define ASSAY_GENERATE_REQUESTS_H

#include "assay/op_generate.h"

int assay_generate_plan_requests(const struct assay_job *job, const int32_t *prompt, struct assay_generate_request *out,
				 int32_t *tables, uint64_t counters[3]);

#endif

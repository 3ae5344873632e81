/* SPDX-License-Identifier: Apache-2.0 */
/* The services behind struct assay_host. */
#ifndef ASSAY_WORKER_CASE_SERVICES_H
#define ASSAY_WORKER_CASE_SERVICES_H

#include "counters/stepper.h"
#include "worker/case_state.h"

void assay_case_services_init(struct assay_case_job *j);
/* Free what plugins left behind of host->alloc. */
void assay_case_services_release(struct assay_case_job *j);
/* Time that plugins are not to see: their clock stands still meanwhile. */
void assay_case_services_leave_out(uint64_t ticks);
/* From here on regions and barriers belong to a call that @s follows; NULL: no more. */
void assay_case_services_step(struct assay_stepper *s);

#endif

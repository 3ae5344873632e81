/* SPDX-License-Identifier: Apache-2.0 */
/* The services behind struct assay_host. */
#ifndef ASSAY_WORKER_CASE_SERVICES_H
#define ASSAY_WORKER_CASE_SERVICES_H

#include "counters/step/stepper.h"
#include "worker/case/state.h"

void assay_case_services_init(struct assay_case_job *j);
/* Free what plugins left behind of host->alloc. */
void assay_case_services_release(struct assay_case_job *j);
/* Time that plugins are not to see: their clock stands still meanwhile. */
void assay_case_services_leave_out(uint64_t ticks);
/* From here on regions and barriers belong to a call that @s follows; NULL: no more. */
void assay_case_services_step(struct assay_stepper *s);

/*
 * What the op keeps from call to call, such as a ring of its latest times, decides which lines the next call touches.
 * So calls whose counts are compared begin with the same: keep() copies op_state where it is a block of host->alloc,
 * restore() writes it back and frees the copy. 0 or ASSAY_ENOMEM.
 */
struct assay_kept_state {
	void *state, *copy;
	uint64_t bytes;
};
int assay_case_services_keep(struct assay_case_job *j, struct assay_kept_state *out);
void assay_case_services_restore(const struct assay_case_job *j, struct assay_kept_state *k);

/* Did nobody write outside of what was allocated? Otherwise *where gets the first byte, of a buffer of *bytes. */
bool assay_case_services_intact(const struct assay_case_job *j, int64_t *where, size_t *bytes);

#endif

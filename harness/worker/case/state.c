/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes, phases, and where tensors are. */
#include "worker/case/state.h"

#include <stdarg.h>
#include <stdio.h>

struct assay_outcome assay_outcome_ok(void)
{
	return (struct assay_outcome){ .status = ASSAY_STATUS_OK };
}

struct assay_outcome assay_outcome_set(enum assay_status status, const char *fmt, ...)
{
	struct assay_outcome out = { .status = status };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out.reason, sizeof(out.reason), fmt, ap);
	va_end(ap);
	return out;
}

struct assay_outcome assay_case_job_failed(const struct assay_case_job *j, const char *what)
{
	return assay_outcome_set(ASSAY_STATUS_FAILED, "%s of '%s/%s' failed: %s", what, j->spec->c.op,
				 j->spec->c.variant, j->failure[0] ? j->failure : "it gave no reason");
}

struct assay_outcome assay_case_job_unchanged(struct assay_case_job *j, const char *who)
{
	struct assay_err err = { 0 };

	return assay_worker_state_check(&j->state, j->pool, who, &err)
		       ? assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text)
		       : assay_outcome_ok();
}

void assay_case_job_phase(struct assay_case_job *j, enum assay_phase phase)
{
	atomic_store_explicit(j->phase, (uint32_t)phase, memory_order_relaxed);
	if (j->turn && phase == ASSAY_PHASE_RUN)
		assay_pair_randomize_slot(j->turn, j->spec->settings.layout_seed, j->n_series++);
}

/* Far from where programs, libraries, stacks and simulators lie. */
#define FIRST_ADDRESS ((uintptr_t)1 << 41)

uintptr_t assay_case_job_place(const struct assay_case_job *j)
{
	if (!j->spec->fixed_layout)
		return 0;
	return j->next_address ? j->next_address : FIRST_ADDRESS;
}

uintptr_t assay_case_job_near(const struct assay_case_job *j)
{
	if (!assay_worker_spec_draws(j->spec))
		return 0;
	return j->next_address ? j->next_address : assay_layout_address(j->spec->settings.layout_seed);
}

/*
 * Arenas touch each other, as they do where the kernel places them. At multiples of a large power of two they would
 * share the sets of every cache, and the last level would miss lines that no real one does.
 */
void assay_case_job_placed(struct assay_case_job *j, const struct assay_arena *a)
{
	j->next_address = (uintptr_t)a->map + a->map_bytes;
}

void assay_case_job_aim(struct assay_case_job *j, uint64_t copy, bool at_device)
{
	struct assay_job *job = &j->jobs[copy];
	bool device = at_device && j->device;

	job->tensors = (device ? j->device_tensors : j->tensors) + copy * j->problem.n_tensors;
	job->device_kind = device ? j->device->device_kind : (uint32_t)ASSAY_DEVICE_CPU;
	job->device = device ? j->device_handle : NULL;
	job->stream = device ? j->stream : NULL;
}

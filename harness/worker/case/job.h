/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a case inside its worker: plugins loaded, threads pinned, buffers made, the variant prepared, run and
 * released.
 */
#ifndef ASSAY_WORKER_CASE_JOB_H
#define ASSAY_WORKER_CASE_JOB_H

#include "worker/case/state.h"

/* The file that both sides of a pair map, behind what else it holds. */
struct assay_case_common {
	struct assay_common_memory *memory;
	struct assay_arena_file file;
	struct assay_arena_file own; /* where in it this side's own memory begins; fd −1: it is elsewhere */
};

/*
 * Load the plugins, up to the op and the variant. Before this, only machine_text of @j is set; @spec and @phase have to
 * outlive it. Release in either case.
 */
struct assay_outcome assay_case_job_load(struct assay_case_job *j, const struct assay_worker_spec *spec,
					 _Atomic uint32_t *phase);
/* Do everything for a loaded case up to a prepared variant. @common is NULL for memory of its own. */
struct assay_outcome assay_case_job_init(struct assay_case_job *j, const struct assay_case_common *common);
void assay_case_job_release(struct assay_case_job *j);
/* Release the variant's part, which may come first; there are no runs after it. */
void assay_case_job_retire(struct assay_case_job *j);

/* Let the variant undo what it prepared of copy 0, and later prepare it again. */
void assay_case_job_unprepare(struct assay_case_job *j);
struct assay_outcome assay_case_job_prepare_again(struct assay_case_job *j);

/*
 * Make the inputs of copy 0 again in host memory, from @seed. Only where the op can release what else it makes. The
 * op's state of the case is kept, since it is reported: other inputs get another one, until those of the case are back.
 */
struct assay_outcome assay_case_job_refill(struct assay_case_job *j, uint64_t seed);

/*
 * Call run() @iterations times over the rotating copies and give the time of all together. Everything between the two
 * clock reads is the loop and the calls.
 */
struct assay_outcome assay_case_job_time(struct assay_case_job *j, uint64_t iterations, uint64_t *ns);

/* Draw anew the physical pages of what the timed loop reads besides tensors. Not while calls are under way. */
void assay_case_job_draw_pages(struct assay_case_job *j);

/* Call run() once, untimed. Makes no system call of its own, but on a device waits for the call. */
struct assay_outcome assay_case_job_run(struct assay_case_job *j);

#endif

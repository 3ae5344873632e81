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

/* ---- check ---- */

/* Is the output right? Everything that turns a faster but wrong kernel into a wrong one; and what the op reports. */

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

/* ---- observed ---- */

/* The histograms of a case inside its worker. */

/* Room for what the op of @j declares. 0 or ASSAY_ENOMEM; release in either case. */
int assay_case_observed_init(struct assay_case_job *j);
void assay_case_observed_release(struct assay_case_job *j);
/* See assay_observe() in plugin.h. Callable from any thread, and from a signal handler. */
void assay_case_observe(struct assay_case_job *j, uint32_t metric, double value);
/* Do values that are observed from here on count? Not while calls are under way. */
void assay_case_observed_count(struct assay_case_job *j, bool counts);
/* FAILED where a value was refused. */
struct assay_outcome assay_case_observed_check(const struct assay_case_job *j);
/* Write those that have values to @out, which has room for ASSAY_MAX_HISTOGRAMS; returns how many. */
uint32_t assay_case_observed_take(const struct assay_case_job *j, struct assay_page_histogram *out);

/* ---- processor time ---- */

/*
 * A case of N threads uses N: the processor time of the worker's process is compared with that of its pool's threads. A
 * kernel that quietly uses further CPUs would pass for a faster one, and one that works while its partner is timed
 * slows the partner down. Only processor times are compared, so a busy machine cannot fail an honest kernel.
 */

/* Before the first sample of a series; both run the pool, so the partner must not be measuring. */
void assay_processor_time_begin(struct assay_case_job *j);
/* After the last one: FAILED, with the thread's name, if the case's process has used more than its threads can. */
struct assay_outcome assay_processor_time_end(struct assay_case_job *j);

/* While this side waits for its turn. */
void assay_processor_time_leave(struct assay_case_job *j);
void assay_processor_time_return(struct assay_case_job *j);

#endif

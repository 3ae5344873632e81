/* SPDX-License-Identifier: Apache-2.0 */
/* Taking samples of a prepared case, one after the other, into the reply of its worker. */
#ifndef ASSAY_WORKER_CASE_SAMPLING_H
#define ASSAY_WORKER_CASE_SAMPLING_H

#include "counters/counting.h"
#include "machine/environment.h"
#include "machine/lost_time.h"
#include "worker/case/state.h"

struct assay_sampling {
	struct assay_case_job *job;
	const struct assay_worker_args *args;
	struct assay_worker_reply *reply;
	struct assay_counting *counting; /* NULL: no events are counted */
	struct assay_os_counts before[ASSAY_PAGE_CPUS], after[ASSAY_PAGE_CPUS];
	struct assay_thread_time time_before[ASSAY_PAGE_CPUS], time_after[ASSAY_PAGE_CPUS];
	struct assay_os_counts stood[ASSAY_PAGE_CPUS]; /* when a thread was last stopped */
	struct assay_thread_time time_stood[ASSAY_PAGE_CPUS];
	struct assay_disturbance host;
	uint64_t pace_before[ASSAY_PAGE_CPUS], pace_after[ASSAY_PAGE_CPUS]; /* ticks, by thread */
	uint32_t device_flags;                                              /* as the device was found last */
	uint64_t polled_ns, paused;                                         /* the second in ticks */
	uint32_t poll_first;                                                /* first sample since the last poll */
	uint64_t steal_ticks, stolen_ns; /* seen so far: by the host's counter, and by the threads' own clocks */
};

/* A new series. @counting: where @args ask for it. */
void assay_sampling_begin(struct assay_sampling *s, struct assay_case_job *job, const struct assay_worker_args *args,
			  struct assay_worker_reply *reply, struct assay_counting *counting);
/* One sample, of as many calls as was asked; the reply has room for it. What went wrong in a call is the outcome. */
struct assay_outcome assay_sampling_take(struct assay_sampling *s);
/* From within a call: what there is of it becomes a sample of its own, and the clocks stand still until it resumes. */
void assay_sampling_pause(struct assay_sampling *s);
void assay_sampling_resume(struct assay_sampling *s);
/* Thread @tid itself, within a sample: what happens to it between the two is left out. For signal handlers. */
void assay_sampling_stand(void *sampling, uint32_t tid);
void assay_sampling_go_on(void *sampling, uint32_t tid);

#endif

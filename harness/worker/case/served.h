/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case that a worker serves, and what its orders are carried out with: checks, samples, and audits between them.
 * Knows nothing of the page; what is answered goes into `reply`.
 */
#ifndef ASSAY_WORKER_CASE_SERVED_H
#define ASSAY_WORKER_CASE_SERVED_H

#include "counters/counting.h"
#include "machine/environment.h"
#include "machine/lost_time.h"
#include "worker/case/job.h"
#include "worker/protocol.h"

/* ---- counts ---- */

/* Counting around a worker's samples. */

struct assay_case_counts {
	struct assay_counter_context ctx;
	struct assay_counting *counting; /* NULL: nothing is counted */
	struct assay_syscall_case syscalls;
	struct assay_gpu_case gpu;
};

/* Find providers for the events of the spec; the case is prepared. An event that cannot be counted is no failure. */
struct assay_outcome assay_case_counts_open(struct assay_case_counts *c, struct assay_case_job *j);
void assay_case_counts_close(struct assay_case_counts *c);
/*
 * If system calls are asked for, make one more run, traced. Not being able to trace it is not a failure; no sample
 * comes after it.
 */
struct assay_outcome assay_case_counts_trace(struct assay_case_counts *c, struct assay_case_job *j);
/* If CUPTI is asked for, make some more runs on the device. What cannot be counted is not a failure either. */
struct assay_outcome assay_case_counts_gpu(struct assay_case_counts *c, struct assay_case_job *j);
/* Put means and reasons into @r; @note, if it is not empty, is the reason of ASSAY_STATE_NAME. */
struct assay_outcome assay_case_counts_report(const struct assay_case_counts *c, const char *note,
					      struct assay_worker_reply *r);

/* ---- sampling ---- */

/* Taking samples of a prepared case, one after the other, into the reply of its worker. */

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

/* ---- the case ---- */

struct assay_served {
	struct assay_page *page;
	struct assay_pair_shared *pair; /* NULL: this worker has no partner */
	int pair_fd;
	unsigned index; /* which side of a pair */
	/* what the page said, and what it will say when the command is over */
	struct assay_order order;
	struct assay_worker_spec spec;
	struct assay_worker_reply reply;
	_Alignas(ASSAY_LAYOUT_ALIGN) struct assay_case_job job; /* with pages of its own */
	_Alignas(ASSAY_LAYOUT_ALIGN) bool loaded;               /* its plugins are */
	uint64_t iterations;                                    /* of the last sample */
	double call_ns;                                         /* the shortest since the last audit */
	double sampled_ns;                                      /* of samples since then */
	bool checked;    /* the outputs of the last sample that counts, before the partner could write there */
	bool in_turns;   /* scheduled for them */
	uint64_t checks; /* so far */
	bool offset;     /* the rotation over common copies is half a turn from the partner's */
	char digest[ASSAY_DIGEST_LEN + 1];
	struct assay_case_counts counts;
	struct assay_sampling sampling;
	uint32_t slot, slots; /* of PAIR: the one this side has, and how many there are */
};

/* The first check of the outputs, then of what audits look at. */
struct assay_outcome assay_served_verify(struct assay_served *w);
/*
 * The outputs of the last sample, then, after an audit and a traced run, once more from poison through the timed loop.
 * Only then are guards and inputs looked at, for all that ran: with gigabytes of them that takes long. A pair that
 * leaves out checks does so with the audit and the run from poison.
 */
struct assay_outcome assay_served_recheck(struct assay_served *w);
/* As many samples as the order says. */
struct assay_outcome assay_served_sample(struct assay_served *w);

/* The samples that follow are of this order. */
void assay_served_begin_samples(struct assay_served *w);
/* A sample of the order. */
struct assay_outcome assay_served_take_sample(struct assay_served *w);
/* Check the outputs as the last sample left them. */
struct assay_outcome assay_served_check_last(struct assay_served *w);
/* Audit by what the samples since the last audit told; @last: there are no more of them. */
struct assay_outcome assay_served_audit(struct assay_served *w, bool last);

/* ---- turns ---- */

/* One side of a process pair: samples in turn with the partner. */

/*
 * Take turns with the partner, sample by sample, and within long calls slice by slice or part by part, as the order
 * says. Both sides come to the end of their turns even where one fails.
 */
struct assay_outcome assay_served_take_turns(struct assay_served *w);

#endif

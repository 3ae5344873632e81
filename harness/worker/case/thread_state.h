/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread's results and times rest on besides code and data: how it rounds, where and when it may run, which
 * signals reach it, what the process may use. It is noted before a variant's code runs and read back later. A variant
 * that changed any of it is named.
 */
#ifndef ASSAY_WORKER_CASE_THREAD_STATE_H
#define ASSAY_WORKER_CASE_THREAD_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"
#include "worker/case/thread_pool.h"

#define ASSAY_STATE_NOTE_MAX 256
/* Under which the counts of a case tell what changed and altered no result. */
#define ASSAY_STATE_NAME "worker_state"

struct assay_thread_state {
	uint32_t float_control; /* MXCSR without its flags, or FPCR; 0 where neither is known */
	uint32_t x87_control;
	int tsc; /* PR_TSC_ENABLE, or PR_TSC_SIGSEGV if reading the clock traps; 0 where the kernel does not say */
	int policy, nice;
	sigset_t blocked;
	int cpu, n_cpus; /* the first of those that it may run on; n_cpus 0: they cannot be read */
};

struct assay_worker_state {
	struct assay_thread_state *noted, *seen; /* of each thread of the pool; malloc'ed */
	uint32_t n_threads;
	struct rlimit limits[RLIMIT_NLIMITS];
	char note
		[ASSAY_STATE_NOTE_MAX]; /* the first change that alters no result: "a call changed its nice value: …" */
};

/* Note the state of the @n_threads of @pool, instead of what was noted before; pool NULL: of the caller alone. */
int assay_worker_state_note(struct assay_worker_state *s, struct assay_pool *pool, uint32_t n_threads,
			    struct assay_err *err);
/* Changes that the harness made to the calling thread's scheduling are not the variant's. */
void assay_worker_state_rescheduled(struct assay_worker_state *s);
/*
 * Did @who change it? ASSAY_EWORKER with the change where that alters results; anything else is kept in `note`. 0 where
 * nothing was noted.
 */
int assay_worker_state_check(struct assay_worker_state *s, struct assay_pool *pool, const char *who,
			     struct assay_err *err);
void assay_worker_state_release(struct assay_worker_state *s);

#endif

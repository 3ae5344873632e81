/* SPDX-License-Identifier: Apache-2.0 */
/* Times of calls in an audit: do calls on data that changed take longer than calls that do the same over and over? */
#ifndef ASSAY_WORKER_AUDIT_TIMES_H
#define ASSAY_WORKER_AUDIT_TIMES_H

#include "machine/lost_time.h"
#include "worker/case/state.h"

/* With this many calls of each kind, the machine may disturb some, and a longer time still shows. */
#define ASSAY_AUDIT_ROUNDS 16

/* Calls on data like that of the call before, and on data that changed. Shortest first. All-zero: none yet. */
struct assay_audit_times {
	double same_ns[ASSAY_AUDIT_ROUNDS], changed_ns[ASSAY_AUDIT_ROUNDS];
	int n, n_changed;
	bool forgets; /* what the processor has learnt of the data is cleared before each call */
	bool paused;  /* the data is the same, but the calls that count as changed are single ones after a pause */
};

/*
 * The time of calls in a row that took @ns and last longer than a sample, without what the thread waited for a CPU that
 * others had. If the thread never @slept, it took no longer than it had a CPU; otherwise it may have let another thread
 * calculate.
 */
double assay_audit_times_less_waits(uint64_t ns, const struct assay_thread_time *before,
				    const struct assay_thread_time *after, bool slept);

/* Add a call; there is room for ASSAY_AUDIT_ROUNDS of each kind. */
void assay_audit_times_same(struct assay_audit_times *t, double ns);
void assay_audit_times_changed(struct assay_audit_times *t, double ns);

/* Do calls on changed data take longer than the machine and the clock explain? False without a call of that kind. */
bool assay_audit_times_tell(const struct assay_case_job *j, const struct assay_audit_times *t);

/* ASSAY_STATUS_WRONG if they do: the samples were too quick. @when says what was changed, for the reason. */
struct assay_outcome assay_audit_times_verdict(const struct assay_case_job *j, const struct assay_audit_times *t,
					       const char *when);

#endif

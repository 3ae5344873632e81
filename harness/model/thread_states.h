/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads did, as the stacks of a profile have it: a thread's label, then a label of its state, then the call that
 * waits with its callers. Weights are ns, so that all stacks of a thread add up to its wall time.
 */
#ifndef ASSAY_MODEL_THREAD_STATES_H
#define ASSAY_MODEL_THREAD_STATES_H

#include "model/profile.h"

/* "running", "waiting at a barrier", "blocked", "ready". */
const char *assay_thread_state_name(enum assay_thread_state s);
/* The label of a state: "running", "waiting: host->barrier", "blocked: read". @call is not used of the others. */
void assay_thread_state_label(enum assay_thread_state s, const char *call, char *buf, size_t size);

#define ASSAY_UNKNOWN_CALL "calls that are not followed"

/* A thread's time by state. */
struct assay_thread_account {
	const char *name; /* of the profile's frames */
	uint64_t wall_ns;
	uint64_t ns[ASSAY_N_THREAD_STATES];
};

/*
 * Did it sleep all the time: blocked, but for what it takes to fall asleep and to end? How long it waited for a CPU
 * once woken is the machine's doing.
 */
bool assay_thread_slept(const struct assay_thread_account *a);

/* Efficiencies, as shares of 1: NaN where nothing ran. */
struct assay_thread_efficiency {
	double parallel;      /* the product of the others */
	double load_balance;  /* mean useful time of the threads, against the most */
	double serialisation; /* that most, against wall time without what its thread was ready */
	double scheduling;    /* that time, against wall time: the rest a processor for each thread would save */
};

/* One row a thread, in the order in which they were seen. *out is malloc'ed. */
int assay_thread_accounts(const struct assay_profile *p, struct assay_thread_account **out, size_t *n,
			  struct assay_err *err);
/*
 * POP's metrics (Rosas, Gimenez, Labarta: Scalability prediction for fundamental performance factors, 2014) with
 * threads for processes; its transfer efficiency is here what waiting for a processor costs.
 */
struct assay_thread_efficiency assay_thread_efficiency(const struct assay_thread_account *v, size_t n);

/* What threads waited for at one place: equal stacks of all threads. */
struct assay_thread_wait {
	const struct assay_stack *stack; /* one of those */
	uint64_t ns;
	unsigned threads;
	uint64_t waits, longest_ns; /* 0: not known, of a stored profile */
	bool meets;                 /* it is a barrier */
};
/* Those that took most first. *out is malloc'ed. */
int assay_thread_waits(const struct assay_profile *p, struct assay_thread_wait **out, size_t *n, struct assay_err *err);
/* The call that @w waits in: "pthread_mutex_lock". */
const char *assay_thread_wait_call(const struct assay_profile *p, const struct assay_thread_wait *w);

#endif

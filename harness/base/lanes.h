/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks beside each other, each in a process of its own that is forked from this one: what a task does to its process
 * stays there, and what it tells comes back. Must not know what tasks are.
 */
#ifndef ASSAY_BASE_LANES_H
#define ASSAY_BASE_LANES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* So many at once at most. */
#define ASSAY_LANES_MOST 64

/* A task's end, in its own process. */
struct assay_lane;

/* Send @n bytes to the parent; what kind they are of is the tasks' to know, from 0 to 255. False: nobody listens. */
bool assay_lane_tell(const struct assay_lane *lane, unsigned kind, const void *bytes, size_t n);
/* Not 0 once the task is to stop. */
const volatile sig_atomic_t *assay_lane_stop(const struct assay_lane *lane);

struct assay_lanes {
	void *arg; /* of all functions */
	/* The task that begins; false: none can, until another has ended or, where none runs, at all. */
	bool (*next)(void *arg, size_t *task);
	/* In the process of the task. Its return, with @err, is that of the task. */
	int (*work)(void *arg, size_t task, const struct assay_lane *lane, struct assay_err *err);
	/* What the task told, in its order. A negative return ends them all, with @err. */
	int (*heard)(void *arg, size_t task, unsigned kind, const char *bytes, size_t n, struct assay_err *err);
	/* It is over. @why: what work() returned and said; ASSAY_EIO where its process died. Returns likewise. */
	int (*ended)(void *arg, size_t task, const struct assay_err *why, struct assay_err *err);
	/* A task ignored a signal of @sender, which descends from it. NULL: nobody wants to know. */
	void (*signalled)(void *arg, pid_t sender);
	const volatile sig_atomic_t *interrupted; /* NULL: never */
};

/*
 * Until next() has no more. ASSAY_EINTERRUPTED when interrupted, ASSAY_EIO when no process can be started; every task
 * has ended then, too.
 */
int assay_lanes_run(const struct assay_lanes *l, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs tasks beside each other, each in a process that is forked from this one: whatever a task does to its process
 * stays there, and the messages that it sends come back. Must not know what the tasks are.
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

/* A task's end of the connection to the parent, in the process of the task. */
struct assay_lane;

/* Send @n bytes to the parent. @kind, from 0 to 255, is for the tasks to define. False: nobody is listening. */
bool assay_lane_tell(const struct assay_lane *lane, unsigned kind, const void *bytes, size_t n);
/* Not 0 once the task is to stop. */
const volatile sig_atomic_t *assay_lane_stop(const struct assay_lane *lane);

struct assay_lanes {
	void *arg; /* of all functions */
	/*
	 * Chooses the task that begins next. False: none can begin until another has ended, or, if none is running,
	 * none is left.
	 */
	bool (*next)(void *arg, size_t *task);
	/* Called in the process of the task. What it returns, with @err, is the result of the task. */
	int (*work)(void *arg, size_t task, const struct assay_lane *lane, struct assay_err *err);
	/* Called for each message of a task, in order. A negative return ends all tasks, with @err. */
	int (*heard)(void *arg, size_t task, unsigned kind, const char *bytes, size_t n, struct assay_err *err);
	/*
	 * The task is over. @why has what work() returned and said, or ASSAY_EIO if its process died. Returns as
	 * heard() does.
	 */
	int (*ended)(void *arg, size_t task, const struct assay_err *why, struct assay_err *err);
	/* A task ignored a signal of @sender, a descendant of its own. NULL: nobody wants to know. */
	void (*signalled)(void *arg, pid_t sender);
	const volatile sig_atomic_t *interrupted; /* NULL: never */
};

/*
 * Run until next() has no more. ASSAY_EINTERRUPTED when interrupted, ASSAY_EIO when no process can be started; in these
 * cases, too, every task has ended.
 */
int assay_lanes_run(const struct assay_lanes *l, struct assay_err *err);

#endif

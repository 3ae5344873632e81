/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that traces. It is a copy of one with several threads, so that only async-signal-safe calls are made.
 * Threads are stopped at the entry and the exit of each system call (ptrace(2), PTRACE_O_TRACESYSGOOD); entries are
 * counted.
 */
#include "counters/syscalls.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_STOP (SIGTRAP | 0x80)

static __attribute__((noreturn)) void fail(struct assay_syscall_shared *s, enum assay_syscall_step step)
{
	s->error = errno;
	s->step = step;
	_exit(1); /* the kernel lets go of what was seized */
}

/* Let a stopped thread go on, as @request says; what was not ours it gets as well. */
static void go_on(int request, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP && request != PTRACE_DETACH)
		ptrace(PTRACE_LISTEN, tid, NULL, NULL); /* stopped by somebody else, until he wants it to go on */
	else
		ptrace((enum __ptrace_request)request, tid, NULL,
		       (void *)(intptr_t)(event || signal == CALL_STOP ? 0 : signal));
}

static bool wait_for_stop(pid_t tid, int *status)
{
	pid_t got;

	do
		got = waitpid(tid, status, __WALL);
	while (got < 0 && errno == EINTR);
	return got == tid && WIFSTOPPED(*status);
}

static void remember(struct assay_syscall_shared *s, pid_t tid)
{
	for (uint32_t i = 0; i < s->n_threads; i++)
		if (s->threads[i] == tid)
			return;
	if (s->n_threads < s->max_threads) /* the kernel lets go of others when the tracer ends */
		s->threads[s->n_threads++] = tid;
}

static void forget(struct assay_syscall_shared *s, pid_t tid)
{
	for (uint32_t i = 0; i < s->n_threads; i++)
		if (s->threads[i] == tid)
			s->threads[i] = s->threads[--s->n_threads];
}

static void count_call(struct assay_syscall_shared *s, const struct assay_syscall_options *o, pid_t tid)
{
	struct __ptrace_syscall_info info = { .op = PTRACE_SYSCALL_INFO_NONE };
	uint64_t number;

	if (!s->watched || ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	number = info.entry.nr;
	if (number == SYS_futex && info.entry.args[0] >= o->own_lo && info.entry.args[0] < o->own_hi)
		return;
	s->calls++;
	s->by_number[number < ASSAY_SYSCALL_NUMBERS ? number : ASSAY_SYSCALL_NUMBERS - 1]++;
}

static void seize(struct assay_syscall_shared *s)
{
	for (uint32_t i = 0; i < s->n_threads; i++)
		if (ptrace(PTRACE_SEIZE, s->threads[i], NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)))
			fail(s, ASSAY_SYSCALL_SEIZE);
	for (uint32_t i = 0; i < s->n_threads; i++) {
		struct __ptrace_syscall_info info;
		int status;

		if (ptrace(PTRACE_INTERRUPT, s->threads[i], NULL, NULL) || !wait_for_stop(s->threads[i], &status))
			fail(s, ASSAY_SYSCALL_STOP);
		if (ptrace(PTRACE_GET_SYSCALL_INFO, s->threads[i], (void *)sizeof(info), &info) <= 0)
			fail(s, ASSAY_SYSCALL_INFO);
		go_on(PTRACE_SYSCALL, s->threads[i], status);
	}
}

/* @tid is stopped with @status; the others are stopped first. */
static void let_go(struct assay_syscall_shared *s, pid_t tid, int status)
{
	for (uint32_t i = 0; i < s->n_threads; i++) {
		pid_t other = s->threads[i];
		int how = status;

		if (other == tid || (!ptrace(PTRACE_INTERRUPT, other, NULL, NULL) && wait_for_stop(other, &how)))
			go_on(PTRACE_DETACH, other, how);
	}
}

void assay_syscall_tracer(struct assay_syscall_shared *s, const struct assay_syscall_options *o, pid_t parent,
			  int ready_fd)
{
	/* a worker that is killed takes its tracer with it; one that died before the first line has another process as
	 * parent */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	seize(s);
	s->step = ASSAY_SYSCALL_READY;
	if (write(ready_fd, "", 1) != 1)
		_exit(1);
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno != EINTR)
			_exit(1); /* all have ended */
		if (tid < 0)
			continue;
		if (!WIFSTOPPED(status)) {
			forget(s, tid);
			continue;
		}
		remember(s, tid);
		if (WSTOPSIG(status) == CALL_STOP)
			count_call(s, o, tid);
		if (s->finished) {
			s->complete = true;
			let_go(s, tid, status);
			_exit(0);
		}
		go_on(PTRACE_SYSCALL, tid, status);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of one run, counted by a process that traces the caller with ptrace(2) while it runs. Knows neither
 * cases nor pools: whoever runs says which threads are watched, and which memory its own futexes lie in.
 */
#ifndef ASSAY_COUNTERS_SYSCALLS_H
#define ASSAY_COUNTERS_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* What became of the one run of a case. */
struct assay_syscall_case {
	bool wanted;  /* an event of the case asks for it */
	bool counted; /* otherwise see reason */
	uint64_t calls;
	char detail[120]; /* "write 2, mmap 1" */
	char reason[256]; /* "": nobody tried */
};

struct assay_syscall_options {
	const pid_t *threads; /* to be watched; the caller is one of them. Threads that they make are watched, too */
	uint32_t n_threads;
	uintptr_t own_lo, own_hi; /* futex(2) on words from own_lo up to, but without, own_hi is not counted */
};

struct assay_syscall_trace;

/*
 * Begin to trace; all threads but the caller are to be idle. Not for threads that are being timed, and not while any
 * are: they stop for a moment, and the process is forked. ASSAY_EUNAVAILABLE with the reason and what would help: the
 * caller is traced already or runs under valgrind, ptrace is not permitted, the kernel is older than 5.3
 * (PTRACE_GET_SYSCALL_INFO).
 */
int assay_syscall_trace_open(struct assay_syscall_trace **t, const struct assay_syscall_options *o,
			     struct assay_err *err);
/* Count from here on, or do not. Makes no system call. */
void assay_syscall_trace_watch(struct assay_syscall_trace *t, bool on);
/* End it and say in @out what was counted while it was watched, or why it could not be. */
void assay_syscall_trace_close(struct assay_syscall_trace *t, struct assay_syscall_case *out);

/* ---- between the tracer and who is traced ---- */

#define ASSAY_SYSCALL_NUMBERS 512 /* larger ones are counted together in the last */

enum assay_syscall_step {
	ASSAY_SYSCALL_SEIZE, /* becoming the tracer of a thread */
	ASSAY_SYSCALL_STOP,  /* stopping it for the first time */
	ASSAY_SYSCALL_INFO,  /* asking what it calls */
	ASSAY_SYSCALL_READY,
};

/* In memory that both share. */
struct assay_syscall_shared {
	_Atomic bool watched;  /* the run is on */
	_Atomic bool finished; /* let go of all threads at the next call of any */
	/* by the tracer */
	enum assay_syscall_step step; /* the one that failed, unless READY */
	int error;                    /* errno of it */
	bool complete;                /* it saw the end */
	uint64_t calls;
	uint32_t by_number[ASSAY_SYSCALL_NUMBERS];
	uint32_t n_threads, max_threads;
	pid_t threads[]; /* watched */
};

/* The tracer: a process of its own with a copy of the caller's memory. Writes a byte to @ready_fd when it watches;
 * never returns. */
__attribute__((noreturn)) void assay_syscall_tracer(struct assay_syscall_shared *s,
						    const struct assay_syscall_options *o, pid_t parent, int ready_fd);

#endif

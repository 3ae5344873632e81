/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of one run, counted by a process that traces its threads with ptrace(2). Knows no cases and no pools. */
#ifndef ASSAY_COUNTERS_SYSCALLS_SYSCALLS_H
#define ASSAY_COUNTERS_SYSCALLS_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What became of the one run of a case. */
struct assay_syscall_case {
	bool wanted;  /* an event of the case asks for it */
	bool counted; /* otherwise see reason */
	uint64_t calls;
	char detail[120]; /* "write 2, mmap 1" */
	char reason[256]; /* "": nobody tried */
};

/*
 * Call run(arg) and count the system calls that @threads make meanwhile, and the threads that they start. The caller is
 * one of @threads; the others are idle or spin. They stop for a moment and the process is forked: not for threads that
 * are being timed. Where they cannot be traced run() is not called, and @out says why.
 */
void assay_syscalls_count(const pid_t *threads, uint32_t n, void (*run)(void *arg), void *arg,
			  struct assay_syscall_case *out);

#endif

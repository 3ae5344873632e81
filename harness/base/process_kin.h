/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes descend from this one, and how they are ended. Safe in a signal handler; errno stays as it is. */
#ifndef ASSAY_BASE_PROCESS_KIN_H
#define ASSAY_BASE_PROCESS_KIN_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Is @pid a child of this process, or a child of such, and so on? False for processes that are gone and reaped, and
 * where /proc does not tell.
 */
bool assay_process_is_kin(pid_t pid);
/* SIGKILL to all that descend from @above, which itself gets none. */
void assay_process_kin_kill(pid_t above);
/*
 * SIGKILL to all that descend from @pid, then to @pid, and then to whichever of our kin traces it, since nobody can
 * reap a process before its tracer has let go of it (ptrace(2)).
 */
void assay_process_kin_end(pid_t pid);
/* The process, or its thread, that traces @pid; 0: none, or unknown. */
pid_t assay_process_tracer(pid_t pid);
/* Its state as in /proc/PID/stat, such as 'Z'; 0: unknown. */
char assay_process_state(pid_t pid);

/* How users are told that a signal of @pid was ignored. A format with one %d. */
#define ASSAY_PROCESS_KIN_SIGNAL "ignored a signal that process %d sent, which runs a plugin"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process descends from this one. */
#ifndef ASSAY_BASE_PROCESS_KIN_H
#define ASSAY_BASE_PROCESS_KIN_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Is @pid a child of this process, or a child of such, and so on? False for processes that are gone and reaped, and
 * where /proc does not tell. May be called in a signal handler; errno stays as it is.
 */
bool assay_process_is_kin(pid_t pid);

/* How users are told that a signal of @pid was ignored. A format with one %d. */
#define ASSAY_PROCESS_KIN_SIGNAL "ignored a signal that process %d sent, which runs a plugin"

#endif

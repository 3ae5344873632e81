/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child leaves behind although it was killed with its process group: descendants that made a session or group of
 * their own. While this process lives they become its children and can be killed; when it dies by SIGKILL nobody does
 * that.
 */
#ifndef ASSAY_BASE_PROCESS_STRAYS_H
#define ASSAY_BASE_PROCESS_STRAYS_H

#include <stddef.h>
#include <sys/types.h>

#define ASSAY_STRAYS_KNOWN 16

/* The children that are none. */
struct assay_strays {
	pid_t known[ASSAY_STRAYS_KNOWN];
	size_t n;
};

/*
 * Adopt, from now on and for ever, every descendant whose parent ends (prctl(2), PR_SET_CHILD_SUBREAPER), and note
 * which children there are already.
 */
void assay_strays_watch(struct assay_strays *s);
/*
 * Kill and reap all children that were not there then, but @keep (0: none), within a few seconds; what cannot be reaped
 * stays a child. To be called once those that were started since are reaped. Does nothing where the kernel does not
 * list children (/proc/PID/task/TID/children), or when there were too many to note.
 */
void assay_strays_kill(const struct assay_strays *s, pid_t keep);

#endif

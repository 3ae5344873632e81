/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the processes that run plugins from signalling others. */
#ifndef ASSAY_WORKER_CONFINE_H
#define ASSAY_WORKER_CONFINE_H

/*
 * From now on this process, and those that it starts, can signal only each other: not the controller, not the other
 * side of a pair. This is the signal scope of Landlock (landlock(7), Linux 6.12); nothing changes if the kernel lacks
 * it.
 */
void assay_confine_signals(void);

#endif

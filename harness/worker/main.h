/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points of the child processes. The program calls this before anything else when started with a hidden command.
 */
#ifndef ASSAY_WORKER_MAIN_H
#define ASSAY_WORKER_MAIN_H

#define ASSAY_WORKER_COMMAND "__worker"

/* True when argv[1] is the command of a worker, of the inventory (inventory/inventory.h) or of counters/provider.h. */
int assay_worker_is_command(int argc, char **argv);
/* Serve until told to finish; returns the exit status of the process. */
int assay_worker_main(int argc, char **argv);

/* ---- confine ---- */

/* Keeps the processes that run plugins from signalling others. */

/*
 * From now on this process, and those that it starts, can signal only each other: not the controller, not the other
 * side of a pair. This is the signal scope of Landlock (landlock(7), Linux 6.12); nothing changes if the kernel lacks
 * it.
 */
void assay_confine_signals(void);

#endif

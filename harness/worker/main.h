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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands do the same way. */
#ifndef ASSAY_CLI_COMMAND_H
#define ASSAY_CLI_COMMAND_H

#include "cli/cli_options.h"
#include "cli/watcher.h"

/* The work of a command. @args is what its options filled; *status is 0 before. An error is printed by the caller. */
typedef int assay_command_fn(void *args, struct assay_watcher *w, int *status, struct assay_err *err);

/*
 * Defaults and environment, options, @run, and the error that either ends with. @args begins with a struct
 * assay_settings, which is initialised and released here; what follows it is as the caller left it. Returns the exit
 * status.
 */
int assay_command(const struct argp *argp, int argc, char **argv, void *args, assay_command_fn *run);

#endif

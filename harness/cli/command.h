/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands do the same way: options, the work, and showing what the driving layer tells meanwhile. */
#ifndef ASSAY_CLI_COMMAND_H
#define ASSAY_CLI_COMMAND_H

#include "base/text.h"
#include "cli/cli_options.h"
#include "cli/progress.h"
#include "drive/watch.h"
#include "reports/emitter.h"

/* Shows progress, warnings and the head of a run. */
struct assay_watcher {
	struct assay_watch watch; /* for the driving layer */
	struct assay_progress progress;
	bool busy;      /* between an event that begins something and DONE */
	bool show_head; /* print what stands above the results */
	struct assay_emit_style style;
	bool hold;                 /* warnings wait until the work is done, to stand below what is printed */
	struct assay_strings late; /* those */
};

/* The work of a command. @args is what its options filled; *status is 0 before. An error is printed by the caller. */
typedef int assay_command_fn(void *args, struct assay_watcher *w, int *status, struct assay_err *err);

/*
 * Defaults and environment, options, @run, and the error that either ends with. @args begins with a struct
 * assay_settings, which is initialised and released here; what follows it is as the caller left it. Returns the exit
 * status.
 *
 * From where @run begins something long, an interrupt sets the flag of the watch, so that what is finished is kept. See
 * cli/interrupt.h.
 */
int assay_command(const struct assay_command_line *line, int argc, char **argv, void *args, assay_command_fn *run);

#endif

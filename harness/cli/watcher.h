/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command shows what the driving layer tells while it works: a progress bar, warnings, the head of a run; and how
 * Ctrl-C reaches it.
 */
#ifndef ASSAY_CLI_WATCHER_H
#define ASSAY_CLI_WATCHER_H

#include "base/text.h"
#include "cli/progress.h"
#include "drive/watch.h"
#include "reports/emitter.h"

struct assay_watcher {
	struct assay_watch watch; /* for the driving layer */
	struct assay_progress progress;
	bool busy;      /* between an event that begins something and DONE */
	bool show_head; /* print the head of a run */
	struct assay_emit_style style;
	bool hold;                 /* warnings wait for assay_watcher_end(), to stand below what is printed */
	struct assay_strings late; /* those */
};

/*
 * Begin. From where something long begins, the first Ctrl-C, SIGTERM or SIGHUP sets the flag of the watch, and a second
 * one ends the program. Before that the first one does.
 */
void assay_watcher_begin(struct assay_watcher *w);
/* Print the warnings that waited, and release all. Signals act as before. */
void assay_watcher_end(struct assay_watcher *w);

#endif

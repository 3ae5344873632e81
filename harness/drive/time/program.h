/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program once, and tells how long it took and what the kernel says of it. Nothing of it is left running. */
#ifndef ASSAY_DRIVE_TIME_PROGRAM_H
#define ASSAY_DRIVE_TIME_PROGRAM_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/process.h"
#include "base/text.h"
#include "model/reports.h"

/* Starts programs one after the other. Strings are borrowed; begin with assay_program_runner_init(). */
struct assay_program_runner {
	const char *input, *output; /* files; NULL: /dev/null. output "inherit": the terminal's */
	bool to_stderr;             /* what is inherited goes to standard error */
	uint64_t timeout_ns;        /* 0: none */
	const volatile sig_atomic_t *interrupted;
	struct assay_strays strays;
};

void assay_program_runner_init(struct assay_program_runner *r);

/*
 * Run @words, of which the first is found in PATH. The clock runs from before its start until its end is seen; only
 * then whatever it has left in its process group or elsewhere is killed. What became of it is in @out: a status with
 * its reason, unless it ended with exit status 0. ASSAY_EUSAGE: it cannot be started, or a file cannot be opened.
 * ASSAY_EINTERRUPTED.
 */
int assay_program_run(const struct assay_program_runner *r, const struct assay_strings *words,
		      struct assay_time_process *out, struct assay_err *err);

#endif

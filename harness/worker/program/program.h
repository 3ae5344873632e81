/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs as cases: a process is started, waited for and ended with all that it started, and its output is kept. It
 * must not know why a program is run.
 */
#ifndef ASSAY_WORKER_PROGRAM_PROGRAM_H
#define ASSAY_WORKER_PROGRAM_PROGRAM_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/process.h"
#include "base/text.h"
#include "model/reports.h"

/* ---- guardian ---- */

/* A process that ends a program with all that it has started once this process has ended. All-zero: there is none. */
struct assay_guardian {
	struct assay_guarded *guarded;
	pid_t pid;
	int pidfd;
};
/* Begin one; there is none where the kernel has no pidfd_open(2), or no more processes are allowed. */
void assay_guardian_begin(struct assay_guardian *g);
/* @program, which leads a session of its own, runs from now on; 0: none does. Safe after vfork(). */
void assay_guardian_watch(const struct assay_guardian *g, pid_t program);
void assay_guardian_end(struct assay_guardian *g);

/* ---- runner ---- */

/*
 * Starts programs one after the other. Strings are borrowed; begin with assay_program_runner_init(), and release the
 * one that was begun, not its copies.
 */
struct assay_program_runner {
	const char *folder;         /* that they run in; NULL: the current one */
	const cpu_set_t *cpus;      /* that they may use; NULL: those of this process */
	const char *input, *output; /* files; NULL: /dev/null. output "inherit": the terminal's */
	bool to_stderr;             /* what is inherited goes to standard error */
	int keep[2];                /* instead, files that keep standard output and error. 0: none does */
	uint64_t timeout_ns;        /* 0: none */
	const char *limit;          /* whose limit that is, for the reason: "--timeout" */
	const volatile sig_atomic_t *interrupted;
	struct assay_strays strays;
	struct assay_guardian guardian;
};

void assay_program_runner_init(struct assay_program_runner *r);
/* End its guardian, and close what it keeps. */
void assay_program_runner_release(struct assay_program_runner *r);

/*
 * Can the first of @words be started in @folder (NULL: the current one)? One without a slash is looked for in PATH,
 * others in the folder. ASSAY_EUSAGE says why not.
 */
int assay_program_check(const char *folder, const struct assay_strings *words, struct assay_err *err);

/*
 * Run @words, of which the first is the program. The clock runs from before its start until its end is seen; only then
 * whatever it has left in its process group or elsewhere is killed. If this process is killed, so is the program with
 * all that it has started, except for what made a session of its own and has lost its parent. What became of it is in
 * @out: a status with its reason, unless it ended with exit status 0. ASSAY_EUSAGE: it cannot be started, or a file
 * cannot be opened. ASSAY_EINTERRUPTED.
 */
int assay_program_run(const struct assay_program_runner *r, const struct assay_strings *words,
		      struct assay_time_process *out, struct assay_err *err);

/* ---- output ---- */

/* The most that a program may write before it is ended. */
#define ASSAY_PROGRAM_OUTPUT_MAX (UINT64_C(64) << 20)

/*
 * Memory that processes of @r write their output to, standard error apart from it or not. It takes no time of anybody
 * while they run, as a pipe would. ASSAY_EUNAVAILABLE.
 */
int assay_program_keep(struct assay_program_runner *r, bool apart, struct assay_err *err);
/* Take what the last process wrote to standard output (0) or error (1), and let the next begin with none. */
int assay_program_kept(const struct assay_program_runner *r, int which, struct assay_text *out, struct assay_err *err);

#endif

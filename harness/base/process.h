/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes that die with their parent, and what became of them. */
#ifndef ASSAY_BASE_PROCESS_H
#define ASSAY_BASE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct assay_process {
	pid_t pid;   /* 0: none */
	int pidfd;   /* -1: none */
	bool reaped; /* or given up */
	int status;  /* of waitpid, once reaped; -1: given up, or somebody else took it */
	const volatile sig_atomic_t *interrupted;
};

/*
 * Start @argv. The child gets SIGKILL when the parent dies, its own process group, standard input from /dev/null, and
 * of the open files only 0 to 2, @keep_fd (-1: none) and @second_fd (0: none), which have the same numbers there.
 * @stdout_fd, @stderr_fd: -1 to inherit. Signals are at their defaults and unblocked in the child.
 *
 * "The parent" is the *thread* that called: Linux sends the signal when that thread ends, so start children from one
 * that lives as long as they shall (prctl(2), PR_SET_PDEATHSIG). "/proc/self/exe" starts the running program again.
 */
struct assay_process_options {
	const char *const *argv; /* NULL-terminated; argv[0] is a path, or a name to be found in PATH */
	const char *const *env;  /* NULL-terminated "NAME=value" added to the environment; NULL: none */
	bool only_env;           /* `env` is the whole environment */
	bool fixed_addresses;    /* without address-space randomisation, where the system lets it be switched off */
	int keep_fd, second_fd;
	int stdout_fd, stderr_fd;
	const char *cwd; /* NULL: as it is */
	/* Once it is set, a process that was killed and does not end is given up soon. NULL: never set. */
	const volatile sig_atomic_t *interrupted;
	/* Called in the parent while the child waits, before it becomes the program. NULL: it does not wait. */
	void (*before_exec)(void *arg, pid_t pid);
	void *before_exec_arg;
};
/*
 * Also fails when the program could not be executed: ASSAY_ENOTFOUND when there is none of that name, ASSAY_EIO
 * otherwise. A process that was started must be reaped by one of the functions below.
 */
int assay_process_start(struct assay_process *p, const struct assay_process_options *o, struct assay_err *err);

/* Has it ended? Never waits. Once it has, whatever it left behind in its process group is killed. */
bool assay_process_ended(struct assay_process *p);
/* Wait up to @timeout_ns; true when it ended. Signals do not cut it short: to notice them, wait in slices. */
bool assay_process_wait(struct assay_process *p, uint64_t timeout_ns);
/*
 * SIGKILL to what descends from it, to its process group and to what our kin traces it with; and reap. One that does
 * not end all the same, as where a debugger holds it, is given up after some seconds.
 */
void assay_process_kill(struct assay_process *p);
/*
 * "killed by signal 11 (SIGSEGV)", "exited with status 3"; only once reaped. Of one that was given up, who traces it.
 */
void assay_process_describe(const struct assay_process *p, char *buf, size_t size);
/* Resident set in bytes now, 0 when it is gone. */
uint64_t assay_process_rss_bytes(const struct assay_process *p);
/* The processor time that its threads took so far, likewise. */
uint64_t assay_process_cpu_ns(const struct assay_process *p);
/* Its threads now, likewise. */
unsigned assay_process_threads(const struct assay_process *p);

struct assay_capture {
	const char *const *argv; /* as in struct assay_process_options */
	const char *cwd;         /* NULL: as it is */
	uint64_t timeout_ns;
	const volatile sig_atomic_t *interrupted; /* NULL: never */
};
/*
 * Run to the end and keep what it wrote to standard output (malloc'ed). ASSAY_EIO on timeout or a non-zero exit, with
 * its last line; ASSAY_EINTERRUPTED; what assay_process_start says when it is not there.
 */
int assay_process_capture(const struct assay_capture *c, char **out, struct assay_err *err);

#endif

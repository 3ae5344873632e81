/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes that die with their parent, and what became of them. */
#ifndef ASSAY_BASE_PROCESS_H
#define ASSAY_BASE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"

struct assay_process {
	pid_t pid;   /* 0: none */
	int pidfd;   /* -1: none */
	bool reaped; /* or given up */
	int status;  /* of waitpid, once reaped; -1: given up, or somebody else took it */
	const volatile sig_atomic_t *interrupted;
};

/*
 * Start @argv. The child gets SIGKILL when the parent dies, its own process group, and of the open files only 0 to 2,
 * @keep_fd (-1: none) and @second_fd (0: none), which have the same numbers there. @stdin_fd: 0 for /dev/null;
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
	int stdin_fd, stdout_fd, stderr_fd;
	const char *cwd; /* NULL: as it is */
	/* Once it is set, a process that was killed and does not end is given up soon. NULL: never set. */
	const volatile sig_atomic_t *interrupted;
	/* Called in the parent while the child waits, before it becomes the program. NULL: it does not wait. */
	void (*before_exec)(void *arg, pid_t pid);
	void *before_exec_arg;
	/*
	 * Called in the child with keep_fd instead of starting the program, for a parent that has one thread; the child
	 * ends with what it returns. NULL: the program is started.
	 */
	int (*instead)(int fd);
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

/* ---- process kin ---- */

/* Which processes descend from this one, and how they are ended. Safe in a signal handler; errno stays as it is. */

/*
 * Is @pid a child of this process, or a child of such, and so on? False for processes that are gone and reaped, and
 * where /proc does not tell.
 */
bool assay_process_is_kin(pid_t pid);
/* SIGKILL to all that descend from @above, which itself gets none. */
void assay_process_kin_kill(pid_t above);
/*
 * SIGKILL to all that descend from @pid, then to @pid, and then to whichever of our kin traces it, since nobody can
 * reap a process before its tracer has let go of it (ptrace(2)).
 */
void assay_process_kin_end(pid_t pid);
/* The same for @leader, and to all that are in the session which it leads or has led. */
void assay_process_session_end(pid_t leader);
/* The process, or its thread, that traces @pid; 0: none, or unknown. */
pid_t assay_process_tracer(pid_t pid);
/* Its state as in /proc/PID/stat, such as 'Z'; 0: unknown. */
char assay_process_state(pid_t pid);

/* How users are told that a signal of @pid was ignored. A format with one %d. */
#define ASSAY_PROCESS_KIN_SIGNAL "ignored a signal that process %d sent, which runs a plugin"

/* ---- process limits ---- */

/* The resource limits of this process, as the shell set them. Children can change them with prlimit(2). */

/*
 * Raise what is lower than the program needs, for it and its children, as far as that is allowed. ASSAY_EUSAGE, with
 * the command that raises it, where it is not.
 */
int assay_process_limits_raise(struct assay_err *err);

/* All limits of this process. */
struct assay_process_limits {
	struct rlimit v[RLIM_NLIMITS];
};
void assay_process_limits_take(struct assay_process_limits *l);
/*
 * Make them what they were. True when one was not, and then @what says which: "RLIMIT_NOFILE of this program from 1024
 * to 4", and where it cannot be undone, that.
 */
bool assay_process_limits_restore(const struct assay_process_limits *l, char *what, size_t size);

/* ---- process strays ---- */

/*
 * Descendants of a child that made a session or group of their own, and so outlive it when its process group is killed.
 * While this process lives, they become its children and can be killed; if it dies by SIGKILL, nobody kills them.
 */

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

/* ---- pipe reader ---- */

/* Reads the output of a child from a pipe, without ever waiting for the child. */

struct assay_pipe {
	int read_fd, write_fd; /* -1: closed. The child gets the second */
	struct assay_text text;
	size_t most;       /* bytes that are kept */
	uint64_t left_out; /* bytes behind them */
};

/* Keep up to @most bytes. ASSAY_EIO. Release it in any case. */
int assay_pipe_open(struct assay_pipe *p, size_t most, struct assay_err *err);
/* Call this once the child has its end; otherwise the end of the pipe would never be seen. */
void assay_pipe_started(struct assay_pipe *p);
/*
 * Take what is there, but no more than a few megabytes at once, because a child may write faster than this reads.
 * Returns the number of bytes taken. At its end the pipe is closed.
 */
size_t assay_pipe_drain(struct assay_pipe *p);
void assay_pipe_release(struct assay_pipe *p);

/* The last line with something in it, cut to @size, to quote in a message; "" where there is none. */
void assay_text_last_line(const struct assay_text *t, char *out, size_t size);

#endif

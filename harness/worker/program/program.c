/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfork() shares the memory of the parent until the program is executed, so that its cost does not grow with the
 * parent, and a pidfd is waited for with a time limit.
 */
#include "worker/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"

/* How long an interrupt may go unnoticed that came just before poll(2). */
#define SLICE_MS 200

void assay_program_runner_init(struct assay_program_runner *r)
{
	*r = (struct assay_program_runner){ 0 };
	/* first, so that it is none of the strays */
	assay_guardian_begin(&r->guardian);
	assay_strays_watch(&r->strays);
}

void assay_program_runner_release(struct assay_program_runner *r)
{
	assay_guardian_end(&r->guardian);
	if (r->keep[1] && r->keep[1] != r->keep[0])
		close(r->keep[1]);
	if (r->keep[0])
		close(r->keep[0]);
	r->keep[0] = r->keep[1] = 0;
}

/* ---- start ---- */

/* A relative @path is one of @folder. 0, or why it cannot be started, as errno says it. */
static int can_start(const char *folder, const char *path)
{
	const int dir = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
	struct stat st;
	int why = 0;

	if (folder && dir < 0)
		return errno;
	if (fstatat(dir, path, &st, 0))
		why = errno;
	else if (S_ISDIR(st.st_mode))
		why = EISDIR;
	else if (faccessat(dir, path, X_OK, 0))
		why = errno;
	if (folder)
		close(dir);
	return why;
}

static int find(const char *folder, const char *name, char path[PATH_MAX], struct assay_err *err)
{
	const char *dirs = getenv("PATH");
	const bool is_named = folder && strcmp(folder, ".") != 0 && name[0] != '/';
	struct stat st;
	int why;

	if (strchr(name, '/')) {
		why = can_start(folder, name);
		if (!why && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
			return 0;
		return assay_err_set(err, ASSAY_EUSAGE, "cannot start '%.300s'%s%.300s%s: %s", name,
				     is_named ? " in '" : "", is_named ? folder : "", is_named ? "'" : "",
				     strerror(why ? why : ENAMETOOLONG));
	}
	for (const char *d = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *name && d;) {
		const char *end = strchrnul(d, ':');
		const int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - d), d, name);

		if (end > d && n > 0 && n < PATH_MAX && !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK))
			return 0;
		d = *end ? end + 1 : NULL;
	}
	return assay_err_set(err, ASSAY_EUSAGE, "cannot start '%.300s': no such program in PATH%s", name,
			     strchr(name, '=') ? "; 'env NAME=VALUE PROGRAM' sets a variable" : "");
}

int assay_program_check(const char *folder, const struct assay_strings *words, struct assay_err *err)
{
	char path[PATH_MAX];

	return find(folder, words->v[0], path, err);
}

struct launch {
	const struct assay_program_runner *r;
	const char *path;
	char *const *argv;
	pid_t parent;
	int error;        /* why it could not become the program; 0: it did */
	bool is_of_files; /* then: it came to opening files only */
};

/* Let @fd be @path. */
static bool opens(int fd, const char *path, int flags)
{
	const int opened = open(path, flags, 0666);

	if (opened < 0)
		return false;
	return opened == fd || (dup2(opened, fd) == fd && !close(opened));
}

static bool opens_output(const struct assay_program_runner *r)
{
	if (r->keep[0])
		return dup2(r->keep[0], STDOUT_FILENO) >= 0 && dup2(r->keep[1], STDERR_FILENO) >= 0;
	if (r->output && !strcmp(r->output, "inherit"))
		return !r->to_stderr || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
	return opens(STDOUT_FILENO, r->output ? r->output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC) &&
	       opens(STDERR_FILENO, "/dev/null", O_WRONLY);
}

/*
 * In the child, in the memory of the parent, which waits: nothing but system calls. A session of its own has no
 * terminal, so that a program that asks for one fails instead of being stopped for ever.
 */
static __attribute__((noreturn)) void become(struct launch *l)
{
	const struct assay_program_runner *r = l->r;
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, &usual, NULL);
	sigemptyset(&none);
	setsid();
	assay_guardian_watch(&r->guardian, getpid());
	/* the guardian finds what the program has started by way of the program, which therefore is to end last */
	if (!r->guardian.guarded)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* a parent that died before the lines above is noticed by neither */
	if (getppid() != l->parent)
		_exit(127);
	l->is_of_files = true;
	if (opens(STDIN_FILENO, r->input ? r->input : "/dev/null", O_RDONLY) && opens_output(r)) {
		l->is_of_files = false;
		if ((!r->cpus || !sched_setaffinity(0, sizeof(*r->cpus), r->cpus)) &&
		    (!r->folder || !chdir(r->folder))) {
			sigprocmask(SIG_SETMASK, &none, NULL);
			execve(l->path, l->argv, environ);
		}
	}
	l->error = errno;
	_exit(127);
}

/* No handler of this process may run in the child, so all signals wait meanwhile. */
static __attribute__((noinline)) pid_t spawn(struct launch *l)
{
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = vfork();
	if (!pid)
		become(l);
	if (pid < 0)
		l->error = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (pid > 0 && l->error) {
		assay_guardian_watch(&l->r->guardian, 0);
		waitpid(pid, NULL, 0);
	}
	return pid;
}

/* ---- output ---- */

int assay_program_keep(struct assay_program_runner *r, bool apart, struct assay_err *err)
{
	for (int i = 0; i < 2; i++) {
		r->keep[i] = i && !apart ? r->keep[0] : memfd_create("output", MFD_CLOEXEC);
		if (r->keep[i] < 0) {
			r->keep[i] = 0;
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot keep the output of a program: %s",
					     strerror(errno));
		}
	}
	return 0;
}

int assay_program_kept(const struct assay_program_runner *r, int which, struct assay_text *out, struct assay_err *err)
{
	const int fd = r->keep[which];
	struct stat st = { 0 };
	ssize_t n = 1;

	fstat(fd, &st);
	for (off_t at = 0; at < st.st_size && n > 0; at += n) {
		char *room = assay_text_room(out, (size_t)(st.st_size - at));

		n = room ? pread(fd, room, (size_t)(st.st_size - at), at) : -1;
		if (n > 0)
			assay_text_grow(out, (size_t)n);
	}
	if (out->failed || n < 0)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the output of a program");
	return ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0
		       ? assay_err_set(err, ASSAY_EIO, "cannot empty the output of a program: %s", strerror(errno))
		       : 0;
}

static bool wrote_too_much(const struct assay_program_runner *r)
{
	struct stat st;

	for (int i = 0; i < 2; i++)
		if (r->keep[i] && !fstat(r->keep[i], &st) && (uint64_t)st.st_size > ASSAY_PROGRAM_OUTPUT_MAX)
			return true;
	return false;
}

/* ---- end ---- */

enum ending { BY_ITSELF, TOO_LATE, TOO_MUCH };

/* Wait until it has ended, or is to be ended: an enum ending, or ASSAY_EINTERRUPTED. */
static int wait_for(const struct assay_program_runner *r, int pidfd, uint64_t began_ns)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	for (;;) {
		const uint64_t spent_ns = assay_monotonic_ns() - began_ns;
		const bool is_late = r->timeout_ns && spent_ns >= r->timeout_ns;
		int ms = is_late ? 0 : SLICE_MS;

		if (r->interrupted && *r->interrupted)
			return ASSAY_EINTERRUPTED;
		if (wrote_too_much(r))
			return TOO_MUCH;
		if (r->timeout_ns && !is_late && r->timeout_ns - spent_ns < SLICE_MS * UINT64_C(1000000))
			ms = (int)((r->timeout_ns - spent_ns) / 1000000) + 1;
		/* one that has ended while this process was stopped is not late */
		if (poll(&p, 1, ms) > 0)
			return BY_ITSELF;
		if (is_late)
			return TOO_LATE;
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void judge(const struct assay_program_runner *r, pid_t pid, int status, enum ending how,
		  struct assay_time_process *out)
{
	const struct assay_process ended = { .pid = pid, .pidfd = -1, .reaped = true, .status = status };

	out->status = ASSAY_STATUS_OK;
	out->reason[0] = '\0';
	out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (how == TOO_LATE) {
		out->status = ASSAY_STATUS_TIMEOUT;
		snprintf(out->reason, sizeof(out->reason), "it ran for more than %.3g s, the limit of %s",
			 (double)r->timeout_ns * 1e-9, r->limit);
	} else if (how == TOO_MUCH) {
		out->status = ASSAY_STATUS_FAILED;
		snprintf(out->reason, sizeof(out->reason), "it wrote more than %d MiB of output",
			 (int)(ASSAY_PROGRAM_OUTPUT_MAX >> 20));
	} else if (status) {
		out->status = WIFEXITED(status) ? ASSAY_STATUS_FAILED : ASSAY_STATUS_CRASHED;
		assay_process_describe(&ended, out->reason, sizeof(out->reason));
	}
}

/*
 * End what is left of it, and reap it. A program that was started from shared memory is charged with the most that its
 * parent ever had, so that only a peak above that is its own.
 */
static int reap(const struct assay_program_runner *r, pid_t pid, struct assay_time_process *out)
{
	struct rusage used, own;
	int status = 0;

	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	kill(-pid, SIGKILL); /* its process group keeps its number until it is reaped */
	assay_guardian_watch(&r->guardian, 0);
	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	assay_strays_kill(&r->strays, 0);
	getrusage(RUSAGE_SELF, &own);
	out->user_s = seconds(used.ru_utime);
	out->system_s = seconds(used.ru_stime);
	out->peak_most_bytes = (uint64_t)used.ru_maxrss * 1024;
	out->peak_bytes = used.ru_maxrss > own.ru_maxrss ? out->peak_most_bytes : 0;
	out->faults = (uint64_t)(used.ru_minflt + used.ru_majflt);
	out->switches = (uint64_t)used.ru_nivcsw;
	return status;
}

static int cannot_start(const struct launch *l, const char *name, struct assay_err *err)
{
	const struct assay_program_runner *r = l->r;

	return assay_err_set(
		err, ASSAY_EUSAGE, "cannot start '%.300s': %s%s%s", name, strerror(l->error),
		l->is_of_files && (r->input || r->output) ? "; can the files of --input and --output be opened?" : "",
		l->error == ENOEXEC ? "; a script needs '#!/bin/sh' in its first line" : "");
}

int assay_program_run(const struct assay_program_runner *r, const struct assay_strings *words,
		      struct assay_time_process *out, struct assay_err *err)
{
	struct launch l = { .r = r, .parent = getpid() };
	char path[PATH_MAX], **argv;
	int pidfd, how, status, rc = find(r->folder, words->v[0], path, err);
	uint64_t began_ns;
	pid_t pid = 0;

	if (rc)
		return rc;
	argv = calloc(words->n + 1, sizeof(*argv));
	if (!argv)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	memcpy(argv, words->v, words->n * sizeof(*argv));
	l.path = path;
	l.argv = argv;
	began_ns = assay_monotonic_ns();
	pid = spawn(&l);
	free(argv);
	if (l.error)
		return cannot_start(&l, words->v[0], err);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
	how = pidfd < 0 ? assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot wait for '%.300s': %s", words->v[0],
					strerror(errno))
			: wait_for(r, pidfd, began_ns);
	out->wall_ns = assay_monotonic_ns() - began_ns;
	if (how)
		kill(pid, SIGKILL);
	if (pidfd >= 0)
		close(pidfd);
	status = reap(r, pid, out);
	if (how == ASSAY_EINTERRUPTED)
		return assay_err_set(err, how, "interrupted");
	if (how < 0)
		return how;
	judge(r, pid, status, (enum ending)how, out);
	return 0;
}

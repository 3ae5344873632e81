/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posix_spawn() shares the memory of the parent until the program is executed, so that its cost does not grow with the
 * parent, and a pidfd is waited for with a time limit.
 */
#include "drive/time/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	assay_strays_watch(&r->strays);
}

static int find(const char *name, char path[PATH_MAX], struct assay_err *err)
{
	const char *dirs = getenv("PATH");
	struct stat st;

	if (strchr(name, '/')) {
		errno = 0;
		if (!stat(name, &st) && S_ISDIR(st.st_mode))
			errno = EISDIR;
		else if (!errno && !access(name, X_OK) && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
			return 0;
		return assay_err_set(err, ASSAY_EUSAGE, "cannot start '%.300s': %s", name, strerror(errno));
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

/* A session of its own has no terminal, so that a program that asks for one fails instead of being stopped for ever. */
static int spawn(const struct assay_program_runner *r, const char *path, char *const *argv, pid_t *pid)
{
	const bool inherit = r->output && !strcmp(r->output, "inherit");
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t all, none;
	int rc;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, r->input ? r->input : "/dev/null", O_RDONLY, 0);
	if (inherit && r->to_stderr)
		posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	else if (!inherit)
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, r->output ? r->output : "/dev/null",
						 O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!inherit)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawn(pid, path, &files, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* Until it has ended. 0, or what ended it before: ASSAY_EINTERRUPTED, or 1 after the time limit. */
static int wait_for(const struct assay_program_runner *r, int pidfd, uint64_t began_ns)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	for (;;) {
		const uint64_t spent_ns = assay_monotonic_ns() - began_ns;
		int ms = SLICE_MS;

		if (r->interrupted && *r->interrupted)
			return ASSAY_EINTERRUPTED;
		if (r->timeout_ns && spent_ns >= r->timeout_ns)
			return 1;
		if (r->timeout_ns && r->timeout_ns - spent_ns < SLICE_MS * UINT64_C(1000000))
			ms = (int)((r->timeout_ns - spent_ns) / 1000000) + 1;
		if (poll(&p, 1, ms) > 0)
			return 0;
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void judge(const struct assay_program_runner *r, pid_t pid, int status, bool late,
		  struct assay_time_process *out)
{
	const struct assay_process ended = { .pid = pid, .pidfd = -1, .reaped = true, .status = status };

	out->status = ASSAY_STATUS_OK;
	out->reason[0] = '\0';
	out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (late) {
		out->status = ASSAY_STATUS_TIMEOUT;
		snprintf(out->reason, sizeof(out->reason), "it ran for more than %.3g s, the limit of --timeout",
			 (double)r->timeout_ns * 1e-9);
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

int assay_program_run(const struct assay_program_runner *r, const struct assay_strings *words,
		      struct assay_time_process *out, struct assay_err *err)
{
	char path[PATH_MAX], **argv;
	int pidfd, how, status, rc = find(words->v[0], path, err);
	uint64_t began_ns;
	pid_t pid = 0;

	if (rc)
		return rc;
	argv = calloc(words->n + 1, sizeof(*argv));
	if (!argv)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	memcpy(argv, words->v, words->n * sizeof(*argv));
	began_ns = assay_monotonic_ns();
	rc = spawn(r, path, argv, &pid);
	free(argv);
	if (rc)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot start '%.300s': %s%s%s", words->v[0], strerror(rc),
				     r->input || r->output ? "; can the files of --input and --output be opened?" : "",
				     rc == ENOEXEC ? "; a script needs '#!/bin/sh' in its first line" : "");
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
	judge(r, pid, status, how > 0, out);
	return 0;
}

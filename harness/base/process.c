/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes by fork and exec. Between the two only async-signal-safe calls are made, because the parent may have
 * threads; whatever needs memory is prepared before.
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"

/* From the fork to the program. */
#define EXEC_MS 60000
/* A process that was killed may have much memory to give back; once it is a zombie only a tracer keeps it. */
#define ENDING_NS     UINT64_C(60000000000)
#define GIVE_UP_NS    UINT64_C(2000000000)
#define KILL_AGAIN_NS UINT64_C(100000000)

/* Everything that the child needs, made before the fork. */
struct launch {
	const struct assay_process_options *o;
	char path[PATH_MAX];
	char **env;
	pid_t parent;
	int null_fd;
	int gate[2];   /* pipe: the child waits until its end is closed; -1: it does not wait */
	int report_fd; /* close-on-exec pipe: a struct failure arrives, or the end of file once exec worked */
};

struct failure {
	char what[32];
	int error;
};

/* ---- before the fork ---- */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static int find_program(const struct assay_process_options *o, char *path, struct assay_err *err)
{
	const char *name = o->argv[0];
	const char *dirs = getenv("PATH");

	if (strchr(name, '/')) {
		/* A relative path is relative to this process, not to the child's folder. */
		if (o->cwd && name[0] != '/') {
			if (realpath(name, path))
				return 0;
		} else if (strlen(name) < PATH_MAX) {
			strcpy(path, name);
			return 0;
		} else {
			errno = ENAMETOOLONG;
		}
		return assay_err_set(err, errno == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO, "cannot start '%s': %s", name,
				     errno == ENOENT && !strncmp(name, "/proc/", 6) ? "/proc is not mounted"
										    : strerror(errno));
	}

	for (const char *d = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *name && d;) {
		const char *end = strchrnul(d, ':');
		int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - d), d, name);

		if (end > d && n > 0 && n < PATH_MAX && is_program(path))
			return 0;
		d = *end ? end + 1 : NULL;
	}
	return assay_err_set(err, ASSAY_ENOTFOUND, "cannot start '%s': no such program in PATH", name);
}

static bool names_same_variable(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return !strncmp(a, b, n) && b[n] == '=';
}

/* The environment, unless @only, with @add in it; the array is malloc'ed, its strings are not. */
static char **merge_env(const char *const *add, bool only)
{
	size_t have = 0, more = 0, n = 0;
	char **env;

	while (!only && environ && environ[have])
		have++;
	while (add && add[more])
		more++;
	env = malloc((have + more + 1) * sizeof(*env));
	if (!env)
		return NULL;

	for (size_t i = 0; i < have; i++) {
		bool replaced = false;

		for (size_t j = 0; j < more && !replaced; j++)
			replaced = names_same_variable(add[j], environ[i]);
		if (!replaced)
			env[n++] = environ[i];
	}
	for (size_t j = 0; j < more; j++)
		env[n++] = (char *)(uintptr_t)add[j];
	env[n] = NULL;
	return env;
}

/* ---- in the child ---- */

static __attribute__((noreturn)) void child_fail(const struct launch *l, const char *what)
{
	struct failure f = { .error = errno };
	ssize_t n;

	strncpy(f.what, what, sizeof(f.what) - 1);
	do
		n = write(l->report_fd, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	_exit(127);
}

/* The lowest file above @fd that is kept; UINT_MAX: there is none. */
static unsigned next_kept(const struct launch *l, unsigned fd)
{
	const int kept[] = { l->report_fd, l->o->keep_fd, l->o->second_fd };
	unsigned next = UINT_MAX;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (kept[i] > (int)fd && (unsigned)kept[i] < next)
			next = (unsigned)kept[i];
	return next;
}

static void close_others(const struct launch *l)
{
	for (unsigned fd = 2, next; fd != UINT_MAX; fd = next) {
		next = next_kept(l, fd);
		if (next > fd + 1 && close_range(fd + 1, next == UINT_MAX ? next : next - 1, 0))
			child_fail(l, "close the files of");
	}
}

static void inherit(const struct launch *l, int fd)
{
	int flags = fd > 2 ? fcntl(fd, F_GETFD) : 0;

	if (flags < 0 || (flags & FD_CLOEXEC && fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC)))
		child_fail(l, "hand a file to");
}

/* Handlers point into code that exec replaces, and what the parent ignores or blocks is not the child's business. */
static void reset_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, &sa, NULL);
	/* In a group of its own the child is "background" for the terminal: with `stty tostop` its output would stop
	 * it. */
	sa.sa_handler = SIG_IGN;
	sigaction(SIGTTOU, &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void redirect(const struct launch *l)
{
	int out = l->o->stdout_fd, errfd = l->o->stderr_fd;

	/* First out of the way of 0 to 2, so that none is overwritten before it was copied. */
	if (out >= 0 && (out = fcntl(out, F_DUPFD_CLOEXEC, 3)) < 0)
		child_fail(l, "use the output for");
	if (errfd >= 0 && (errfd = fcntl(errfd, F_DUPFD_CLOEXEC, 3)) < 0)
		child_fail(l, "use the error output for");
	if (dup2(l->o->stdin_fd ? l->o->stdin_fd : l->null_fd, STDIN_FILENO) < 0 ||
	    (out >= 0 && dup2(out, STDOUT_FILENO) < 0) || (errfd >= 0 && dup2(errfd, STDERR_FILENO) < 0))
		child_fail(l, "redirect");
}

static void wait_at_gate(const struct launch *l)
{
	char byte;

	if (l->gate[0] < 0)
		return;
	close(l->gate[1]);
	while (read(l->gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(l->gate[0]);
}
static __attribute__((noreturn)) void child_main(const struct launch *l)
{
	reset_signals();
	setpgid(0, 0);
	wait_at_gate(l);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		child_fail(l, "tie to its parent");
	/* A parent that died before the line above sends no signal any more. */
	if (getppid() != l->parent)
		_exit(127);

	redirect(l);
	close_others(l);
	inherit(l, l->o->keep_fd);
	inherit(l, l->o->second_fd);
	if (l->o->cwd && chdir(l->o->cwd))
		child_fail(l, "enter the folder of");
	if (l->o->fixed_addresses) {
		int now = personality(0xffffffff);

		if (now >= 0)
			personality((unsigned long)now | ADDR_NO_RANDOMIZE);
	}
	if (l->o->instead) {
		close(l->report_fd);
		_exit(l->o->instead(l->o->keep_fd));
	}
	execve(l->path, (char *const *)(uintptr_t)l->o->argv, l->env);
	child_fail(l, "start");
}

/* ---- start ---- */

/* As @fd, but never one of the standard three, which the child replaces. */
static int move_up(int fd)
{
	int moved;

	if (fd < 0 || fd > 2)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return moved;
}

/* An ignored SIGCHLD, which exec hands down, makes the kernel reap children and lose their status. */
static void want_child_status(void)
{
	struct sigaction sa;

	if (!sigaction(SIGCHLD, NULL, &sa) && sa.sa_handler == SIG_IGN) {
		sa.sa_handler = SIG_DFL;
		sigaction(SIGCHLD, &sa, NULL);
	}
}

/* The child's report over the pipe: 0 once exec worked. */
static int await_exec(int fd, pid_t pid, const struct assay_process_options *o, struct assay_err *err)
{
	const uint64_t end = assay_monotonic_ns() + EXEC_MS * UINT64_C(1000000);
	struct assay_process child = { .pid = pid, .pidfd = -1, .interrupted = o->interrupted };
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct failure f;
	ssize_t n = -1;

	while (poll(&pfd, 1, EXEC_MS) < 0 && errno == EINTR && assay_monotonic_ns() < end)
		;
	if (pfd.revents)
		n = read(fd, &f, sizeof(f));
	if (n == 0)
		return 0;

	assay_process_kill(&child);
	if (n != (ssize_t)sizeof(f))
		return assay_err_set(err, ASSAY_EIO, "cannot start '%s': it died before it ran", o->argv[0]);
	return assay_err_set(err, f.error == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO, "cannot %s '%s'%s%s%s: %s", f.what,
			     o->argv[0], o->cwd ? " in '" : "", o->cwd ? o->cwd : "", o->cwd ? "'" : "",
			     strerror(f.error));
}

int assay_process_start(struct assay_process *p, const struct assay_process_options *o, struct assay_err *err)
{
	struct launch l = { .o = o, .parent = getpid(), .null_fd = -1, .gate = { -1, -1 }, .report_fd = -1 };
	int report[2] = { -1, -1 };
	sigset_t all, old;
	pid_t pid;
	int rc;

	*p = (struct assay_process){ .pidfd = -1 };
	rc = find_program(o, l.path, err);
	if (rc)
		return rc;

	want_child_status();
	l.env = merge_env(o->env, o->only_env);
	if (!l.env) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "cannot start '%s': out of memory", o->argv[0]);
		goto out;
	}
	l.null_fd = move_up(open("/dev/null", O_RDONLY | O_CLOEXEC));
	if (l.null_fd < 0) {
		rc = assay_err_set(err, ASSAY_EIO, "cannot start '%s': cannot open /dev/null: %s", o->argv[0],
				   strerror(errno));
		goto out;
	}
	if (pipe2(report, O_CLOEXEC) || (o->before_exec && pipe2(l.gate, O_CLOEXEC))) {
		rc = assay_err_set(err, ASSAY_EIO, "cannot start '%s': %s", o->argv[0], strerror(errno));
		goto out;
	}
	report[1] = l.report_fd = move_up(report[1]);

	/* No handler of this process may run in the child, where it would act on copies. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid == 0)
		child_main(&l);
	if (pid < 0)
		rc = assay_err_set(err, ASSAY_EIO, "cannot start '%s': %s", o->argv[0], strerror(errno));
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		goto out;

	setpgid(pid, pid);
	close(report[1]);
	report[1] = -1;
	if (o->before_exec) {
		o->before_exec(o->before_exec_arg, pid);
		close(l.gate[1]);
		l.gate[1] = -1;
	}
	rc = await_exec(report[0], pid, o, err);
	if (rc)
		goto out;
	p->pid = pid;
	p->interrupted = o->interrupted;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
out:
	free(l.env);
	if (l.null_fd >= 0)
		close(l.null_fd);
	for (int i = 0; i < 2; i++)
		if (l.gate[i] >= 0)
			close(l.gate[i]);
	if (report[0] >= 0)
		close(report[0]);
	if (report[1] >= 0)
		close(report[1]);
	return rc;
}

/* ---- afterwards ---- */

static void leave(struct assay_process *p)
{
	p->reaped = true;
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

bool assay_process_ended(struct assay_process *p)
{
	siginfo_t info = { 0 };
	int rc;

	if (p->pid <= 0 || p->reaped)
		return true;

	do
		rc = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	while (rc && errno == EINTR);
	if (!rc && !info.si_pid)
		return false;

	/* While it is a zombie its group's number cannot be given to another, so this hits only what it left behind. */
	if (!rc)
		kill(-p->pid, SIGKILL);
	do
		rc = waitpid(p->pid, &p->status, WNOHANG);
	while (rc < 0 && errno == EINTR);
	if (!rc)
		return false;
	if (rc < 0)
		p->status = -1; /* somebody else took the status */
	leave(p);
	return true;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
}

bool assay_process_wait(struct assay_process *p, uint64_t timeout_ns)
{
	uint64_t start = assay_monotonic_ns(), nap = 500000;

	while (!assay_process_ended(p)) {
		uint64_t gone = assay_monotonic_ns() - start;
		struct timespec left;

		if (gone >= timeout_ns)
			return false;
		left = to_timespec(timeout_ns - gone);
		if (p->pidfd >= 0) {
			struct pollfd pfd = { .fd = p->pidfd, .events = POLLIN };

			if (ppoll(&pfd, 1, &left, NULL) <= 0)
				continue;
			if (assay_process_ended(p))
				break;
			/* it has ended, but nobody can reap it before its tracer has */
		}
		if (timeout_ns - gone > nap)
			left = to_timespec(nap);
		nanosleep(&left, NULL);
		if (nap < 10000000)
			nap *= 2;
	}
	return true;
}

void assay_process_kill(struct assay_process *p)
{
	const uint64_t start = assay_monotonic_ns();

	if (p->pid <= 0 || p->reaped)
		return;
	for (;;) {
		uint64_t most;

		assay_process_kin_end(p->pid);
		kill(-p->pid, SIGKILL);
		if (assay_process_wait(p, KILL_AGAIN_NS))
			return;
		most = (p->interrupted && *p->interrupted) || assay_process_state(p->pid) == 'Z' ? GIVE_UP_NS
												 : ENDING_NS;
		if (assay_monotonic_ns() - start > most)
			break;
	}
	p->status = -1;
	leave(p);
}

void assay_process_describe(const struct assay_process *p, char *buf, size_t size)
{
	if (p->pid <= 0)
		snprintf(buf, size, "never started");
	else if (!p->reaped)
		snprintf(buf, size, "still running");
	else if (p->status != -1 && WIFSIGNALED(p->status)) {
		int sig = WTERMSIG(p->status);
		const char *name = sigabbrev_np(sig);

		snprintf(buf, size, "killed by signal %d%s%s%s", sig, name ? " (SIG" : "", name ? name : "",
			 name ? ")" : "");
	} else if (p->status != -1 && WIFEXITED(p->status))
		snprintf(buf, size, "exited with status %d", WEXITSTATUS(p->status));
	else if (assay_process_tracer(p->pid))
		snprintf(buf, size, "process %d cannot end because process %d traces it", (int)p->pid,
			 (int)assay_process_tracer(p->pid));
	else
		snprintf(buf, size, "ended with an unknown status");
}

/* ---- what it takes, as /proc shows it ---- */

uint64_t assay_process_rss_bytes(const struct assay_process *p)
{
	unsigned long long total, resident;
	char path[64];
	uint64_t bytes = 0;
	FILE *f;

	if (p->pid <= 0 || p->reaped)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/statm", (long)p->pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &total, &resident) == 2)
		bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	fclose(f);
	return bytes;
}

uint64_t assay_process_cpu_ns(const struct assay_process *p)
{
	struct timespec t;
	clockid_t clock;

	if (p->pid <= 0 || p->reaped || clock_getcpuclockid(p->pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

unsigned assay_process_threads(const struct assay_process *p)
{
	struct stat st;
	char path[64];

	if (p->pid <= 0 || p->reaped)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/task", (long)p->pid);
	/* a folder has two links, and one more for each in it */
	return !stat(path, &st) && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 0;
}

/* ---- process limits ---- */

/* Without the stack the program would end with a signal, without files where it happens to open one too many. */

static const struct {
	__rlimit_resource_t resource;
	const char *what, *command;
	rlim_t need, usual, unit; /* in units that `ulimit` shows */
} limits[] = {
	{ RLIMIT_STACK, "KiB of stack", "ulimit -s", 512, 8192, 1024 },
	{ RLIMIT_NOFILE, "open files", "ulimit -n", 64, 1024, 1 },
};

int assay_process_limits_raise(struct assay_err *err)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const rlim_t unit = limits[i].unit, need = limits[i].need * unit, usual = limits[i].usual * unit;
		struct rlimit r;

		if (getrlimit(limits[i].resource, &r) || r.rlim_cur >= need)
			continue;
		if (r.rlim_max >= need) {
			r.rlim_cur = r.rlim_max < usual ? r.rlim_max : usual;
			if (!setrlimit(limits[i].resource, &r))
				continue;
		}
		return assay_err_set(err, ASSAY_EUSAGE,
				     "a process may have %" PRIu64 " %s here and this one needs %" PRIu64
				     ": raise the limit with '%s %" PRIu64 "'",
				     (uint64_t)(r.rlim_cur / unit), limits[i].what, (uint64_t)limits[i].need,
				     limits[i].command, (uint64_t)limits[i].usual);
	}
	return 0;
}

/* By their numbers, which are those of Linux on all architectures that the program is built for. */
static const char *const names[] = {
	[RLIMIT_CPU] = "CPU",       [RLIMIT_FSIZE] = "FSIZE",       [RLIMIT_DATA] = "DATA",
	[RLIMIT_STACK] = "STACK",   [RLIMIT_CORE] = "CORE",         [RLIMIT_RSS] = "RSS",
	[RLIMIT_NPROC] = "NPROC",   [RLIMIT_NOFILE] = "NOFILE",     [RLIMIT_MEMLOCK] = "MEMLOCK",
	[RLIMIT_AS] = "AS",         [RLIMIT_LOCKS] = "LOCKS",       [RLIMIT_SIGPENDING] = "SIGPENDING",
	[RLIMIT_NICE] = "NICE",     [RLIMIT_MSGQUEUE] = "MSGQUEUE", [RLIMIT_RTPRIO] = "RTPRIO",
	[RLIMIT_RTTIME] = "RTTIME",
};

void assay_process_limits_take(struct assay_process_limits *l)
{
	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &l->v[i]);
}

static void limit_text(rlim_t value, char *buf, size_t size)
{
	if (value == RLIM_INFINITY)
		snprintf(buf, size, "unlimited");
	else
		snprintf(buf, size, "%" PRIu64, (uint64_t)value);
}

bool assay_process_limits_restore(const struct assay_process_limits *l, char *what, size_t size)
{
	bool changed = false;

	for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
		const struct rlimit *was = &l->v[i];
		struct rlimit is;
		char from[32], to[32];
		bool undone;

		if (getrlimit((__rlimit_resource_t)i, &is) || !memcmp(&is, was, sizeof(is)))
			continue;
		undone = !setrlimit((__rlimit_resource_t)i, was);
		if (changed)
			continue;
		changed = true;
		limit_text(was->rlim_cur != is.rlim_cur ? was->rlim_cur : was->rlim_max, from, sizeof(from));
		limit_text(was->rlim_cur != is.rlim_cur ? is.rlim_cur : is.rlim_max, to, sizeof(to));
		snprintf(what, size, "RLIMIT_%s of this program from %s to %s%s", names[i], from, to,
			 undone ? "" : ", which cannot be undone");
	}
	return changed;
}

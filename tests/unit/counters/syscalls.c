/* SPDX-License-Identifier: Apache-2.0 */
/* The count of system calls against runs that make known ones, and what it says where it cannot count. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/provider.h"
#include "unit.h"

static struct assay_syscall_case trace(void (*run)(void *arg))
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	struct assay_syscall_case out = { 0 };

	assay_syscalls_count(&self, 1, run, NULL, &out);
	return out;
}

static void run_nothing(void *arg)
{
}

static void run_five(void *arg)
{
	static uint32_t word;

	syscall(SYS_getppid);
	for (int i = 0; i < 3; i++)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	syscall(SYS_getppid);
}

/* Of more kinds than there is room for. */
static void run_many(void *arg)
{
	static const long calls[] = { SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid,      SYS_geteuid,
				      SYS_getgid, SYS_getegid, SYS_getsid, SYS_sched_yield, SYS_getpgid,
				      SYS_capget, SYS_uname,   SYS_umask,  SYS_times,       SYS_getcwd };

	for (size_t i = 0; i < N_OF(calls); i++)
		syscall(calls[i], 0, 0);
}

static void needs_tracing(void)
{
	struct assay_syscall_case c = trace(run_nothing);

	if (c.reason[0]) {
		print_message("system calls cannot be counted here: %s\n", c.reason);
		skip();
	}
}

TEST(test_counts)
{
	struct assay_syscall_case c;

	needs_tracing();
	c = trace(run_nothing);
	assert_true(c.counted);
	assert_int_equal(c.calls, 0);
	assert_string_equal(c.detail, "");
	for (int i = 0; i < 20; i++) {
		c = trace(run_five);
		assert_true(c.counted);
		assert_int_equal(c.calls, 5);
		assert_non_null(strstr(c.detail, "getppid 2"));
		assert_non_null(strstr(c.detail, "futex 3"));
	}
	c = trace(run_many);
	assert_int_equal(c.calls, 15);
	assert_string_equal(c.detail + strlen(c.detail) - 2, " 1"); /* what has no room is left out whole */
}

/* ---- where it cannot be ---- */

/* Run @body in a child and give back what it wrote into the text. */
static void in_child(void (*body)(char *text, size_t size), char *text, size_t size)
{
	int fd[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(0, pipe(fd));
	pid = fork();
	if (!pid) {
		memset(text, 0, size);
		body(text, size);
		_exit(write(fd[1], text, size) != (ssize_t)size);
	}
	assert_true(pid > 0);
	close(fd[1]);
	n = read(fd[0], text, size);
	close(fd[0]);
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_int_equal(0, status);
	assert_int_equal(n, size);
}

/* From here on ptrace(2), or one of its requests, ends with @error. */
static void refuse(long request, int error)
{
	struct sock_filter all[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)request, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog p = { .len = N_OF(all), .filter = all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(0);
}

static void refuse_seize(char *text, size_t size)
{
	refuse(PTRACE_SEIZE, EPERM);
	snprintf(text, size, "%s", trace(run_five).reason);
}

static void refuse_info(char *text, size_t size)
{
	refuse(PTRACE_GET_SYSCALL_INFO, EIO);
	snprintf(text, size, "%s", trace(run_five).reason);
}

static void kill_tracer(void *arg)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	int pid = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	if (pid > 0)
		kill(pid, SIGKILL);
}

static void lose_tracer(char *text, size_t size)
{
	struct assay_syscall_case c = trace(kill_tracer);

	snprintf(text, size, "%s%s", c.counted ? "counted " : "", c.reason);
}

TEST(test_says_why_not)
{
	char text[256];

	needs_tracing();
	in_child(refuse_seize, text, sizeof(text));
	assert_non_null(strstr(
		text, "ptrace does not trace this (Operation not permitted): run it without strace or debugger"));
	in_child(refuse_info, text, sizeof(text));
	assert_non_null(strstr(text, "(Input/output error)"));
	assert_non_null(strstr(text, "on Linux 5.3 or later"));
	in_child(lose_tracer, text, sizeof(text));
	assert_string_equal(text, "the process that counts system calls ended before the run did");
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* The count of system calls against runs that make known ones, and what it says where it cannot count. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "counters/syscalls.h"

static uint32_t words[4];

/* Two calls that count, and three futexes on words of the harness, as @own says. */
static struct assay_syscall_case trace(uintptr_t own_lo, uintptr_t own_hi, void (*run)(void))
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	const struct assay_syscall_options o = { .threads = &self, .n_threads = 1, .own_lo = own_lo, .own_hi = own_hi };
	struct assay_syscall_case out = { 0 };
	struct assay_syscall_trace *t;
	struct assay_err err = { 0 };

	if (assay_syscall_trace_open(&t, &o, &err)) {
		snprintf(out.reason, sizeof(out.reason), "%.255s", err.text);
		return out;
	}
	syscall(SYS_getppid); /* before the run */
	assay_syscall_trace_watch(t, true);
	run();
	assay_syscall_trace_watch(t, false);
	syscall(SYS_getppid);
	assay_syscall_trace_close(t, &out);
	return out;
}

static void run_nothing(void)
{
}

static void run_five(void)
{
	syscall(SYS_getppid);
	for (int i = 0; i < 3; i++)
		syscall(SYS_futex, &words[i], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	syscall(SYS_getppid);
}

static void needs_tracing(const struct assay_syscall_case *c)
{
	if (c->reason[0]) {
		print_message("system calls cannot be counted here: %s\n", c->reason);
		skip();
	}
}

static void test_counts(void **state)
{
	struct assay_syscall_case c = trace(0, 0, run_nothing);

	(void)state;
	needs_tracing(&c);
	assert_true(c.counted);
	assert_int_equal(c.calls, 0);
	assert_string_equal(c.detail, "");
	for (int i = 0; i < 20; i++) {
		c = trace(0, 0, run_five);
		assert_true(c.counted);
		assert_int_equal(c.calls, 5);
		assert_non_null(strstr(c.detail, "getppid 2"));
		assert_non_null(strstr(c.detail, "futex 3"));
	}
}

static void test_own_futexes_are_left_out(void **state)
{
	struct assay_syscall_case c = trace((uintptr_t)&words[0], (uintptr_t)&words[2], run_five);

	(void)state;
	needs_tracing(&c);
	assert_int_equal(c.calls, 3); /* the third word is not of them */
	c = trace((uintptr_t)&words[0], (uintptr_t)&words[4], run_five);
	assert_int_equal(c.calls, 2);
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
	const struct sock_fprog p = { .len = sizeof(all) / sizeof(all[0]), .filter = all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(0);
}

static void refuse_seize(char *text, size_t size)
{
	refuse(PTRACE_SEIZE, EPERM);
	snprintf(text, size, "%s", trace(0, 0, run_five).reason);
}

static void refuse_info(char *text, size_t size)
{
	refuse(PTRACE_GET_SYSCALL_INFO, EIO);
	snprintf(text, size, "%s", trace(0, 0, run_five).reason);
}

static void kill_tracer(void)
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
	struct assay_syscall_case c = trace(0, 0, kill_tracer);

	snprintf(text, size, "%s%s", c.counted ? "counted " : "", c.reason);
}

static void test_says_why_not(void **state)
{
	struct assay_syscall_case c = trace(0, 0, run_nothing);
	char text[256];

	(void)state;
	needs_tracing(&c);
	in_child(refuse_seize, text, sizeof(text));
	assert_non_null(strstr(text, "ptrace is not permitted (Operation not permitted): in a container allow it"));
	in_child(refuse_info, text, sizeof(text));
	assert_string_equal(text, "the kernel does not say what is called (Input/output error): Linux 5.3 does");
	in_child(lose_tracer, text, sizeof(text));
	assert_string_equal(text, "the process that counts system calls ended before the run did");
}

/* Somebody else got there first, as strace does. */
static void test_already_traced(void **state)
{
	struct assay_syscall_case c = trace(0, 0, run_nothing);
	int go[2], back[2], status;
	char text[256], want[64];
	pid_t pid;

	(void)state;
	needs_tracing(&c);
	assert_int_equal(0, pipe(go));
	assert_int_equal(0, pipe(back));
	pid = fork();
	if (!pid) {
		if (read(go[0], text, 1) != 1)
			_exit(1);
		c = trace(0, 0, run_five);
		_exit(write(back[1], c.reason, sizeof(c.reason)) != sizeof(c.reason));
	}
	assert_int_equal(0, ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	assert_int_equal(1, write(go[1], "", 1));
	assert_int_equal(sizeof(c.reason), read(back[0], text, sizeof(c.reason)));
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_int_equal(0, status);
	snprintf(want, sizeof(want), "process %d traces this already: run without strace", (int)getpid());
	assert_non_null(strstr(text, want));
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(back[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_own_futexes_are_left_out),
		cmocka_unit_test(test_says_why_not),
		cmocka_unit_test(test_already_traced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

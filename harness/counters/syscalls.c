/* SPDX-License-Identifier: Apache-2.0 */
/* The traced side: start the tracer, tell it when the run is on, read what it counted. */
#include "counters/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "counters/callgrind.h"

#define MORE_THREADS 256 /* that a run may make and that are let go of in order */

struct assay_syscall_trace {
	struct assay_syscall_shared *shared;
	size_t bytes;
	pid_t tracer;
};

/* The number behind "@name:" in /proc/self/status, or that of a file of one number; -1: there is none. */
static long number_in(const char *path, const char *name)
{
	char *text = NULL, *at;
	long value = -1;
	size_t len;

	if (assay_file_read(path, &text, &len, NULL))
		return -1;
	at = strstr(text, name);
	if (at)
		value = strtol(at + strlen(name), NULL, 10);
	free(text);
	return value;
}

static int refused(const struct assay_syscall_shared *s, struct assay_err *err)
{
	long tracer = number_in("/proc/self/status", "TracerPid:"),
	     yama = number_in("/proc/sys/kernel/yama/ptrace_scope", "");

	if (s->step == ASSAY_SYSCALL_READY || !s->error)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "the process that counts system calls ended early");
	if (s->step == ASSAY_SYSCALL_INFO)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "the kernel does not say what is called (%s): Linux 5.3 does", strerror(s->error));
	if (s->step == ASSAY_SYSCALL_STOP)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "a thread cannot be stopped to be traced: %s",
				     strerror(s->error));
	if (tracer > 0)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "process %ld traces this already: run without strace or debugger", tracer);
	if (yama > 1)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "tracing is switched off: sudo sysctl kernel.yama.ptrace_scope=1 (it is %ld)",
				     yama);
	return assay_err_set(
		err, ASSAY_EUNAVAILABLE,
		"ptrace is not permitted (%s): in a container allow it (docker run --cap-add=SYS_PTRACE), and give "
		"the program no capabilities of its own",
		strerror(s->error));
}

/* Not fork(): handlers of libraries for it would run, and the end of the tracer is nobody's SIGCHLD. */
static pid_t fork_tracer(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, NULL, NULL, NULL, 0ul);
}

static int start_tracer(struct assay_syscall_trace *t, const struct assay_syscall_options *o, struct assay_err *err)
{
	pid_t self = getpid();
	int fd[2];
	ssize_t n;
	char ready;

	if (pipe2(fd, O_CLOEXEC))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "no pipe to the tracer: %s", strerror(errno));
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where Yama asks for it; fails where there is none */
	t->tracer = fork_tracer();
	if (!t->tracer)
		assay_syscall_tracer(t->shared, o, self, fd[1]);
	close(fd[1]);
	if (t->tracer < 0) {
		close(fd[0]);
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "no process to trace with: %s", strerror(errno));
	}
	do
		n = read(fd[0], &ready, 1);
	while (n < 0 && errno == EINTR);
	close(fd[0]);
	prctl(PR_SET_PTRACER, 0);
	return n == 1 ? 0 : refused(t->shared, err);
}

static void release(struct assay_syscall_trace *t)
{
	if (t->tracer > 0)
		while (waitpid(t->tracer, NULL, __WALL) < 0 && errno == EINTR)
			;
	munmap(t->shared, t->bytes);
	free(t);
}

int assay_syscall_trace_open(struct assay_syscall_trace **out, const struct assay_syscall_options *o,
			     struct assay_err *err)
{
	struct assay_syscall_trace *t;
	int rc;

	if (assay_callgrind_inside())
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "valgrind runs this, and its own calls would be counted");
	t = calloc(1, sizeof(*t));
	if (!t)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	t->bytes = sizeof(*t->shared) + (o->n_threads + MORE_THREADS) * sizeof(t->shared->threads[0]);
	t->shared = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->shared == MAP_FAILED) {
		free(t);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	t->shared->max_threads = o->n_threads + MORE_THREADS;
	t->shared->n_threads = o->n_threads;
	memcpy(t->shared->threads, o->threads, o->n_threads * sizeof(*o->threads));
	rc = start_tracer(t, o, err);
	if (rc)
		release(t);
	else
		*out = t;
	return rc;
}

void assay_syscall_trace_watch(struct assay_syscall_trace *t, bool on)
{
	t->shared->watched = on;
}

/* What kernels are likely to call, often by way of libraries; others are shown by their number. */
#define NAMED(name)                                                                                                    \
	{                                                                                                              \
		SYS_##name, #name                                                                                      \
	}
static const struct {
	long number;
	const char *name;
} names[] = {
	NAMED(brk),
	NAMED(clock_gettime),
	NAMED(clock_nanosleep),
	NAMED(clone),
	NAMED(clone3),
	NAMED(close),
	NAMED(exit),
	NAMED(fstat),
	NAMED(futex),
	NAMED(getcpu),
	NAMED(getpid),
	NAMED(getppid),
	NAMED(getrandom),
	NAMED(getrusage),
	NAMED(gettid),
	NAMED(ioctl),
	NAMED(madvise),
	NAMED(mmap),
	NAMED(mprotect),
	NAMED(mremap),
	NAMED(munmap),
	NAMED(nanosleep),
	NAMED(openat),
	NAMED(pread64),
	NAMED(read),
	NAMED(rt_sigprocmask),
	NAMED(rt_sigreturn),
	NAMED(sched_setaffinity),
	NAMED(sched_yield),
	NAMED(set_mempolicy),
	NAMED(set_robust_list),
	NAMED(tgkill),
	NAMED(write),
};

/* "write 2, mmap 1, number 435 1", in the order of their numbers, as much as there is room for. */
static void describe(const struct assay_syscall_shared *s, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (long i = 0; i < ASSAY_SYSCALL_NUMBERS; i++) {
		char number[32];
		const char *name = number;
		int n;

		if (!s->by_number[i])
			continue;
		snprintf(number, sizeof(number), "number %ld", i);
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (names[k].number == i)
				name = names[k].name;
		n = snprintf(buf + at, size - at, "%s%s %u", at ? ", " : "", name, s->by_number[i]);
		if (n < 0 || (size_t)n >= size - at) {
			buf[at] = '\0';
			return;
		}
		at += (size_t)n;
	}
}

void assay_syscall_trace_close(struct assay_syscall_trace *t, struct assay_syscall_case *out)
{
	struct assay_syscall_shared *s = t->shared;

	s->finished = true;
	/* a call, at which the tracer lets go; when it has ended all is counted */
	while (waitpid(t->tracer, NULL, __WALL) < 0 && errno == EINTR)
		;
	t->tracer = 0;
	out->counted = s->complete;
	out->calls = s->calls;
	describe(s, out->detail, sizeof(out->detail));
	if (!s->complete)
		snprintf(out->reason, sizeof(out->reason),
			 "the process that counts system calls ended before the run did");
	release(t);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of one run of the variant, which the worker makes after the last sample. The tracer is a forked copy of
 * the worker, since no process may trace its own threads: it makes only async-signal-safe calls. Threads stop at the
 * entry and the exit of each call (ptrace(2), PTRACE_O_TRACESYSGOOD); entries are counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/callgrind/callgrind.h"
#include "counters/provider.h"

#define CALL_STOP (SIGTRAP | 0x80)
#define NUMBERS   512 /* larger ones are counted together in the last */
#define SEIZE_S   10u /* that it may take until all threads are traced */

/* In memory that tracer and traced share. */
struct shared {
	_Atomic bool watched;  /* the run is on */
	_Atomic bool finished; /* let go of all threads at the next call of any */
	/* by the tracer */
	int error;     /* why it cannot trace; 0 */
	bool complete; /* it saw the end */
	uint64_t calls;
	uint32_t by_number[NUMBERS];
};

/* ---- the tracer ------------------------------------------------------------------------------------------------- */

/* Let a stopped thread go on, as @request says; a signal that is not the tracer's own it gets as well. */
static void go_on(int request, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		request = PTRACE_LISTEN; /* stopped by somebody else, until he wants it to go on */
	ptrace((enum __ptrace_request)request, tid, NULL,
	       (void *)(intptr_t)(event || signal == CALL_STOP ? 0 : signal));
}

static bool ask(pid_t tid, struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(*info), info) > 0;
}

static bool seize(const pid_t *threads, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ptrace(PTRACE_SEIZE, threads[i], NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)))
			return false;
	for (uint32_t i = 0; i < n; i++) {
		struct __ptrace_syscall_info info;
		int status;

		if (ptrace(PTRACE_INTERRUPT, threads[i], NULL, NULL) ||
		    waitpid(threads[i], &status, __WALL) != threads[i] || !ask(threads[i], &info))
			return false;
		go_on(PTRACE_SYSCALL, threads[i], status);
	}
	return true;
}

static void count_call(struct shared *s, pid_t tid)
{
	struct __ptrace_syscall_info info;

	if (!s->watched || !ask(tid, &info) || info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	s->calls++;
	s->by_number[info.entry.nr < NUMBERS ? info.entry.nr : NUMBERS - 1]++;
}

/* Writes a byte to @ready_fd when it watches. The kernel lets go of all threads that are left when it ends. */
static __attribute__((noreturn)) void trace(struct shared *s, const pid_t *threads, uint32_t n, pid_t parent,
					    int ready_fd)
{
	sigset_t alarms;

	/* a worker that is killed takes its tracer with it, also one that died before this line */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(SEIZE_S);
	if (!seize(threads, n)) {
		s->error = errno;
		_exit(1);
	}
	alarm(0);
	if (write(ready_fd, "", 1) != 1)
		_exit(1);
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno != EINTR)
			_exit(1); /* all have ended */
		if (tid < 0 || !WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) == CALL_STOP)
			count_call(s, tid);
		if (s->finished) {
			s->complete = true;
			go_on(PTRACE_DETACH, tid, status);
			_exit(0);
		}
		go_on(PTRACE_SYSCALL, tid, status);
	}
}

/* ---- who is traced ---------------------------------------------------------------------------------------------- */

/* If the tracer stands still, so does every thread that could look at a clock here: then the controller ends it all. */
static void wait_for(pid_t tracer)
{
	while (waitpid(tracer, NULL, __WALL) < 0 && errno == EINTR)
		;
}

/* The tracer, when it watches; 0: it could not, or could not be started. */
static pid_t start(struct shared *s, const pid_t *threads, uint32_t n)
{
	pid_t self = getpid(), tracer;
	ssize_t got = 0;
	char ready;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC)) {
		s->error = errno;
		return 0;
	}
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where Yama asks for it; fails where there is none */
	/* not fork(): handlers of libraries for it would run, and the end of the tracer is nobody's SIGCHLD */
	tracer = (pid_t)syscall(SYS_clone, 0ul, NULL, NULL, NULL, 0ul);
	if (!tracer)
		trace(s, threads, n, self, fd[1]);
	close(fd[1]);
	if (tracer < 0)
		s->error = errno;
	while (tracer > 0 && (got = read(fd[0], &ready, 1)) < 0 && errno == EINTR)
		;
	close(fd[0]);
	prctl(PR_SET_PTRACER, 0);
	if (got == 1)
		return tracer;
	if (tracer > 0)
		wait_for(tracer);
	return 0;
}

static const struct {
	unsigned number;
	const char *name;
} names[] = {
#include "syscall_names.h"
};

/* "write 2, mmap 1", in the order of their numbers, as much as there is room for. */
static void describe(const struct shared *s, char *buf, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i < NUMBERS; i++) {
		const char *name = "others";
		size_t n;

		if (!s->by_number[i])
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (names[k].number == i)
				name = names[k].name;
		n = (size_t)snprintf(buf + at, size - at, "%s%s %u", at ? ", " : "", name, s->by_number[i]);
		if (n >= size - at) {
			buf[at] = '\0';
			return;
		}
		at += n;
	}
}

void assay_syscalls_count(const pid_t *threads, uint32_t n, void (*run)(void *arg), void *arg,
			  struct assay_syscall_case *out)
{
	struct shared *s;
	pid_t tracer;

	if (assay_callgrind_inside()) {
		snprintf(out->reason, sizeof(out->reason), "valgrind runs this, and its own calls would be counted");
		return;
	}
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED) {
		snprintf(out->reason, sizeof(out->reason), "out of memory");
		return;
	}
	tracer = start(s, threads, n);
	if (tracer) {
		s->watched = true;
		run(arg);
		s->watched = false;
		s->finished = true;
		wait_for(tracer); /* a call, at which the tracer lets go; when it has ended all is counted */
		out->counted = s->complete;
		out->calls = s->calls;
		describe(s, out->detail, sizeof(out->detail));
		if (!s->complete)
			snprintf(out->reason, sizeof(out->reason),
				 "the process that counts system calls ended before the run did");
	} else {
		snprintf(out->reason, sizeof(out->reason),
			 "ptrace does not trace this (%s): run it without strace or debugger, in a container with "
			 "--cap-add=SYS_PTRACE, with kernel.yama.ptrace_scope at most 1, on Linux 5.3 or later",
			 s->error ? strerror(s->error) : "its process ended");
	}
	munmap(s, sizeof(*s));
}

/* ---- the provider ----------------------------------------------------------------------------------------------- */

static const char *const events[] = { "syscalls", NULL };

static void one_call(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
}

/* One call of its own, which must count as one. */
static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	struct assay_syscall_case found = { 0 };

	(void)ctx;
	assay_syscalls_count(&self, 1, one_call, NULL, &found);
	if (found.counted && found.calls != 1)
		snprintf(found.reason, sizeof(found.reason), "one call counts as %llu",
			 (unsigned long long)found.calls);
	*out = (struct assay_counter_probe){ .works = !found.reason[0] };
	snprintf(out->value, sizeof(out->value), "%s",
		 out->works ? "system calls of variants, by ptrace" : found.reason);
	if (!out->works)
		snprintf(out->advice, sizeof(out->advice), "without it, syscalls is unavailable");
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	(void)set;
	if (!ctx->syscalls)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "no run of %s is traced",
				     ctx->children ? "a program" : "this");
	ctx->syscalls->wanted = true;
	return 0;
}

static int total(const struct assay_counter_context *ctx, size_t event, double *value, bool *per_iteration,
		 struct assay_err *why)
{
	const struct assay_syscall_case *c = ctx->syscalls;

	(void)event;
	*per_iteration = true;
	*value = (double)c->calls;
	if (c->counted)
		return 0;
	return assay_err_set(why, ASSAY_EUNAVAILABLE, "%s", c->reason[0] ? c->reason : "no run was traced");
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	const char *detail = ctx->syscalls ? ctx->syscalls->detail : "";

	(void)event;
	snprintf(buf, size, "ptrace, in an untimed run%s%s", detail[0] ? ": " : "", detail);
}

const struct assay_counter_provider assay_provider_syscalls = {
	.name = "syscalls",
	.source = ASSAY_SOURCE_EXACT,
	.shared = true,
	.events = events,
	.probe = probe,
	.open = open_set,
	.total = total,
	.how = how,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* An op whose variants make known numbers of system calls: what tests of that count rest on. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>

#include <assay/plugin.h>

#define N 4

static int put_output(struct assay_job *job)
{
	int32_t *y = job->tensors[0].data;

	for (int32_t i = 0; i < N; i++)
		y[i] = i;
	return 0;
}

static int calls_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	(void)shape;
	(void)why;
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { N }
	};
	out->cost = (struct assay_cost){ .ops = 2e5 }; /* five iterations a sample of a deterministic run */
	return 0;
}

static int calls_fill(struct assay_job *job)
{
	(void)job;
	return 0;
}

static int calls_check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *y = job->tensors[0].data;

	out->correct = 1;
	for (int32_t i = 0; i < N; i++)
		out->correct &= y[i] == i;
	return 0;
}

/* ---- three: calls of two kinds ---- */

static int three_run(struct assay_job *job)
{
	syscall(SYS_getppid);
	syscall(SYS_gettid);
	syscall(SYS_getppid);
	return put_output(job);
}

/* ---- threads: two calls in every thread, before and after a barrier that the first comes to so late that the others
 * sleep ---- */

static void call_twice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;

	(void)n_threads;
	syscall(SYS_getppid);
	for (volatile int i = 0; !tid && i < 2000000; i++)
		;
	job->host->barrier(job);
	syscall(SYS_getppid);
}

static int threads_run(struct assay_job *job)
{
	job->host->parallel(job, call_twice, job);
	return put_output(job);
}

/* ---- sleeps: no call, but the threads of the harness sleep ---- */

static void come_late(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;

	(void)n_threads;
	for (volatile int i = 0; !tid && i < 2000000; i++)
		;
	job->host->barrier(job);
}

static int sleeps_run(struct assay_job *job)
{
	job->host->parallel(job, come_late, job);
	return put_output(job);
}

/* ---- starts: a thread of its own, which makes a hundred calls ---- */

static void *call_often(void *arg)
{
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	return arg;
}

static int starts_run(struct assay_job *job)
{
	pthread_t t;

	if (pthread_create(&t, NULL, call_often, NULL))
		return job->host->fail(job, "no thread");
	pthread_join(t, NULL);
	return put_output(job);
}

/* ---- signals: one call, which a handler interrupts nothing of, and one more in the handler, and the return from it
 * ---- */

static void call_once(int signal)
{
	(void)signal;
	syscall(SYS_getppid);
}

static int signals_prepare(struct assay_job *job)
{
	const struct sigaction sa = { .sa_handler = call_once };

	(void)job;
	return sigaction(SIGUSR1, &sa, NULL);
}

static int signals_run(struct assay_job *job)
{
	syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGUSR1);
	return put_output(job);
}

/* ---- what goes wrong only while somebody traces ---- */

static bool traced(void)
{
	char text[4096], *at;
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "TracerPid:");
	return at && strtol(at + strlen("TracerPid:"), NULL, 10) > 0;
}

static int crashes_run(struct assay_job *job)
{
	if (traced())
		__builtin_trap();
	return put_output(job);
}

static int exits_run(struct assay_job *job)
{
	if (traced())
		_exit(7);
	return put_output(job);
}

static int hangs_run(struct assay_job *job)
{
	volatile bool on = traced();

	while (on)
		;
	return put_output(job);
}

static int fails_run(struct assay_job *job)
{
	return traced() ? job->host->fail(job, "not while somebody watches") : put_output(job);
}

#define CALLS .op = "calls.toy"
static const struct assay_variant variants[] = {
	{ CALLS, .name = "ref", .help = "none", .flags = ASSAY_VARIANT_REFERENCE, .run = put_output },
	{ CALLS, .name = "three", .help = "three", .run = three_run },
	{ CALLS, .name = "threads", .help = "two a thread", .run = threads_run },
	{ CALLS, .name = "sleeps", .help = "none of its own", .run = sleeps_run },
	{ CALLS, .name = "starts", .help = "a hundred in a thread of its own", .run = starts_run },
	{ CALLS, .name = "signals", .help = "in a handler", .prepare = signals_prepare, .run = signals_run },
	{ CALLS, .name = "crashes", .help = "while traced", .run = crashes_run },
	{ CALLS, .name = "exits", .help = "while traced", .run = exits_run },
	{ CALLS, .name = "hangs", .help = "while traced", .run = hangs_run },
	{ CALLS, .name = "fails", .help = "while traced", .run = fails_run },
};

static const struct assay_op ops[] = {
	{ .name = "calls.toy",
	  .help = "the numbers from 0 on",
	  .flags = ASSAY_OP_EXACT,
	  .describe = calls_describe,
	  .fill = calls_fill,
	  .check = calls_check },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "syscall-op",
	.version = "1",
	.ops = ops,
	.n_ops = 1,
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

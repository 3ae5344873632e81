/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ops. Variants of one allocate known amounts, for tests of the heap's counts and measurements of their cost; those
 * of the other make known numbers of system calls.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <assay/plugin.h>

#define N        4
#define OP_BYTES 5000

/* The compiler must not see that a block is unused. */
static void *use(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

static int put_output(struct assay_job *job)
{
	int32_t *y = job->tensors[0].data;

	for (int32_t i = 0; i < N; i++)
		y[i] = i;
	return 0;
}

/* ---- the op, which allocates itself: nothing of that is the variant's ---- */

static int toy_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->n_tensors = 1;
	out->tensors[0] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { N }
	};
	out->cost = (struct assay_cost){ .ops = 2e5 }; /* five iterations a sample of a deterministic run */
	return 0;
}

static int toy_fill(struct assay_job *job)
{
	job->op_state = malloc(OP_BYTES);
	return job->op_state ? 0 : -1;
}

static int calls_fill(struct assay_job *job)
{
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

static int toy_check(struct assay_job *job, struct assay_check *out)
{
	free(use(malloc(OP_BYTES)));
	return calls_check(job, out);
}

static void toy_release(struct assay_job *job)
{
	free(job->op_state);
}

/* ---- known: six blocks, 1254 bytes in all, 1154 at once, beside 1000 that prepare takes ---- */

static int known_prepare(struct assay_job *job)
{
	job->state = malloc(1000);
	return job->state ? 0 : -1;
}

static int known_run(struct assay_job *job)
{
	char *a = use(malloc(100)), *b = use(calloc(3, 50)), *c, *d, *e;

	c = use(realloc(a, 300));
	d = use(aligned_alloc(64, 128));
	e = use(memalign(64, 64));
	if (!b || !c || !d || !e || posix_memalign((void **)&a, 64, 512))
		return job->host->fail(job, "out of memory");
	free(use(a));
	free(b);
	free(c);
	free(d);
	free(e);
	free(NULL);
	return put_output(job);
}

static void free_state(struct assay_job *job)
{
	free(job->state);
}

/* ---- refused: one block of 10 bytes, and two that nobody can have. Sanitizers end the program there ---- */

static int refused_run(struct assay_job *job)
{
	volatile size_t too_much = SIZE_MAX / 2;
	void *p = use(malloc(10)), *still = use(p);

	if (use(realloc(p, too_much)) || use(calloc(too_much, 3)))
		return job->host->fail(job, "too much was not refused");
	free(still);
	return put_output(job);
}

/* ---- leaky: 4096 bytes of malloc and 1000 of the harness are never given back ---- */

static int leaky_prepare(struct assay_job *job)
{
	return use(malloc(4096)) && job->host->alloc(job, 1000) ? 0 : -1;
}

/* ---- asks: the harness for 2048 bytes in every run ---- */

static int asks_run(struct assay_job *job)
{
	void *p = job->host->alloc(job, 2048);

	if (!p)
		return job->host->fail(job, "out of memory");
	job->host->release(job, p);
	return put_output(job);
}

/*
 * ---- keeps: each run gives back the block of the one before and takes one of 256 bytes. The first takes one of
 * another size, whose address no other run will get ----
 */

static int keeps_run(struct assay_job *job)
{
	bool first = !job->state;

	free(job->state);
	job->state = use(malloc(first ? 300 : 256));
	return put_output(job);
}

/* ---- moves: the same, but lets the block of the run before grow to 512 bytes first; 128 bytes ---- */

static int moves_run(struct assay_job *job)
{
	bool first = !job->state;

	free(use(realloc(job->state, 512)));
	job->state = use(malloc(first ? 300 : 128));
	return put_output(job);
}

/* ---- hoards: every run adds 64 bytes to a chain, which release gives back ---- */

static int hoards_run(struct assay_job *job)
{
	void **link = malloc(64);

	if (!link)
		return job->host->fail(job, "out of memory");
	*link = job->state;
	job->state = link;
	return put_output(job);
}

static void hoards_release(struct assay_job *job)
{
	while (job->state) {
		void *next = *(void **)job->state;

		free(job->state);
		job->state = next;
	}
}

/* ---- foreign: gives back what the op took ---- */

static int foreign_prepare(struct assay_job *job)
{
	free(job->op_state);
	job->op_state = NULL;
	return 0;
}

/* ---- threads: ten blocks of 48 bytes in every thread, all held at once ---- */

static void hold_ten(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	void *p[10];

	for (int i = 0; i < 10; i++)
		p[i] = use(malloc(48));
	job->host->barrier(job);
	for (int i = 0; i < 10; i++)
		free(p[i]);
}

static int threads_run(struct assay_job *job)
{
	job->host->parallel(job, hold_ten, job);
	return put_output(job);
}

/* ---- many: 5000 blocks of 24 bytes at once ---- */

static int many_run(struct assay_job *job)
{
	static void *p[5000];

	for (int i = 0; i < 5000; i++)
		p[i] = use(malloc(24));
	for (int i = 0; i < 5000; i++)
		free(p[i]);
	return put_output(job);
}

/* ==== system calls =============================================================================================== */

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

	syscall(SYS_getppid);
	for (volatile int i = 0; !tid && i < 2000000; i++)
		;
	job->host->barrier(job);
	syscall(SYS_getppid);
}

static int calls_threads_run(struct assay_job *job)
{
	job->host->parallel(job, call_twice, job);
	return put_output(job);
}

/* ---- sleeps: no call, but the threads of the harness sleep ---- */

static void come_late(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;

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

static void one_call(int signal)
{
	syscall(SYS_getppid);
}

static int signals_prepare(struct assay_job *job)
{
	const struct sigaction sa = { .sa_handler = one_call };

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

#define TOY   .op = "heap.toy", .flags = ASSAY_VARIANT_ONE_THREAD
#define CALLS .op = "calls.toy"
static const struct assay_variant variants[] = {
	{ .op = "heap.toy", .name = "ref", .help = "nothing", .flags = ASSAY_VARIANT_REFERENCE, .run = put_output },
	{ TOY, .name = "known", .help = "every function", .prepare = known_prepare, .run = known_run,
	  .release = free_state },
	{ TOY, .name = "refused", .help = "too much", .run = refused_run },
	{ TOY, .name = "leaky", .help = "never gives back", .prepare = leaky_prepare, .run = put_output },
	{ TOY, .name = "asks", .help = "the harness", .run = asks_run },
	{ TOY, .name = "keeps", .help = "until the next run", .run = keeps_run, .release = free_state },
	{ TOY, .name = "moves", .help = "lets it grow before", .run = moves_run, .release = free_state },
	{ TOY, .name = "hoards", .help = "until the end", .run = hoards_run, .release = hoards_release },
	{ TOY, .name = "foreign", .help = "gives back the op's", .prepare = foreign_prepare, .run = put_output },
	{ .op = "heap.toy", .name = "threads", .help = "in every thread", .run = threads_run },
	{ TOY, .name = "many", .help = "blocks at once", .run = many_run },
	{ CALLS, .name = "ref", .help = "none", .flags = ASSAY_VARIANT_REFERENCE, .run = put_output },
	{ CALLS, .name = "three", .help = "three", .run = three_run },
	{ CALLS, .name = "threads", .help = "two a thread", .run = calls_threads_run },
	{ CALLS, .name = "sleeps", .help = "none of its own", .run = sleeps_run },
	{ CALLS, .name = "starts", .help = "a hundred in a thread of its own", .run = starts_run },
	{ CALLS, .name = "signals", .help = "in a handler", .prepare = signals_prepare, .run = signals_run },
	{ CALLS, .name = "crashes", .help = "while traced", .run = crashes_run },
	{ CALLS, .name = "exits", .help = "while traced", .run = exits_run },
	{ CALLS, .name = "hangs", .help = "while traced", .run = hangs_run },
	{ CALLS, .name = "fails", .help = "while traced", .run = fails_run },
};

static const struct assay_op ops[] = {
	{ .name = "heap.toy",
	  .help = "the numbers from 0 on",
	  .flags = ASSAY_OP_EXACT,
	  .describe = toy_describe,
	  .fill = toy_fill,
	  .check = toy_check,
	  .release = toy_release },
	{ .name = "calls.toy",
	  .help = "the numbers from 0 on",
	  .flags = ASSAY_OP_EXACT,
	  .describe = toy_describe,
	  .fill = calls_fill,
	  .check = calls_check },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "counted-op",
	.version = "1",
	.ops = ops,
	.n_ops = sizeof(ops) / sizeof(ops[0]),
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

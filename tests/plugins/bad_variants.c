/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of example.scale, each of which misbehaves in its own way while it runs. The worker must survive them all.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <assay/plugin.h>

static void right(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = x[i] * 2 + 1;
}

static int crash_run(struct assay_job *job)
{
	raise(SIGSEGV);
	return 0;
}

static int abort_prepare(struct assay_job *job)
{
	abort();
}

static int exit_run(struct assay_job *job)
{
	_exit(7);
}

static int hang_run(struct assay_job *job)
{
	for (volatile int forever = 1; forever;)
		(void)job;
	return 0;
}

static int near_write_run(struct assay_job *job)
{
	right(job);
	((unsigned char *)job->tensors[1].data)[job->tensors[1].bytes] = 1;
	return 0;
}

static int before_write_run(struct assay_job *job)
{
	right(job);
	((unsigned char *)job->tensors[1].data)[-1] = 1;
	return 0;
}

static int far_write_run(struct assay_job *job)
{
	volatile unsigned char *past = (unsigned char *)job->tensors[1].data + job->tensors[1].bytes;

	right(job);
	/* one after the other: a sanitizer would look at all of a memset's range before the first byte is written */
	for (size_t i = 0; i < 65536; i++)
		past[i] = 1;
	return 0;
}

static int wrong_run(struct assay_job *job)
{
	right(job);
	((int32_t *)job->tensors[1].data)[3] ^= 1;
	return 0;
}

static int nothing_run(struct assay_job *job)
{
	return 0;
}

/* Right the first few times, then it only pretends. */
static int lazy_run(struct assay_job *job)
{
	static int calls;

	if (calls++ < 5)
		right(job);
	return 0;
}

/* Right at first, wrong later. */
static int late_wrong_run(struct assay_job *job)
{
	static int calls;

	right(job);
	if (calls++ > 20)
		((int32_t *)job->tensors[1].data)[0] += 2;
	return 0;
}

static int input_run(struct assay_job *job)
{
	right(job);
	((int32_t *)job->tensors[0].data)[job->shape->axis[0] - 1] = 0;
	((int32_t *)job->tensors[1].data)[job->shape->axis[0] - 1] = 1;
	return 0;
}

static int greedy_run(struct assay_job *job)
{
	right(job);
	for (;;) {
		char *p = mmap(NULL, 16u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return job->host->fail(job, "the machine gave no more memory");
		memset(p, 1, 16u << 20);
		usleep(2000); /* slow enough that the watcher is never far behind */
	}
}

static int host_greedy_prepare(struct assay_job *job)
{
	/* two of these are well below the limit, with a sanitizer's memory, too: whoever watches must not come first */
	while (job->host->alloc(job, 96u << 20))
		;
	return job->host->fail(job, "the harness gave no more memory");
}

/* In many parts, which lie side by side. */
static int beyond_alloc_prepare(struct assay_job *job)
{
	unsigned char *last = NULL, *before;

	for (int i = 0; i < 30; i++) {
		before = last;
		last = job->host->alloc(job, 100000);
		if (!last || last[0] || last[99999])
			return job->host->fail(job, "no memory of zeros");
		memset(last, 1, 100000);
	}
	if (last - before > 100128)
		return job->host->fail(job, "parts lie %td bytes apart", last - before);
	job->state = last;
	return 0;
}

static int beyond_alloc_run(struct assay_job *job)
{
	right(job);
	((unsigned char *)job->state)[100000] = 1;
	return 0;
}

static int fail_run(struct assay_job *job)
{
	return job->host->fail(job, "cannot run on a %s", "Friday");
}

static int chatty_run(struct assay_job *job)
{
	static int calls;

	right(job);
	if (!calls++)
		printf("this line must not reach standard output\n");
	fflush(stdout);
	return 0;
}

/*
 * Leaves a process in a session of its own, whose parent is gone, and its child; both write their numbers to $STRAYS
 * first.
 */
static int strays_run(struct assay_job *job)
{
	static int calls;
	const char *path = getenv("STRAYS");
	FILE *f = !calls++ && path ? fopen(path, "w") : NULL;
	int ready[2];
	char byte;

	right(job);
	if (!f)
		return 0;
	if (pipe(ready))
		return job->host->fail(job, "no pipe");
	if (fork()) {
		close(ready[1]);
		fclose(f);
		/* until both have written */
		return read(ready[0], &byte, 1) == 1 && read(ready[0], &byte, 1) == 1
			       ? 0
			       : job->host->fail(job, "no strays");
	}
	setsid();
	if (fork())
		_exit(0);
	fork();
	alarm(20); /* where nobody kills them */
	fprintf(f, "%d\n", (int)getpid());
	fflush(f);
	if (write(ready[1], "", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

static int refuse_supports(const struct assay_shape *shape, struct assay_reason *why)
{
	snprintf(why->text, sizeof(why->text), "cannot do %lld elements", (long long)shape->axis[0]);
	return -1;
}

#define BAD(n, f)                                                                                                      \
	{                                                                                                              \
		.op = "example.scale", .name = n, .help = "misbehaves", .run = f                                       \
	}

static const struct assay_variant variants[] = {
	BAD("crash", crash_run),
	{ .op = "example.scale",
	  .name = "abort_prepare",
	  .help = "misbehaves",
	  .prepare = abort_prepare,
	  .run = nothing_run },
	BAD("exit", exit_run),
	BAD("hang", hang_run),
	BAD("near_write", near_write_run),
	BAD("before_write", before_write_run),
	BAD("far_write", far_write_run),
	BAD("wrong", wrong_run),
	BAD("nothing", nothing_run),
	BAD("lazy", lazy_run),
	BAD("late_wrong", late_wrong_run),
	BAD("input", input_run),
	BAD("greedy", greedy_run),
	{ .op = "example.scale",
	  .name = "beyond_alloc",
	  .help = "misbehaves",
	  .prepare = beyond_alloc_prepare,
	  .run = beyond_alloc_run },
	{ .op = "example.scale",
	  .name = "host_greedy",
	  .help = "misbehaves",
	  .prepare = host_greedy_prepare,
	  .run = nothing_run },
	BAD("fail", fail_run),
	BAD("chatty", chatty_run),
	BAD("strays", strays_run),
	{ .op = "example.scale",
	  .name = "refuses",
	  .help = "supports nothing",
	  .supports = refuse_supports,
	  .run = nothing_run },
	{ .op = "example.scale",
	  .name = "needy",
	  .help = "needs a CPU that nobody has",
	  .needs = "avx9001",
	  .run = nothing_run },
	{ .op = "example.scale",
	  .name = "on_gpu",
	  .help = "needs a device that no plugin brings",
	  .device_kind = ASSAY_DEVICE_CUDA,
	  .run = nothing_run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "bad-variants",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

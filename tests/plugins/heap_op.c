/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op whose variants allocate known amounts: what tests of the heap's counts, and measurements of their cost, rest
 * on.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	(void)shape;
	(void)why;
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

static int toy_check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *y = job->tensors[0].data;

	free(use(malloc(OP_BYTES)));
	out->correct = 1;
	for (int32_t i = 0; i < N; i++)
		out->correct &= y[i] == i;
	return 0;
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

	(void)tid;
	(void)n_threads;
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

/* ---- heavy: 64 blocks of 16 to 1039 bytes, written and given back in another order. The time is what matters ---- */

static int heavy_run(struct assay_job *job)
{
	uint32_t x = 1;
	char *p[64];

	for (int i = 0; i < 64; i++) {
		size_t n;

		x = x * 1664525 + 1013904223;
		n = 16 + (x >> 22);
		p[i] = malloc(n);
		if (!p[i])
			return job->host->fail(job, "out of memory");
		memset(p[i], i, n);
		use(p[i]);
	}
	for (int i = 0; i < 64; i++)
		free(p[i * 37 & 63]);
	return put_output(job);
}

/* ---- 1000 blocks that heavy_run leaves alone: what free() has to look through ---- */

static int chain_prepare(struct assay_job *job)
{
	for (int i = 0; i < 1000; i++)
		if (hoards_run(job))
			return -1;
	return 0;
}

#define TOY .op = "heap.toy", .flags = ASSAY_VARIANT_ONE_THREAD
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
	{ TOY, .name = "heavy", .help = "malloc and memset", .run = heavy_run },
	/* the same, with a block of the kind that free() has to look for */
	{ TOY, .name = "heavy_held", .help = "the same beside a block that is held", .prepare = known_prepare,
	  .run = heavy_run, .release = free_state },
	{ TOY, .name = "heavy_chain", .help = "the same beside 1000 blocks", .prepare = chain_prepare, .run = heavy_run,
	  .release = hoards_release },
};

static const struct assay_op ops[] = {
	{ .name = "heap.toy",
	  .help = "the numbers from 0 on",
	  .flags = ASSAY_OP_EXACT,
	  .describe = toy_describe,
	  .fill = toy_fill,
	  .check = toy_check,
	  .release = toy_release },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "heap-op",
	.version = "1",
	.ops = ops,
	.n_ops = 1,
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

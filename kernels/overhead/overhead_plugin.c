/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.*: the harness's own thread pool, as every variant meets it. */
#include <string.h>

#include "assay/op_overhead.h"

static int64_t *cleared(const struct assay_job *job)
{
	struct assay_tensor *count = &job->tensors[ASSAY_OVERHEAD_COUNT];

	memset(count->data, 0, count->bytes);
	return count->data;
}

static void take_part(void *arg, uint32_t tid, uint32_t n_threads)
{
	int64_t *count = arg;

	(void)n_threads;
	count[tid * ASSAY_OVERHEAD_WORDS]++;
}

static int run_dispatch(struct assay_job *job)
{
	int64_t *count = cleared(job);

	for (int i = 0; i < ASSAY_OVERHEAD_ROUNDS; i++)
		job->host->parallel(job, take_part, count);
	return 0;
}

/* A thread's counter says how many barriers it came to: nobody may be past one before the next thread came to it. */
static void meet(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	int64_t *count = job->tensors[ASSAY_OVERHEAD_COUNT].data;
	int64_t *own = &count[tid * ASSAY_OVERHEAD_WORDS];
	int64_t *next = &count[(tid + 1) % n_threads * ASSAY_OVERHEAD_WORDS];
	int64_t met = 0;

	for (int64_t i = 1; i <= ASSAY_OVERHEAD_ROUNDS; i++) {
		__atomic_store_n(own, i, __ATOMIC_RELAXED);
		job->host->barrier(job);
		met += __atomic_load_n(next, __ATOMIC_RELAXED) >= i;
	}
	job->host->barrier(job); /* nobody looks any more */
	*own = met;
}

static int run_barrier(struct assay_job *job)
{
	cleared(job);
	job->host->parallel(job, meet, job);
	return 0;
}

static void add_up(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	int shared = job->shape->axis[ASSAY_OVERHEAD_LINES] == ASSAY_LINES_SHARED;
	int64_t *count = job->tensors[ASSAY_OVERHEAD_COUNT].data;
	const int64_t adds = assay_overhead_adds(job->shape);
	volatile int64_t *own = &count[tid * (shared ? 1 : ASSAY_OVERHEAD_WORDS)];

	(void)n_threads;
	for (int64_t i = 0; i < adds; i++)
		*own = *own + 1;
}

static int run_false_sharing(struct assay_job *job)
{
	cleared(job);
	job->host->parallel(job, add_up, job);
	return 0;
}

#define REF(op_, fn)                                                                                                   \
	{                                                                                                              \
		.op = op_, .name = "ref", .help = "the thread pool of the harness", .flags = ASSAY_VARIANT_REFERENCE,  \
		.run = fn,                                                                                             \
	}

static const struct assay_variant variants[] = {
	REF("overhead.dispatch", run_dispatch),
	REF("overhead.barrier", run_barrier),
	REF("overhead.false_sharing", run_false_sharing),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "overhead",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};

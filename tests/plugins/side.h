/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by plugins that are one side of a comparison, or attack the harness where another of the same names does not:
 * variants of example.scale and of lenient.triple, which take one thread, and what they calculate.
 */
#ifndef ASSAY_TESTS_SIDE_H
#define ASSAY_TESTS_SIDE_H

#include <assay/plugin.h>

#define TRIPLE_ROUNDS 20

static inline int64_t side_n(const struct assay_job *job)
{
	return job->shape->axis[0];
}

static inline const int32_t *side_x(const struct assay_job *job)
{
	return job->tensors[0].data;
}

static inline int32_t *side_y(const struct assay_job *job)
{
	return job->tensors[1].data;
}

/* Each element by itself, so that it takes longer than looking at what is there. */
static inline int side_scale(struct assay_job *job)
{
	const volatile int32_t *x = side_x(job);
	volatile int32_t *y = side_y(job);

	for (int64_t i = 0; i < side_n(job); i++)
		y[i] = x[i] * 2 + 1;
	return 0;
}

/* A known amount of work: through volatile pointers, so that every round is done. */
static inline void side_triple(struct assay_job *job, int rounds)
{
	const volatile int32_t *x = side_x(job);
	volatile int32_t *y = side_y(job);

	for (int r = 0; r < rounds; r++)
		for (int64_t i = 0; i < side_n(job); i++)
			y[i] = x[i] * 3;
}

/* Take memory for job->state, which side_release() gives back. */
static inline void *side_take(struct assay_job *job, uint64_t bytes)
{
	job->state = job->host->alloc(job, bytes);
	if (!job->state)
		job->host->fail(job, "out of memory");
	return job->state;
}

static inline void side_release(struct assay_job *job)
{
	job->host->release(job, job->state);
}

#define SIDE_VARIANT(o, n, ...)                                                                                        \
	{                                                                                                              \
		.op = o, .name = n, .help = "one side", .flags = ASSAY_VARIANT_ONE_THREAD, __VA_ARGS__                 \
	}
#define SCALE(n, f)  SIDE_VARIANT("example.scale", n, .run = f)
#define TRIPLE(n, f) SIDE_VARIANT("lenient.triple", n, .run = f)
/* On any number of threads. */
#define SCALE_THREADS(n, before, f)                                                                                    \
	{                                                                                                              \
		.op = "example.scale", .name = n, .help = "one side", .prepare = before, .run = f                      \
	}

#define SIDE_PLUGIN(n, list)                                                                                           \
	ASSAY_PLUGIN = {                                                                                               \
		ASSAY_PLUGIN_HEADER,                                                                                   \
		.name = n,                                                                                             \
		.version = "1",                                                                                        \
		.variants = list,                                                                                      \
		.n_variants = sizeof(list) / sizeof((list)[0]),                                                        \
	}

#endif

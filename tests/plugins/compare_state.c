/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op whose fill makes more than tensors: a factor that its oracle and its variant need. It writes every other
 * element and leaves the zeros that it finds between.
 */
#include "elements_op.h"
#include "side.h"

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	elements_describe(shape, ASSAY_I32, out);
	return 0;
}

static int fill(struct assay_job *job)
{
	int32_t *x = job->tensors[X].data, *factor = job->host->alloc(job, sizeof(*factor));

	if (!factor)
		return job->host->fail(job, "out of memory");
	*factor = 3;
	job->op_state = factor;
	for (int64_t i = 0; i < side_n(job); i += 2)
		x[i] = (int32_t)i + 1;
	return 0;
}

static int64_t multiple(const struct assay_job *job, int64_t i)
{
	return i % 2 ? 0 : *(const int32_t *)job->op_state * (i + 1);
}

static int check(struct assay_job *job, struct assay_check *out)
{
	if (!job->op_state)
		return job->host->fail(job, "there is no factor");
	return elements_check(job, multiple, 0, out);
}

static void release(struct assay_job *job)
{
	job->host->release(job, job->op_state);
}

static int run(struct assay_job *job)
{
	const volatile int32_t *x = side_x(job);
	const int32_t *factor = job->op_state;
	volatile int32_t *y = side_y(job);

	for (int64_t i = 0; i < side_n(job); i++)
		y[i] = factor ? x[i] * *factor : 0;
	return 0;
}

static const struct assay_op ops[] = {
	ELEMENTS_OP("stateful.triple", .describe = describe, .fill = fill, .check = check, .release = release),
};

static const struct assay_variant variants[] = { SIDE_VARIANT("stateful.triple", "work", .run = run) };

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "compare-state", .version = "1",  .ops = ops,
	.n_ops = 1,          .variants = variants,    .n_variants = 1,
};

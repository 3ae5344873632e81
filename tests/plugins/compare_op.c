/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exact op with an oracle that lets one off pass, so that two builds can both be right and yet give different bits.
 */
#include "elements_op.h"

enum { WORK = Y + 1 };

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	elements_describe(shape, ASSAY_I32, out);
	out->n_tensors = 3;
	out->tensors[WORK] = (struct assay_tensor_spec){
		.name = "work", .role = ASSAY_SCRATCH, .dtype = ASSAY_I32, .rank = 1, .dims = { 1 }
	};
	return 0;
}

static int fill(struct assay_job *job)
{
	int32_t *x = job->tensors[X].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		x[i] = (int32_t)(assay_random4(job->seed, X, (uint64_t)i / 4).v[i % 4] >> 4);
	return 0;
}

static int64_t triple(const struct assay_job *job, int64_t i)
{
	return 3 * elements_load(&job->tensors[X], i);
}

static int check(struct assay_job *job, struct assay_check *out)
{
	return elements_check(job, triple, 1, out);
}

static const struct assay_op ops[] = {
	ELEMENTS_OP("lenient.triple", .describe = describe, .fill = fill, .check = check),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "compare-op", .version = "1", .ops = ops, .n_ops = 1,
};

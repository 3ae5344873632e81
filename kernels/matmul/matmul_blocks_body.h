/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.q8_0 and matmul.q6_k for the instruction set that the including file is compiled for; Q8_0 and Q6_K name the
 * timed calls. Inputs are rounded first, tokens dealt out; then each thread multiplies rows of its own.
 */
#include "../block_rows.h"
#include "matmul_variants.h"

struct blocks_call {
	const struct assay_job *job;
	struct block_product p;
	uint32_t type;
};

static void round_tokens(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct blocks_call *c = arg;
	const float *x = c->job->tensors[ASSAY_BLOCKS_X].data;
	uint8_t *to = c->job->tensors[ASSAY_BLOCKS_ROUNDED].data;

	for (int64_t t = tid; t < c->p.n; t += n_threads)
		block_inputs(c->type, x + t * c->p.k, c->p.k, to + t * c->p.in_bytes);
}

static void multiply_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct blocks_call *c = arg;
	int64_t first, end;

	matmul_rows(c->p.m, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
	if (c->type == ASSAY_BLOCK_Q8_0)
		block_product(ASSAY_BLOCK_Q8_0, &c->p, first, end);
	else
		block_product(ASSAY_BLOCK_Q6_K, &c->p, first, end);
}

/* One token is rounded faster than other threads are woken. */
static int run_blocks(struct assay_job *job, uint32_t type)
{
	const int64_t *axis = job->shape->axis;
	struct blocks_call c = { .job = job,
				 .type = type,
				 .p = { .w = job->tensors[ASSAY_BLOCKS_W].data,
					.in = job->tensors[ASSAY_BLOCKS_ROUNDED].data,
					.in_bytes = assay_block_inputs_bytes(axis[ASSAY_MATMUL_K]),
					.y = job->tensors[ASSAY_BLOCKS_Y].data,
					.m = axis[ASSAY_MATMUL_M],
					.k = axis[ASSAY_MATMUL_K],
					.n = axis[ASSAY_MATMUL_N] } };

	if (c.p.n == 1)
		round_tokens(&c, 0, 1);
	else
		job->host->parallel(job, round_tokens, &c);
	job->host->parallel(job, multiply_rows, &c);
	matmul_publish(job, axis);
	return 0;
}

int Q8_0(struct assay_job *job)
{
	return run_blocks(job, ASSAY_BLOCK_Q8_0);
}

int Q6_K(struct assay_job *job)
{
	return run_blocks(job, ASSAY_BLOCK_Q6_K);
}

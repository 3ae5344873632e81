/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded inputs. Each matrix gives outputs of about unit variance from inputs of unit variance. The layers together
 * bring the residual to a variance of 4, each adding the same, so that all of them matter and the embedding is small
 * beside them: otherwise every token would predict itself through a tied head.
 */
#include <string.h>

#include "../generate_ops.h"
#include "../input_fill.h"
#include "assay/random.h"
#include "generate_head.h"
#include "generate_math.h"
#include "generate_stats.h"

struct filling {
	const struct assay_job *job;
	const struct gen_plan *plan;
};

static void fill_scales(const struct filling *f)
{
	const struct gen_model *m = f->plan->m;
	float *scales = f->job->tensors[ASSAY_GENERATE_T_SCALES].data;
	int64_t rows, cols;

	for (int64_t i = 0; i < (int64_t)m->layers * ASSAY_GENERATE_N_MATRICES; i++) {
		struct assay_philox r = assay_random4(f->job->seed, ASSAY_GENERATE_T_SCALES, (uint64_t)i);
		int matrix = (int)(i % ASSAY_GENERATE_N_MATRICES);
		float share_of =
			matrix == ASSAY_GENERATE_WO || matrix == ASSAY_GENERATE_WDOWN ? 0.5f * (float)m->layers : 1.0f;

		assay_generate_matrix_dims(m, matrix, &rows, &cols);
		scales[i] =
			__builtin_sqrtf(2.0f / ((float)cols * share_of)) * (0.9f + 0.2f * assay_uniform_f32(r.v[0]));
	}
}

static void fill_small(const struct filling *f)
{
	const struct gen_model *m = f->plan->m;
	float *norms = f->job->tensors[ASSAY_GENERATE_T_NORMS].data;
	int32_t *prompt = f->job->tensors[ASSAY_GENERATE_T_PROMPT].data;
	int64_t n_norms = assay_generate_norms_len(m);

	fill_scales(f);
	for (int64_t i = 0; i < n_norms; i++)
		norms[i] = 1.0f + 0.1f * assay_normal_f32(
						 assay_random4(f->job->seed, ASSAY_GENERATE_T_NORMS, (uint64_t)i).v[0]);
	for (int64_t i = 0; i < f->plan->n_prompt; i++)
		prompt[i] = (int32_t)((uint64_t)assay_random4(f->job->seed, ASSAY_GENERATE_T_PROMPT, (uint64_t)i).v[0] *
					      (uint32_t)m->vocab >>
				      32);
}

static void fill_rope(const struct filling *f, uint32_t tid, uint32_t n_threads)
{
	const struct gen_model *m = f->plan->m;
	float *rope = f->job->tensors[ASSAY_GENERATE_T_ROPE].data;

	for (int64_t pos = tid; pos < f->plan->max_pos; pos += n_threads)
		assay_generate_rope_row(m->ln_theta, m->head_dim, pos, rope + pos * m->head_dim);
}

/* The values that a head of f32 has, in formats that the harness does not fill. */
static void fill_rows(const struct filling *f, uint32_t tid, uint32_t n_threads)
{
	const struct gen_plan *p = f->plan;
	const int64_t rows = (p->m->tied ? 1 : 2) * (int64_t)p->m->vocab, dim = p->m->dim;
	const float std = assay_generate_embedding_std(p->m);
	uint8_t *to = f->job->tensors[ASSAY_GENERATE_T_EMBEDDING].data;
	float x[GEN_MAX_DIM];

	for (int64_t row = tid; row < rows; row += n_threads) {
		for (int64_t i = 0; i < dim; i += 4) {
			const struct assay_philox r =
				assay_random4(f->job->seed, ASSAY_GENERATE_T_EMBEDDING, (uint64_t)(row * dim + i) / 4);

			for (int k = 0; k < 4; k++)
				x[i + k] = std * assay_normal_f32(r.v[k]);
		}
		assay_generate_head_encode(p->head, x, dim, to + row * p->row_bytes);
	}
}

static void fill_pass(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct filling *f = arg;

	fill_rope(f, tid, n_threads);
	if (f->plan->head > ASSAY_GENERATE_HEAD_F32)
		fill_rows(f, tid, n_threads);
	if (tid == 0)
		fill_small(f);
}

static int fill(enum gen_kind kind, struct assay_job *job)
{
	struct assay_reason why = { "" };
	struct gen_stats *s = job->op_state;
	struct filling f = { job, NULL };

	if (!s)
		s = job->host->alloc(job, sizeof(*s));
	if (!s)
		return job->host->fail(job, "cannot allocate the latency rings: out of memory");
	memset(s, 0, sizeof(*s));
	job->op_state = s;
	if (assay_generate_plan(kind, job->shape, &s->plan, &why))
		return job->host->fail(job, "%s", why.text);
	assay_generate_state_fill(&s->plan, &s->state);
	f.plan = &s->plan;
	assay_input_fill(job);
	job->host->parallel(job, fill_pass, &f);
	return 0;
}

int assay_generate_prefill_fill(struct assay_job *job)
{
	return fill(GEN_PREFILL, job);
}

int assay_generate_decode_fill(struct assay_job *job)
{
	return fill(GEN_DECODE, job);
}

int assay_generate_chat_fill(struct assay_job *job)
{
	return fill(GEN_CHAT, job);
}

void assay_generate_release(struct assay_job *job)
{
	if (job->op_state)
		job->host->release(job, job->op_state);
	job->op_state = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the engine, the jobs of its matrices, and the order of a step. */
#include "generate_engine.h"

#include <string.h>

#include "generate_math.h"

static uint64_t round64(uint64_t n)
{
	return (n + 63) & ~(uint64_t)63;
}

static uint64_t matmuls_bytes(const struct gen_model *m)
{
	return round64((uint64_t)m->layers * ASSAY_GENERATE_N_MATRICES * sizeof(struct gen_matmul));
}

uint64_t assay_generate_engine_bytes(const struct gen_plan *plan)
{
	uint64_t bytes = round64(sizeof(struct gen_engine)) + matmuls_bytes(plan->m);

	return bytes + (plan->kind == GEN_CHAT ? round64(assay_generate_prefix_bytes(plan->n_blocks)) : 0);
}

/* The sampler's heap, the sequence's tokens, its block table, the trace slots of a step. */
int64_t assay_generate_work_i32_len(const struct gen_plan *p)
{
	return p->m->vocab + p->max_pos + p->n_blocks + p->batch;
}

/* ---- matrices ---- */

static void describe_matmul(struct gen_matmul *mm, int64_t m, int64_t k, int64_t n)
{
	static const struct {
		const char *name;
		uint32_t role, dtype, size;
	} kinds[ASSAY_TERNARY_N_TENSORS] = {
		[ASSAY_TERNARY_W] = { "w", ASSAY_INPUT, ASSAY_U8, 1 },
		[ASSAY_TERNARY_W_SCALE] = { "w_scale", ASSAY_INPUT, ASSAY_F32, 4 },
		[ASSAY_TERNARY_X] = { "x", ASSAY_INPUT, ASSAY_I8, 1 },
		[ASSAY_TERNARY_X_SCALE] = { "x_scale", ASSAY_INPUT, ASSAY_F32, 4 },
		[ASSAY_TERNARY_Y] = { "y", ASSAY_OUTPUT, ASSAY_F32, 4 },
	};
	const int64_t shape[ASSAY_TERNARY_N_TENSORS][2] = { { m, k / 4 }, { 1, 1 }, { n, k }, { n, 1 }, { n, m } };

	for (int i = 0; i < ASSAY_TERNARY_N_TENSORS; i++) {
		struct assay_tensor_spec *s = &mm->specs[i];

		s->name = kinds[i].name;
		s->role = kinds[i].role;
		s->dtype = kinds[i].dtype;
		s->rank = i == ASSAY_TERNARY_W_SCALE || i == ASSAY_TERNARY_X_SCALE ? 1 : 2;
		s->dims[0] = shape[i][0];
		s->dims[1] = s->rank == 2 ? shape[i][1] : 0;
		mm->tensors[i].bytes = (uint64_t)(shape[i][0] * shape[i][1]) * kinds[i].size;
		mm->tensors[i].spec = s;
	}
	mm->shape.axis[ASSAY_MATMUL_M] = m;
	mm->shape.axis[ASSAY_MATMUL_K] = k;
	mm->shape.axis[ASSAY_MATMUL_N] = n;
}

static int prepare_matmul(struct gen_engine *e, struct assay_job *job, int layer, int matrix)
{
	struct gen_matmul *mm = &e->matmuls[layer * ASSAY_GENERATE_N_MATRICES + matrix];
	uint8_t *weights = job->tensors[ASSAY_GENERATE_T_WEIGHTS].data;
	float *scales = job->tensors[ASSAY_GENERATE_T_SCALES].data;
	struct assay_reason why = { "" };
	int64_t rows, cols;
	int rc = 0;

	assay_generate_matrix_dims(e->plan.m, matrix, &rows, &cols);
	mm->shape = *job->shape;
	memset(mm->shape.axis, 0, sizeof(mm->shape.axis));
	describe_matmul(mm, rows, cols, e->plan.batch);
	mm->tensors[ASSAY_TERNARY_W].data = weights + assay_generate_matrix_at(e->plan.m, layer, matrix);
	mm->tensors[ASSAY_TERNARY_W_SCALE].data = scales + layer * ASSAY_GENERATE_N_MATRICES + matrix;
	mm->tensors[ASSAY_TERNARY_X].data = e->i8;
	mm->tensors[ASSAY_TERNARY_X_SCALE].data = e->f32 + e->work.scale;
	mm->tensors[ASSAY_TERNARY_Y].data = e->f32 + e->work.y[matrix];

	mm->job = *job;
	mm->job.n_tensors = ASSAY_TERNARY_N_TENSORS;
	mm->job.shape = &mm->shape;
	mm->job.tensors = mm->tensors;
	mm->job.op_state = NULL;
	mm->job.state = NULL;
	mm->job.kernel = NULL;
	mm->job.counters = e->kernel_counters;
	if (e->kernel->supports && e->kernel->supports(&mm->shape, &why) < 0)
		return job->host->fail(job, "variant '%s' refuses a matrix of %lld×%lld: %s", e->kernel->name,
				       (long long)rows, (long long)cols, why.text);
	if (e->kernel->prepare)
		rc = e->kernel->prepare(&mm->job);
	if (!rc)
		e->n_prepared++;
	return rc;
}

static int matmul(struct gen_engine *e, int matrix)
{
	struct gen_matmul *mm = &e->matmuls[e->layer * ASSAY_GENERATE_N_MATRICES + matrix];

	if (mm->shape.axis[ASSAY_MATMUL_N] != e->n)
		describe_matmul(mm, mm->shape.axis[ASSAY_MATMUL_M], mm->shape.axis[ASSAY_MATMUL_K], e->n);
	return e->kernel->run(&mm->job);
}

/* ---- life ---- */

static void point(struct gen_engine *e, struct assay_job *job, uint8_t *memory)
{
	const struct gen_model *m = e->plan.m;

	e->matmuls = (struct gen_matmul *)(memory + round64(sizeof(*e)));
	e->embedding = job->tensors[ASSAY_GENERATE_T_EMBEDDING].data;
	e->head = e->embedding + (m->tied ? 0 : m->vocab * e->plan.row_bytes);
	e->norms = job->tensors[ASSAY_GENERATE_T_NORMS].data;
	e->logits = job->tensors[ASSAY_GENERATE_T_LOGITS].data;
	e->rope = job->tensors[ASSAY_GENERATE_T_ROPE].data;
	e->kv = job->tensors[ASSAY_GENERATE_T_KV].data;
	e->f32 = job->tensors[ASSAY_GENERATE_T_WORK_F32].data;
	e->i8 = job->tensors[ASSAY_GENERATE_T_WORK_I8].data;
	e->heap = job->tensors[ASSAY_GENERATE_T_WORK_I32].data;
	e->seq.tokens = e->heap + m->vocab;
	e->seq.table = e->seq.tokens + e->plan.max_pos;
	e->slots = e->seq.table + e->plan.n_blocks;
	if (e->plan.kind == GEN_CHAT) {
		assay_generate_prefix_init(&e->prefix, e->plan.n_blocks, (uint8_t *)e->matmuls + matmuls_bytes(m));
	} else {
		for (int64_t i = 0; i < e->plan.n_blocks; i++)
			e->seq.table[i] = (int32_t)i;
	}
}

struct gen_engine *assay_generate_engine_new(struct assay_job *job, const struct gen_plan *plan)
{
	uint8_t *memory = job->host->alloc(job, assay_generate_engine_bytes(plan));
	struct gen_engine *e = (struct gen_engine *)memory;

	if (!e) {
		job->host->fail(job, "cannot allocate the engine: out of memory");
		return NULL;
	}
	e->plan = *plan;
	e->job = job;
	e->kernel = job->kernel;
	e->vector = assay_generate_vector(job->shape->host);
	assay_generate_trace_layout(plan->m, &e->trace);
	assay_generate_work_layout(plan, &e->work);
	point(e, job, memory);
	for (int layer = 0; layer < plan->m->layers; layer++)
		for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++)
			if (prepare_matmul(e, job, layer, i)) {
				assay_generate_engine_free(e, job);
				return NULL;
			}
	return e;
}

void assay_generate_engine_free(struct gen_engine *e, struct assay_job *job)
{
	if (!e)
		return;
	for (int i = e->n_prepared - 1; i >= 0; i--)
		if (e->kernel->release)
			e->kernel->release(&e->matmuls[i].job);
	job->host->release(job, e);
}

/* ---- a step ---- */

void assay_generate_clock(struct gen_engine *e)
{
	e->mark_ns = e->job->host->now_ns();
}

void assay_generate_phase(struct gen_engine *e, enum gen_phase phase)
{
	uint64_t ns = e->job->host->now_ns();

	e->phase_ns[phase] += ns - e->mark_ns;
	e->mark_ns = ns;
}

/* One token is not worth waking the other threads for. */
static void over_tokens(struct gen_engine *e, assay_parallel_fn pass)
{
	if (e->n == 1)
		pass(e, 0, 1);
	else
		e->job->host->parallel(e->job, pass, e);
}

static void set_slots(struct gen_engine *e)
{
	memset(e->slots, 0xff, (size_t)e->n * sizeof(*e->slots));
	for (int64_t s = 0; e->tracing && s < e->plan.n_slots; s++) {
		int64_t at = assay_generate_trace_pos(&e->plan, s) - e->pos;

		if (at >= 0 && at < e->n)
			e->slots[at] = (int32_t)s;
	}
}

static int attention(struct gen_engine *e)
{
	int rc;

	assay_span(e->job, "attention");
	over_tokens(e, assay_generate_pass_attn_norm);
	rc = matmul(e, ASSAY_GENERATE_WQ);
	if (!rc)
		rc = matmul(e, ASSAY_GENERATE_WK);
	if (!rc)
		rc = matmul(e, ASSAY_GENERATE_WV);
	if (rc)
		return rc;
	over_tokens(e, assay_generate_pass_rope);
	e->job->host->parallel(e->job, assay_generate_pass_attend, e);
	over_tokens(e, assay_generate_pass_attn_sub);
	rc = matmul(e, ASSAY_GENERATE_WO);
	assay_span_end(e->job);
	return rc;
}

static int feed_forward(struct gen_engine *e)
{
	int rc;

	assay_span(e->job, "feed-forward");
	over_tokens(e, assay_generate_pass_ffn_norm);
	rc = matmul(e, ASSAY_GENERATE_WGATE);
	if (!rc)
		rc = matmul(e, ASSAY_GENERATE_WUP);
	if (rc)
		return rc;
	over_tokens(e, assay_generate_pass_ffn_act);
	rc = matmul(e, ASSAY_GENERATE_WDOWN);
	assay_span_end(e->job);
	return rc;
}

static void head(struct gen_engine *e)
{
	const struct gen_model *m = e->plan.m;

	assay_span(e->job, "head");
	e->vector->rmsnorm(e->f32 + e->work.resid + (e->n - 1) * m->dim,
			   e->norms + assay_generate_norm_at(m, m->layers, 0), m->dim, e->f32 + e->work.norm);
	/* no layer reads these activations any more */
	e->head_input = e->vector->head_input(e->plan.head, e->f32 + e->work.norm, m->dim,
					      e->f32 + e->work.y[ASSAY_GENERATE_WGATE]);
	atomic_store_explicit(&e->next_row, 0, memory_order_relaxed);
	e->job->host->parallel(e->job, assay_generate_pass_head, e);
	assay_span_end(e->job);
}

int assay_generate_step(struct gen_engine *e, const int32_t *tokens, int64_t n, int want_logits)
{
	int rc;

	e->tokens = tokens;
	e->n = n;
	e->pos = e->seq.len;
	set_slots(e);
	assay_generate_clock(e);
	assay_span(e->job, "embedding");
	over_tokens(e, assay_generate_pass_embed);
	assay_span_end(e->job);
	assay_generate_phase(e, GEN_PHASE_EMBEDDING);
	for (e->layer = 0; e->layer < e->plan.m->layers; e->layer++) {
		assay_span(e->job, "layer");
		rc = attention(e);
		if (rc)
			return rc;
		assay_generate_phase(e, GEN_PHASE_ATTENTION);
		rc = feed_forward(e);
		if (rc)
			return rc;
		assay_generate_phase(e, GEN_PHASE_FFN);
		assay_span_end(e->job);
		if (n > 1)
			assay_part(e->job);
	}
	e->layer = e->plan.m->layers - 1;
	over_tokens(e, assay_generate_pass_last);
	assay_generate_phase(e, GEN_PHASE_FFN);
	if (want_logits) {
		head(e);
		assay_generate_phase(e, GEN_PHASE_HEAD);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Model sizes and the layout arithmetic of the generate ops. */
#include "generate_model.h"

#include <stdio.h>
#include <string.h>

#include "generate_head.h"

/*
 * `2b` is BitNet b1.58 2B4T (arXiv 2504.12285 and its published configuration). `700m` has the shape of the published
 * reproduction bitnet_b1_58-large, with a head of its own and no grouping of heads; `125m` the width, depth and heads
 * that the BitNet paper (arXiv 2310.11453) gives that size, with a gated feed-forward of 8/3 the width. `tiny` is for
 * tests, `nano` for counts of every instruction.
 */
static const struct gen_model models[] = {
	{ "tiny", 2, 256, 4, 2, 64, 512, 512, 1024, 1, 9.210340371976184 },
	{ "125m", 12, 768, 12, 12, 64, 2048, 32000, 2048, 1, 9.210340371976184 },
	{ "700m", 24, 1536, 16, 16, 96, 4096, 32002, 2048, 0, 9.210340371976184 },
	{ "2b", 30, 2560, 20, 5, 128, 6912, 128256, 4096, 1, 13.122363377404328 },
	{ "nano", 1, 128, 2, 1, 64, 128, 64, 256, 1, 9.210340371976184 },
};

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t blocks_of(int64_t tokens)
{
	return (tokens + ASSAY_GENERATE_KV_BLOCK - 1) / ASSAY_GENERATE_KV_BLOCK;
}

int64_t assay_generate_chat_len(const struct gen_plan *p, int64_t turn)
{
	return p->system + turn * (p->message + p->reply) + p->message;
}

static int bind_chat(struct gen_plan *p, const int64_t *axis, struct assay_reason *why)
{
	int64_t need;

	p->users = axis[GEN_CHAT_USERS];
	p->turns = axis[GEN_CHAT_TURNS];
	p->system = axis[GEN_CHAT_SYSTEM];
	p->message = axis[GEN_CHAT_MESSAGE];
	p->reply = axis[GEN_CHAT_REPLY];
	p->batch = axis[GEN_CHAT_BATCH];
	p->max_pos = assay_generate_chat_len(p, p->turns - 1) + p->reply;
	p->n_prompt = p->system + p->users * p->turns * p->message;
	p->n_out = p->users * p->turns * p->reply;
	p->trace_first = assay_generate_chat_len(p, p->turns - 1) - 1;
	p->trace_count = p->reply;

	/* One sequence must fit beside nothing; a request never runs while another holds blocks. */
	need = blocks_of(p->max_pos);
	p->n_blocks = axis[GEN_CHAT_KV_BLOCKS] ? axis[GEN_CHAT_KV_BLOCKS] : need * p->users;
	if (p->n_blocks >= need)
		return 0;
	snprintf(why->text, sizeof(why->text),
		 "kv_blocks=%lld cannot hold a sequence of %lld tokens; take %lld or more", (long long)p->n_blocks,
		 (long long)p->max_pos, (long long)need);
	return -1;
}

int assay_generate_plan(enum gen_kind kind, const struct assay_shape *shape, struct gen_plan *plan,
			struct assay_reason *why)
{
	const int64_t *axis = shape->axis;
	struct gen_plan p;

	memset(&p, 0, sizeof(p));
	p.kind = kind;
	p.m = &models[axis[GEN_AXIS_MODEL]];
	p.n_threads = shape->n_threads ? shape->n_threads : 1;
	if (kind == GEN_CHAT) {
		if (bind_chat(&p, axis, why))
			return -1;
	} else if (kind == GEN_PREFILL) {
		p.pp = p.max_pos = p.n_prompt = p.trace_count = axis[GEN_PREFILL_PP];
		p.batch = axis[GEN_PREFILL_BATCH];
		p.head = (enum assay_generate_head)axis[ASSAY_GENERATE_PREFILL_HEAD];
		p.n_out = 1;
	} else {
		p.pp = p.n_prompt = p.trace_first = axis[GEN_DECODE_PP];
		p.tg = p.trace_count = axis[GEN_DECODE_TG];
		p.sampler = (enum assay_generate_sampler)axis[GEN_DECODE_SAMPLER];
		p.head = (enum assay_generate_head)axis[ASSAY_GENERATE_DECODE_HEAD];
		p.batch = 512;
		p.max_pos = p.pp + p.tg;
		p.n_out = p.tg + 1;
	}
	if (kind != GEN_CHAT)
		p.n_blocks = blocks_of(p.max_pos);
	if (p.max_pos > p.m->max_context) {
		snprintf(why->text, sizeof(why->text), "%lld tokens are more than the context of model %s, %d",
			 (long long)p.max_pos, p.m->name, p.m->max_context);
		return -1;
	}
	if (p.m->dim % assay_generate_head_block(p.head)) {
		snprintf(why->text, sizeof(why->text),
			 "model %s cannot have the head %s: a row has %d values, not a multiple of %d", p.m->name,
			 assay_generate_head_names[p.head], p.m->dim, (int)assay_generate_head_block(p.head));
		return -1;
	}
	p.row_bytes = assay_generate_head_row_bytes(p.head, p.m->dim);
	p.batch = min64(p.batch, kind == GEN_DECODE ? p.pp : p.max_pos);
	/* The trace costs memory and checking time in proportion to the model: all tokens of tiny, a few of others. */
	p.n_slots = min64(p.trace_count, p.m->layers <= 2 ? GEN_MAX_SLOTS : GEN_FEW_SLOTS);
	*plan = p;
	return 0;
}

void assay_generate_matrix_dims(const struct gen_model *m, int matrix, int64_t *rows, int64_t *cols)
{
	static const struct {
		uint8_t rows, cols; /* 0 dim, 1 heads × head_dim, 2 kv_heads × head_dim, 3 ffn */
	} dims[ASSAY_GENERATE_N_MATRICES] = {
		[ASSAY_GENERATE_WQ] = { 1, 0 },    [ASSAY_GENERATE_WK] = { 2, 0 },    [ASSAY_GENERATE_WV] = { 2, 0 },
		[ASSAY_GENERATE_WO] = { 0, 1 },    [ASSAY_GENERATE_WGATE] = { 3, 0 }, [ASSAY_GENERATE_WUP] = { 3, 0 },
		[ASSAY_GENERATE_WDOWN] = { 0, 3 },
	};
	const int64_t sizes[] = { m->dim, gen_q_dim(m), gen_kv_dim(m), m->ffn };

	*rows = sizes[dims[matrix].rows];
	*cols = sizes[dims[matrix].cols];
}

int64_t assay_generate_matrix_at(const struct gen_model *m, int layer, int matrix)
{
	int64_t rows, cols, before = 0, per_layer = 0;

	for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++) {
		assay_generate_matrix_dims(m, i, &rows, &cols);
		if (i < matrix)
			before += rows * cols / 4;
		per_layer += rows * cols / 4;
	}
	return layer * per_layer + before;
}

int64_t assay_generate_norm_at(const struct gen_model *m, int layer, int norm)
{
	const int64_t len[ASSAY_GENERATE_N_NORMS] = { m->dim, gen_q_dim(m), m->dim, m->ffn };
	int64_t before = 0, per_layer = 0;

	for (int i = 0; i < ASSAY_GENERATE_N_NORMS; i++) {
		if (i < norm)
			before += len[i];
		per_layer += len[i];
	}
	return layer * per_layer + before;
}

int64_t assay_generate_norms_len(const struct gen_model *m)
{
	return assay_generate_norm_at(m, m->layers, ASSAY_GENERATE_NORM_ATTN) + m->dim;
}

/* So that logits have a standard deviation of 2.5. */
float assay_generate_embedding_std(const struct gen_model *m)
{
	return 2.5f / __builtin_sqrtf((float)m->dim);
}

void assay_generate_trace_layout(const struct gen_model *m, struct gen_trace *t)
{
	int64_t at = 4, rows, cols;

	t->i8_attn = 0;
	t->i8_attn_sub = m->dim;
	t->i8_ffn = t->i8_attn_sub + gen_q_dim(m);
	t->i8_ffn_sub = t->i8_ffn + m->dim;
	t->i8_len = t->i8_ffn_sub + m->ffn;
	t->scales = 0;
	t->resid = at;
	at += m->dim;
	for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++) {
		assay_generate_matrix_dims(m, i, &rows, &cols);
		t->y[i] = at;
		at += rows;
	}
	t->att = at;
	t->f32_len = at + gen_q_dim(m);
}

static int64_t take(int64_t *at, int64_t n)
{
	int64_t begin = *at;

	*at += (n + 15) & ~(int64_t)15;
	return begin;
}

void assay_generate_work_layout(const struct gen_plan *p, struct gen_work *w)
{
	const struct gen_model *m = p->m;
	int64_t at = 0, rows, cols;

	w->resid = take(&at, p->batch * m->dim);
	for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++) {
		assay_generate_matrix_dims(m, i, &rows, &cols);
		w->y[i] = take(&at, p->batch * rows);
	}
	w->att = take(&at, p->batch * gen_q_dim(m));
	w->scale = take(&at, p->batch);
	w->scores_stride = (p->max_pos + 15) & ~(int64_t)15;
	w->scores = take(&at, w->scores_stride * GEN_ATTEND_HEADS * p->n_threads);
	w->norm_stride = (m->ffn > m->dim ? m->ffn : m->dim) + 16;
	w->norm = take(&at, w->norm_stride * p->n_threads);
	w->probs = take(&at, m->vocab);
	w->len = at;
}

int64_t assay_generate_trace_pos(const struct gen_plan *p, int64_t slot)
{
	if (p->n_slots == 1)
		return p->trace_first + p->trace_count - 1;
	return p->trace_first + slot * (p->trace_count - 1) / (p->n_slots - 1);
}

uint64_t assay_generate_model_bytes(const struct gen_plan *p)
{
	const struct gen_model *m = p->m;

	return (uint64_t)assay_generate_matrix_at(m, m->layers, 0) +
	       (uint64_t)m->layers * ASSAY_GENERATE_N_MATRICES * 4 +
	       (uint64_t)(m->tied ? 1 : 2) * (uint64_t)m->vocab * (uint64_t)p->row_bytes +
	       (uint64_t)assay_generate_norms_len(m) * 4;
}

uint64_t assay_generate_kv_bytes(const struct gen_plan *p)
{
	return (uint64_t)p->m->layers * 2 * (uint64_t)gen_kv_dim(p->m) * (uint64_t)p->n_blocks *
	       ASSAY_GENERATE_KV_BLOCK * 2;
}

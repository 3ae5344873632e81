/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens between the matrices, token by token and head by head. Each output is computed by one thread in one
 * order, whatever the number of threads and whatever else is in the batch, so that a token's numbers depend on its
 * prefix alone.
 */
#include "generate_engine.h"

#include <string.h>

#include "generate_head.h"

/* Parts that a thread takes when all are as fast: the last one ends at most a part after the others. */
#define HEAD_TURNS 32

struct range {
	int64_t begin, end;
};

static struct range share(int64_t n, uint32_t tid, uint32_t n_threads)
{
	return (struct range){ n * tid / n_threads, n * (tid + 1) / n_threads };
}

/* ---- trace ---- */

static void trace_f32(struct gen_engine *e, int64_t token, int layer, int64_t at, const float *src, int64_t n)
{
	float *dst = e->job->tensors[ASSAY_GENERATE_T_TRACE_F32].data;

	if (e->slots[token] >= 0)
		memcpy(dst + (e->slots[token] * e->plan.m->layers + layer) * e->trace.f32_len + at, src,
		       (size_t)n * sizeof(*dst));
}

static void trace_y(struct gen_engine *e, int64_t token, int layer, int matrix)
{
	int64_t rows, cols;

	assay_generate_matrix_dims(e->plan.m, matrix, &rows, &cols);
	trace_f32(e, token, layer, e->trace.y[matrix], e->f32 + e->work.y[matrix] + token * rows, rows);
}

/* ---- shared steps ---- */

static float *resid_of(struct gen_engine *e, int64_t token)
{
	return e->f32 + e->work.resid + token * e->plan.m->dim;
}

static float *y_of(struct gen_engine *e, int matrix, int64_t token)
{
	int64_t rows, cols;

	assay_generate_matrix_dims(e->plan.m, matrix, &rows, &cols);
	return e->f32 + e->work.y[matrix] + token * rows;
}

/* Norm number @norm of the layer, then int8; into row @token of the matrices' input, and into the trace. */
static void norm_quantize(struct gen_engine *e, uint32_t tid, int64_t token, enum assay_generate_norm norm,
			  const float *x, int64_t n)
{
	const int64_t at[ASSAY_GENERATE_N_NORMS] = { e->trace.i8_attn, e->trace.i8_attn_sub, e->trace.i8_ffn,
						     e->trace.i8_ffn_sub };
	float *out = e->f32 + e->work.norm + tid * e->work.norm_stride, *scale = e->f32 + e->work.scale + token;
	int8_t *q = e->i8 + token * n, *dst = e->job->tensors[ASSAY_GENERATE_T_TRACE_I8].data;

	e->vector->rmsnorm(x, e->norms + assay_generate_norm_at(e->plan.m, e->layer, norm), n, out);
	*scale = e->vector->quantize(out, n, q);
	if (e->slots[token] < 0)
		return;
	memcpy(dst + (e->slots[token] * e->plan.m->layers + e->layer) * e->trace.i8_len + at[norm], q, (size_t)n);
	trace_f32(e, token, e->layer, e->trace.scales + norm, scale, 1);
}

/* ---- passes ---- */

void assay_generate_pass_embed(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		const uint8_t *row = e->embedding + e->tokens[t] * e->plan.row_bytes;

		assay_generate_head_decode(e->plan.head, row, e->plan.m->dim, resid_of(e, t));
	}
}

/* The feed-forward of the layer before ends here: its output joins the residual. */
static void finish_layer(struct gen_engine *e, int64_t token, int layer)
{
	trace_y(e, token, layer, ASSAY_GENERATE_WDOWN);
	e->vector->add(resid_of(e, token), y_of(e, ASSAY_GENERATE_WDOWN, token), e->plan.m->dim);
}

void assay_generate_pass_attn_norm(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		if (e->layer > 0)
			finish_layer(e, t, e->layer - 1);
		trace_f32(e, t, e->layer, e->trace.resid, resid_of(e, t), e->plan.m->dim);
		norm_quantize(e, tid, t, ASSAY_GENERATE_NORM_ATTN, resid_of(e, t), e->plan.m->dim);
	}
}

/* Pool token that holds a position of the sequence. */
static int64_t pool_token(const struct gen_engine *e, int64_t pos)
{
	return (int64_t)e->seq.table[pos / ASSAY_GENERATE_KV_BLOCK] * ASSAY_GENERATE_KV_BLOCK +
	       pos % ASSAY_GENERATE_KV_BLOCK;
}

static void store_kv(struct gen_engine *e, int64_t token, int which, const float *x)
{
	const struct gen_model *m = e->plan.m;

	for (int32_t h = 0; h < m->kv_heads; h++) {
		uint16_t *dst = e->kv + gen_kv_at(&e->plan, e->layer, which, h, pool_token(e, e->pos + token));

		e->vector->to_bf16(x + h * m->head_dim, m->head_dim, dst);
	}
}

void assay_generate_pass_rope(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	const struct gen_model *m = e->plan.m;
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		const float *row = e->rope + (e->pos + t) * m->head_dim;
		float *q = y_of(e, ASSAY_GENERATE_WQ, t), *k = y_of(e, ASSAY_GENERATE_WK, t);

		trace_y(e, t, e->layer, ASSAY_GENERATE_WQ);
		trace_y(e, t, e->layer, ASSAY_GENERATE_WK);
		trace_y(e, t, e->layer, ASSAY_GENERATE_WV);
		for (int32_t h = 0; h < m->heads; h++)
			e->vector->rope(row, m->head_dim, q + h * m->head_dim);
		for (int32_t h = 0; h < m->kv_heads; h++)
			e->vector->rope(row, m->head_dim, k + h * m->head_dim);
		store_kv(e, t, 0, k);
		store_kv(e, t, 1, y_of(e, ASSAY_GENERATE_WV, t));
	}
}

/* @n heads of one token, which share keys and values, over all positions up to its own, block by block of the cache. */
static void attend(struct gen_engine *e, float *scores, int64_t token, int32_t head, int n)
{
	const struct gen_model *m = e->plan.m;
	const int64_t len = e->pos + token + 1, dim = m->head_dim, last = (len - 1) / ASSAY_GENERATE_KV_BLOCK;
	const int32_t kv_head = head / (m->heads / m->kv_heads);
	const float scale = 1.0f / __builtin_sqrtf((float)dim);
	const struct gen_heads h = { .n = n,
				     .dim = dim,
				     .stride = e->work.scores_stride,
				     .q = y_of(e, ASSAY_GENERATE_WQ, token) + head * dim,
				     .scores = scores,
				     .out = e->f32 + e->work.att + token * gen_q_dim(m) + head * dim };
	float sums[GEN_ATTEND_HEADS];

	for (int64_t b = 0; b <= last; b++) {
		const int64_t at = b * ASSAY_GENERATE_KV_BLOCK;

		e->vector->attend_keys(&h, at, e->kv + gen_kv_at(&e->plan, e->layer, 0, kv_head, pool_token(e, at)),
				       b < last ? ASSAY_GENERATE_KV_BLOCK : len - at);
	}
	for (int j = 0; j < n; j++) {
		for (int64_t at = 0; at < len; at++)
			scores[j * h.stride + at] *= scale;
		sums[j] = e->vector->softmax(scores + j * h.stride, len, 1.0f);
	}
	memset(h.out, 0, (size_t)(n * dim) * sizeof(*h.out));
	for (int64_t b = 0; b <= last; b++) {
		const int64_t at = b * ASSAY_GENERATE_KV_BLOCK;

		e->vector->attend_values(&h, at, e->kv + gen_kv_at(&e->plan, e->layer, 1, kv_head, pool_token(e, at)),
					 b < last ? ASSAY_GENERATE_KV_BLOCK : len - at);
	}
	for (int64_t i = 0; i < n * dim; i++)
		h.out[i] *= 1.0f / sums[i / dim];
}

/* Dealt out one by one, because later tokens see more positions; of few tokens in smaller parts, for all threads. */
void assay_generate_pass_attend(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	const int32_t heads = e->plan.m->heads;
	float *scores = e->f32 + e->work.scores + tid * e->work.scores_stride * GEN_ATTEND_HEADS;
	int n = GEN_ATTEND_HEADS;

	while (n > 1 && (heads / e->plan.m->kv_heads % n || (n_threads > 1 && e->n * heads / n < 4 * n_threads)))
		n /= 2;
	for (int64_t u = tid; u < e->n * heads / n; u += n_threads)
		attend(e, scores, u * n / heads, (int32_t)(u * n % heads), n);
}

void assay_generate_pass_attn_sub(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	int64_t dim = gen_q_dim(e->plan.m);
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		const float *att = e->f32 + e->work.att + t * dim;

		trace_f32(e, t, e->layer, e->trace.att, att, dim);
		norm_quantize(e, tid, t, ASSAY_GENERATE_NORM_ATTN_SUB, att, dim);
	}
}

void assay_generate_pass_ffn_norm(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		trace_y(e, t, e->layer, ASSAY_GENERATE_WO);
		e->vector->add(resid_of(e, t), y_of(e, ASSAY_GENERATE_WO, t), e->plan.m->dim);
		norm_quantize(e, tid, t, ASSAY_GENERATE_NORM_FFN, resid_of(e, t), e->plan.m->dim);
	}
}

void assay_generate_pass_ffn_act(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	int64_t ffn = e->plan.m->ffn;
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		float *gate = y_of(e, ASSAY_GENERATE_WGATE, t);

		trace_y(e, t, e->layer, ASSAY_GENERATE_WGATE);
		trace_y(e, t, e->layer, ASSAY_GENERATE_WUP);
		e->vector->relu2_gate(gate, y_of(e, ASSAY_GENERATE_WUP, t), ffn, gate);
		norm_quantize(e, tid, t, ASSAY_GENERATE_NORM_FFN_SUB, gate, ffn);
	}
}

void assay_generate_pass_last(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	int32_t dim = e->plan.m->dim;
	const float *gain = e->norms + assay_generate_norm_at(e->plan.m, e->plan.m->layers, 0);
	float *out = e->job->tensors[ASSAY_GENERATE_T_TRACE_LAST].data;
	struct range r = share(e->n, tid, n_threads);

	for (int64_t t = r.begin; t < r.end; t++) {
		float *dst;

		finish_layer(e, t, e->layer);
		if (e->slots[t] < 0)
			continue;
		dst = out + (int64_t)e->slots[t] * 2 * dim;
		memcpy(dst, resid_of(e, t), (size_t)dim * sizeof(*dst));
		e->vector->rmsnorm(resid_of(e, t), gain, dim, dst + dim);
	}
}

/*
 * Logits of the step's last token, from e->head_input. A thread takes rows as it comes to them, since one that shares
 * its core with others reads slower for a while.
 */
void assay_generate_pass_head(void *engine, uint32_t tid, uint32_t n_threads)
{
	struct gen_engine *e = engine;
	int64_t dim = e->plan.m->dim, vocab = e->plan.m->vocab, at;
	int64_t take =
		n_threads > 1 ? (vocab / (HEAD_TURNS * n_threads) / 16 + 1) * 16 : vocab; /* whole lines of logits */

	(void)tid;
	while ((at = atomic_fetch_add_explicit(&e->next_row, take, memory_order_relaxed)) < vocab)
		e->vector->head_rows(e->plan.head, e->head_input, e->head + at * e->plan.row_bytes,
				     vocab - at < take ? vocab - at : take, dim, e->logits + at);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each traced step from what it was given. Integers and sums of two floats are compared bit for bit; what was rounded
 * in other ways, in double precision with a tolerance.
 */
#include "generate_checking.h"

#include <math.h>
#include <string.h>

#include "assay/random.h"

#include "generate_head.h"

#define TOLERANCE 1e-4

static int64_t f32_at(const struct gen_checking *c, int64_t slot, int layer)
{
	return (slot * c->plan->m->layers + layer) * c->t.f32_len;
}

static int64_t i8_at(const struct gen_checking *c, int64_t slot, int layer)
{
	return (slot * c->plan->m->layers + layer) * c->t.i8_len;
}

/* ---- matrices, exactly ---- */

/* Which norm's int8 vector a matrix reads. */
static enum assay_generate_norm input_of(int matrix)
{
	return matrix <= ASSAY_GENERATE_WV      ? ASSAY_GENERATE_NORM_ATTN
	       : matrix == ASSAY_GENERATE_WO    ? ASSAY_GENERATE_NORM_ATTN_SUB
	       : matrix == ASSAY_GENERATE_WDOWN ? ASSAY_GENERATE_NORM_FFN_SUB
						: ASSAY_GENERATE_NORM_FFN;
}

static int64_t i8_of(const struct gen_trace *t, enum assay_generate_norm norm)
{
	const int64_t at[ASSAY_GENERATE_N_NORMS] = { t->i8_attn, t->i8_attn_sub, t->i8_ffn, t->i8_ffn_sub };

	return at[norm];
}

static void check_row(struct gen_checking *c, struct gen_finding *f, int layer, int matrix, int64_t row, int16_t *w)
{
	static const char *const names[ASSAY_GENERATE_N_MATRICES] = { "q", "k", "v", "o", "gate", "up", "down" };
	enum assay_generate_norm norm = input_of(matrix);
	int64_t rows, cols;

	assay_generate_matrix_dims(c->plan->m, matrix, &rows, &cols);
	assay_generate_oracle_row(&c->o, layer, matrix, row, w);
	for (int64_t s = 0; s < c->plan->n_slots; s++) {
		int64_t at = f32_at(c, s, layer) + c->t.y[matrix] + row;
		float x_scale = c->f32[f32_at(c, s, layer) + c->t.scales + norm];
		int32_t sum = assay_generate_oracle_dot(w, c->wide + i8_at(c, s, layer) + i8_of(&c->t, norm), cols);
		float want = (float)sum * (assay_generate_oracle_scale(&c->o, layer, matrix) * x_scale);

		if (memcmp(&want, &c->f32[at], sizeof(want)))
			assay_generate_found(f, STAGE_MATRICES, at, "trace_f32", at,
					     "row %lld of layer %d's %s at position %lld: got %.9g, want %.9g",
					     (long long)row, layer, names[matrix],
					     (long long)assay_generate_trace_pos(c->plan, s), (double)c->f32[at],
					     (double)want);
	}
}

static void check_matrices(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	int64_t rows, cols;

	for (int layer = 0; layer < c->plan->m->layers; layer++) {
		for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++) {
			assay_generate_matrix_dims(c->plan->m, i, &rows, &cols);
			for (int64_t row = tid; row < rows; row += n_threads)
				check_row(c, &c->found[tid], layer, i, row, (int16_t *)c->found[tid].buf);
		}
	}
}

/* ---- layers, from what they were given ---- */

/* A place in the trace: one token in one layer. */
struct spot {
	struct gen_checking *c;
	struct gen_finding *f;
	int64_t slot, pos;
	int layer;
	const float *rec;
	int64_t kv_head; /* under way */
};

static void bad(const struct spot *s, int64_t at, double got, double want, const char *what)
{
	int after = s->layer == s->c->plan->m->layers; /* what leaves the last layer has a tensor of its own */
	int64_t order = f32_at(s->c, s->slot, s->layer) + at;
	int64_t index = after ? s->slot * 2 * s->c->plan->m->dim + at - s->c->t.resid : order;

	assay_generate_found(s->f, STAGE_LAYERS, order, after ? "trace_last" : "trace_f32", index,
			     "%s of layer %d at position %lld: got %.9g, want %.9g", what, s->layer, (long long)s->pos,
			     got, want);
}

/* The norm of @x, quantized, against the int8 vector and scale in the trace. */
static void check_int8(const struct spot *s, enum assay_generate_norm norm, const double *x, int64_t n, double *z)
{
	const struct gen_checking *c = s->c;
	const int8_t *q = c->i8 + i8_at(c, s->slot, s->layer) + i8_of(&c->t, norm);
	double max = 0, scale = s->rec[c->t.scales + norm];

	assay_generate_oracle_norm(x, c->o.norms + assay_generate_norm_at(c->plan->m, s->layer, norm), n, z);
	for (int64_t i = 0; i < n; i++)
		max = fmax(max, fabs(z[i]));
	if (!(fabs(scale - max / 127) <= TOLERANCE * max / 127))
		bad(s, c->t.scales + norm, scale, max / 127, "activation scale");
	for (int64_t i = 0; i < n && max > 0; i++)
		if (!(fabs(q[i] - z[i] * 127 / max) <= 0.5 + 127 * TOLERANCE))
			bad(s, c->t.scales + norm, q[i], z[i] * 127 / max, "int8 activation");
}

/* The residual that enters this layer: the embedding, or the layer before and what its two halves added. */
static void check_residual(const struct spot *s, const float *got)
{
	const struct gen_checking *c = s->c;
	const float *before = s->rec - c->t.f32_len;
	const uint8_t *row = c->o.embedding + c->sequence[s->pos] * c->plan->row_bytes;
	float embedded[GEN_MAX_DIM];

	assay_generate_head_decode(c->plan->head, row, c->plan->m->dim, embedded);
	for (int32_t i = 0; i < c->plan->m->dim; i++) {
		float want;

		if (s->layer == 0)
			want = embedded[i];
		else
			want = before[c->t.resid + i] + before[c->t.y[ASSAY_GENERATE_WO] + i] +
			       before[c->t.y[ASSAY_GENERATE_WDOWN] + i];
		if (memcmp(&want, &got[i], sizeof(want)))
			bad(s, c->t.resid + i, (double)got[i], (double)want, "residual");
	}
}

static void load(double *dst, const float *src, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		dst[i] = src[i];
}

/* Two neighbours in bf16 differ by up to 2^-7 of their size; rounding in float and in double may fall to either. */
static void check_cached(const struct spot *s)
{
	const struct gen_checking *c = s->c;
	const struct gen_model *m = c->plan->m;
	double want[256], got[256];

	for (int which = 0; which < 2; which++) {
		for (int32_t h = 0; h < m->kv_heads; h++) {
			load(want, s->rec + c->t.y[which ? ASSAY_GENERATE_WV : ASSAY_GENERATE_WK] + h * m->head_dim,
			     m->head_dim);
			if (!which)
				assay_generate_oracle_rope(m, s->pos, want);
			assay_generate_oracle_kv(&c->o, s->layer, which, h, s->pos, got);
			for (int32_t i = 0; i < m->head_dim; i++)
				if (!(fabs(got[i] - want[i]) <= fabs(want[i]) / 128 + TOLERANCE))
					bad(s,
					    c->t.y[which ? ASSAY_GENERATE_WV : ASSAY_GENERATE_WK] + h * m->head_dim + i,
					    got[i], want[i], which ? "cached value" : "cached key");
		}
	}
}

static void cached_row(const void *state, int which, int64_t pos, double *x)
{
	const struct spot *s = state;

	assay_generate_oracle_kv(&s->c->o, s->layer, which, s->kv_head, pos, x);
}

static void check_attention(struct spot *s, double *scores)
{
	const struct gen_checking *c = s->c;
	const struct gen_model *m = c->plan->m;
	double q[256], want[256];

	for (int32_t h = 0; h < m->heads; h++) {
		const float *got = s->rec + c->t.att + h * m->head_dim;
		double max = 0;

		load(q, s->rec + c->t.y[ASSAY_GENERATE_WQ] + h * m->head_dim, m->head_dim);
		assay_generate_oracle_rope(m, s->pos, q);
		s->kv_head = h / (m->heads / m->kv_heads);
		assay_generate_oracle_attend(q, m->head_dim, s->pos, cached_row, s, scores, want);
		for (int32_t i = 0; i < m->head_dim; i++)
			max = fmax(max, fabs(want[i]));
		for (int32_t i = 0; i < m->head_dim; i++)
			if (!(fabs(got[i] - want[i]) <= TOLERANCE * max))
				bad(s, c->t.att + h * m->head_dim + i, (double)got[i], want[i], "attention");
	}
}

static void check_spot(struct spot *s)
{
	const struct gen_checking *c = s->c;
	const struct gen_model *m = c->plan->m;
	double *x = s->f->buf, *z = x + m->ffn + m->dim, *scores = z + m->ffn + m->dim;

	check_residual(s, s->rec + c->t.resid);
	load(x, s->rec + c->t.resid, m->dim);
	check_int8(s, ASSAY_GENERATE_NORM_ATTN, x, m->dim, z);
	check_cached(s);
	check_attention(s, scores);
	load(x, s->rec + c->t.att, gen_q_dim(m));
	check_int8(s, ASSAY_GENERATE_NORM_ATTN_SUB, x, gen_q_dim(m), z);
	for (int32_t i = 0; i < m->dim; i++)
		x[i] = s->rec[c->t.resid + i] + s->rec[c->t.y[ASSAY_GENERATE_WO] + i];
	check_int8(s, ASSAY_GENERATE_NORM_FFN, x, m->dim, z);
	for (int32_t i = 0; i < m->ffn; i++) {
		double g = fmax(s->rec[c->t.y[ASSAY_GENERATE_WGATE] + i], 0);

		x[i] = g * g * s->rec[c->t.y[ASSAY_GENERATE_WUP] + i];
	}
	check_int8(s, ASSAY_GENERATE_NORM_FFN_SUB, x, m->ffn, z);
}

static void check_layers(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	int32_t layers = c->plan->m->layers;

	for (int64_t u = tid; u < c->plan->n_slots * layers; u += n_threads) {
		struct spot s = { .c = c, .f = &c->found[tid], .slot = u / layers, .layer = (int)(u % layers) };

		s.pos = assay_generate_trace_pos(c->plan, s.slot);
		s.rec = c->f32 + f32_at(c, s.slot, s.layer);
		check_spot(&s);
	}
}

/* ---- the end of a step ---- */

static double draw(const struct gen_checking *c, int64_t pos)
{
	return (double)assay_uniform_f32(
		assay_random4(c->job->seed, ASSAY_GENERATE_SAMPLER_STREAM, (uint64_t)(pos + 1)).v[0]);
}

/*
 * Logits of a traced step in double. The token that it produced must be among those that the sampler may choose: for
 * greedy, no other is better by more than the tolerance; for topk, fewer than k are.
 */
static void check_token(struct gen_checking *c, struct gen_finding *f, int64_t slot, const double *x, int32_t token)
{
	const float *stored = c->job->tensors[ASSAY_GENERATE_T_LOGITS].data;
	int32_t vocab = c->plan->m->vocab, better = 0,
		allowed = c->plan->sampler == ASSAY_GENERATE_GREEDY ? 0 : ASSAY_GENERATE_TOP_K - 1;
	int last = slot == c->plan->n_slots - 1;
	double own = assay_generate_oracle_logit(&c->o, x, token), worst = 0, max = 0;
	int64_t worst_at = 0;

	for (int32_t v = 0; v < vocab; v++) {
		double want = assay_generate_oracle_logit(&c->o, x, v), err = fabs(stored[v] - want);

		better += want > own + TOLERANCE * fabs(own) + TOLERANCE;
		max = fmax(max, fabs(want));
		if (last && !(err <= worst)) {
			worst = err;
			worst_at = v;
		}
	}
	if (c->plan->sampler != ASSAY_GENERATE_TOPP && better > allowed)
		assay_generate_found(f, STAGE_LOGITS, slot, "tokens", -1,
				     "token %d at position %lld: %d others have greater logits", token,
				     (long long)assay_generate_trace_pos(c->plan, slot) + 1, better);
	if (!last)
		return;
	f->worst = worst / max;
	if (!(worst <= TOLERANCE * max))
		assay_generate_found(f, STAGE_LOGITS, worst_at, "logits", worst_at,
				     "logit is off by %.3g of the greatest", worst / max);
	if (!assay_generate_oracle_accepts(c->plan->sampler, stored, vocab,
					   draw(c, assay_generate_trace_pos(c->plan, slot)), token))
		assay_generate_found(f, STAGE_LOGITS, vocab, "tokens", c->plan->n_out - 1,
				     "token %d is not what the sampler chooses from the logits", token);
}

/* The token that the traced step produced; −1: the step was not followed by sampling. */
static int32_t produced(const struct gen_checking *c, int64_t slot)
{
	const int32_t *tokens = c->job->tensors[ASSAY_GENERATE_T_TOKENS].data;

	if (slot == c->plan->n_slots - 1)
		return tokens[c->plan->n_out - 1];
	if (c->plan->kind == GEN_PREFILL)
		return -1;
	return c->sequence[assay_generate_trace_pos(c->plan, slot) + 1];
}

static void check_logits(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	const struct gen_model *m = c->plan->m;
	const float *gain = c->o.norms + assay_generate_norm_at(m, m->layers, 0);
	struct gen_finding *f = &c->found[tid];
	double *x = f->buf, *z = x + m->dim;

	for (int64_t slot = tid; slot < c->plan->n_slots; slot += n_threads) {
		const float *got = c->last + slot * 2 * m->dim;
		struct spot s = { .c = c,
				  .f = f,
				  .slot = slot,
				  .pos = assay_generate_trace_pos(c->plan, slot),
				  .layer = m->layers,
				  .rec = c->f32 + f32_at(c, slot, m->layers) };

		check_residual(&s, got);
		load(x, got, m->dim);
		assay_generate_oracle_norm(x, gain, m->dim, z);
		for (int32_t i = 0; i < m->dim; i++)
			if (!(fabs(got[m->dim + i] - z[i]) <= TOLERANCE * (fabs(z[i]) + 1e-3)))
				assay_generate_found(f, STAGE_LOGITS, slot, "trace_last", (slot * 2 + 1) * m->dim + i,
						     "final norm: got %.9g, want %.9g", (double)got[m->dim + i], z[i]);
		assay_generate_oracle_head_input(&c->o, got + m->dim, z);
		if (produced(c, slot) >= 0)
			check_token(c, f, slot, z, produced(c, slot));
	}
}

void assay_generate_check_steps(struct gen_checking *c)
{
	c->job->host->parallel(c->job, check_matrices, c);
	c->job->host->parallel(c->job, check_layers, c);
	c->job->host->parallel(c->job, check_logits, c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that start from the tokens alone. They cannot be tight, because int8 rounding amplifies differences of one
 * unit in the last place to about one percent; they find whole parts that are missing, exchanged or applied to the
 * wrong position.
 */
#include "generate_checking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LAYER_POSITIONS 64
#define FIRST_LAYER_TOLERANCE 0.02 /* of a head's root mean square: some steps of int8 and one of bf16 */
#define REPLAY_TOLERANCE      0.25 /* likewise, of a position and layer: int8 noise, which adds up to 0.08 in 125m */

/* |got − want|² and |want|² of one cached head row. */
static void distance(const struct gen_checking *c, int layer, int which, int64_t h, int64_t pos, const double *want,
		     double *err2, double *ref2)
{
	double got[256];

	assay_generate_oracle_kv(&c->o, layer, which, h, pos, got);
	for (int32_t i = 0; i < c->plan->m->head_dim; i++) {
		*err2 += (got[i] - want[i]) * (got[i] - want[i]);
		*ref2 += want[i] * want[i];
	}
}

/* Key or value of one position: all rows of the matrix. */
static void project(const struct gen_checking *c, int layer, int matrix, const int16_t *q, double scale, int16_t *w,
		    double *y)
{
	int64_t rows, cols;

	assay_generate_matrix_dims(c->plan->m, matrix, &rows, &cols);
	for (int64_t r = 0; r < rows; r++) {
		assay_generate_oracle_row(&c->o, layer, matrix, r, w);
		y[r] = assay_generate_oracle_dot(w, q, cols) * scale *
		       (double)assay_generate_oracle_scale(&c->o, layer, matrix);
	}
}

static void check_position(struct gen_checking *c, struct gen_finding *f, int64_t pos)
{
	const struct gen_model *m = c->plan->m;
	double *x = f->buf, *z = x + m->dim, *y = z + m->dim, scale;
	int16_t *q = (int16_t *)(y + gen_kv_dim(m)), *w = q + m->dim;

	assay_generate_oracle_embed(&c->o, c->sequence[pos], x);
	assay_generate_oracle_norm(x, c->o.norms + assay_generate_norm_at(m, 0, ASSAY_GENERATE_NORM_ATTN), m->dim, z);
	scale = assay_generate_oracle_quantize(z, m->dim, q);
	for (int which = 0; which < 2; which++) {
		project(c, 0, which ? ASSAY_GENERATE_WV : ASSAY_GENERATE_WK, q, scale, w, y);
		for (int32_t h = 0; h < m->kv_heads; h++) {
			double err2 = 0, ref2 = 0;

			if (!which)
				assay_generate_oracle_rope(m, pos, y + h * m->head_dim);
			distance(c, 0, which, h, pos, y + h * m->head_dim, &err2, &ref2);
			if (!(err2 <= FIRST_LAYER_TOLERANCE * FIRST_LAYER_TOLERANCE * ref2))
				assay_generate_found(
					f, STAGE_FIRST_LAYER, pos, "trace_f32", -1,
					"%s of the first layer at position %lld, head %d, is off by %.3g of its size",
					which ? "value" : "key", (long long)pos, h, sqrt(err2 / ref2));
		}
	}
}

static void check_positions(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	int64_t n = c->len < FIRST_LAYER_POSITIONS ? c->len : FIRST_LAYER_POSITIONS;

	for (int64_t i = tid; i < n; i += n_threads)
		check_position(c, &c->found[tid], n == 1 ? 0 : i * (c->len - 1) / (n - 1));
}

void assay_generate_check_first_layer(struct gen_checking *c)
{
	c->job->host->parallel(c->job, check_positions, c);
}

/* ---- replay ---- */

struct replay {
	struct gen_checking *c;
	double *x, *y[ASSAY_GENERATE_N_MATRICES], *att, *z, *h, *scale, *scores; /* [len][…] but for z, h and scores */
	int16_t *q, *w;
	int64_t kv_head; /* under way */
};

/* Carve @n doubles out of @memory, which may be NULL to count only. */
static double *reserve(double *memory, int64_t *at, int64_t n)
{
	int64_t begin = *at;

	*at += n;
	return memory ? memory + begin : NULL;
}

/* Returns how many doubles it takes. */
static int64_t lay_out(struct replay *r, double *memory)
{
	const struct gen_model *m = r->c->plan->m;
	int64_t len = r->c->len, wide = m->ffn > m->dim ? m->ffn : m->dim, at = 0, rows, cols;

	r->x = reserve(memory, &at, len * m->dim);
	for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++) {
		assay_generate_matrix_dims(m, i, &rows, &cols);
		r->y[i] = reserve(memory, &at, len * rows);
	}
	r->att = reserve(memory, &at, len * gen_q_dim(m));
	r->z = reserve(memory, &at, wide);
	r->h = reserve(memory, &at, wide);
	r->scale = reserve(memory, &at, len);
	r->scores = reserve(memory, &at, len);
	r->q = (int16_t *)reserve(memory, &at, (len * wide + 3) / 4);
	r->w = (int16_t *)reserve(memory, &at, (wide + 3) / 4);
	return at;
}

static void replay_norm(struct replay *r, int layer, enum assay_generate_norm norm, const double *x, int64_t t,
			int64_t n)
{
	assay_generate_oracle_norm(x, r->c->o.norms + assay_generate_norm_at(r->c->plan->m, layer, norm), n, r->z);
	r->scale[t] = assay_generate_oracle_quantize(r->z, n, r->q + t * n);
}

static void replay_matrix(struct replay *r, int layer, int matrix)
{
	int64_t rows, cols;
	double w_scale = assay_generate_oracle_scale(&r->c->o, layer, matrix);

	assay_generate_matrix_dims(r->c->plan->m, matrix, &rows, &cols);
	for (int64_t row = 0; row < rows; row++) {
		assay_generate_oracle_row(&r->c->o, layer, matrix, row, r->w);
		for (int64_t t = 0; t < r->c->len; t++)
			r->y[matrix][t * rows + row] =
				assay_generate_oracle_dot(r->w, r->q + t * cols, cols) * r->scale[t] * w_scale;
	}
}

static void replayed_row(const void *state, int which, int64_t pos, double *x)
{
	const struct replay *r = state;
	const struct gen_model *m = r->c->plan->m;

	memcpy(x, r->y[which ? ASSAY_GENERATE_WV : ASSAY_GENERATE_WK] + pos * gen_kv_dim(m) + r->kv_head * m->head_dim,
	       (size_t)m->head_dim * sizeof(*x));
}

static void compare_cache(const struct replay *r, int layer, int64_t pos)
{
	struct gen_checking *c = r->c;

	for (int which = 0; which < 2; which++) {
		double err2 = 0, ref2 = 0;

		for (int32_t h = 0; h < c->plan->m->kv_heads; h++)
			distance(c, layer, which, h, pos,
				 r->y[which ? ASSAY_GENERATE_WV : ASSAY_GENERATE_WK] + pos * gen_kv_dim(c->plan->m) +
					 h * c->plan->m->head_dim,
				 &err2, &ref2);
		if (!(err2 <= REPLAY_TOLERANCE * REPLAY_TOLERANCE * ref2))
			assay_generate_found(&c->found[0], STAGE_REPLAY, layer * c->len + pos, "trace_f32", -1,
					     "%s of layer %d at position %lld is off by %.3g of its size",
					     which ? "value" : "key", layer, (long long)pos, sqrt(err2 / ref2));
	}
}

static void replay_attention(struct replay *r, int layer)
{
	const struct gen_model *m = r->c->plan->m;

	for (int64_t t = 0; t < r->c->len; t++)
		replay_norm(r, layer, ASSAY_GENERATE_NORM_ATTN, r->x + t * m->dim, t, m->dim);
	for (int i = ASSAY_GENERATE_WQ; i <= ASSAY_GENERATE_WV; i++)
		replay_matrix(r, layer, i);
	for (int64_t t = 0; t < r->c->len; t++) {
		for (int32_t h = 0; h < m->heads; h++)
			assay_generate_oracle_rope(m, t, r->y[ASSAY_GENERATE_WQ] + t * gen_q_dim(m) + h * m->head_dim);
		for (int32_t h = 0; h < m->kv_heads; h++)
			assay_generate_oracle_rope(m, t, r->y[ASSAY_GENERATE_WK] + t * gen_kv_dim(m) + h * m->head_dim);
		compare_cache(r, layer, t);
	}
	for (int64_t t = 0; t < r->c->len; t++) {
		double *att = r->att + t * gen_q_dim(m);

		for (int32_t h = 0; h < m->heads; h++) {
			r->kv_head = h / (m->heads / m->kv_heads);
			assay_generate_oracle_attend(r->y[ASSAY_GENERATE_WQ] + t * gen_q_dim(m) + h * m->head_dim,
						     m->head_dim, t, replayed_row, r, r->scores, att + h * m->head_dim);
		}
		replay_norm(r, layer, ASSAY_GENERATE_NORM_ATTN_SUB, att, t, gen_q_dim(m));
	}
	replay_matrix(r, layer, ASSAY_GENERATE_WO);
}

static void replay_feed_forward(struct replay *r, int layer)
{
	const struct gen_model *m = r->c->plan->m;

	for (int64_t t = 0; t < r->c->len; t++) {
		double *x = r->x + t * m->dim;

		for (int32_t i = 0; i < m->dim; i++)
			x[i] += r->y[ASSAY_GENERATE_WO][t * m->dim + i];
		replay_norm(r, layer, ASSAY_GENERATE_NORM_FFN, x, t, m->dim);
	}
	replay_matrix(r, layer, ASSAY_GENERATE_WGATE);
	replay_matrix(r, layer, ASSAY_GENERATE_WUP);
	for (int64_t t = 0; t < r->c->len; t++) {
		for (int32_t i = 0; i < m->ffn; i++) {
			double g = fmax(r->y[ASSAY_GENERATE_WGATE][t * m->ffn + i], 0);

			r->h[i] = g * g * r->y[ASSAY_GENERATE_WUP][t * m->ffn + i];
		}
		replay_norm(r, layer, ASSAY_GENERATE_NORM_FFN_SUB, r->h, t, m->ffn);
	}
	replay_matrix(r, layer, ASSAY_GENERATE_WDOWN);
	for (int64_t i = 0; i < r->c->len * m->dim; i++)
		r->x[i] += r->y[ASSAY_GENERATE_WDOWN][i];
}

static void compare_logits(const struct replay *r)
{
	struct gen_checking *c = r->c;
	const struct gen_model *m = c->plan->m;
	const float *stored = c->job->tensors[ASSAY_GENERATE_T_LOGITS].data;
	double err2 = 0, ref2 = 0;

	assay_generate_oracle_norm(r->x + (c->len - 1) * m->dim, c->o.norms + assay_generate_norm_at(m, m->layers, 0),
				   m->dim, r->z);
	for (int32_t v = 0; v < m->vocab; v++) {
		double want = assay_generate_oracle_logit(&c->o, r->z, v);

		err2 += (stored[v] - want) * (stored[v] - want);
		ref2 += want * want;
	}
	if (!(err2 <= REPLAY_TOLERANCE * REPLAY_TOLERANCE * ref2))
		assay_generate_found(&c->found[0], STAGE_REPLAY, (int64_t)1 << 40, "logits", -1,
				     "logits are off by %.3g of their size", sqrt(err2 / ref2));
}

int assay_generate_check_replay(struct gen_checking *c)
{
	const struct gen_model *m = c->plan->m;
	struct replay r = { .c = c };
	double *memory = malloc((size_t)lay_out(&r, NULL) * sizeof(*memory));

	if (!memory)
		return -1;
	lay_out(&r, memory);
	for (int64_t t = 0; t < c->len; t++)
		assay_generate_oracle_embed(&c->o, c->sequence[t], r.x + t * m->dim);
	for (int layer = 0; layer < m->layers; layer++) {
		replay_attention(&r, layer);
		replay_feed_forward(&r, layer);
	}
	compare_logits(&r);
	free(memory);
	return 0;
}

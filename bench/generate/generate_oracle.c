/* SPDX-License-Identifier: Apache-2.0 */
/* Plain loops, in the order in which the papers write the formulas. */
#include "generate_checking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/float_bits.h"
#include "assay/op_blocks.h"

#include "generate_head.h"

void assay_generate_oracle_row(const struct gen_oracle *o, int layer, int matrix, int64_t row, int16_t *w)
{
	int64_t rows, cols;
	const uint8_t *src;

	assay_generate_matrix_dims(o->plan->m, matrix, &rows, &cols);
	src = o->weights + assay_generate_matrix_at(o->plan->m, layer, matrix) + row * (cols / 4);
	for (int64_t b = 0; b < cols / ASSAY_I2S_BLOCK; b++)
		for (int group = 0; group < 4; group++)
			for (int j = 0; j < ASSAY_I2S_BLOCK_BYTES; j++)
				w[b * ASSAY_I2S_BLOCK + group * 32 + j] =
					(int16_t)((src[b * ASSAY_I2S_BLOCK_BYTES + j] >> (6 - 2 * group) & 3) - 1);
}

int32_t assay_generate_oracle_dot(const int16_t *w, const int16_t *x, int64_t n)
{
	int32_t sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += w[i] * x[i];
	return sum;
}

float assay_generate_oracle_scale(const struct gen_oracle *o, int layer, int matrix)
{
	return o->scales[layer * ASSAY_GENERATE_N_MATRICES + matrix];
}

double assay_generate_oracle_bf16(uint16_t x)
{
	uint32_t bits = (uint32_t)x << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

void assay_generate_oracle_embed(const struct gen_oracle *o, int32_t token, double *x)
{
	float row[GEN_MAX_DIM];

	assay_generate_head_decode(o->plan->head, o->embedding + token * o->plan->row_bytes, o->plan->m->dim, row);
	for (int32_t i = 0; i < o->plan->m->dim; i++)
		x[i] = row[i];
}

void assay_generate_oracle_norm(const double *x, const float *gain, int64_t n, double *out)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	for (int64_t i = 0; i < n; i++)
		out[i] = x[i] / sqrt(sum / (double)n + (double)ASSAY_GENERATE_EPS) * gain[i];
}

double assay_generate_oracle_quantize(const double *x, int64_t n, int16_t *q)
{
	double max = 0;

	for (int64_t i = 0; i < n; i++)
		max = fmax(max, fabs(x[i]));
	for (int64_t i = 0; i < n; i++)
		q[i] = (int16_t)(max > 0 ? nearbyint(x[i] * 127 / max) : 0);
	return max / 127;
}

void assay_generate_oracle_rope(const struct gen_model *m, int64_t pos, double *x)
{
	int32_t half = m->head_dim / 2;

	for (int32_t i = 0; i < half; i++) {
		double angle = (double)pos * exp(-m->ln_theta * i / half);
		double a = x[i], b = x[i + half];

		x[i] = a * cos(angle) - b * sin(angle);
		x[i + half] = a * sin(angle) + b * cos(angle);
	}
}

void assay_generate_oracle_kv(const struct gen_oracle *o, int layer, int which, int64_t kv_head, int64_t pos, double *x)
{
	int64_t token = (int64_t)o->table[pos / ASSAY_GENERATE_KV_BLOCK] * ASSAY_GENERATE_KV_BLOCK +
			pos % ASSAY_GENERATE_KV_BLOCK;
	const uint16_t *row = o->kv + gen_kv_at(o->plan, layer, which, kv_head, token);

	for (int32_t i = 0; i < o->plan->m->head_dim; i++)
		x[i] = assay_generate_oracle_bf16(row[i]);
}

void assay_generate_oracle_attend(const double *q, int64_t dim, int64_t pos, assay_generate_oracle_kv_fn row,
				  const void *state, double *scores, double *out)
{
	double r[256], max = -INFINITY, sum = 0;

	for (int64_t p = 0; p <= pos; p++) {
		double dot = 0;

		row(state, 0, p, r);
		for (int64_t i = 0; i < dim; i++)
			dot += q[i] * r[i];
		scores[p] = dot / sqrt((double)dim);
		max = fmax(max, scores[p]);
	}
	memset(out, 0, (size_t)dim * sizeof(*out));
	for (int64_t p = 0; p <= pos; p++) {
		double w = exp(scores[p] - max);

		sum += w;
		row(state, 1, p, r);
		for (int64_t i = 0; i < dim; i++)
			out[i] += w * r[i];
	}
	for (int64_t i = 0; i < dim; i++)
		out[i] /= sum;
}

double assay_generate_oracle_logit(const struct gen_oracle *o, const double *x, int32_t token)
{
	float row[GEN_MAX_DIM];
	double sum = 0;

	assay_generate_head_decode(o->plan->head, o->head + token * o->plan->row_bytes, o->plan->m->dim, row);
	for (int32_t i = 0; i < o->plan->m->dim; i++)
		sum += (double)row[i] * x[i];
	return sum;
}

/* @n values that share a scale. */
static void round_input(enum assay_generate_head head, const float *x, int64_t n, double *out)
{
	float most = 0, by, scale;

	for (int64_t i = 0; i < n; i++)
		most = fabsf(x[i]) > fabsf(most) ? x[i] : most;
	by = head == ASSAY_GENERATE_HEAD_Q6_K ? -127 / most : 127 / fabsf(most);
	scale = head == ASSAY_GENERATE_HEAD_Q6_K   ? 1 / by
		: head == ASSAY_GENERATE_HEAD_Q8_0 ? assay_f32_of_half(assay_half_of_f32(fabsf(most) / 127))
						   : fabsf(most) / 127;
	for (int64_t i = 0; i < n; i++)
		out[i] = most != 0 ? fmin(nearbyintf(x[i] * by), 127) * (double)scale : 0;
}

void assay_generate_oracle_head_input(const struct gen_oracle *o, const float *x, double *out)
{
	const enum assay_generate_head head = o->plan->head;
	const int64_t dim = o->plan->m->dim;
	const int64_t size = head == ASSAY_GENERATE_HEAD_Q8_0 ? 32 : head == ASSAY_GENERATE_HEAD_Q6_K ? 256 : dim;

	for (int64_t i = 0; i < dim; i++)
		out[i] = x[i];
	for (int64_t at = 0; at < dim && head > ASSAY_GENERATE_HEAD_F32; at += size)
		round_input(head, x + at, size, out + at);
}

/* ---- sampling ---- */

struct ranked {
	float logit;
	int32_t id;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->logit != y->logit)
		return x->logit > y->logit ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int drawn(enum assay_generate_sampler kind, const struct ranked *r, int32_t vocab, double u, int32_t token)
{
	double total = 0, kept = 0, at = 0, p;
	int32_t n = 0;

	for (int32_t i = 0; i < vocab; i++)
		total += exp(((double)r[i].logit - r[0].logit) / (double)ASSAY_GENERATE_TEMPERATURE);
	while (n < vocab &&
	       (kind == ASSAY_GENERATE_TOPK ? n < ASSAY_GENERATE_TOP_K : kept < (double)ASSAY_GENERATE_TOP_P * total))
		kept += exp(((double)r[n++].logit - r[0].logit) / (double)ASSAY_GENERATE_TEMPERATURE);
	for (int32_t i = 0; i < n; i++, at += p) {
		p = exp(((double)r[i].logit - r[0].logit) / (double)ASSAY_GENERATE_TEMPERATURE) / kept;
		if (r[i].id == token)
			return u >= at - 1e-4 && u <= at + p + 1e-4;
	}
	return 0;
}

int assay_generate_oracle_accepts(enum assay_generate_sampler kind, const float *logits, int32_t vocab, double u,
				  int32_t token)
{
	struct ranked *r = malloc((size_t)vocab * sizeof(*r));
	int ok;

	if (!r)
		return 0;
	for (int32_t i = 0; i < vocab; i++)
		r[i] = (struct ranked){ logits[i], i };
	qsort(r, (size_t)vocab, sizeof(*r), by_rank);
	ok = kind == ASSAY_GENERATE_GREEDY ? r[0].id == token : drawn(kind, r, vocab, u, token);
	free(r);
	return ok;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second, plain implementation of the transformer's parts: double precision, libm, weights decoded from I2_S one by
 * one. It shares the model's constants with the driver and none of its code.
 */
#ifndef ASSAY_GENERATE_ORACLE_H
#define ASSAY_GENERATE_ORACLE_H

#include "generate_model.h"

struct gen_oracle {
	const struct gen_plan *plan;
	const uint8_t *weights;
	const float *scales, *norms;
	const uint16_t *embedding, *head, *kv;
	const int32_t
		*table; /* block of the KV cache for each ASSAY_GENERATE_KV_BLOCK positions of the checked sequence */
};

/* Ternary weights of one row of a matrix, as −1, 0, +1. They and int8 values travel as int16, whose sums are fast. */
void assay_generate_oracle_row(const struct gen_oracle *o, int layer, int matrix, int64_t row, int16_t *w);
int32_t assay_generate_oracle_dot(const int16_t *w, const int16_t *x, int64_t n);
float assay_generate_oracle_scale(const struct gen_oracle *o, int layer, int matrix);

double assay_generate_oracle_bf16(uint16_t x);
void assay_generate_oracle_embed(const struct gen_oracle *o, int32_t token, double *x);
void assay_generate_oracle_norm(const double *x, const float *gain, int64_t n, double *out);
/* Round to int8 by absmax; returns the scale. */
double assay_generate_oracle_quantize(const double *x, int64_t n, int16_t *q);
void assay_generate_oracle_rope(const struct gen_model *m, int64_t pos, double *x);
/* Key or value of a position as the cache holds it. */
void assay_generate_oracle_kv(const struct gen_oracle *o, int layer, int which, int64_t kv_head, int64_t pos,
			      double *x);
/* One head: @q rotated, over positions 0 … pos; keys and values come from @row (state, which, position). @scores: pos
 * + 1. */
typedef void (*assay_generate_oracle_kv_fn)(const void *state, int which, int64_t pos, double *x);
void assay_generate_oracle_attend(const double *q, int64_t dim, int64_t pos, assay_generate_oracle_kv_fn row,
				  const void *state, double *scores, double *out);
double assay_generate_oracle_logit(const struct gen_oracle *o, const double *x, int32_t token);

/*
 * Would a sampler that sees @logits and draws u ∈ [0, 1) choose @token? 1 yes, 0 no; a draw within 1e-4 of the border
 * of a candidate's interval counts for both neighbours.
 */
int assay_generate_oracle_accepts(enum assay_generate_sampler kind, const float *logits, int32_t vocab, double u,
				  int32_t token);

#endif

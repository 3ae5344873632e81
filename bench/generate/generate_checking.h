/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the generate oracle share: the checked sequence, buffers, and the first thing found wrong. Then the
 * checks of generate_steps.c and generate_replay.c, which know nothing of each other; generate_check.c runs them.
 */
#ifndef ASSAY_GENERATE_CHECKING_H
#define ASSAY_GENERATE_CHECKING_H

#include "generate_model.h"
#include "generate_stats.h"

/* ---- the oracle ---- */

/*
 * The oracle: a second, plain implementation of the transformer's parts: double precision, libm, weights decoded from
 * I2_S one by one. It shares the model's constants with the driver and none of its code.
 */
struct gen_oracle {
	const struct gen_plan *plan;
	const uint8_t *weights;
	const float *scales, *norms;
	const uint8_t *embedding, *head;
	const uint16_t *kv;
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
/* The final norm as products of the head take it, rounded by its definition. */
void assay_generate_oracle_head_input(const struct gen_oracle *o, const float *x, double *out);
double assay_generate_oracle_logit(const struct gen_oracle *o, const double *x, int32_t token);

/*
 * Would a sampler that sees @logits and draws u ∈ [0, 1) choose @token? 1 yes, 0 no; a draw within 1e-4 of the border
 * of a candidate's interval counts for both neighbours.
 */
int assay_generate_oracle_accepts(enum assay_generate_sampler kind, const float *logits, int32_t vocab, double u,
				  int32_t token);

/* ---- what is checked ---- */

/* Where something was found wrong, in the order in which it is told. */
enum gen_stage {
	STAGE_TOKENS,
	STAGE_MATRICES,
	STAGE_LAYERS,
	STAGE_LOGITS,
	STAGE_FIRST_LAYER,
	STAGE_REPLAY,
};

/* One per thread; the lowest order wins, so that the verdict does not depend on the number of threads. */
struct gen_finding {
	int64_t order; /* INT64_MAX: nothing */
	const char *tensor;
	int64_t index;
	double worst; /* greatest relative error of a logit */
	double *buf;  /* scratch, struct gen_checking.buf_len doubles */
	char text[160];
};

struct gen_checking {
	const struct assay_job *job;
	const struct gen_stats *stats;
	const struct gen_plan *plan;
	struct gen_oracle o;
	struct gen_trace t;
	const int8_t *i8;
	int16_t *wide; /* the same values as int16 */
	const float *f32, *last;
	int32_t *sequence; /* tokens of the checked sequence */
	int64_t len;       /* how many of them went through the layers */
	int64_t buf_len;
	struct gen_finding *found; /* [n_threads] */
};

/*
 * Buffers, and what the outputs of @job consist of; the sequence is left to be filled. 0, or −1: out of memory.
 * assay_generate_checking_release() in either case.
 */
int assay_generate_checking_init(struct gen_checking *c, const struct assay_job *job);
void assay_generate_checking_release(struct gen_checking *c);

/* Keep this finding if it comes before the one there is. @stage, @at: the order. */
void assay_generate_found(struct gen_finding *f, enum gen_stage stage, int64_t at, const char *tensor, int64_t index,
			  const char *fmt, ...) ASSAY_PRINTF(6, 7);

/* The verdict: the first of all findings. */
void assay_generate_conclude(const struct gen_checking *c, struct assay_check *out);

/* generate_steps.c: matrices, layers and the end of each traced step from what that step was given. */
void assay_generate_check_steps(struct gen_checking *c);
/* generate_replay.c: keys and values of the first layer at up to 64 positions, from the tokens alone. */
void assay_generate_check_first_layer(struct gen_checking *c);
/* The whole sequence from the tokens alone: all keys and values, and the last logits. 0, or −1: out of memory. */
int assay_generate_check_replay(struct gen_checking *c);

#endif

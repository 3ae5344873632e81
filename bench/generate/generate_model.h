/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes of the generate ops: model sizes, what an axis setting asks for, and where each number lies in the
 * tensors. Pure functions of the shape; shared by describe, fill, the driver and the oracle, which share nothing else.
 */
#ifndef ASSAY_GENERATE_MODEL_H
#define ASSAY_GENERATE_MODEL_H

#include "assay/plugin.h"
#include "assay/op_generate.h"
#include "assay/op_matmul.h"

enum gen_kind { GEN_PREFILL, GEN_DECODE, GEN_CHAT };

enum {
	GEN_AXIS_MODEL = 0,
	GEN_PREFILL_PP = 1,
	GEN_PREFILL_BATCH = 2,
	GEN_DECODE_PP = 1,
	GEN_DECODE_TG = 2,
	GEN_DECODE_SAMPLER = 3,
	GEN_CHAT_USERS = 1,
	GEN_CHAT_TURNS = 2,
	GEN_CHAT_SYSTEM = 3,
	GEN_CHAT_MESSAGE = 4,
	GEN_CHAT_REPLY = 5,
	GEN_CHAT_KV_BLOCKS = 6,
	GEN_CHAT_BATCH = 7,
};

#define GEN_MAX_SLOTS 512
#define GEN_FEW_SLOTS 8

#define GEN_ATTEND_HEADS 4    /* that attend together, at most; for each a thread has a row of scores */
#define GEN_MAX_DIM      4096 /* no model is wider */

struct gen_model {
	const char *name;
	int32_t layers, dim, heads, kv_heads, head_dim, ffn, vocab, max_context;
	int32_t tied;
	double ln_theta; /* natural logarithm of the rotary base */
};

/* One axis setting, worked out. */
struct gen_plan {
	const struct gen_model *m;
	enum gen_kind kind;
	enum assay_generate_sampler sampler;
	enum assay_generate_head head;
	uint32_t n_threads;
	int64_t pp, tg, batch;
	int64_t users, turns, system, message, reply;
	int64_t row_bytes; /* of the embedding and the head */
	int64_t max_pos;   /* tokens of the longest sequence */
	int64_t n_blocks;  /* of the KV cache */
	int64_t n_prompt;  /* prefill, decode: pp; chat: system, then [users][turns][message] */
	int64_t n_out;     /* prefill: 1; decode: tg + 1, the first being what the prompt predicts; chat:
			     [users][turns][reply] */
	int64_t n_slots;   /* traced positions */
	int64_t trace_first,
		trace_count; /* positions from which the slots are spread evenly; of the last chat request */
};

/* Where the members of a trace record begin, in elements. Each is what one matrix read or wrote for the traced token.
 */
struct gen_trace {
	int64_t i8_attn, i8_attn_sub, i8_ffn, i8_ffn_sub, i8_len;
	int64_t scales;                       /* four activation scales, in the order of the int8 vectors */
	int64_t resid;                        /* residual that enters the layer */
	int64_t y[ASSAY_GENERATE_N_MATRICES]; /* outputs of the matrices (q and k before the rotation) */
	int64_t att;                          /* attention output before its sub-norm */
	int64_t f32_len;
};

/* Where the activations of a step lie in ASSAY_GENERATE_T_WORK_F32, in floats; all begin on 64 bytes. */
struct gen_work {
	int64_t resid, y[ASSAY_GENERATE_N_MATRICES], att, scale, scores, scores_stride, norm, norm_stride, probs, len;
};

/* Bind @shape; negative with the reason where its values do not go together. */
int assay_generate_plan(enum gen_kind kind, const struct assay_shape *shape, struct gen_plan *plan,
			struct assay_reason *why);
/* Rows and columns of a matrix. */
void assay_generate_matrix_dims(const struct gen_model *m, int matrix, int64_t *rows, int64_t *cols);
/* Byte at which a matrix begins in ASSAY_GENERATE_T_WEIGHTS; layer == m->layers: the size of the tensor. */
int64_t assay_generate_matrix_at(const struct gen_model *m, int layer, int matrix);
/* Float at which a gain begins in ASSAY_GENERATE_T_NORMS; layer == m->layers: the final norm. */
int64_t assay_generate_norm_at(const struct gen_model *m, int layer, int norm);
int64_t assay_generate_norms_len(const struct gen_model *m);
/* Standard deviation of the embedding's values. */
float assay_generate_embedding_std(const struct gen_model *m);
void assay_generate_trace_layout(const struct gen_model *m, struct gen_trace *t);
void assay_generate_work_layout(const struct gen_plan *p, struct gen_work *w);
/* Position that a trace slot records. */
int64_t assay_generate_trace_pos(const struct gen_plan *p, int64_t slot);
/* Prompt length of a chat request in its @turn-th turn, counted from 0. */
int64_t assay_generate_chat_len(const struct gen_plan *p, int64_t turn);
uint64_t assay_generate_model_bytes(const struct gen_plan *p);
uint64_t assay_generate_kv_bytes(const struct gen_plan *p);

static inline int64_t gen_kv_dim(const struct gen_model *m)
{
	return (int64_t)m->kv_heads * m->head_dim;
}

static inline int64_t gen_q_dim(const struct gen_model *m)
{
	return (int64_t)m->heads * m->head_dim;
}

/* Element of ASSAY_GENERATE_T_KV where the row of a pool token begins; which: 0 key, 1 value. */
static inline int64_t gen_kv_at(const struct gen_plan *p, int64_t layer, int which, int64_t kv_head, int64_t token)
{
	return (((layer * 2 + which) * p->m->kv_heads + kv_head) * p->n_blocks * ASSAY_GENERATE_KV_BLOCK + token) *
	       p->m->head_dim;
}

#endif

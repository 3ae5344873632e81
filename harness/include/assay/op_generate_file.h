/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of generate.file may rely on: a decoder of the llama family as a GGUF file describes it, and how it is
 * computed. All outputs are bit-identical for all variants and numbers of threads, so what rounds is defined:
 *
 *	sums        of products go into 64 lanes, element i into lane i mod 64, fused, in rising order from 0; then
 *	            lanes (i, i+32), (i, i+16), (i, i+8), (i, i+4), (i, i+2), (i, i+1) are added, and to that, fused,
 *	            the products that fill no 64. Those of rows of q8_0, q6_k, tq1_0 and tq2_0 are as assay/op_blocks.h
 *	            says
 *	inputs      of a matrix are rounded as ggml does for its type: f16 and bf16 to that type, those of rows of
 *	            blocks as assay/op_blocks.h says, i2_s a token in eight bits
 *	RMSNorm     y = x · s · gain, s = 1 / sqrt(Σx² / n + eps), squares in float and their sum in double, in eight
 *	            lanes that are added as above
 *	rotation    angles in float, each that of the pair before times freq_base^(−2/n), as ggml has them;
 *	            (fma(a, cos, −(b·sin)), fma(a, sin, b·cos))
 *	attention   score = (Σ q·k) · (1 / sqrt(head_dim)); e = exp(score − greatest); share = e · (1 / Σe), where
 *	            each 16 are added in a tree, and these sums in double; value = Σ share·v, summed over positions
 *	            as the products of a row are
 *	exp(x)      2^n · p(b) with x = n·ln 2 + b, as ggml has it for AVX-512
 */
#ifndef ASSAY_OP_GENERATE_FILE_H
#define ASSAY_OP_GENERATE_FILE_H

#include <stdbool.h>

#include "op_blocks.h"
#include "plugin.h"

/* Names the files of generate.file: see ASSAY_OP_MODEL_AXIS. */
#define ASSAY_MODEL_VARIABLE "ASSAY_MODEL"
/* Has the text of --prompt; unset: prompts are random tokens. */
#define ASSAY_PROMPT_VARIABLE "ASSAY_PROMPT"

enum assay_file_matrix_index {
	ASSAY_FILE_WQ,
	ASSAY_FILE_WK,
	ASSAY_FILE_WV,
	ASSAY_FILE_WO,
	ASSAY_FILE_WGATE,
	ASSAY_FILE_WUP,
	ASSAY_FILE_WDOWN,
	ASSAY_FILE_N_MATRICES
};

enum assay_file_norm_index {
	ASSAY_FILE_NORM_ATTN,
	ASSAY_FILE_NORM_FFN,
	ASSAY_FILE_NORM_ATTN_SUB, /* NULL where the architecture has none, as is the next one */
	ASSAY_FILE_NORM_FFN_SUB,
	ASSAY_FILE_N_NORMS
};

/* How the inputs of a matrix are rounded. */
enum assay_file_rounding {
	ASSAY_FILE_ROUND_F32,
	ASSAY_FILE_ROUND_F16,
	ASSAY_FILE_ROUND_BF16,
	ASSAY_FILE_ROUND_BLOCKS_32,
	ASSAY_FILE_ROUND_BLOCKS_256,
	ASSAY_FILE_ROUND_TOKEN,
	ASSAY_FILE_N_ROUNDINGS
};

/* Rows of blocks in the file. */
struct assay_file_matrix {
	const uint8_t *data;
	int64_t rows, cols, row_bytes, blocks; /* blocks of a row */
	float scale;                           /* of all values */
	uint32_t rounding;                     /* enum assay_file_rounding */
	uint32_t type;                         /* as GGUF numbers it */
	void (*decode)(const uint8_t *blocks, size_t n, float *out);
};

struct assay_file_layer {
	struct assay_file_matrix matrices[ASSAY_FILE_N_MATRICES];
	const float *norms[ASSAY_FILE_N_NORMS];
};

struct assay_file_model {
	int32_t layers, dim, heads, kv_heads, head_dim, ffn, vocab, context;
	int32_t rotated; /* values of a head that are rotated */
	bool halves;     /* pairs are i and i + rotated/2, otherwise 2i and 2i + 1 */
	bool relu2;      /* the feed-forward has max(gate, 0)² in place of gate / (1 + exp(−gate)) */
	float eps, freq_base;
	const struct assay_file_layer *layer;
	struct assay_file_matrix embedding, head;
	const float *norm; /* before the head */
};

enum {
	ASSAY_FILE_T_PROMPT = 0, /* I32 [pp] */
	ASSAY_FILE_T_TOKENS = 1, /* I32 [tg], output: what follows the prompt */
	ASSAY_FILE_T_LOGITS = 2, /* F32 [vocab], output: of the last step */
	ASSAY_FILE_T_ROPE = 3,   /* F32 [pp + tg][rotated]: cosines, then sines, of a position */
	ASSAY_FILE_T_KV = 4,     /* F32 [layers][2][kv_heads][pp + tg][head_dim], scratch */
	ASSAY_FILE_T_WORK = 5,   /* F32, scratch: assay_file_work_len() values */
	ASSAY_FILE_N_TENSORS = 6,
};

/* Indices into assay_shape.axis. */
enum { ASSAY_FILE_AXIS_MODEL = 0, ASSAY_FILE_AXIS_PP = 1, ASSAY_FILE_AXIS_TG = 2, ASSAY_FILE_N_AXES = 3 };

/* Most tokens of one step. */
#define ASSAY_FILE_BATCH 64

/* What job->op_state begins with. The variant sets `step` when it prepares. */
struct assay_file_state {
	uint32_t size;
	uint32_t reserved;
	struct assay_file_model model;
	int64_t max_pos;
	/*
	 * Tokens at the positions @pos and on, whose predecessors' keys and values are there, at most ASSAY_FILE_BATCH.
	 * Logits of the last into ASSAY_FILE_T_LOGITS if @want_logits.
	 */
	void (*step)(struct assay_job *job, const int32_t *tokens, int64_t n, int64_t pos, int want_logits);
	/* The op's run(), in terms of step(). */
	int (*play)(struct assay_job *job);
};

/* Where a step keeps its values in ASSAY_FILE_T_WORK: parts of ASSAY_FILE_BATCH rows. */
struct assay_file_work {
	int64_t x, norm, rounded[ASSAY_FILE_N_ROUNDINGS], q, k, v, att, gate, up, row, scores, len;
	int64_t row_stride; /* of the decoded row of each thread */
};

/* Room for the scores of a thread: whole lanes. */
static inline int64_t assay_file_scores_stride(int64_t max_pos)
{
	return (max_pos + 15) & ~(int64_t)15;
}

static inline struct assay_file_work assay_file_work(const struct assay_file_model *m, int64_t max_pos,
						     uint32_t n_threads)
{
	const int64_t most = m->ffn > m->dim ? m->ffn : m->dim, q = (int64_t)m->heads * m->head_dim,
		      wide = most > q ? most : q, kv = (int64_t)m->kv_heads * m->head_dim;
	struct assay_file_work w;
	int64_t at = 0;

	w.row_stride = (wide + 255) & ~(int64_t)255;
	w.x = at;
	at += ASSAY_FILE_BATCH * m->dim;
	w.norm = at;
	at += ASSAY_FILE_BATCH * wide;
	for (int i = 0; i < ASSAY_FILE_N_ROUNDINGS; i++) {
		w.rounded[i] = at;
		at += i ? ASSAY_FILE_BATCH * wide : 0;
	}
	w.q = at;
	at += ASSAY_FILE_BATCH * q;
	w.k = at;
	at += ASSAY_FILE_BATCH * kv;
	w.v = at;
	at += ASSAY_FILE_BATCH * kv;
	w.att = at;
	at += ASSAY_FILE_BATCH * wide;
	w.gate = at;
	at += ASSAY_FILE_BATCH * m->ffn;
	w.up = at;
	at += ASSAY_FILE_BATCH * m->ffn;
	w.row = at;
	at += n_threads * w.row_stride;
	w.scores = at;
	at += n_threads * assay_file_scores_stride(max_pos);
	w.len = at;
	return w;
}

#endif

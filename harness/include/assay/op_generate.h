/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of the generate ops may rely on: tensors, constants and the facts of a shape. The ops run a transformer
 * of the BitNet b1.58 architecture. On the CPU their own driver runs it on the variants of matmul.ternary; a device has
 * variants that do the whole of it. All outputs are bit-identical everywhere, so what rounds is defined:
 *
 *	sums        of squares, of products and of exponentials go into 16 lanes, element i into lane i mod 16, in
 *	            rising order from 0; then lanes (i, i+8), (i, i+4), (i, i+2), (i, i+1) are added
 *	RMSNorm     y = x · s · gain, s = 1 / sqrt(Σx² / n + eps)
 *	int8        q = x · (127 / max|x|), ties to even; the scale is max|x| / 127, and 0 where all are 0
 *	attention   score = (Σ q·k) · (1 / sqrt(head_dim)); e = exp(score − greatest); value = (Σ e·v over positions in
 *	            rising order, from 0) · (1 / Σe)
 *	feed-forward  max(gate, 0)² · up
 *	logits      of the last norm, by the rows of the head (below): of bf16 and f32 as sums are above; of q8_0 and
 *		    q6_k as in op_blocks.h; of i8_row from the input as int8 like above, in exact sums of eight lanes,
 *		    elements 4j to 4j + 3 of each 32 in lane j, which are added as those of op_blocks.h, times
 *		    (scale of the row · scale of the input)
 *	exp(x)      n = rint(x · 0x1.715476p0), r = (x − n · 0x1.62ep-1) − n · 0x1.0bfbe8p-15, the Taylor polynomial of
 *	            degree 7 in Horner's form times 2^n, and 0 below −87
 *
 * Each operation rounds to float; nothing is fused. Keys and values are rounded to bf16, ties to even.
 */
#ifndef ASSAY_OP_GENERATE_H
#define ASSAY_OP_GENERATE_H

#include "plugin.h"

/* The ternary matrices of a layer, in the order of their bytes and scales. */
enum assay_generate_matrix {
	ASSAY_GENERATE_WQ,
	ASSAY_GENERATE_WK,
	ASSAY_GENERATE_WV,
	ASSAY_GENERATE_WO,
	ASSAY_GENERATE_WGATE,
	ASSAY_GENERATE_WUP,
	ASSAY_GENERATE_WDOWN,
	ASSAY_GENERATE_N_MATRICES
};

/* The norm gains of a layer, in the order of their floats. */
enum assay_generate_norm {
	ASSAY_GENERATE_NORM_ATTN,
	ASSAY_GENERATE_NORM_ATTN_SUB,
	ASSAY_GENERATE_NORM_FFN,
	ASSAY_GENERATE_NORM_FFN_SUB,
	ASSAY_GENERATE_N_NORMS
};

enum assay_generate_sampler { ASSAY_GENERATE_GREEDY, ASSAY_GENERATE_TOPK, ASSAY_GENERATE_TOPP };

/*
 * Formats of the rows of the embedding and the head, values of the axis `head`. A row of i8_row is a float,
 * max|x| / 127, and codes of eight bits; the others are as in GGUF files.
 */
enum assay_generate_head {
	ASSAY_GENERATE_HEAD_BF16,
	ASSAY_GENERATE_HEAD_F32,
	ASSAY_GENERATE_HEAD_Q8_0,
	ASSAY_GENERATE_HEAD_Q6_K,
	ASSAY_GENERATE_HEAD_I8_ROW,
	ASSAY_GENERATE_N_HEADS
};

/* Where that axis is; generate.chat has none, its head is bf16. */
enum { ASSAY_GENERATE_PREFILL_HEAD = 3, ASSAY_GENERATE_DECODE_HEAD = 4 };

enum {
	ASSAY_GENERATE_T_WEIGHTS = 0,    /* U8: all ternary matrices, I2_S, by layer, then enum assay_generate_matrix */
	ASSAY_GENERATE_T_SCALES = 1,     /* F32 [layers][7] */
	ASSAY_GENERATE_T_EMBEDDING = 2,  /* [tables][vocab] rows: the embedding and, where not tied, the head */
	ASSAY_GENERATE_T_NORMS = 3,      /* F32: per layer enum assay_generate_norm, then the final norm */
	ASSAY_GENERATE_T_PROMPT = 4,     /* I32; prefill, decode: [prompt] */
	ASSAY_GENERATE_T_TOKENS = 5,     /* I32, output; prefill: 1; decode: what the prompt predicts, then generated */
	ASSAY_GENERATE_T_LOGITS = 6,     /* F32 [vocab], output: of the last step */
	ASSAY_GENERATE_T_TRACE_I8 = 7,   /* I8 [slots][layers][i8_len], output: int8 inputs of the matrices */
	ASSAY_GENERATE_T_TRACE_F32 = 8,  /* F32 [slots][layers][f32_len], output */
	ASSAY_GENERATE_T_TRACE_LAST = 9, /* F32 [slots][2][dim], output: residual after all layers, and its norm */
	ASSAY_GENERATE_T_ROPE = 10,      /* F32 [max_pos][head_dim]: cosines, then sines, of a position */
	ASSAY_GENERATE_T_KV = 11, /* BF16 [layers][2][kv_heads][pool_tokens][head_dim], scratch; check() reads it */
	ASSAY_GENERATE_T_WORK_F32 = 12, /* F32, scratch: activations of one step */
	ASSAY_GENERATE_T_WORK_I8 = 13,  /* I8 [batch][max(dim, ffn)], scratch: quantized activations */
	ASSAY_GENERATE_T_WORK_I32 = 14, /* I32, scratch: from `table_at` on the blocks of the last sequence, which
					    check() reads; all else is the driver's */
	ASSAY_GENERATE_N_TENSORS = 15,
};

/* Indices of the ops' counters. */
enum {
	ASSAY_GENERATE_KV_LOOKUPS, /* tokens needed by requests */
	ASSAY_GENERATE_KV_HITS,    /* of them, reused from the prefix cache */
	ASSAY_GENERATE_KV_MISSES,
	ASSAY_GENERATE_KV_EVICTIONS, /* blocks */
	ASSAY_GENERATE_TOKENS,       /* tokens that went through the layers */
	ASSAY_GENERATE_PREFILL_STEPS,
	ASSAY_GENERATE_DECODE_STEPS,
	ASSAY_GENERATE_FALLBACKS, /* of the matrix products inside */
};

#define ASSAY_GENERATE_EPS            1e-5f /* of every RMSNorm */
#define ASSAY_GENERATE_KV_BLOCK       16    /* tokens in a block of the KV cache */
#define ASSAY_GENERATE_TEMPERATURE    0.8f  /* of topk and topp */
#define ASSAY_GENERATE_TOP_K          40
#define ASSAY_GENERATE_TOP_P          0.95f
#define ASSAY_GENERATE_SAMPLER_STREAM 77 /* Philox stream of the sampler's draws, indexed by position */

enum assay_generate_time { ASSAY_GENERATE_RUN, ASSAY_GENERATE_FIRST_TOKEN, ASSAY_GENERATE_NEXT_TOKEN };

/* Of generate.chat: one message of a user, and what the prefix cache has of what stands before it. */
struct assay_generate_request {
	int64_t user, turn;
	int64_t prompt; /* tokens up to the end of the message */
	int64_t known;  /* of them, those whose keys and values are in the cache */
};

/* What job->op_state begins with: one axis setting, worked out. `size` is the op's own; it grows at its end. */
struct assay_generate_state {
	uint32_t size;
	uint32_t sampler; /* enum assay_generate_sampler */
	int32_t layers, dim, heads, kv_heads, head_dim, ffn, vocab;
	uint32_t n_slots;               /* traced positions */
	int64_t prompt, generated;      /* tokens; prefill generates none but the first */
	int64_t batch;                  /* maximum number of tokens in one step */
	int64_t max_pos;                /* tokens of the longest sequence */
	int64_t pool_tokens;            /* that the KV cache holds */
	int64_t slot_first, slot_count; /* positions over which the slots are spread, see the function below */

	/* Within a layer of the weights, which has `layer_bytes`: where a matrix begins, and its size. */
	int64_t layer_bytes, matrix_at[ASSAY_GENERATE_N_MATRICES];
	int64_t rows[ASSAY_GENERATE_N_MATRICES], cols[ASSAY_GENERATE_N_MATRICES];
	/* Likewise of the norms, in floats; after all layers comes the final norm. */
	int64_t layer_norms, norm_at[ASSAY_GENERATE_N_NORMS];
	int64_t head_at; /* where the head begins in the embedding tensor, in bytes */

	/*
	 * A record of the trace, in elements: int8 vectors in the order of the norms; their four scales; the residual
	 * that enters the layer; outputs of the matrices (q and k before the rotation); attention before its sub-norm.
	 */
	int64_t i8_at[ASSAY_GENERATE_N_NORMS], i8_len;
	int64_t scales_at, resid_at, y_at[ASSAY_GENERATE_N_MATRICES], att_at, f32_len;
	int64_t table_at; /* in WORK_I32: the block of each 16 positions */

	/* Tell how long something took, for the metrics; from the thread that calls run(). */
	void (*took)(const struct assay_job *job, uint32_t what, double seconds);

	/* Chat: conversations, which take turns; tokens of each part, and blocks of the longest sequence. */
	int64_t users, turns, system, message, reply, table_len;
	/*
	 * Chat: all requests of a run in order, and the blocks of the KV cache that each one has, in a row of table_len
	 * blocks. @prompt is that tensor in host memory; replies take no part, since equal beginnings have equal
	 * replies. @counters: lookups, hits and evictions. 0, or negative after host->fail.
	 */
	int (*requests)(const struct assay_job *job, const int32_t *prompt, struct assay_generate_request *out,
			int32_t *tables, uint64_t counters[3]);

	int64_t row_bytes; /* of the embedding and the head */
	uint32_t head;     /* enum assay_generate_head */
};

/* The position that a slot of the trace records. */
static inline int64_t assay_generate_slot_position(const struct assay_generate_state *s, int64_t slot)
{
	if (s->n_slots == 1)
		return s->slot_first + s->slot_count - 1;
	return s->slot_first + slot * (s->slot_count - 1) / (s->n_slots - 1);
}

#endif

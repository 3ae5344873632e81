/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transformer: runs tokens through the layers on a matmul.ternary variant, keeps keys and values, and gives logits.
 * It knows blocks of the KV cache by their numbers, not who else uses them. One engine per job; allocates in init only.
 */
#ifndef ASSAY_GENERATE_ENGINE_H
#define ASSAY_GENERATE_ENGINE_H

#include <stdatomic.h>

#include "generate_model.h"
#include "generate_prefix.h"
#include "generate_vector.h"

enum gen_phase {
	GEN_PHASE_EMBEDDING,
	GEN_PHASE_ATTENTION,
	GEN_PHASE_FFN,
	GEN_PHASE_HEAD,
	GEN_PHASE_SAMPLING,
	GEN_N_PHASES
};

/* One weight matrix as a job of the matmul variant. */
struct gen_matmul {
	struct assay_job job;
	struct assay_shape shape;
	struct assay_tensor tensors[ASSAY_TERNARY_N_TENSORS];
	struct assay_tensor_spec specs[ASSAY_TERNARY_N_TENSORS];
};

struct gen_engine {
	struct gen_plan plan;
	struct gen_trace trace;
	struct gen_work work;
	const struct assay_job *job;
	const struct assay_variant *kernel;
	const struct gen_vector *vector;
	struct gen_matmul *matmuls; /* [layers][ASSAY_GENERATE_N_MATRICES] */
	int n_prepared;             /* how many of them the variant has prepared */

	/* The variant's counts for its own op, of which only fallbacks are published. */
	uint64_t kernel_counters[ASSAY_MAX_COUNTERS];

	const uint8_t *embedding, *head; /* rows of plan.row_bytes */
	const void *head_input;          /* of the step under way, as products of that head take it */
	const float *norms, *rope;
	float *f32, *logits;
	uint16_t *kv;
	int8_t *i8;
	int32_t *heap, *slots; /* slots: trace slot of each token of the step, or −1 */
	struct gen_sequence seq;
	struct gen_prefix prefix;

	/* The step under way. */
	const int32_t *tokens;
	int64_t n, pos;
	int layer, tracing;

	/* Of the run under way. */
	uint64_t phase_ns[GEN_N_PHASES], mark_ns;
	uint64_t n_tokens, n_prefill_steps, n_decode_steps;
	uint64_t fallbacks_before;
	int32_t first; /* decode: what the prompt predicts */

	/* The first row of the head that no thread has taken yet; alone on its cache line. */
	_Alignas(64) _Atomic int64_t next_row;
};

/* Bytes of the block that init takes with host->alloc. */
uint64_t assay_generate_engine_bytes(const struct gen_plan *plan);
/* Elements of ASSAY_GENERATE_T_WORK_I32. */
int64_t assay_generate_work_i32_len(const struct gen_plan *plan);

/* NULL after host->fail. job must outlive the engine. */
struct gen_engine *assay_generate_engine_new(struct assay_job *job, const struct gen_plan *plan);
void assay_generate_engine_free(struct gen_engine *e, struct assay_job *job);

/*
 * Run @n ≤ batch tokens at positions seq.len … of the engine's sequence, whose table must reach that far, and set
 * e->logits from the last one where @want_logits. 0, or the matmul variant's error. seq.len is the caller's to advance.
 */
int assay_generate_step(struct gen_engine *e, const int32_t *tokens, int64_t n, int want_logits);

/* Close the time since the last mark into a phase; assay_generate_clock() sets the mark without counting. */
void assay_generate_phase(struct gen_engine *e, enum gen_phase phase);
void assay_generate_clock(struct gen_engine *e);

/* The passes over tokens and heads, for the layer in e->layer (assay_parallel_fn). */
void assay_generate_pass_embed(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_attn_norm(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_rope(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_attend(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_attn_sub(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_ffn_norm(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_ffn_act(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_last(void *engine, uint32_t tid, uint32_t n_threads);
void assay_generate_pass_head(void *engine, uint32_t tid, uint32_t n_threads);

/* ---- the sampler ---- */

/*
 * The next token from logits: greedy, top-k or top-p at a fixed temperature. A draw depends on (seed, position) alone
 * and candidates have one order (logit falling, then token id rising), so equal logits give equal tokens everywhere.
 */
struct gen_sampling {
	enum assay_generate_sampler kind;
	int32_t top_k; /* topk: candidates kept */
	float top_p;   /* topp: the smallest set of candidates with at least this share of the probability */
	float temperature;
	uint64_t seed;
	const struct gen_vector *vector;
};

/*
 * @probs: room for @vocab floats; @heap: room for @vocab ids. The draw is that of @position in the sequence.
 * Of several equal greatest logits the lowest id wins.
 */
int32_t assay_generate_sample(const struct gen_sampling *s, const float *logits, int32_t vocab, int64_t position,
			      float *probs, int32_t *heap);

#endif

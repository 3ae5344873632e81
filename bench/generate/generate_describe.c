/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, tensor sizes and cost of the generate ops. */
#include <string.h>

#include "../generate_ops.h"
#include "generate_engine.h"
#include "generate_head.h"
#include "generate_stats.h"

static const char *const model_names[] = { "tiny", "125m", "700m", "2b", "nano", NULL };
static const char *const sampler_names[] = { "greedy", "topk", "topp", NULL };

#define AXIS_MODEL                                                                                                     \
	{                                                                                                              \
		"model", "model size", model_names, 0, 4, INT64_MIN                                                    \
	}

#define AXIS_HEAD                                                                                                      \
	{                                                                                                              \
		"head", "format of the rows of embedding and head", assay_generate_head_names, 0,                      \
			ASSAY_GENERATE_N_HEADS - 1, 0                                                                  \
	}

const struct assay_axis assay_generate_prefill_axes[4] = {
	AXIS_MODEL,
	{ "pp", "prompt, tokens", NULL, 1, 4096, 128 },
	{ "batch", "maximum number of tokens in one step", NULL, 1, 4096, 512 },
	AXIS_HEAD,
};

const struct assay_axis assay_generate_decode_axes[5] = {
	AXIS_MODEL,
	{ "pp", "context before the first generated token, tokens", NULL, 1, 4095, 64 },
	{ "tg", "generated, tokens", NULL, 1, 4095, 64 },
	{ "sampler", "greedy; topk: 40 at temperature 0.8; topp: 0.95 at temperature 0.8", sampler_names, 0, 2, 0 },
	AXIS_HEAD,
};

const struct assay_axis assay_generate_chat_axes[8] = {
	AXIS_MODEL,
	{ "users", "conversations, interleaved turn by turn", NULL, 1, 64, 2 },
	{ "turns", "turns of each conversation", NULL, 1, 64, 4 },
	{ "system", "prompt that all conversations begin with, tokens", NULL, 0, 4096, 64 },
	{ "message", "message of a user, tokens", NULL, 1, 1024, 24 },
	{ "reply", "answer to a message, tokens", NULL, 1, 1024, 8 },
	{ "kv_blocks", "capacity of the KV cache, blocks of 16 tokens; 0: enough for all conversations", NULL, 0, 65536,
	  0 },
	{ "batch", "maximum number of tokens in one step", NULL, 1, 4096, 512 },
};

/* ---- cost ---- */

static double ternary_params(const struct gen_model *m)
{
	return 4.0 * (double)assay_generate_matrix_at(m, m->layers, 0);
}

/* Add a step of @n tokens after @before others: every weight once, the keys and values there are, one row of logits or
 * none. */
static void add_step(const struct gen_plan *p, double before, double n, int logits, struct assay_cost *c)
{
	const struct gen_model *m = p->m;
	double seen = n * before + n * (n + 1) / 2; /* (token, position) pairs */

	c->ops += 2 * ternary_params(m) * n + 4 * seen * (double)gen_q_dim(m) * m->layers;
	c->bytes_read += ternary_params(m) / 4 + (before + n) * (double)gen_kv_dim(m) * 4 * m->layers;
	c->bytes_written += n * (double)gen_kv_dim(m) * 4 * m->layers;
	if (!logits)
		return;
	c->ops += 2.0 * m->vocab * m->dim;
	c->bytes_read += (double)m->vocab * (double)p->row_bytes;
	c->bytes_written += 4.0 * m->vocab;
}

static void add_prompt(const struct gen_plan *p, int64_t from, int64_t to, struct assay_cost *c)
{
	for (int64_t at = from; at < to; at += p->batch) {
		int64_t n = to - at < p->batch ? to - at : p->batch;

		add_step(p, (double)at, (double)n, at + n == to, c);
	}
}

/* Each conversation computes what no cache could know: the first one the system prompt, all of them messages and
 * replies. */
static void add_chat(const struct gen_plan *p, struct assay_cost *c)
{
	for (int64_t user = 0; user < p->users; user++) {
		for (int64_t turn = 0; turn < p->turns; turn++) {
			int64_t end = assay_generate_chat_len(p, turn);
			int64_t known = turn ? end - p->message - 1 : user ? p->system : 0;

			add_prompt(p, known, end, c);
			for (int64_t i = 1; i < p->reply; i++)
				add_step(p, (double)(end + i - 1), 1, 1, c);
		}
	}
}

static void set_cost(const struct gen_plan *p, struct assay_cost *c)
{
	memset(c, 0, sizeof(*c));
	c->arith = ASSAY_ARITH_TERNARY;
	c->item_name = "tokens";
	if (p->kind == GEN_PREFILL) {
		add_prompt(p, 0, p->pp, c);
		c->items = (double)p->pp;
	} else if (p->kind == GEN_DECODE) {
		for (int64_t i = 0; i < p->tg; i++)
			add_step(p, (double)(p->pp + i), 1, 1, c);
		c->items = (double)p->tg;
	} else {
		add_chat(p, c);
		c->items = (double)p->n_out;
	}
}

/* ---- tensors ---- */

static void tensor(struct assay_problem *out, int index, const char *name, enum assay_role role, enum assay_dtype dtype,
		   const int64_t dims[4])
{
	struct assay_tensor_spec *s = &out->tensors[index];

	s->name = name;
	s->role = role;
	s->dtype = dtype;
	s->rank = 0;
	s->flags = 0;
	s->filled = ASSAY_FILLED_BY_OP;
	while (s->rank < 4 && dims[s->rank]) {
		s->dims[s->rank] = dims[s->rank];
		s->rank++;
	}
}

#define DIMS(...) ((const int64_t[4]){ __VA_ARGS__ })

static void set_tensors(const struct gen_plan *p, struct assay_problem *out)
{
	const struct gen_model *m = p->m;
	struct gen_trace t;
	struct gen_work w;

	assay_generate_trace_layout(m, &t);
	assay_generate_work_layout(p, &w);
	out->n_tensors = ASSAY_GENERATE_N_TENSORS;
	tensor(out, ASSAY_GENERATE_T_WEIGHTS, "weights", ASSAY_INPUT, ASSAY_U8,
	       DIMS(assay_generate_matrix_at(m, m->layers, 0)));
	tensor(out, ASSAY_GENERATE_T_SCALES, "scales", ASSAY_INPUT, ASSAY_F32,
	       DIMS(m->layers, ASSAY_GENERATE_N_MATRICES));
	tensor(out, ASSAY_GENERATE_T_EMBEDDING, "embedding", ASSAY_INPUT,
	       p->head == ASSAY_GENERATE_HEAD_BF16  ? ASSAY_BF16
	       : p->head == ASSAY_GENERATE_HEAD_F32 ? ASSAY_F32
						    : ASSAY_U8,
	       DIMS(m->tied ? 1 : 2, m->vocab, p->head <= ASSAY_GENERATE_HEAD_F32 ? m->dim : p->row_bytes));
	out->tensors[ASSAY_GENERATE_T_WEIGHTS].filled = ASSAY_FILLED_TERNARY;
	out->tensors[ASSAY_GENERATE_T_WEIGHTS].filled_stream = ASSAY_GENERATE_T_WEIGHTS;
	if (p->head <= ASSAY_GENERATE_HEAD_F32)
		out->tensors[ASSAY_GENERATE_T_EMBEDDING].filled =
			p->head == ASSAY_GENERATE_HEAD_F32 ? ASSAY_FILLED_NORMAL_F32 : ASSAY_FILLED_NORMAL_BF16;
	out->tensors[ASSAY_GENERATE_T_EMBEDDING].filled_stream = ASSAY_GENERATE_T_EMBEDDING;
	out->tensors[ASSAY_GENERATE_T_EMBEDDING].filled_scale = assay_generate_embedding_std(m);
	tensor(out, ASSAY_GENERATE_T_NORMS, "norms", ASSAY_INPUT, ASSAY_F32, DIMS(assay_generate_norms_len(m)));
	tensor(out, ASSAY_GENERATE_T_PROMPT, "prompt", ASSAY_INPUT, ASSAY_I32, DIMS(p->n_prompt));
	tensor(out, ASSAY_GENERATE_T_TOKENS, "tokens", ASSAY_OUTPUT, ASSAY_I32, DIMS(p->n_out));
	tensor(out, ASSAY_GENERATE_T_LOGITS, "logits", ASSAY_OUTPUT, ASSAY_F32, DIMS(m->vocab));
	tensor(out, ASSAY_GENERATE_T_TRACE_I8, "trace_i8", ASSAY_OUTPUT, ASSAY_I8,
	       DIMS(p->n_slots, m->layers, t.i8_len));
	tensor(out, ASSAY_GENERATE_T_TRACE_F32, "trace_f32", ASSAY_OUTPUT, ASSAY_F32,
	       DIMS(p->n_slots, m->layers, t.f32_len));
	tensor(out, ASSAY_GENERATE_T_TRACE_LAST, "trace_last", ASSAY_OUTPUT, ASSAY_F32, DIMS(p->n_slots, 2, m->dim));
	tensor(out, ASSAY_GENERATE_T_ROPE, "rope", ASSAY_INPUT, ASSAY_F32, DIMS(p->max_pos, m->head_dim));
	tensor(out, ASSAY_GENERATE_T_KV, "kv_cache", ASSAY_SCRATCH, ASSAY_BF16,
	       DIMS((int64_t)m->layers * 2, m->kv_heads, p->n_blocks * ASSAY_GENERATE_KV_BLOCK, m->head_dim));
	tensor(out, ASSAY_GENERATE_T_WORK_F32, "activations", ASSAY_SCRATCH, ASSAY_F32, DIMS(w.len));
	tensor(out, ASSAY_GENERATE_T_WORK_I8, "activations_i8", ASSAY_SCRATCH, ASSAY_I8,
	       DIMS(p->batch, m->ffn > m->dim ? m->ffn : m->dim));
	tensor(out, ASSAY_GENERATE_T_WORK_I32, "work", ASSAY_SCRATCH, ASSAY_I32, DIMS(assay_generate_work_i32_len(p)));
}

static int describe(enum gen_kind kind, const struct assay_shape *shape, struct assay_problem *out,
		    struct assay_reason *why)
{
	struct gen_plan p;

	if (assay_generate_plan(kind, shape, &p, why))
		return -1;
	set_tensors(&p, out);
	set_cost(&p, &out->cost);
	out->extra_bytes = assay_generate_engine_bytes(&p) + ((sizeof(struct gen_stats) + 63) & ~(uint64_t)63);
	return 0;
}

int assay_generate_prefill_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why)
{
	return describe(GEN_PREFILL, shape, out, why);
}

int assay_generate_decode_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe(GEN_DECODE, shape, out, why);
}

int assay_generate_chat_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe(GEN_CHAT, shape, out, why);
}

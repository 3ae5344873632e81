/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a shape, as variants that do a whole generate op by themselves see them. */
#include <string.h>

#include "generate_prefix.h"
#include "generate_stats.h"

static void took(const struct assay_job *job, uint32_t what, double seconds)
{
	struct gen_stats *s = job->op_state;

	if (what == ASSAY_GENERATE_RUN)
		assay_generate_ring_push(&s->took.run_s, seconds);
	else
		assay_generate_took_token(job, &s->took, what == ASSAY_GENERATE_FIRST_TOKEN, seconds);
}

static void set_trace(const struct gen_model *m, struct assay_generate_state *s)
{
	struct gen_trace t;

	assay_generate_trace_layout(m, &t);
	s->i8_at[ASSAY_GENERATE_NORM_ATTN] = t.i8_attn;
	s->i8_at[ASSAY_GENERATE_NORM_ATTN_SUB] = t.i8_attn_sub;
	s->i8_at[ASSAY_GENERATE_NORM_FFN] = t.i8_ffn;
	s->i8_at[ASSAY_GENERATE_NORM_FFN_SUB] = t.i8_ffn_sub;
	s->i8_len = t.i8_len;
	s->scales_at = t.scales;
	s->resid_at = t.resid;
	memcpy(s->y_at, t.y, sizeof(s->y_at));
	s->att_at = t.att;
	s->f32_len = t.f32_len;
}

void assay_generate_state_fill(const struct gen_plan *plan, struct assay_generate_state *state)
{
	const struct gen_model *m = plan->m;

	*state = (struct assay_generate_state){
		.size = sizeof(*state),
		.sampler = plan->sampler,
		.layers = m->layers,
		.dim = m->dim,
		.heads = m->heads,
		.kv_heads = m->kv_heads,
		.head_dim = m->head_dim,
		.ffn = m->ffn,
		.vocab = m->vocab,
		.n_slots = (uint32_t)plan->n_slots,
		.prompt = plan->pp,
		.generated = plan->tg,
		.batch = plan->batch,
		.max_pos = plan->max_pos,
		.pool_tokens = plan->n_blocks * ASSAY_GENERATE_KV_BLOCK,
		.slot_first = plan->trace_first,
		.slot_count = plan->trace_count,
		.layer_bytes = assay_generate_matrix_at(m, 1, 0),
		.layer_norms = assay_generate_norm_at(m, 1, 0),
		.head_at = m->tied ? 0 : m->vocab * plan->row_bytes,
		.table_at = m->vocab + plan->max_pos,
		.took = took,
		.users = plan->users,
		.turns = plan->turns,
		.system = plan->system,
		.message = plan->message,
		.reply = plan->reply,
		.table_len = (plan->max_pos + ASSAY_GENERATE_KV_BLOCK - 1) / ASSAY_GENERATE_KV_BLOCK,
		.requests = assay_generate_plan_requests,
		.row_bytes = plan->row_bytes,
		.head = plan->head,
	};
	for (int i = 0; i < ASSAY_GENERATE_N_MATRICES; i++) {
		state->matrix_at[i] = assay_generate_matrix_at(m, 0, i);
		assay_generate_matrix_dims(m, i, &state->rows[i], &state->cols[i]);
	}
	for (int i = 0; i < ASSAY_GENERATE_N_NORMS; i++)
		state->norm_at[i] = assay_generate_norm_at(m, 0, i);
	set_trace(m, state);
}

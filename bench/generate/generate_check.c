/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of the generate ops. Int8 activations make a transformer chaotic: one rounding that falls the other way
 * shifts everything after it by about one percent, so a second implementation cannot follow the first one closely from
 * end to end. It can check every step from what that step was given, and the trace outputs exist for that. For each
 * traced token (all of the tiny model; of others the first, the last and six between) and every layer:
 *
 * - outputs of all seven matrices: bit for bit, from the int8 inputs and the packed weights;
 * - residual sums: bit for bit;
 * - norms, int8 inputs, attention over the cached keys and values, the row that the token itself put into the cache,
 * the final norm: in double precision, to 1e-4 (an int8 value to half a step);
 * - the token that each traced step produced, by its logits; the last step's stored logits to 1e-4 of the greatest, and
 * its token by the sampler's definition and the same draw.
 *
 * Beyond the trace: keys and values of the first layer at 64 positions from the tokens alone; for models and prompts
 * small enough (tiny and 125m) a replay of the whole sequence; for chat, the hits of the prefix cache against a search
 * of all earlier prompts.
 */
#include "generate_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../generate_ops.h"
#include "assay/random.h"

#define TOLERANCE   1e-4
#define REPLAY_MACS 2e10 /* multiply-adds that a replay may take, about two seconds */

enum { STAGE_TOKENS, STAGE_MATRICES, STAGE_LAYERS, STAGE_LOGITS };

void assay_generate_found(struct gen_finding *f, int stage, int64_t at, const char *tensor, int64_t index,
			  const char *fmt, ...)
{
	int64_t order = ((int64_t)stage << 56) + at;
	va_list ap;

	if (order >= f->order)
		return;
	f->order = order;
	f->tensor = tensor;
	f->index = index;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

static int64_t f32_at(const struct gen_checking *c, int64_t slot, int layer)
{
	return (slot * c->plan->m->layers + layer) * c->t.f32_len;
}

static int64_t i8_at(const struct gen_checking *c, int64_t slot, int layer)
{
	return (slot * c->plan->m->layers + layer) * c->t.i8_len;
}

/* ---- matrices, exactly ---- */

/* Which norm's int8 vector a matrix reads. */
static enum gen_norm input_of(int matrix)
{
	return matrix <= GEN_WV      ? GEN_NORM_ATTN
	       : matrix == GEN_WO    ? GEN_NORM_ATTN_SUB
	       : matrix == GEN_WDOWN ? GEN_NORM_FFN_SUB
				     : GEN_NORM_FFN;
}

static int64_t i8_of(const struct gen_trace *t, enum gen_norm norm)
{
	const int64_t at[GEN_N_NORMS] = { t->i8_attn, t->i8_attn_sub, t->i8_ffn, t->i8_ffn_sub };

	return at[norm];
}

static void check_row(struct gen_checking *c, struct gen_finding *f, int layer, int matrix, int64_t row, int16_t *w)
{
	static const char *const names[GEN_N_MATRICES] = { "q", "k", "v", "o", "gate", "up", "down" };
	enum gen_norm norm = input_of(matrix);
	int64_t rows, cols;

	assay_generate_matrix_dims(c->plan->m, matrix, &rows, &cols);
	assay_generate_oracle_row(&c->o, layer, matrix, row, w);
	for (int64_t s = 0; s < c->plan->n_slots; s++) {
		int64_t at = f32_at(c, s, layer) + c->t.y[matrix] + row;
		float x_scale = c->f32[f32_at(c, s, layer) + c->t.scales + norm];
		int32_t sum = assay_generate_oracle_dot(w, c->wide + i8_at(c, s, layer) + i8_of(&c->t, norm), cols);
		float want = (float)sum * (assay_generate_oracle_scale(&c->o, layer, matrix) * x_scale);

		if (memcmp(&want, &c->f32[at], sizeof(want)))
			assay_generate_found(f, STAGE_MATRICES, at, "trace_f32", at,
					     "row %lld of layer %d's %s at position %lld: got %.9g, want %.9g",
					     (long long)row, layer, names[matrix],
					     (long long)assay_generate_trace_pos(c->plan, s), (double)c->f32[at],
					     (double)want);
	}
}

static void check_matrices(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	int64_t rows, cols;

	for (int layer = 0; layer < c->plan->m->layers; layer++) {
		for (int i = 0; i < GEN_N_MATRICES; i++) {
			assay_generate_matrix_dims(c->plan->m, i, &rows, &cols);
			for (int64_t row = tid; row < rows; row += n_threads)
				check_row(c, &c->found[tid], layer, i, row, (int16_t *)c->found[tid].buf);
		}
	}
}

/* ---- layers, from what they were given ---- */

/* A place in the trace: one token in one layer. */
struct spot {
	struct gen_checking *c;
	struct gen_finding *f;
	int64_t slot, pos;
	int layer;
	const float *rec;
	int64_t kv_head; /* under way */
};

static void bad(const struct spot *s, int64_t at, double got, double want, const char *what)
{
	int after = s->layer == s->c->plan->m->layers; /* what leaves the last layer has a tensor of its own */
	int64_t order = f32_at(s->c, s->slot, s->layer) + at;
	int64_t index = after ? s->slot * 2 * s->c->plan->m->dim + at - s->c->t.resid : order;

	assay_generate_found(s->f, STAGE_LAYERS, order, after ? "trace_last" : "trace_f32", index,
			     "%s of layer %d at position %lld: got %.9g, want %.9g", what, s->layer, (long long)s->pos,
			     got, want);
}

/* The norm of @x, quantized, against the int8 vector and scale in the trace. */
static void check_int8(const struct spot *s, enum gen_norm norm, const double *x, int64_t n, double *z)
{
	const struct gen_checking *c = s->c;
	const int8_t *q = c->i8 + i8_at(c, s->slot, s->layer) + i8_of(&c->t, norm);
	double max = 0, scale = s->rec[c->t.scales + norm];

	assay_generate_oracle_norm(x, c->o.norms + assay_generate_norm_at(c->plan->m, s->layer, norm), n, z);
	for (int64_t i = 0; i < n; i++)
		max = fmax(max, fabs(z[i]));
	if (!(fabs(scale - max / 127) <= TOLERANCE * max / 127))
		bad(s, c->t.scales + norm, scale, max / 127, "activation scale");
	for (int64_t i = 0; i < n && max > 0; i++)
		if (!(fabs(q[i] - z[i] * 127 / max) <= 0.5 + 127 * TOLERANCE))
			bad(s, c->t.scales + norm, q[i], z[i] * 127 / max, "int8 activation");
}

/* The residual that enters this layer: the embedding, or the layer before and what its two halves added. */
static void check_residual(const struct spot *s, const float *got)
{
	const struct gen_checking *c = s->c;
	const float *before = s->rec - c->t.f32_len;
	int32_t token = c->sequence[s->pos];

	for (int32_t i = 0; i < c->plan->m->dim; i++) {
		float want;

		if (s->layer == 0)
			want = (float)assay_generate_oracle_bf16(c->o.embedding[(int64_t)token * c->plan->m->dim + i]);
		else
			want = before[c->t.resid + i] + before[c->t.y[GEN_WO] + i] + before[c->t.y[GEN_WDOWN] + i];
		if (memcmp(&want, &got[i], sizeof(want)))
			bad(s, c->t.resid + i, (double)got[i], (double)want, "residual");
	}
}

static void load(double *dst, const float *src, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		dst[i] = src[i];
}

/* Two neighbours in bf16 differ by up to 2^-7 of their size; rounding in float and in double may fall to either. */
static void check_cached(const struct spot *s)
{
	const struct gen_checking *c = s->c;
	const struct gen_model *m = c->plan->m;
	double want[256], got[256];

	for (int which = 0; which < 2; which++) {
		for (int32_t h = 0; h < m->kv_heads; h++) {
			load(want, s->rec + c->t.y[which ? GEN_WV : GEN_WK] + h * m->head_dim, m->head_dim);
			if (!which)
				assay_generate_oracle_rope(m, s->pos, want);
			assay_generate_oracle_kv(&c->o, s->layer, which, h, s->pos, got);
			for (int32_t i = 0; i < m->head_dim; i++)
				if (!(fabs(got[i] - want[i]) <= fabs(want[i]) / 128 + TOLERANCE))
					bad(s, c->t.y[which ? GEN_WV : GEN_WK] + h * m->head_dim + i, got[i], want[i],
					    which ? "cached value" : "cached key");
		}
	}
}

static void cached_row(const void *state, int which, int64_t pos, double *x)
{
	const struct spot *s = state;

	assay_generate_oracle_kv(&s->c->o, s->layer, which, s->kv_head, pos, x);
}

static void check_attention(struct spot *s, double *scores)
{
	const struct gen_checking *c = s->c;
	const struct gen_model *m = c->plan->m;
	double q[256], want[256];

	for (int32_t h = 0; h < m->heads; h++) {
		const float *got = s->rec + c->t.att + h * m->head_dim;
		double max = 0;

		load(q, s->rec + c->t.y[GEN_WQ] + h * m->head_dim, m->head_dim);
		assay_generate_oracle_rope(m, s->pos, q);
		s->kv_head = h / (m->heads / m->kv_heads);
		assay_generate_oracle_attend(q, m->head_dim, s->pos, cached_row, s, scores, want);
		for (int32_t i = 0; i < m->head_dim; i++)
			max = fmax(max, fabs(want[i]));
		for (int32_t i = 0; i < m->head_dim; i++)
			if (!(fabs(got[i] - want[i]) <= TOLERANCE * max))
				bad(s, c->t.att + h * m->head_dim + i, (double)got[i], want[i], "attention");
	}
}

static void check_spot(struct spot *s)
{
	const struct gen_checking *c = s->c;
	const struct gen_model *m = c->plan->m;
	double *x = s->f->buf, *z = x + m->ffn + m->dim, *scores = z + m->ffn + m->dim;

	check_residual(s, s->rec + c->t.resid);
	load(x, s->rec + c->t.resid, m->dim);
	check_int8(s, GEN_NORM_ATTN, x, m->dim, z);
	check_cached(s);
	check_attention(s, scores);
	load(x, s->rec + c->t.att, gen_q_dim(m));
	check_int8(s, GEN_NORM_ATTN_SUB, x, gen_q_dim(m), z);
	for (int32_t i = 0; i < m->dim; i++)
		x[i] = s->rec[c->t.resid + i] + s->rec[c->t.y[GEN_WO] + i];
	check_int8(s, GEN_NORM_FFN, x, m->dim, z);
	for (int32_t i = 0; i < m->ffn; i++) {
		double g = fmax(s->rec[c->t.y[GEN_WGATE] + i], 0);

		x[i] = g * g * s->rec[c->t.y[GEN_WUP] + i];
	}
	check_int8(s, GEN_NORM_FFN_SUB, x, m->ffn, z);
}

static void check_layers(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	int32_t layers = c->plan->m->layers;

	for (int64_t u = tid; u < c->plan->n_slots * layers; u += n_threads) {
		struct spot s = { .c = c, .f = &c->found[tid], .slot = u / layers, .layer = (int)(u % layers) };

		s.pos = assay_generate_trace_pos(c->plan, s.slot);
		s.rec = c->f32 + f32_at(c, s.slot, s.layer);
		check_spot(&s);
	}
}

/* ---- the end of a step ---- */

static double draw(const struct gen_checking *c, int64_t pos)
{
	return (double)assay_uniform_f32(assay_random4(c->job->seed, GEN_SAMPLER_STREAM, (uint64_t)(pos + 1)).v[0]);
}

/*
 * Logits of a traced step in double. The token that it produced must be among those that the sampler may choose: for
 * greedy, no other is better by more than the tolerance; for topk, fewer than k are.
 */
static void check_token(struct gen_checking *c, struct gen_finding *f, int64_t slot, const double *x, int32_t token)
{
	const float *stored = c->job->tensors[GEN_T_LOGITS].data;
	int32_t vocab = c->plan->m->vocab, better = 0, allowed = c->plan->sampler == GEN_GREEDY ? 0 : GEN_TOP_K - 1;
	int last = slot == c->plan->n_slots - 1;
	double own = assay_generate_oracle_logit(&c->o, x, token), worst = 0, max = 0;
	int64_t worst_at = 0;

	for (int32_t v = 0; v < vocab; v++) {
		double want = assay_generate_oracle_logit(&c->o, x, v), err = fabs(stored[v] - want);

		better += want > own + TOLERANCE * fabs(own) + TOLERANCE;
		max = fmax(max, fabs(want));
		if (last && !(err <= worst)) {
			worst = err;
			worst_at = v;
		}
	}
	if (c->plan->sampler != GEN_TOPP && better > allowed)
		assay_generate_found(f, STAGE_LOGITS, slot, "tokens", -1,
				     "token %d at position %lld: %d others have greater logits", token,
				     (long long)assay_generate_trace_pos(c->plan, slot) + 1, better);
	if (!last)
		return;
	f->worst = worst / max;
	if (!(worst <= TOLERANCE * max))
		assay_generate_found(f, STAGE_LOGITS, worst_at, "logits", worst_at,
				     "logit is off by %.3g of the greatest", worst / max);
	if (!assay_generate_oracle_accepts(c->plan->sampler, stored, vocab,
					   draw(c, assay_generate_trace_pos(c->plan, slot)), token))
		assay_generate_found(f, STAGE_LOGITS, vocab, "tokens", c->plan->n_out - 1,
				     "token %d is not what the sampler chooses from the logits", token);
}

/* The token that the traced step produced; −1: the step was not followed by sampling. */
static int32_t produced(const struct gen_checking *c, int64_t slot)
{
	const int32_t *tokens = c->job->tensors[GEN_T_TOKENS].data;

	if (slot == c->plan->n_slots - 1)
		return tokens[c->plan->n_out - 1];
	if (c->plan->kind == GEN_PREFILL)
		return -1;
	return c->sequence[assay_generate_trace_pos(c->plan, slot) + 1];
}

static void check_logits(void *checking, uint32_t tid, uint32_t n_threads)
{
	struct gen_checking *c = checking;
	const struct gen_model *m = c->plan->m;
	const float *gain = c->o.norms + assay_generate_norm_at(m, m->layers, 0);
	struct gen_finding *f = &c->found[tid];
	double *x = f->buf, *z = x + m->dim;

	for (int64_t slot = tid; slot < c->plan->n_slots; slot += n_threads) {
		const float *got = c->last + slot * 2 * m->dim;
		struct spot s = { .c = c,
				  .f = f,
				  .slot = slot,
				  .pos = assay_generate_trace_pos(c->plan, slot),
				  .layer = m->layers,
				  .rec = c->f32 + f32_at(c, slot, m->layers) };

		check_residual(&s, got);
		load(x, got, m->dim);
		assay_generate_oracle_norm(x, gain, m->dim, z);
		for (int32_t i = 0; i < m->dim; i++)
			if (!(fabs(got[m->dim + i] - z[i]) <= TOLERANCE * (fabs(z[i]) + 1e-3)))
				assay_generate_found(f, STAGE_LOGITS, slot, "trace_last", (slot * 2 + 1) * m->dim + i,
						     "final norm: got %.9g, want %.9g", (double)got[m->dim + i], z[i]);
		if (produced(c, slot) >= 0)
			check_token(c, f, slot, z, produced(c, slot));
	}
}

/* ---- prefix cache ---- */

/* Token of a user's conversation, as the finished outputs tell it. */
static int32_t chat_token(const struct gen_checking *c, int64_t user, int64_t pos)
{
	const struct gen_plan *p = c->plan;
	const int32_t *prompt = c->job->tensors[GEN_T_PROMPT].data, *replies = c->job->tensors[GEN_T_TOKENS].data;
	int64_t at = pos - p->system, turn = at / (p->message + p->reply), in = at % (p->message + p->reply);

	if (pos < p->system)
		return prompt[pos];
	if (in < p->message)
		return prompt[p->system + (user * p->turns + turn) * p->message + in];
	return replies[(user * p->turns + turn) * p->reply + in - p->message];
}

/* Whole blocks that a prompt shares with the best of the @earlier requests that came before it, in tokens. */
static int64_t shared_tokens(const struct gen_checking *c, int64_t user, int64_t len, int64_t earlier)
{
	int64_t best = 0;

	for (int64_t r = 0; r < earlier; r++) {
		int64_t known = assay_generate_chat_len(c->plan, r / c->plan->users) + c->plan->reply - 1, n = 0;

		while (n < len - 1 && n < known && chat_token(c, user, n) == chat_token(c, r % c->plan->users, n))
			n++;
		best = n > best ? n : best;
	}
	return best - best % GEN_KV_BLOCK;
}

static void check_hits(struct gen_checking *c)
{
	const struct gen_plan *p = c->plan;
	uint64_t lookups = 0, hits = 0;

	for (int64_t r = 0; r < p->turns * p->users; r++) {
		int64_t len = assay_generate_chat_len(p, r / p->users);

		lookups += (uint64_t)len;
		hits += (uint64_t)shared_tokens(c, r % p->users, len, r);
	}
	if (c->stats->lookups != lookups || c->stats->hits > hits || (!c->stats->evictions && c->stats->hits != hits))
		assay_generate_found(&c->found[0], STAGE_TOKENS, 1, "tokens", -1,
				     "the prefix cache says %llu of %llu tokens, a search says %llu of %llu",
				     (unsigned long long)c->stats->hits, (unsigned long long)c->stats->lookups,
				     (unsigned long long)hits, (unsigned long long)lookups);
}

/* ---- all together ---- */

static int tokens_valid(struct gen_checking *c)
{
	const int32_t *tokens = c->job->tensors[GEN_T_TOKENS].data;

	for (int64_t i = 0; i < c->plan->n_out; i++) {
		if (tokens[i] >= 0 && tokens[i] < c->plan->m->vocab)
			continue;
		assay_generate_found(&c->found[0], STAGE_TOKENS, 0, "tokens", i, "got %d, want 0 … %d", tokens[i],
				     c->plan->m->vocab - 1);
		return 0;
	}
	return 1;
}

static void compose_sequence(struct gen_checking *c)
{
	const struct gen_plan *p = c->plan;
	const int32_t *prompt = c->job->tensors[GEN_T_PROMPT].data, *tokens = c->job->tensors[GEN_T_TOKENS].data;

	c->len = p->kind == GEN_PREFILL ? p->pp : p->kind == GEN_DECODE ? p->pp + p->tg : p->max_pos - 1;
	for (int64_t i = 0; i < p->max_pos; i++)
		c->sequence[i] = p->kind == GEN_CHAT ? chat_token(c, p->users - 1, i)
				 : i < p->pp         ? prompt[i]
						     : tokens[i - p->pp];
}

static int init(struct gen_checking *c, const struct assay_job *job)
{
	const struct gen_model *m;

	c->job = job;
	c->stats = job->op_state;
	c->plan = &c->stats->plan;
	m = c->plan->m;
	c->o.plan = c->plan;
	c->o.weights = job->tensors[GEN_T_WEIGHTS].data;
	c->o.scales = job->tensors[GEN_T_SCALES].data;
	c->o.norms = job->tensors[GEN_T_NORMS].data;
	c->o.embedding = job->tensors[GEN_T_EMBEDDING].data;
	c->o.head = c->o.embedding + (m->tied ? 0 : (int64_t)m->vocab * m->dim);
	c->o.kv = job->tensors[GEN_T_KV].data;
	/* Where the driver keeps the blocks of its sequence, the last one that it ran. */
	c->o.table = (const int32_t *)job->tensors[GEN_T_WORK_I32].data + m->vocab + c->plan->max_pos;
	c->i8 = job->tensors[GEN_T_TRACE_I8].data;
	c->f32 = job->tensors[GEN_T_TRACE_F32].data;
	c->last = job->tensors[GEN_T_TRACE_LAST].data;
	assay_generate_trace_layout(m, &c->t);
	c->buf_len = 4 * ((int64_t)m->ffn + m->dim) + c->plan->max_pos;
	c->sequence = malloc((size_t)c->plan->max_pos * sizeof(*c->sequence));
	c->found = calloc(job->n_threads, sizeof(*c->found));
	c->wide = malloc(job->tensors[GEN_T_TRACE_I8].bytes * sizeof(*c->wide));
	if (!c->sequence || !c->found || !c->wide)
		return -1;
	for (uint64_t i = 0; i < job->tensors[GEN_T_TRACE_I8].bytes; i++)
		c->wide[i] = c->i8[i];
	for (uint32_t i = 0; i < job->n_threads; i++) {
		c->found[i].order = INT64_MAX;
		c->found[i].buf = malloc((size_t)c->buf_len * sizeof(double));
		if (!c->found[i].buf)
			return -1;
	}
	return 0;
}

static void conclude(const struct gen_checking *c, struct assay_check *out)
{
	const struct gen_finding *first = &c->found[0];

	out->max_rel_err = 0;
	for (uint32_t i = 0; i < c->job->n_threads; i++) {
		out->max_rel_err = fmax(out->max_rel_err, c->found[i].worst);
		if (c->found[i].order < first->order)
			first = &c->found[i];
	}
	out->correct = first->order == INT64_MAX;
	out->first_bad = out->correct ? -1 : first->index;
	out->tensor = out->correct ? NULL : first->tensor;
	snprintf(out->reason.text, sizeof(out->reason.text), "%s", out->correct ? "" : first->text);
}

static int run_checks(struct gen_checking *c)
{
	const struct gen_model *m = c->plan->m;
	double macs;

	if (!tokens_valid(c))
		return 0;
	compose_sequence(c);
	if (c->plan->kind == GEN_CHAT)
		check_hits(c);
	c->job->host->parallel(c->job, check_matrices, c);
	c->job->host->parallel(c->job, check_layers, c);
	c->job->host->parallel(c->job, check_logits, c);
	c->job->host->parallel(c->job, assay_generate_check_first_layer, c);
	macs = 4.0 * (double)assay_generate_matrix_at(m, m->layers, 0) * (double)c->len;
	return macs <= REPLAY_MACS ? assay_generate_check_replay(c) : 0;
}

int assay_generate_check(struct assay_job *job, struct assay_check *out)
{
	struct gen_checking c;
	int rc;

	memset(&c, 0, sizeof(c));
	rc = init(&c, job);
	if (!rc)
		rc = run_checks(&c);
	if (!rc)
		conclude(&c, out);
	else
		job->host->fail(job, "cannot check the outputs: out of memory");
	for (uint32_t i = 0; c.found && i < job->n_threads; i++)
		free(c.found[i].buf);
	free(c.found);
	free(c.wide);
	free(c.sequence);
	return rc;
}

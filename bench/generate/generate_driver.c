/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed calls. One run of prefill reads the whole prompt into an empty cache; of decode goes back to the end of the
 * prompt, which prepare() read, and generates; of chat plays all conversations, beginning with an empty prefix cache.
 */
#include "../generate_ops.h"
#include "generate_engine.h"
#include "generate_stats.h"

#include <string.h>

static double seconds_since(const struct gen_engine *e, uint64_t ns)
{
	return (double)(e->job->host->now_ns() - ns) * 1e-9;
}

/* The token that follows the sequence's @len tokens, from the logits of the last step. */
static int32_t sample(struct gen_engine *e, int64_t len)
{
	const struct gen_sampling s = {
		.kind = e->plan.sampler,
		.top_k = ASSAY_GENERATE_TOP_K,
		.top_p = ASSAY_GENERATE_TOP_P,
		.temperature = ASSAY_GENERATE_TEMPERATURE,
		.seed = e->job->seed,
		.vector = e->vector,
	};
	int32_t token;

	assay_span(e->job, "sampling");
	assay_generate_clock(e);
	token = assay_generate_sample(&s, e->logits, e->plan.m->vocab, len, e->f32 + e->work.probs, e->heap);
	assay_generate_phase(e, GEN_PHASE_SAMPLING);
	assay_span_end(e->job);
	return token;
}

/* Tokens seq.len … @end − 1 in steps of the batch; logits of the last. */
static int read_prompt(struct gen_engine *e, const int32_t *tokens, int64_t end)
{
	assay_span(e->job, "prefill");
	while (e->seq.len < end) {
		int64_t n = end - e->seq.len < e->plan.batch ? end - e->seq.len : e->plan.batch;
		int rc = assay_generate_step(e, tokens + e->seq.len, n, e->seq.len + n == end);

		if (rc)
			return rc;
		if (e->plan.kind == GEN_CHAT)
			assay_generate_prefix_advance(&e->prefix, &e->seq, e->seq.len + n);
		else
			e->seq.len += n;
		e->n_tokens += (uint64_t)n;
		e->n_prefill_steps++;
	}
	assay_span_end(e->job);
	return 0;
}

static int decode_step(struct gen_engine *e, const int32_t *token)
{
	int rc;

	assay_span(e->job, "decode");
	rc = assay_generate_step(e, token, 1, 1);
	assay_span_end(e->job);
	e->n_tokens++;
	e->n_decode_steps++;
	return rc;
}

static void begin_run(struct gen_engine *e)
{
	memset(e->phase_ns, 0, sizeof(e->phase_ns));
	e->n_tokens = e->n_prefill_steps = e->n_decode_steps = 0;
	e->fallbacks_before = e->kernel_counters[ASSAY_WORK_FALLBACKS];
}

static void finish_run(struct gen_engine *e, uint64_t begin)
{
	struct gen_stats *s = e->job->op_state;

	double forward_s = 0;

	assay_generate_ring_push(&s->took.run_s, seconds_since(e, begin));
	for (int i = 0; i < GEN_N_PHASES; i++) {
		const double phase_s = (double)e->phase_ns[i] * 1e-9;

		s->phase_s[i] += phase_s;
		forward_s += i == GEN_PHASE_SAMPLING ? 0 : phase_s;
	}
	assay_generate_ring_push(&s->took.forward_s, forward_s);
	assay_generate_ring_push(&s->took.sampling_s, (double)e->phase_ns[GEN_PHASE_SAMPLING] * 1e-9);
	assay_counter(e->job, ASSAY_GENERATE_TOKENS, e->n_tokens);
	assay_counter(e->job, ASSAY_GENERATE_PREFILL_STEPS, e->n_prefill_steps);
	assay_counter(e->job, ASSAY_GENERATE_DECODE_STEPS, e->n_decode_steps);
	assay_counter(e->job, ASSAY_GENERATE_FALLBACKS, e->kernel_counters[ASSAY_WORK_FALLBACKS] - e->fallbacks_before);
}

static int prepare(struct assay_job *job)
{
	const struct gen_stats *s = job->op_state;

	job->state = assay_generate_engine_new(job, &s->plan);
	return job->state ? 0 : -1;
}

static void release(struct assay_job *job)
{
	assay_generate_engine_free(job->state, job);
	job->state = NULL;
}

/* ---- prefill ---- */

static int prefill_run(struct assay_job *job)
{
	struct gen_engine *e = job->state;
	struct gen_stats *s = job->op_state;
	int32_t *out = job->tensors[ASSAY_GENERATE_T_TOKENS].data;
	uint64_t begin = job->host->now_ns();
	int rc;

	begin_run(e);
	e->seq.len = 0;
	e->tracing = 1;
	rc = read_prompt(e, job->tensors[ASSAY_GENERATE_T_PROMPT].data, e->plan.pp);
	if (rc)
		return rc;
	out[0] = sample(e, e->plan.pp);
	assay_generate_took_token(e->job, &s->took, true, seconds_since(e, begin));
	finish_run(e, begin);
	return 0;
}

/* ---- decode ---- */

static int decode_prepare(struct assay_job *job)
{
	struct gen_engine *e;
	int rc = prepare(job);

	if (rc)
		return rc;
	e = job->state;
	rc = read_prompt(e, job->tensors[ASSAY_GENERATE_T_PROMPT].data, e->plan.pp);
	if (rc) {
		release(job);
		return rc;
	}
	e->first = sample(e, e->plan.pp);
	return 0;
}

static int decode_run(struct assay_job *job)
{
	struct gen_engine *e = job->state;
	struct gen_stats *s = job->op_state;
	int32_t *out = job->tensors[ASSAY_GENERATE_T_TOKENS].data;
	uint64_t begin = job->host->now_ns();

	begin_run(e);
	e->tracing = 1;
	out[0] = e->first;
	for (int64_t i = 0; i < e->plan.tg; i++) {
		uint64_t step = job->host->now_ns();
		int rc;

		e->seq.len = e->plan.pp + i;
		rc = decode_step(e, &out[i]);
		if (rc)
			return rc;
		out[i + 1] = sample(e, e->plan.pp + i + 1);
		assay_generate_took_token(e->job, &s->took, false, seconds_since(e, step));
		assay_part(job);
	}
	finish_run(e, begin);
	return 0;
}

/* ---- chat ---- */

/* The prompt of a request: system, then messages and replies so far in turn, then the new message. */
static int64_t compose_prompt(struct gen_engine *e, int64_t user, int64_t turn)
{
	const struct gen_plan *p = &e->plan;
	const int32_t *prompt = e->job->tensors[ASSAY_GENERATE_T_PROMPT].data,
		      *replies = e->job->tensors[ASSAY_GENERATE_T_TOKENS].data;
	int32_t *dst = e->seq.tokens;

	memcpy(dst, prompt, (size_t)p->system * sizeof(*dst));
	dst += p->system;
	for (int64_t t = 0; t <= turn; t++) {
		int64_t at = user * p->turns + t;

		memcpy(dst, prompt + p->system + at * p->message, (size_t)p->message * sizeof(*dst));
		dst += p->message;
		if (t == turn)
			break;
		memcpy(dst, replies + at * p->reply, (size_t)p->reply * sizeof(*dst));
		dst += p->reply;
	}
	return dst - e->seq.tokens;
}

/*
 * The answer to the @len tokens of the sequence, @n tokens into @reply. *@known: tokens of the prompt that the cache
 * had. Each token is emitted where there is a prompt that asks for that. Inlined, so that what is measured does not
 * ask for it.
 */
static inline __attribute__((always_inline)) int answer(struct gen_engine *e, int64_t len, int32_t *reply, int64_t n,
							const struct assay_prompt *p, int64_t *known)
{
	struct gen_stats *s = e->job->op_state;
	uint64_t begin = e->job->host->now_ns(), step;
	int rc;

	assay_generate_prefix_begin(&e->prefix, &e->seq, len);
	*known = e->seq.len;
	if (assay_generate_prefix_reserve(&e->prefix, &e->seq, len + n))
		return e->job->host->fail(e->job, "no block of the KV cache is free for %lld tokens",
					  (long long)(len + n));
	rc = read_prompt(e, e->seq.tokens, len);
	if (rc)
		return rc;
	reply[0] = sample(e, len);
	assay_generate_took_token(e->job, &s->took, true, seconds_since(e, begin));
	if (p)
		p->emit(p->arg, reply[0]);
	for (int64_t i = 1; i < n && !(p && __atomic_load_n(p->enough, __ATOMIC_RELAXED)); i++) {
		step = e->job->host->now_ns();
		e->seq.tokens[len + i - 1] = reply[i - 1];
		rc = decode_step(e, &reply[i - 1]);
		if (rc)
			return rc;
		assay_generate_prefix_advance(&e->prefix, &e->seq, len + i);
		reply[i] = sample(e, len + i);
		assay_generate_took_token(e->job, &s->took, false, seconds_since(e, step));
		if (p)
			p->emit(p->arg, reply[i]);
		else
			assay_part(e->job);
	}
	return 0;
}

static int request(struct gen_engine *e, int64_t user, int64_t turn)
{
	int32_t *replies = e->job->tensors[ASSAY_GENERATE_T_TOKENS].data;
	int64_t known;

	return answer(e, compose_prompt(e, user, turn), replies + (user * e->plan.turns + turn) * e->plan.reply,
		      e->plan.reply, NULL, &known);
}

/* Does the model have room for @p? A positive number after host->fail, which names the limit that was hit. */
static int check_room(struct assay_job *job, const struct gen_plan *plan, const struct assay_prompt *p)
{
	const long long n = p->n_tokens, wanted = p->n_wanted, most = plan->n_out, all = plan->max_pos;

	if (n < 1)
		job->host->fail(job, "the prompt is empty");
	else if (wanted < 1 || wanted > most)
		job->host->fail(job, "%lld tokens were asked for, model %s generates 1 to %lld", wanted, plan->m->name,
				most);
	else if (n > all - wanted)
		job->host->fail(job, "a prompt of %lld tokens and %lld more do not fit: model %s has room for %lld", n,
				wanted, plan->m->name, all);
	else
		return 0;
	return 1;
}

int assay_generate_chat_respond(struct assay_job *job, struct assay_prompt *p)
{
	struct gen_engine *e = job->state;
	const struct gen_plan *plan = &e->plan;
	int rc = check_room(job, plan, p);

	if (rc)
		return rc;
	for (int64_t i = 0; i < p->n_tokens; i++) {
		if (p->tokens[i] < 0 || p->tokens[i] >= plan->m->vocab) {
			job->host->fail(job, "model %s has no token %d: they are 0 to %d", plan->m->name,
					(int)p->tokens[i], (int)plan->m->vocab - 1);
			return 1;
		}
		e->seq.tokens[i] = p->tokens[i];
	}
	e->tracing = 0;
	rc = answer(e, p->n_tokens, job->tensors[ASSAY_GENERATE_T_TOKENS].data, p->n_wanted, p, &p->n_known);
	assay_generate_prefix_end(&e->prefix, &e->seq);
	return rc;
}

static int chat_run(struct assay_job *job)
{
	struct gen_engine *e = job->state;
	struct gen_stats *s = job->op_state;
	uint64_t begin = job->host->now_ns();

	begin_run(e);
	assay_generate_prefix_reset(&e->prefix);
	for (int64_t turn = 0; turn < e->plan.turns; turn++) {
		for (int64_t user = 0; user < e->plan.users; user++) {
			int rc;

			e->tracing = turn == e->plan.turns - 1 && user == e->plan.users - 1;
			rc = request(e, user, turn);
			assay_generate_prefix_end(&e->prefix, &e->seq);
			if (rc)
				return rc;
		}
	}
	s->lookups = e->prefix.lookups;
	s->hits = e->prefix.hits;
	s->evictions = e->prefix.evictions;
	assay_counter(job, ASSAY_GENERATE_KV_LOOKUPS, s->lookups);
	assay_counter(job, ASSAY_GENERATE_KV_HITS, s->hits);
	assay_counter(job, ASSAY_GENERATE_KV_MISSES, s->lookups - s->hits);
	assay_counter(job, ASSAY_GENERATE_KV_EVICTIONS, s->evictions);
	finish_run(e, begin);
	return 0;
}

const struct assay_variant assay_generate_prefill_driver = {
	.op = "generate.prefill",
	.name = "driver",
	.help = "transformer on one matmul.ternary variant",
	.prepare = prepare,
	.run = prefill_run,
	.release = release,
};

const struct assay_variant assay_generate_decode_driver = {
	.op = "generate.decode",
	.name = "driver",
	.help = "transformer on one matmul.ternary variant",
	.prepare = decode_prepare,
	.run = decode_run,
	.release = release,
};

const struct assay_variant assay_generate_chat_driver = {
	.op = "generate.chat",
	.name = "driver",
	.help = "transformer with a prefix cache on one matmul.ternary variant",
	.prepare = prepare,
	.run = chat_run,
	.release = release,
};

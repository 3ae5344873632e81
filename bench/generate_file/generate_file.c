/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, inputs and runs of generate.file, in terms of the step() of a variant. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../generate_file_ops.h"
#include "assay/random.h"
#include "generate_file_state.h"
#include "gguf/tokenizer.h"

const struct assay_axis assay_generate_file_axes[ASSAY_FILE_N_AXES] = {
	{ "model", "the file, by its name", NULL, 0, 1 << 16, 0 },
	{ "pp", "prompt, tokens", NULL, 1, 65536, 64 },
	{ "tg", "generated, tokens", NULL, 1, 65536, 64 },
};

/* ---- shapes ---- */

/* The path of the shape's file into @out, which has PATH_MAX bytes; "" where there is none. */
static void path_of(const struct assay_shape *shape, char *out)
{
	int64_t wanted = shape->axis[ASSAY_FILE_AXIS_MODEL];
	const char *at = getenv(ASSAY_MODEL_VARIABLE);

	out[0] = '\0';
	for (; at && *at && wanted > 0; at += strcspn(at, ":"), at += *at == ':')
		if (*at != ':' && !--wanted)
			snprintf(out, PATH_MAX, "%.*s", (int)strcspn(at, ":"), at);
}

static int open_model(struct file_model *f, struct assay_file_model *m, const struct assay_shape *shape,
		      struct assay_reason *why)
{
	const int64_t pp = shape->axis[ASSAY_FILE_AXIS_PP], tg = shape->axis[ASSAY_FILE_AXIS_TG];
	char path[PATH_MAX];

	path_of(shape, path);
	if (assay_file_model_open(f, path, m, why))
		return -1;
	if (pp + tg <= m->context)
		return 0;
	snprintf(why->text, sizeof(why->text), "%lld tokens are more than the context of '%.100s', %d",
		 (long long)(pp + tg), path, m->context);
	assay_file_model_close(f);
	return -1;
}

static void tensor(struct assay_problem *out, int index, const char *name, enum assay_role role, enum assay_dtype dtype,
		   int64_t n)
{
	out->tensors[index] = (struct assay_tensor_spec){
		.name = name, .role = role, .dtype = dtype, .rank = 1, .dims = { n }, .filled = ASSAY_FILLED_BY_OP
	};
}

int assay_generate_file_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	const int64_t pp = shape->axis[ASSAY_FILE_AXIS_PP], tg = shape->axis[ASSAY_FILE_AXIS_TG], all = pp + tg;
	const uint32_t n_threads = shape->n_threads ? shape->n_threads : 1;
	struct assay_file_model m;
	struct file_model f;
	double unread;

	/* without a file, all variants say so by supports() */
	if (!shape->axis[ASSAY_FILE_AXIS_MODEL]) {
		out->n_tensors = 1;
		tensor(out, 0, "tokens", ASSAY_OUTPUT, ASSAY_I32, tg);
		return 0;
	}
	if (open_model(&f, &m, shape, why))
		return -1;
	/* of an embedding that is not the head, too, a token reads a row */
	unread = m.head.data == m.embedding.data ? 0 : (double)m.vocab * (double)m.embedding.row_bytes;
	out->n_tensors = ASSAY_FILE_N_TENSORS;
	tensor(out, ASSAY_FILE_T_PROMPT, "prompt", ASSAY_INPUT, ASSAY_I32, pp);
	tensor(out, ASSAY_FILE_T_TOKENS, "tokens", ASSAY_OUTPUT, ASSAY_I32, tg);
	tensor(out, ASSAY_FILE_T_LOGITS, "logits", ASSAY_OUTPUT, ASSAY_F32, m.vocab);
	tensor(out, ASSAY_FILE_T_ROPE, "rope", ASSAY_INPUT, ASSAY_F32, all * m.rotated);
	tensor(out, ASSAY_FILE_T_KV, "kv_cache", ASSAY_SCRATCH, ASSAY_F32,
	       2 * (int64_t)m.layers * m.kv_heads * all * m.head_dim);
	tensor(out, ASSAY_FILE_T_WORK, "activations", ASSAY_SCRATCH, ASSAY_F32,
	       assay_file_work(&m, all, n_threads).len);
	out->cost = (struct assay_cost){
		.ops = 2 * assay_file_model_parameters(&m) * (double)(all - 1),
		.bytes_read = (assay_file_model_bytes(&f.gguf) - unread) * (double)tg,
		.bytes_written = 4.0 * (double)tg,
		.items = (double)all,
		.item_name = "tokens",
		.arith = ASSAY_ARITH_F32,
	};
	out->extra_bytes = (sizeof(struct file_state) + (uint64_t)all * sizeof(int32_t) + 127) & ~(uint64_t)63;
	assay_file_model_close(&f);
	return 0;
}

/* ---- inputs ---- */

/* Angles as ggml makes them: in float, each from the one before. */
static void fill_rope(const struct assay_file_model *m, int64_t n, float *rope)
{
	const float by = powf(m->freq_base, -2.0f / (float)m->rotated);

	for (int64_t pos = 0; pos < n; pos++) {
		float angle = (float)pos;

		for (int32_t i = 0; i < m->rotated / 2; i++, angle *= by) {
			rope[pos * m->rotated + i] = cosf(angle);
			rope[pos * m->rotated + m->rotated / 2 + i] = sinf(angle);
		}
	}
}

/* The tokens of @text, again and again: those that 'assay generate --prompt' makes of it. */
static int encode_prompt(struct assay_job *job, const char *text, int32_t *prompt, int64_t pp)
{
	const struct file_state *s = job->op_state;
	const int64_t bytes = (int64_t)strlen(text);
	struct tokenizer_vocab vocab = { .bytes = NULL };
	struct assay_tokenizer t = { .v = NULL };
	struct assay_reason why = { "" };
	int64_t n = -1, first = 0;
	int32_t *ids = NULL;
	int rc = 0;

	if (assay_vocab_read(&vocab, &s->file.gguf, &why) || assay_tokenizer_init(&t, &vocab.v, &why)) {
		assay_vocab_release(&vocab);
		return job->host->fail(job, "the model takes no text, only ids: %s", why.text);
	}
	ids = malloc((size_t)(assay_tokenizer_most_ids(vocab.v.model, bytes) + 1) * sizeof(*ids));
	if (ids)
		n = assay_tokenizer_encode(&t, text, bytes, true, ids);
	if (n < 1)
		rc = job->host->fail(job, n ? "out of memory for a prompt" : "the prompt has no token");
	if (vocab.v.add_bos)
		prompt[first++] = vocab.v.bos;
	for (int64_t i = first; i < pp && !rc; i++)
		prompt[i] = ids[(i - first) % n];
	for (int64_t i = 0; i < pp && !rc; i++)
		if (prompt[i] >= s->state.model.vocab)
			rc = job->host->fail(job, "the model has no token %d of its tokenizer", (int)prompt[i]);
	free(ids);
	assay_tokenizer_release(&t);
	assay_vocab_release(&vocab);
	return rc;
}

int assay_generate_file_fill(struct assay_job *job)
{
	const int64_t pp = job->shape->axis[ASSAY_FILE_AXIS_PP], tg = job->shape->axis[ASSAY_FILE_AXIS_TG];
	int32_t *prompt = job->tensors[ASSAY_FILE_T_PROMPT].data;
	const char *text = getenv(ASSAY_PROMPT_VARIABLE);
	struct file_state *s = job->op_state;
	struct assay_reason why = { "" };

	if (s)
		assay_file_model_close(&s->file);
	else
		s = job->host->alloc(job, sizeof(*s) + (uint64_t)(pp + tg) * sizeof(int32_t));
	if (!s)
		return job->host->fail(job, "cannot allocate the state of a model: out of memory");
	job->op_state = s;
	*s = (struct file_state){ .state = { .size = sizeof(s->state), .max_pos = pp + tg } };
	s->state.play = assay_generate_file_play;
	if (open_model(&s->file, &s->state.model, job->shape, &why))
		return job->host->fail(job, "%s", why.text);
	for (int64_t i = 0; i < pp; i++)
		prompt[i] = (int32_t)((uint64_t)assay_random4(job->seed, ASSAY_FILE_T_PROMPT, (uint64_t)i).v[0] *
					      (uint32_t)s->state.model.vocab >>
				      32);
	fill_rope(&s->state.model, pp + tg, job->tensors[ASSAY_FILE_T_ROPE].data);
	return text && *text ? encode_prompt(job, text, prompt, pp) : 0;
}

void assay_generate_file_release(struct assay_job *job)
{
	struct file_state *s = job->op_state;

	if (!s)
		return;
	assay_file_model_close(&s->file);
	job->host->release(job, s);
	job->op_state = NULL;
}

/* ---- tokens ---- */

static double seconds_since(const struct assay_job *job, uint64_t ns)
{
	return (double)(job->host->now_ns() - ns) * 1e-9;
}

/* The most likely token, the first of equals. */
static int32_t greedy(const struct assay_job *job)
{
	const float *logits = job->tensors[ASSAY_FILE_T_LOGITS].data;
	const uint64_t begin_ns = job->host->now_ns();
	struct file_state *s = job->op_state;
	int32_t best = 0;

	assay_span(job, "sampling");
	for (int32_t i = 1; i < s->state.model.vocab; i++)
		if (logits[i] > logits[best])
			best = i;
	assay_span_end(job);
	s->sampling_ns += job->host->now_ns() - begin_ns;
	return best;
}

/* Positions @from to @end - 1. */
static void read_tokens(struct assay_job *job, const int32_t *tokens, int64_t from, int64_t end)
{
	const uint64_t begin_ns = job->host->now_ns();
	struct file_state *s = job->op_state;

	assay_span(job, end - from > 1 ? "prefill" : "decode");
	for (int64_t at = from; at < end; at += ASSAY_FILE_BATCH) {
		const int64_t n = end - at < ASSAY_FILE_BATCH ? end - at : ASSAY_FILE_BATCH;

		s->state.step(job, tokens + at, n, at, at + n == end);
	}
	assay_span_end(job);
	s->forward_ns += job->host->now_ns() - begin_ns;
}

static void finish_run(struct assay_job *job, uint64_t begin_ns)
{
	const int64_t pp = job->shape->axis[ASSAY_FILE_AXIS_PP], tg = job->shape->axis[ASSAY_FILE_AXIS_TG];
	struct file_state *s = job->op_state;

	assay_generate_ring_push(&s->took.run_s, seconds_since(job, begin_ns));
	assay_generate_ring_push(&s->took.forward_s, (double)s->forward_ns * 1e-9);
	assay_generate_ring_push(&s->took.sampling_s, (double)s->sampling_ns * 1e-9);
	/* a run is one prompt, so the cache has nothing of it before */
	assay_counter(job, ASSAY_GENERATE_KV_LOOKUPS, (uint64_t)pp);
	assay_counter(job, ASSAY_GENERATE_KV_MISSES, (uint64_t)pp);
	assay_counter(job, ASSAY_GENERATE_TOKENS, (uint64_t)(pp + tg - 1));
	assay_counter(job, ASSAY_GENERATE_PREFILL_STEPS, (uint64_t)((pp + ASSAY_FILE_BATCH - 1) / ASSAY_FILE_BATCH));
	assay_counter(job, ASSAY_GENERATE_DECODE_STEPS, (uint64_t)(tg - 1));
}

int assay_generate_file_play(struct assay_job *job)
{
	const int64_t pp = job->shape->axis[ASSAY_FILE_AXIS_PP], tg = job->shape->axis[ASSAY_FILE_AXIS_TG];
	int32_t *out = job->tensors[ASSAY_FILE_T_TOKENS].data;
	const uint64_t begin_ns = job->host->now_ns();
	struct file_state *s = job->op_state;

	s->forward_ns = s->sampling_ns = 0;
	memcpy(s->tokens, job->tensors[ASSAY_FILE_T_PROMPT].data, (size_t)pp * sizeof(*s->tokens));
	read_tokens(job, s->tokens, 0, pp);
	out[0] = s->tokens[pp] = greedy(job);
	assay_generate_took_token(job, &s->took, true, seconds_since(job, begin_ns));
	for (int64_t i = 1; i < tg; i++) {
		const uint64_t step_ns = job->host->now_ns();

		read_tokens(job, s->tokens, pp + i - 1, pp + i);
		out[i] = s->tokens[pp + i] = greedy(job);
		assay_generate_took_token(job, &s->took, false, seconds_since(job, step_ns));
	}
	s->n_known = pp + tg - 1;
	finish_run(job, begin_ns);
	return 0;
}

static int check_prompt(struct assay_job *job, const struct assay_prompt *p)
{
	const struct file_state *s = job->op_state;

	if (p->n_tokens < 1 || p->n_wanted < 1) {
		job->host->fail(job, "a prompt and its answer need at least one token each");
		return 1;
	}
	if (p->n_tokens > s->state.max_pos - p->n_wanted) {
		job->host->fail(job, "a prompt of %lld tokens and %lld more do not fit: the model has room for %lld",
				(long long)p->n_tokens, (long long)p->n_wanted, (long long)s->state.max_pos);
		return 1;
	}
	for (int64_t i = 0; i < p->n_tokens; i++)
		if (p->tokens[i] < 0 || p->tokens[i] >= s->state.model.vocab) {
			job->host->fail(job, "the model has no token %d: they are 0 to %d", (int)p->tokens[i],
					(int)s->state.model.vocab - 1);
			return 1;
		}
	return 0;
}

/* Tokens that the prompt shares with the sequence before it are not read again, except its last one. */
int assay_generate_file_respond(struct assay_job *job, struct assay_prompt *p)
{
	struct file_state *s = job->op_state;
	int64_t known = 0, at = 0;
	int rc = check_prompt(job, p);

	if (rc)
		return rc;
	while (known < s->n_known && known < p->n_tokens - 1 && s->tokens[known] == p->tokens[known])
		known++;
	memcpy(s->tokens, p->tokens, (size_t)p->n_tokens * sizeof(*s->tokens));
	read_tokens(job, s->tokens, known, p->n_tokens);
	for (int64_t i = 0; i < p->n_wanted && !(i && __atomic_load_n(p->enough, __ATOMIC_RELAXED)); i++) {
		at = p->n_tokens + i;
		if (i)
			read_tokens(job, s->tokens, at - 1, at);
		s->tokens[at] = greedy(job);
		p->emit(p->arg, s->tokens[at]);
	}
	s->n_known = at;
	p->n_known = known;
	return 0;
}

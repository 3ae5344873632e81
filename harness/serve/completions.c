/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/chat/completions: the form of OpenAI's API (platform.openai.com/docs/api-reference/chat), with ids of tokens
 * in place of text, because the models have no tokenizer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "drive/generate/generate.h"
#include "serve/http.h"

#define TOKENS_MOST    4096
#define TOKENS_DEFAULT 16
/* How often a stream without news looks whether the server ends. */
#define LOOK_MS 200

/* ---- the request ---- */

static bool add_ids(struct assay_chat_request *r, const int32_t *ids, size_t n)
{
	int32_t *more = realloc(r->prompt, (r->n_prompt + n + 1) * sizeof(*more));

	if (!more)
		return false;
	memcpy(more + r->n_prompt, ids, n * sizeof(*ids));
	r->prompt = more;
	r->n_prompt += n;
	return true;
}

/* A text of ids, or an array of numbers. False, with the answer. */
static bool read_content(struct assay_chat_request *r, const json_t *content, struct assay_http_answer *a)
{
	struct assay_err err = { 0 };
	int32_t *ids = NULL;
	size_t n = 0;
	bool ok = true;

	if (json_is_string(content)) {
		ok = !assay_token_ids(json_string_value(content), &ids, &n, &err);
	} else {
		ids = calloc(json_array_size(content) + 1, sizeof(*ids));
		for (; ok && ids && n < json_array_size(content); n++) {
			const json_t *e = json_array_get(content, n);
			const json_int_t id = json_integer_value(e);

			ok = json_is_integer(e) && id >= 0 && id <= INT32_MAX;
			ids[n] = ok ? (int32_t)id : 0;
		}
		ok = ok && json_is_array(content);
	}
	if (!ok)
		assay_http_fail(a, 400, "bad content of a message: %s",
				err.text[0] ? err.text : "expected ids of tokens, as \"1 2 3\" or [1, 2, 3]");
	else if (!ids && n)
		a->text.failed = true;
	else
		a->text.failed = !add_ids(r, ids, n);
	free(ids);
	return ok && !a->text.failed;
}

static bool read_messages(struct assay_chat_request *r, const json_t *messages, struct assay_http_answer *a)
{
	static const char *const roles[] = { "system", "developer", "user", "assistant" };

	if (!json_is_array(messages) || !json_array_size(messages)) {
		assay_http_fail(a, 400,
				"no messages: expected \"messages\": [{\"role\": \"user\", \"content\": \"1 2 3\"}]");
		return false;
	}
	for (size_t i = 0; i < json_array_size(messages); i++) {
		const json_t *m = json_array_get(messages, i);
		const char *role = json_string_value(json_object_get(m, "role"));
		size_t k = 0;

		while (role && k < sizeof(roles) / sizeof(roles[0]) && strcmp(role, roles[k]))
			k++;
		if (!role || k == sizeof(roles) / sizeof(roles[0])) {
			assay_http_fail(a, 400, "bad role '%.64s' of a message: expected system, user or assistant",
					role ? role : "");
			return false;
		}
		if (!read_content(r, json_object_get(m, "content"), a))
			return false;
	}
	if (!r->n_prompt)
		assay_http_fail(a, 400, "the messages have no tokens");
	return r->n_prompt;
}

/* False, with the answer. */
static bool read_request(const struct assay_http_query *q, struct assay_chat_request *r, struct assay_http_answer *a)
{
	const char *model = json_string_value(json_object_get(q->body, "model")), *own = q->server->q->model;
	const char *profile = assay_mhd.lookup_connection_value(q->connection, MHD_HEADER_KIND, "X-Profile");
	const bool other_name = json_object_get(q->body, "max_completion_tokens");
	double most, temperature, n;

	if (model && strcmp(model, own)) {
		assay_http_fail(a, 404, "no model is called '%.64s', this server has '%.64s'", model, own);
		return false;
	}
	if (!assay_http_number(q, other_name ? "max_completion_tokens" : "max_tokens", 1, TOKENS_MOST, TOKENS_DEFAULT,
			       &most, a) ||
	    !assay_http_number(q, "n", 1, 1, 1, &n, a))
		return false;
	if (!assay_http_number(q, "temperature", 0, 0, 0, &temperature, a)) {
		assay_http_fail(a, 400, "bad temperature: each token is the most likely one, which is temperature 0");
		return false;
	}
	if (profile && strcasecmp(profile, "true") && strcasecmp(profile, "false")) {
		assay_http_fail(a, 400, "bad X-Profile '%.64s': expected true or false", profile);
		return false;
	}
	if (most != (unsigned)most) {
		assay_http_fail(a, 400, "bad max_tokens '%.12g': expected a whole number", most);
		return false;
	}
	r->n_wanted = (unsigned)most;
	r->profile = profile && !strcasecmp(profile, "true");
	return read_messages(r, json_object_get(q->body, "messages"), a);
}

/* ---- the answer ---- */

static void add_tokens(struct assay_text *t, const int32_t *v, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		assay_text_addf(t, "%s%" PRId32, i ? " " : "", v[i]);
}

/* Once it has ended, with the lock held. */
static json_t *completion(const struct assay_chat_request *r, const char *model)
{
	struct assay_text content = { 0 };
	json_t *o;

	add_tokens(&content, r->tokens, 0, r->n_tokens);
	o = json_pack("{s:o,s:s,s:I,s:s,s:[{s:i,s:{s:s,s:s},s:s}],s:{s:i,s:i,s:i,s:{s:i}},s:s*}", "id",
		      json_sprintf("chatcmpl-%" PRIu64, r->id), "object", "chat.completion", "created",
		      (json_int_t)time(NULL), "model", model, "choices", "index", 0, "message", "role", "assistant",
		      "content", content.s ? content.s : "", "finish_reason", "length", "usage", "prompt_tokens",
		      (int)r->n_prompt, "completion_tokens", (int)r->n_tokens, "total_tokens",
		      (int)r->n_prompt + (int)r->n_tokens, "prompt_tokens_details", "cached_tokens", (int)r->known,
		      "profile_error", r->unprofiled[0] ? r->unprofiled : NULL);
	assay_text_release(&content);
	return o;
}

struct stream {
	struct assay_server *s;
	struct assay_chat_request *r;
	unsigned told; /* tokens */
	bool begun, ended;
	struct assay_text left; /* not sent yet */
	size_t sent;
};

static void add_chunk(struct stream *t, const char *role, const char *content, const char *finish)
{
	json_t *o = json_pack("{s:o,s:s,s:I,s:s,s:[{s:i,s:{s:s*,s:s*},s:s?}]}", "id",
			      json_sprintf("chatcmpl-%" PRIu64, t->r->id), "object", "chat.completion.chunk", "created",
			      (json_int_t)time(NULL), "model", t->s->q->model, "choices", "index", 0, "delta", "role",
			      role, "content", content, "finish_reason", finish);
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	assay_text_addf(&t->left, "data: %s\n\n", line ? line : "{}");
	free(line);
	json_decref(o);
}

/* The tokens since the last look, with the lock held. */
static void add_news(struct stream *t)
{
	const struct assay_chat_request *r = t->r;
	struct assay_text content = { 0 };

	if (!t->begun)
		add_chunk(t, "assistant", "", NULL);
	t->begun = true;
	if (r->n_tokens > t->told) {
		add_tokens(&content, r->tokens, t->told, r->n_tokens);
		add_chunk(t, NULL, content.s, NULL);
		t->told = r->n_tokens;
	}
	assay_text_release(&content);
	if (!r->ended)
		return;
	if (r->error[0]) {
		json_t *o = json_pack("{s:i,s:s}", "schema", 1, "error", r->error);
		char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

		assay_text_addf(&t->left, "data: %s\n\n", line ? line : "{}");
		free(line);
		json_decref(o);
	} else {
		add_chunk(t, NULL, NULL, "length");
	}
	assay_text_add(&t->left, "data: [DONE]\n\n");
	t->ended = true;
}

static ssize_t read_stream(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct stream *t = arg;

	(void)pos;
	while (t->sent == t->left.len) {
		if (t->ended || *t->s->q->interrupted)
			return MHD_CONTENT_READER_END_OF_STREAM;
		assay_text_release(&t->left);
		t->left = (struct assay_text){ 0 };
		t->sent = 0;
		assay_chat_wait(&t->s->chat, t->r, t->told, LOOK_MS);
		add_news(t);
		pthread_mutex_unlock(&t->s->chat.lock);
		if (t->left.failed)
			return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	return assay_http_send(&t->left, &t->sent, buf, max);
}

static void end_stream(void *arg)
{
	struct stream *t = arg;

	assay_chat_let_go(&t->s->chat, t->r);
	assay_text_release(&t->left);
	free(t);
}

static void answer_whole(struct assay_server *s, struct assay_chat_request *r, struct assay_http_answer *a)
{
	bool ended;

	do {
		assay_chat_wait(&s->chat, r, r->n_wanted, LOOK_MS);
		ended = r->ended;
		if (ended && r->error[0])
			assay_http_fail(a, r->refused ? 400 : 503, "%s", r->error);
		else if (ended)
			assay_http_json(a, completion(r, s->q->model));
		pthread_mutex_unlock(&s->chat.lock);
	} while (!ended && !*s->q->interrupted);
	if (!ended)
		assay_http_fail(a, 503, "the server ends");
	assay_chat_let_go(&s->chat, r);
}

void assay_serve_completions(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_server *s = q->server;
	struct assay_chat_request *r = calloc(1, sizeof(*r));
	const bool streamed = json_is_true(json_object_get(q->body, "stream"));
	struct stream *t = NULL;
	struct assay_err err = { 0 };

	if (!s->q->model)
		assay_http_fail(a, 501, "this server has no model: start it with --model, such as --model tiny");
	if (!r || !s->q->model || !read_request(q, r, a)) {
		a->text.failed |= !r;
		free(r ? r->prompt : NULL);
		free(r);
		return;
	}
	if (assay_chat_ask(&s->chat, r, &err)) {
		assay_http_fail(a,
				err.code == ASSAY_ELIMIT    ? 429
				: err.code == ASSAY_EWORKER ? 503
							    : 500,
				"%s", err.text);
		return;
	}
	if (!streamed) {
		answer_whole(s, r, a);
		return;
	}
	t = calloc(1, sizeof(*t));
	if (t)
		*t = (struct stream){ .s = s, .r = r };
	a->stream =
		t ? assay_mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, t, end_stream) : NULL;
	a->type = "text/event-stream";
	if (a->stream)
		return;
	assay_chat_let_go(&s->chat, r);
	free(t);
	a->text.failed = true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/chat/completions and GET /v1/models: the form of OpenAI's API (platform.openai.com/docs/api-reference), with
 * ids of tokens in place of text where the model has no tokenizer.
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

/* Append ids of tokens: a text of them, or an array of numbers. False, with the reason in @err. */
static bool read_ids(const json_t *o, int32_t **ids, size_t *n, struct assay_err *err)
{
	int32_t *text = NULL, *more;
	size_t n_text = 0;
	const bool is_text = json_is_string(o);

	if (is_text ? assay_token_ids(json_string_value(o), &text, &n_text, err) != 0 : !json_is_array(o))
		return false;
	more = realloc(*ids, (*n + (is_text ? n_text : json_array_size(o)) + 1) * sizeof(*more));
	if (more) {
		*ids = more;
		if (n_text)
			memcpy(more + *n, text, n_text * sizeof(*text));
		*n += n_text;
	}
	free(text);
	for (size_t i = 0; more && i < json_array_size(o); i++) {
		const json_t *e = json_array_get(o, i);
		const json_int_t id = json_integer_value(e);

		if (!json_is_integer(e) || id < 0 || id > INT32_MAX)
			return false;
		more[(*n)++] = (int32_t)id;
	}
	return more || assay_err_set(err, ASSAY_ENOMEM, "out of memory") == 0;
}

/*
 * A string is text if the model has a tokenizer, and ids otherwise; an array is ids. False if it is neither, and then
 * @err is empty unless something else was wrong.
 */
static bool read_piece(const struct assay_server *s, struct assay_chat_request *r, const json_t *o,
		       struct assay_err *err)
{
	if (!json_is_string(o) || s->chat.no_text[0])
		return read_ids(o, &r->prompt, &r->n_prompt, err);
	r->is_text = true;
	assay_text_add(&r->text, json_string_value(o));
	return true;
}

/* One such, or parts that have them as texts. False, with the answer. */
static bool read_content(const struct assay_server *s, struct assay_chat_request *r, const json_t *content,
			 struct assay_http_answer *a)
{
	const bool parts = json_is_object(json_array_get(content, 0));
	const char *no_text = s->chat.no_text;
	struct assay_err err = { 0 };
	bool ok = parts || read_piece(s, r, content, &err);

	for (size_t i = 0; parts && ok && i < json_array_size(content); i++) {
		const json_t *part = json_array_get(content, i), *text = json_object_get(part, "text");
		const char *type = json_string_value(json_object_get(part, "type"));

		if (!type || strcmp(type, "text")) {
			assay_http_fail(a, 400, "bad type '%.64s' of a part of a message: expected text",
					type ? type : "");
			return false;
		}
		ok = json_is_string(text) && read_piece(s, r, text, &err);
	}
	if (!ok && !no_text[0])
		assay_http_fail(a, 400, "bad content of a message: expected text, or ids of tokens as [1, 2, 3]");
	else if (!ok)
		assay_http_fail(a, err.code == ASSAY_ENOMEM ? 500 : 400, "bad content of a message: %s; %s",
				err.text[0] ? err.text : "expected ids of tokens, as \"1 2 3\" or [1, 2, 3]", no_text);
	return ok;
}

/* Texts, if the prompt is one. False, with the answer. */
static bool read_text_stop(struct assay_chat_request *r, const json_t *stop, struct assay_http_answer *a)
{
	const size_t n = json_is_array(stop) ? json_array_size(stop) : 1;
	bool ok = n <= ASSAY_GENERATE_STOPS;

	r->stops = json_array();
	for (size_t i = 0; ok && i < n; i++) {
		json_t *e = json_is_array(stop) ? json_array_get(stop, i) : (json_t *)(uintptr_t)stop;

		ok = json_is_string(e) && json_string_length(e);
		json_array_append(r->stops, e);
	}
	if (!ok)
		assay_http_fail(a, 400, "bad stop: expected a text, or up to 4 of them");
	return ok;
}

/* A text of ids, or some of them, where an id alone may be a number. False, with the answer. */
static bool read_stop(struct assay_chat_request *r, const json_t *stop, struct assay_http_answer *a)
{
	const size_t n = json_is_array(stop) ? json_array_size(stop) : 1;
	struct assay_err err = { 0 };
	bool ok = n <= ASSAY_GENERATE_STOPS;

	if (!stop || json_is_null(stop))
		return true;
	if (r->is_text)
		return read_text_stop(r, stop, a);
	r->stops = json_array();
	for (size_t i = 0; ok && i < n; i++) {
		const json_t *e = json_is_array(stop) ? json_array_get(stop, i) : stop;
		json_t *ids = json_is_string(e) ? json_array() : json_pack("[O]", e);
		int32_t *v = NULL;
		size_t n_ids = 0;

		ok = ids && read_ids(json_is_string(e) ? e : ids, &v, &n_ids, &err) && n_ids;
		json_array_clear(ids);
		for (size_t k = 0; k < n_ids; k++)
			json_array_append_new(ids, json_integer(v[k]));
		json_array_append_new(r->stops, ids);
		free(v);
	}
	if (!ok)
		assay_http_fail(a, 400, "bad stop: %s",
				err.text[0]
					? err.text
					: "expected ids of tokens, as \"7 9\", or up to 4 of such, as [\"7 9\", 3]");
	return ok;
}

static bool read_messages(const struct assay_server *s, struct assay_chat_request *r, const json_t *messages,
			  struct assay_http_answer *a)
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
		if (!read_content(s, r, json_object_get(m, "content"), a))
			return false;
	}
	a->text.failed |= r->text.failed;
	if (r->is_text && r->n_prompt)
		assay_http_fail(a, 400, "the messages have texts and ids of tokens: expected one of both");
	else if (r->is_text ? !r->text.len : !r->n_prompt)
		assay_http_fail(a, 400, "the messages have no tokens");
	else
		return true;
	return false;
}

/* Parameters that would change the answer are not passed over in silence. False, with the answer. */
static bool knows_all(const json_t *body, struct assay_http_answer *a)
{
	static const char *const known[] = { "model",
					     "messages",
					     "max_tokens",
					     "max_completion_tokens",
					     "n",
					     "stream",
					     "stop",
					     "temperature",
					     "top_p",
					     "seed",
					     "user",
					     "metadata",
					     "logprobs",
					     "presence_penalty",
					     "frequency_penalty" };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)body, name, value)
	{
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(name, known[i]))
			i++;
		if (i == sizeof(known) / sizeof(known[0]) && !json_is_null(value)) {
			assay_http_fail(a, 400, "this server has no parameter '%.64s'", name);
			return false;
		}
	}
	return true;
}

/* False, with the answer. */
static bool read_request(const struct assay_http_query *q, struct assay_chat_request *r, bool *streamed,
			 struct assay_http_answer *a)
{
	static const struct {
		const char *name, *why;
		double value;
	} fixed[] = {
		{ "n", "there is one answer", 1 },
		{ "temperature", "each token is the most likely one, which is temperature 0", 0 },
		{ "top_p", "each token is the most likely one: leave it out", 1 },
		{ "presence_penalty", "each token is the most likely one, which is 0", 0 },
		{ "frequency_penalty", "each token is the most likely one, which is 0", 0 },
	};
	const json_t *stream = json_object_get(q->body, "stream"), *logprobs = json_object_get(q->body, "logprobs");
	const char *model = assay_http_text(q, "model"), *own = q->server->q->model;
	const char *profile = assay_mhd.lookup_connection_value(q->connection, MHD_HEADER_KIND, "X-Profile");
	const json_t *other = json_object_get(q->body, "max_completion_tokens");
	double most, v;

	if (!knows_all(q->body, a))
		return false;
	if (model && strcmp(model, own)) {
		assay_http_fail(a, 404, "no model is called '%.64s', this server has '%.64s'", model, own);
		return false;
	}
	if (!assay_http_number(q, other && !json_is_null(other) ? "max_completion_tokens" : "max_tokens", 1,
			       TOKENS_MOST, TOKENS_DEFAULT, &most, a))
		return false;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!assay_http_number(q, fixed[i].name, fixed[i].value, fixed[i].value, fixed[i].value, &v, a)) {
			assay_http_fail(a, 400, "bad %s: %s", fixed[i].name, fixed[i].why);
			return false;
		}
	if (json_is_true(logprobs)) {
		assay_http_fail(a, 400, "bad logprobs: the model does not tell them");
		return false;
	}
	if (stream && !json_is_boolean(stream) && !json_is_null(stream)) {
		assay_http_fail(a, 400, "bad stream: expected true or false");
		return false;
	}
	*streamed = json_is_true(stream);
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
	return read_messages(q->server, r, json_object_get(q->body, "messages"), a) &&
	       read_stop(r, json_object_get(q->body, "stop"), a);
}

/* ---- the answer ---- */

static void add_tokens(struct assay_text *t, const int32_t *v, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		assay_text_addf(t, "%s%" PRId32, i ? " " : "", v[i]);
}

static const char *finish_reason(const struct assay_chat_request *r)
{
	return r->stopped ? "stop" : "length";
}

/* Once it has ended, with the lock held. */
static json_t *completion(const struct assay_chat_request *r, const char *model)
{
	struct assay_text content = { 0 };
	json_t *o;

	if (r->is_text)
		assay_text_add(&content, r->answer.s ? r->answer.s : "");
	else
		add_tokens(&content, r->tokens, 0, r->n_tokens);
	o = json_pack("{s:o,s:s,s:I,s:s,s:[{s:i,s:{s:s,s:s},s:s}],s:{s:i,s:i,s:i,s:{s:i}},s:s*}", "id",
		      json_sprintf("chatcmpl-%" PRIu64, r->id), "object", "chat.completion", "created",
		      (json_int_t)time(NULL), "model", model, "choices", "index", 0, "message", "role", "assistant",
		      "content", content.s ? content.s : "", "finish_reason", finish_reason(r), "usage",
		      "prompt_tokens", (int)r->n_prompt, "completion_tokens", (int)r->n_tokens, "total_tokens",
		      (int)r->n_prompt + (int)r->n_tokens, "prompt_tokens_details", "cached_tokens", (int)r->known,
		      "profile_error", r->unprofiled[0] ? r->unprofiled : NULL);
	assay_text_release(&content);
	return o;
}

struct stream {
	struct assay_server *s;
	struct assay_chat_request *r;
	unsigned told; /* tokens */
	size_t told_bytes;
	bool begun, ended;
	struct assay_text left; /* not sent yet */
	size_t sent;
};

static void add_chunk(struct stream *t, const char *role, const char *content, const char *finish)
{
	const char *unprofiled = finish && t->r->unprofiled[0] ? t->r->unprofiled : NULL;
	json_t *o = json_pack("{s:o,s:s,s:I,s:s,s:[{s:i,s:{s:s*,s:s*},s:s?}],s:s*}", "id",
			      json_sprintf("chatcmpl-%" PRIu64, t->r->id), "object", "chat.completion.chunk", "created",
			      (json_int_t)time(NULL), "model", t->s->q->model, "choices", "index", 0, "delta", "role",
			      role, "content", content, "finish_reason", finish, "profile_error", unprofiled);
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
	if (r->is_text && r->answer.len > t->told_bytes)
		assay_text_add(&content, r->answer.s + t->told_bytes);
	else if (!r->is_text && r->n_tokens > t->told)
		add_tokens(&content, r->tokens, t->told, r->n_tokens);
	if (content.len)
		add_chunk(t, NULL, content.s, NULL);
	t->told = r->n_tokens;
	t->told_bytes = r->answer.len;
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
		add_chunk(t, NULL, NULL, finish_reason(r));
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
	bool streamed = false;
	struct stream *t = NULL;
	struct assay_err err = { 0 };

	if (!s->q->model)
		assay_http_fail(a, 501, "this server has no model: start it with --model, such as --model tiny");
	if (!r || !s->q->model || !read_request(q, r, &streamed, a)) {
		a->text.failed |= !r;
		free(r ? r->prompt : NULL);
		if (r)
			assay_text_release(&r->text);
		json_decref(r ? r->stops : NULL);
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

static json_t *model_json(const struct assay_server *s)
{
	return json_pack("{s:s,s:s,s:I,s:s}", "id", s->q->model, "object", "model", "created",
			 (json_int_t)s->began_unix_s, "owned_by", "assay");
}

void assay_serve_models(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const struct assay_server *s = q->server;
	json_t *all;

	if (q->rest[0]) {
		if (s->q->model && !strcmp(q->rest + 1, s->q->model))
			assay_http_json(a, model_json(s));
		else
			assay_http_fail(a, 404, "no model is called '%.64s': see /v1/models", q->rest + 1);
		return;
	}
	all = json_array();
	if (s->q->model)
		json_array_append_new(all, model_json(s));
	assay_http_json(a, json_pack("{s:s,s:o}", "object", "list", "data", all));
}

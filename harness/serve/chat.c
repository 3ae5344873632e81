/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/chat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/text.h"

#define PROFILE_NAME "request"
/* How often a process without work is looked at. */
#define LOOK_MS 200

/* ---- the process ---- */

static int words_of(const struct assay_serve_request *q, struct assay_strings *out, struct assay_err *err)
{
	const char *const first[] = { "/proc/self/exe", "generate", q->model, "--requests", "--db", q->what->db };
	int rc = 0;

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]) && !rc; i++)
		rc = assay_strings_add(out, first[i], err);
	if (!rc && q->what->plan.bench_dir)
		rc = assay_strings_add(out, "--bench-dir", err);
	if (!rc && q->what->plan.bench_dir)
		rc = assay_strings_add(out, q->what->plan.bench_dir, err);
	if (!rc && q->what->no_default_plugins)
		rc = assay_strings_add(out, "--no-default-plugins", err);
	for (size_t i = 0; i < q->what->plugins.n && !rc; i++) {
		rc = assay_strings_add(out, "--plugin", err);
		if (!rc)
			rc = assay_strings_add(out, q->what->plugins.v[i], err);
	}
	return rc;
}

/* Its standard input and, in one pipe, all that it writes: events, and messages for people. */
static int start(struct assay_chat *c, struct assay_process *p, FILE **to, FILE **from, struct assay_err *err)
{
	struct assay_strings words = { 0 };
	const char **argv = NULL;
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	int rc = words_of(c->q, &words, err);

	if (!rc) {
		argv = calloc(words.n + 1, sizeof(*argv));
		if (!argv || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
			rc = assay_err_set(err, ASSAY_EIO, "cannot start the model: %s", strerror(errno));
	}
	if (!rc) {
		memcpy(argv, words.v, words.n * sizeof(*argv));
		rc = assay_process_start(p,
					 &(struct assay_process_options){ .argv = argv,
									  .keep_fd = -1,
									  .stdin_fd = in[0],
									  .stdout_fd = out[1],
									  .stderr_fd = out[1] },
					 err);
	}
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	*to = in[1] >= 0 ? fdopen(in[1], "w") : NULL;
	*from = out[0] >= 0 ? fdopen(out[0], "r") : NULL;
	assay_strings_release(&words);
	free(argv);
	return rc;
}

/* ---- requests ---- */

/* With the lock held. */
static void end_request(struct assay_chat *c, struct assay_chat_request *r, const char *error, bool refused)
{
	snprintf(r->error, sizeof(r->error), "%s", error ? error : "");
	r->ended = true;
	r->refused = refused;
	c->counts.refused += error && refused;
	c->counts.failed += error && !refused;
	c->counts.prompt += error ? 0 : r->n_prompt;
	c->counts.known += r->known;
	pthread_cond_broadcast(&c->changed);
}

/* With the lock held. */
static void let_go(struct assay_chat_request *r)
{
	if (--r->holders)
		return;
	free(r->prompt);
	assay_text_release(&r->text);
	json_decref(r->stops);
	free(r->tokens);
	assay_text_release(&r->answer);
	free(r);
}

void assay_chat_let_go(struct assay_chat *c, struct assay_chat_request *r)
{
	pthread_mutex_lock(&c->lock);
	let_go(r);
	pthread_mutex_unlock(&c->lock);
}

static bool hand_over(const struct assay_chat_request *r, FILE *to)
{
	json_t *prompt = r->is_text ? json_string(r->text.s) : json_array(), *o;
	char *line;
	bool ok;

	for (size_t i = 0; i < r->n_prompt; i++)
		json_array_append_new(prompt, json_integer(r->prompt[i]));
	o = json_pack("{s:o,s:i,s:O*,s:s*}", "prompt", prompt, "max_tokens", (int)r->n_wanted, "stop", r->stops,
		      "profile", r->profile ? PROFILE_NAME : NULL);
	line = o ? json_dumps(o, JSON_COMPACT) : NULL;
	ok = line && fprintf(to, "%s\n", line) > 0 && !fflush(to);
	free(line);
	json_decref(o);
	return ok;
}

/* With the lock held. */
static void take_tokens(struct assay_chat *c, struct assay_chat_request *r, const json_t *e, uint64_t *last_ns)
{
	const json_t *tokens = json_object_get(e, "tokens"), *at = json_object_get(e, "at_ns");

	for (size_t i = 0; i < json_array_size(tokens) && r->n_tokens < r->n_wanted; i++) {
		const uint64_t at_ns = (uint64_t)json_integer_value(json_array_get(at, i)),
			       since = r->n_tokens ? *last_ns : r->arrived_ns;

		r->tokens[r->n_tokens] = (int32_t)json_integer_value(json_array_get(tokens, i));
		assay_latencies_add(r->n_tokens ? &c->counts.next : &c->counts.first,
				    at_ns > since ? (double)(at_ns - since) * 1e-9 : 0);
		*last_ns = at_ns;
		r->n_tokens++;
		c->counts.generated++;
	}
	if (r->is_text && json_is_string(json_object_get(e, "text")))
		assay_text_add(&r->answer, json_string_value(json_object_get(e, "text")));
	pthread_cond_broadcast(&c->changed);
}

/* Read events until @r has ended. False: the process has, or is about to. */
static bool answer(struct assay_chat *c, struct assay_chat_request *r, FILE *from)
{
	uint64_t first_ns = 0, last_ns = 0;
	char *line = NULL;
	size_t size = 0;
	bool ended = false, lost = false;

	while (!ended && getline(&line, &size, from) > 0) {
		json_t *e = json_loads(line, 0, NULL);
		const char *kind = json_string_value(json_object_get(e, "event"));

		pthread_mutex_lock(&c->lock);
		if (!kind) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(c->error, sizeof(c->error), "%s", strncmp(line, "assay: ", 7) ? line : line + 7);
		} else if (!strcmp(kind, "tokens")) {
			take_tokens(c, r, e, &last_ns);
			if (!first_ns)
				first_ns = last_ns;
		} else if (!strcmp(kind, "end")) {
			const char *unprofiled = json_string_value(json_object_get(e, "unprofiled"));

			const char *error = json_string_value(json_object_get(e, "error"));
			const bool refused = json_is_true(json_object_get(e, "refused"));

			ended = true;
			lost = error && !refused;
			if (lost)
				snprintf(c->error, sizeof(c->error), "%s", error);
			else
				c->in_vain = 0;
			r->stopped = json_is_true(json_object_get(e, "stopped"));
			r->known = (unsigned)json_integer_value(json_object_get(e, "known"));
			r->n_prompt = (size_t)json_integer_value(json_object_get(e, "prompt"));
			snprintf(r->unprofiled, sizeof(r->unprofiled), "%s", unprofiled ? unprofiled : "");
			if (last_ns > r->arrived_ns && r->n_tokens)
				c->counts.tokens_per_s =
					(double)r->n_tokens / ((double)(last_ns - r->arrived_ns) * 1e-9);
			end_request(c, r, error, refused);
		}
		pthread_mutex_unlock(&c->lock);
		json_decref(e);
	}
	free(line);
	return ended && !lost;
}

/* The first line says that the model is there. */
static bool is_loaded(struct assay_chat *c, FILE *from)
{
	char *line = NULL;
	size_t size = 0;
	bool ready = false;

	while (!ready && getline(&line, &size, from) > 0) {
		json_t *e = json_loads(line, 0, NULL);

		ready = json_is_object(e);
		/* the same at every start, and read by threads that come after the first one */
		if (ready && c->counts.starts == 1)
			snprintf(c->no_text, sizeof(c->no_text), "%s",
				 json_is_string(json_object_get(e, "no_text"))
					 ? json_string_value(json_object_get(e, "no_text"))
					 : "");
		json_decref(e);
		line[strcspn(line, "\n")] = '\0';
		if (!ready)
			snprintf(c->error, sizeof(c->error), "%s", strncmp(line, "assay: ", 7) ? line : line + 7);
	}
	free(line);
	return ready;
}

/* With the lock held: until something changes, or so long. False: it took that long. */
static bool wait_ms(struct assay_chat *c, unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_cond_timedwait(&c->changed, &c->lock, &until) != ETIMEDOUT;
}

/* The next request; NULL: the server ends, or the process has, of which requests that wait know nothing. */
static struct assay_chat_request *next_request(struct assay_chat *c, struct assay_process *p)
{
	struct assay_chat_request *r = NULL;
	bool ended;

	pthread_mutex_lock(&c->lock);
	while (!(ended = assay_process_ended(p)) && !c->over && !c->queue)
		wait_ms(c, LOOK_MS);
	if (ended)
		c->pid = 0; /* nobody signals a process that is reaped */
	else if (!c->over)
		r = c->queue;
	if (r) {
		c->queue = r->after;
		c->waiting--;
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* The process has ended, and with it @r, which may be NULL, and those that wait unless it is started again. */
static void mark_gone(struct assay_chat *c, struct assay_chat_request *r)
{
	pthread_mutex_lock(&c->lock);
	c->ready = false;
	c->gone = true;
	if (!c->error[0])
		snprintf(c->error, sizeof(c->error), "the model's process ended");
	while (r || (c->queue && (c->over || c->in_vain >= ASSAY_CHAT_STARTS_MAX))) {
		if (!r) {
			r = c->queue;
			c->queue = r->after;
			c->waiting--;
		}
		if (!r->ended)
			end_request(c, r, c->error, false);
		let_go(r);
		r = NULL;
	}
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Start the process and hand it requests, until it ends or the server does. */
static void run_model(struct assay_chat *c)
{
	struct assay_chat_request *r = NULL;
	struct assay_process p = { .pidfd = -1 };
	struct assay_err err = { 0 };
	FILE *to, *from;
	bool ok = !start(c, &p, &to, &from, &err);

	pthread_mutex_lock(&c->lock);
	c->pid = p.pid;
	if (c->over && p.pid)
		kill(p.pid, SIGTERM);
	c->counts.starts++;
	c->in_vain++;
	c->gone = false;
	snprintf(c->error, sizeof(c->error), "%s", err.text);
	pthread_mutex_unlock(&c->lock);
	ok = ok && from && to && is_loaded(c, from);
	pthread_mutex_lock(&c->lock);
	c->ready = ok;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	while (ok && (r = next_request(c, &p))) {
		ok = hand_over(r, to) && answer(c, r, from);
		if (ok)
			assay_chat_let_go(c, r);
	}
	if (to)
		fclose(to);
	pthread_mutex_lock(&c->lock);
	c->pid = 0;
	pthread_mutex_unlock(&c->lock);
	if (p.pid && !assay_process_wait(&p, UINT64_C(2000000000)))
		assay_process_kill(&p);
	if (from)
		fclose(from);
	mark_gone(c, r);
}

/* Wait for a request that starts it again. False: the server ends. */
static bool is_wanted_again(struct assay_chat *c)
{
	bool over;

	pthread_mutex_lock(&c->lock);
	while (!c->over && !c->queue)
		pthread_cond_wait(&c->changed, &c->lock);
	over = c->over;
	pthread_mutex_unlock(&c->lock);
	return !over;
}

static void *serve_model(void *arg)
{
	struct assay_chat *c = arg;

	do
		run_model(c);
	while (is_wanted_again(c));
	return NULL;
}

/* ---- the other threads ---- */

int assay_chat_start(struct assay_chat *c, const struct assay_serve_request *q, struct assay_err *err)
{
	pthread_condattr_t how;

	*c = (struct assay_chat){ .q = q };
	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, &how);
	pthread_condattr_destroy(&how);
	if (!q->model)
		return 0;
	/* a model that is gone is noticed when it is written to */
	signal(SIGPIPE, SIG_IGN);
	if (pthread_create(&c->thread, NULL, serve_model, c))
		return assay_err_set(err, ASSAY_EIO, "cannot start a thread for the model");
	c->started = true;
	pthread_mutex_lock(&c->lock);
	while (!c->ready && !c->gone && !*q->interrupted)
		wait_ms(c, 100);
	if (*q->interrupted)
		assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted while the model was loaded");
	else if (!c->ready)
		assay_err_set(err, ASSAY_EUSAGE, "%s", c->error);
	pthread_mutex_unlock(&c->lock);
	if (err->code)
		assay_chat_stop(c);
	return err->code;
}

void assay_chat_stop(struct assay_chat *c)
{
	if (!c->q)
		return;
	pthread_mutex_lock(&c->lock);
	c->over = true;
	if (c->pid)
		kill(c->pid, SIGTERM);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	if (c->started)
		pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	*c = (struct assay_chat){ 0 };
}

int assay_chat_ask(struct assay_chat *c, struct assay_chat_request *r, struct assay_err *err)
{
	struct assay_chat_request **at = &c->queue;
	int rc = 0;

	r->tokens = calloc(r->n_wanted, sizeof(*r->tokens));
	r->holders = 2;
	r->arrived_ns = assay_monotonic_ns();
	pthread_mutex_lock(&c->lock);
	if (!r->tokens)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	else if (c->gone && c->in_vain >= ASSAY_CHAT_STARTS_MAX)
		rc = assay_err_set(err, ASSAY_EWORKER,
				   "the model ended %u times without an answer, and is not started again: %.300s",
				   c->in_vain, c->error);
	else if (c->waiting >= ASSAY_CHAT_WAITING_MAX)
		rc = assay_err_set(err, ASSAY_ELIMIT, "%u requests wait for the model already", c->waiting);
	if (rc) {
		r->holders = 1;
		let_go(r);
	} else {
		while (*at)
			at = &(*at)->after;
		*at = r;
		r->id = ++c->newest;
		c->waiting++;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

void assay_chat_wait(struct assay_chat *c, const struct assay_chat_request *r, unsigned n, unsigned ms)
{
	pthread_mutex_lock(&c->lock);
	while (!r->ended && r->n_tokens <= n && wait_ms(c, ms))
		;
}

int assay_chat_gone(struct assay_chat *c, struct assay_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	if (!c->ready)
		rc = assay_err_set(err, ASSAY_EWORKER, "the model is gone%s: %.400s",
				   c->in_vain < ASSAY_CHAT_STARTS_MAX ? ", and the next request starts it again"
								      : ", and is not started again",
				   c->error);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

struct assay_chat_counts assay_chat_look(struct assay_chat *c)
{
	struct assay_chat_counts n;

	pthread_mutex_lock(&c->lock);
	n = c->counts;
	n.up = c->ready;
	pthread_mutex_unlock(&c->lock);
	return n;
}

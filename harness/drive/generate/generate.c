/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/generate/generate.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/monotonic.h"
#include "drive/generate/text.h"
#include "drive/profile/kinds.h"
#include "drive/profile/profile.h"
#include "measure/case_needs.h"

/* Between two looks at the tokens that came. */
#define LOOK_NS 2000000u
/* How long a prompt may take is not known, since others were shorter. */
#define HANG_NS UINT64_C(600000000000)
/* Of profiles of requests so many stay, and those of so many days. */
#define KEEP      1000
#define KEEP_DAYS 30

struct assay_generator {
	const struct assay_request *q;
	const struct assay_watch *w;
	struct assay_request asked; /* what it owns is q's */
	struct assay_session s;
	struct assay_clock clock;
	struct assay_timeout_history timeouts;
	size_t at; /* of the case */
	struct assay_worker *worker;
	struct assay_model_text text;

	/* of the request that is answered */
	struct assay_generation *r;
	struct assay_cpu_profile *cpu; /* NULL: it is not sampled */
	uint32_t seen, given;          /* tokens that were compared with the stops, and that were handed on */
	int32_t tokens[ASSAY_PAGE_TOKENS];
	uint64_t at_ns[ASSAY_PAGE_TOKENS];
};

/* ---- the model ---- */

static bool is_of_file(const struct assay_generator *g, const struct assay_case *c)
{
	const struct assay_catalog_op *op = assay_catalog_op(g->s.catalog, c->op);

	return op && op->model_axis;
}

static const char *model_of(const struct assay_case *c)
{
	for (unsigned i = 0; i < c->n_axes; i++)
		if (!strcmp(c->axes[i].name, "model"))
			return c->axes[i].text;
	return "";
}

static int no_such(const struct assay_generator *g, const char *model, struct assay_err *err)
{
	struct assay_text all = { 0 };
	const char *before = "";
	int rc;

	for (size_t i = 0; i < g->s.plan.n_cases; i++) {
		const char *name = model_of(&g->s.plan.cases[i]);

		if (!is_of_file(g, &g->s.plan.cases[i]) && name[0] && strcmp(name, before))
			assay_text_addf(&all, "%s%s", all.len ? ", " : "", name);
		before = name[0] ? name : before;
	}
	rc = assay_err_set(err, ASSAY_EUSAGE, "no model is called '%.64s', expected one of the suite '%s': %s", model,
			   g->s.plan.suite, all.s ? all.s : "it has none");
	assay_text_release(&all);
	return rc;
}

/* Variants are listed from the plainest to the one that needs most of the CPU. */
static int choose(struct assay_generator *g, const char *model, struct assay_err *err)
{
	const struct assay_plan *p = &g->s.plan;
	const char *why = NULL;

	g->at = p->n_cases;
	for (size_t i = 0; i < p->n_cases; i++) {
		const struct assay_case_facts *f = &g->s.facts[i];

		if (is_of_file(g, &p->cases[i]) ? model[0] : strcmp(model_of(&p->cases[i]), model))
			continue;
		if (!f->failed && !p->cases[i].skip_reason[0] && f->timed && !p->cases[i].device[0])
			g->at = i;
		else if (!why)
			why = p->cases[i].skip_reason[0] ? p->cases[i].skip_reason : f->reason;
	}
	if (g->at < p->n_cases)
		return 0;
	return why ? assay_err_set(err, ASSAY_EUNAVAILABLE, "model '%.64s' cannot run here: %s",
				   model[0] ? model : g->q->plan.models.v[0], why)
		   : no_such(g, model, err);
}

static int lost(const struct assay_generator *g, const char *what, enum assay_status status, const char *reason,
		struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EWORKER, "%s '%s': %s: %.300s", what, assay_generator_key(g),
			     assay_status_name(status), reason);
}

static int load(struct assay_generator *g, struct assay_err *err)
{
	const struct assay_measure_options o = assay_session_measure(&g->s, g->q, &g->clock, g->w);
	struct assay_worker_options wo =
		assay_measure_worker(&o, &g->s.plan.cases[g->at], &g->s.facts[g->at], ASSAY_WORKER_PROFILED);
	enum assay_status status = ASSAY_STATUS_OK;
	char reason[512];
	const struct assay_ending end = { &status, reason, sizeof(reason) };
	int rc = assay_measure_place(&o, &wo, err);

	g->timeouts.floor_ns = HANG_NS;
	wo.timeouts = &g->timeouts;
	wo.deadline_ns = UINT64_MAX;
	if (!rc)
		rc = assay_worker_start(&g->worker, &wo, err);
	if (!rc)
		rc = assay_worker_call(g->worker, ASSAY_CMD_PREPARE, NULL, end, err);
	free(wo.cpus);
	return rc || status == ASSAY_STATUS_OK ? rc : lost(g, "cannot load", status, reason, err);
}

int assay_generator_open(struct assay_generator **out, const struct assay_request *q, const char *model,
			 const struct assay_watch *w, struct assay_err *err)
{
	struct assay_generator *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a model");
	g->q = q;
	g->w = w;
	g->asked = *q;
	if (!g->asked.plan.suite)
		g->asked.plan.suite = ASSAY_GENERATE_SUITE;
	rc = assay_session_ready(&g->s, &g->asked, w, err);
	if (!rc)
		rc = choose(g, model, err);
	if (!rc)
		rc = assay_clock_init(&g->clock, err);
	if (!rc)
		rc = load(g, err);
	if (!rc && !model[0])
		assay_model_text_open(&g->text, g->q->plan.models.v[0]);
	else
		snprintf(g->text.absent.text, sizeof(g->text.absent.text), "models of the suite '%s' have no tokenizer",
			 ASSAY_GENERATE_SUITE);
	if (rc)
		assay_generator_close(g);
	else
		*out = g;
	return rc;
}

const char *assay_generator_key(const struct assay_generator *g)
{
	return g->s.plan.cases[g->at].key;
}

const char *assay_generator_no_text(const struct assay_generator *g)
{
	return g->text.absent.text[0] ? g->text.absent.text : NULL;
}

void assay_generator_close(struct assay_generator *g)
{
	if (!g)
		return;
	assay_model_text_close(&g->text);
	assay_worker_free(g->worker);
	assay_session_close(&g->s);
	free(g);
}

/* ---- a request ---- */

/* Do @n of its first tokens end those before @end? */
static bool ends_with(const struct assay_generator *g, uint32_t end, const struct assay_token_sequence *s, uint32_t n)
{
	return n <= end && !memcmp(g->tokens + end - n, s->ids, n * sizeof(*s->ids));
}

/* How many of @n tokens belong to the answer for certain. A stop is looked for once at each token. */
static uint32_t settled(struct assay_generator *g, uint32_t n)
{
	struct assay_generation *r = g->r;
	uint32_t held = 0;

	while (g->seen < n) {
		g->seen++;
		for (uint32_t i = 0; i < r->n_stops; i++) {
			if (!ends_with(g, g->seen, &r->stops[i], r->stops[i].n))
				continue;
			r->stopped = true;
			held = r->stops[i].n > held ? r->stops[i].n : held;
		}
		if (r->stopped)
			return g->seen - held;
	}
	for (uint32_t i = 0; i < r->n_stops; i++)
		for (uint32_t k = held + 1; k < r->stops[i].n && k <= n; k++)
			if (ends_with(g, n, &r->stops[i], k))
				held = k;
	return n - held;
}

/* The same of text, of which what is certain goes to @text. The token that ends the answer is none of it. */
static uint32_t settled_text(struct assay_generator *g, uint32_t n, bool last, struct assay_text *text)
{
	struct assay_generation *r = g->r;

	while (g->seen < n && !r->stopped)
		r->stopped = assay_model_text_add(&g->text, g->tokens[g->seen++], r->text_stops, r->n_stops);
	assay_model_text_take(&g->text, r->text_stops, r->n_stops, last || r->stopped, text);
	return g->seen - r->stopped;
}

/* @last: no more will come. */
static void take(struct assay_generator *g, bool last)
{
	const uint32_t n = assay_worker_tokens(g->worker, g->tokens, g->at_ns), from = g->given;
	struct assay_generation *r = g->r;
	struct assay_text text = { 0 };
	uint32_t to;

	if (r->stopped)
		return;
	to = r->text ? settled_text(g, n, last, &text) : settled(g, n);
	g->given = last && !r->stopped ? n : to;
	if (r->stopped)
		assay_worker_enough(g->worker);
	if ((g->given > from || text.len) && r->come)
		r->come(r->arg, g->tokens + from, g->at_ns + from, g->given - from,
			!r->text ? NULL
			: text.s ? text.s
				 : "");
	g->text.short_of_memory |= text.failed;
	assay_text_release(&text);
}

static void look(void *arg)
{
	struct assay_generator *g = arg;

	take(g, false);
	if (g->cpu)
		assay_cpu_profile_drain(g->cpu);
	assay_worker_wait_less(g->worker, LOOK_NS);
}

static int respond(struct assay_generator *g, struct assay_err *err)
{
	struct assay_generation *r = g->r;
	enum assay_status status = ASSAY_STATUS_OK;
	char reason[512];
	const struct assay_ending end = { &status, reason, sizeof(reason) };
	int rc;

	g->seen = g->given = 0;
	assay_model_text_begin(&g->text);
	assay_worker_while_waiting(g->worker, look, g);
	assay_worker_wait_less(g->worker, LOOK_NS);
	rc = assay_worker_respond(g->worker, r->prompt, r->n_prompt, r->n_wanted, end, err);
	if (!rc)
		take(g, true);
	assay_worker_while_waiting(g->worker, NULL, NULL);
	if (rc || status != ASSAY_STATUS_OK)
		return rc ? rc : lost(g, "no answer by", status, reason, err);
	if (assay_worker_reply(g->worker)->refused[0])
		return assay_err_set(err, ASSAY_EUSAGE, "%s", assay_worker_reply(g->worker)->refused);
	if (g->text.short_of_memory)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the text of an answer");
	if (!r->stopped && g->given != r->n_wanted)
		return assay_err_set(err, ASSAY_EWORKER, "'%s' returned %u tokens, but %u were requested",
				     assay_generator_key(g), g->given, r->n_wanted);
	r->n_known = (uint32_t)assay_worker_reply(g->worker)->n_known;
	return 0;
}

/* A request is answered even if it cannot be sampled. */
static int respond_profiled(struct assay_generator *g, struct assay_err *err)
{
	struct assay_err *unprofiled = &g->r->unprofiled;
	const struct assay_cpu_sampling how = { .rate_hz = ASSAY_PROFILE_RATE_HZ, .own_case = true };
	struct assay_profile_request q = {
		.what = &g->asked, .kind = "cpu", .name = g->r->profile, .keep = KEEP, .keep_days = KEEP_DAYS
	};
	struct assay_profile p = { .iteration_ns = NAN, .started_ns = assay_clock_unix_ns() };
	struct assay_store *store = NULL;
	int rc;

	snprintf(p.what, sizeof(p.what), "a request to model %s: %u tokens after %u", model_of(&g->s.plan.cases[g->at]),
		 g->r->n_wanted, g->r->n_prompt);
	if (!assay_profile_store_open(&store, &q, unprofiled) && !assay_cpu_profile_open(&g->cpu, &how, &p, unprofiled))
		assay_cpu_profile_attach(g->cpu, assay_worker_pid(g->worker), unprofiled);
	rc = respond(g, err);
	if (!rc && !unprofiled->code && !assay_cpu_profile_end(g->cpu, unprofiled)) {
		if (!p.stacks.weight)
			assay_err_set(unprofiled, ASSAY_EUNAVAILABLE, "%s",
				      assay_cpu_profile_absent(g->cpu) ? assay_cpu_profile_absent(g->cpu)
								       : "it was too short for a sample");
		else if (!assay_profile_identify(&q, g->w, &g->s, &p, unprofiled))
			assay_profile_store_keep(store, &q, &p, unprofiled);
	}
	assay_cpu_profile_close(g->cpu);
	g->cpu = NULL;
	assay_profile_store_close(store);
	assay_profile_release(&p);
	return rc;
}

int assay_generator_respond(struct assay_generator *g, struct assay_generation *r, struct assay_err *err)
{
	int32_t *ids = NULL;
	size_t n;
	int rc = 0;

	if (r->text) {
		rc = assay_model_text_encode(&g->text, r->text, r->special, &ids, &n, err);
		r->prompt = ids;
		r->n_prompt = rc ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	}
	if (!rc && r->n_prompt > ASSAY_PAGE_TOKENS)
		rc = assay_err_set(err, ASSAY_EUSAGE, "a prompt has at most %d tokens", ASSAY_PAGE_TOKENS);
	if (!rc && r->n_wanted > ASSAY_PAGE_TOKENS)
		rc = assay_err_set(err, ASSAY_EUSAGE, "an answer has at most %d tokens", ASSAY_PAGE_TOKENS);
	g->r = r;
	if (!rc)
		rc = r->profile ? respond_profiled(g, err) : respond(g, err);
	if (r->text)
		r->prompt = NULL;
	free(ids);
	return rc;
}

/* ---- requests as lines of JSON ---- */

static void put(FILE *out, json_t *o)
{
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (line)
		fprintf(out, "%s\n", line);
	fflush(out);
	free(line);
	json_decref(o);
}

static void put_tokens(void *arg, const int32_t *tokens, const uint64_t *at_ns, uint32_t n, const char *text)
{
	json_t *v = json_array(), *at = json_array();

	for (uint32_t i = 0; i < n; i++) {
		json_array_append_new(v, json_integer(tokens[i]));
		json_array_append_new(at, json_integer((json_int_t)at_ns[i]));
	}
	put(arg, json_pack("{s:s,s:o,s:o,s:s*}", "event", "tokens", "tokens", v, "at_ns", at, "text", text));
}

static int32_t *read_ids(const json_t *o, uint32_t *n)
{
	const size_t all = json_array_size(o);
	int32_t *v = calloc(all + 1, sizeof(*v));

	*n = all > ASSAY_PAGE_TOKENS ? ASSAY_PAGE_TOKENS + 1 : (uint32_t)all;
	for (size_t i = 0; v && i < *n; i++) {
		const json_t *e = json_array_get(o, i);
		const json_int_t id = json_integer_value(e);

		/* -1 is no token of any model */
		v[i] = json_is_integer(e) && id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
	}
	return v;
}

static int read_stops(const json_t *o, struct assay_generation *r, struct assay_err *err)
{
	const size_t all = json_array_size(o);

	if (all > ASSAY_GENERATE_STOPS)
		return assay_err_set(err, ASSAY_EUSAGE, "%zu stop sequences, expected at most %d", all,
				     ASSAY_GENERATE_STOPS);
	for (size_t i = 0; i < all; i++) {
		struct assay_token_sequence *s = &r->stops[r->n_stops];

		if (r->text) {
			const char *stop = json_string_value(json_array_get(o, i));

			r->text_stops[r->n_stops++] = stop ? stop : "";
			if (!stop || !stop[0])
				return assay_err_set(err, ASSAY_EUSAGE, "a stop text is empty");
			continue;
		}
		s->ids = read_ids(json_array_get(o, i), &s->n);
		if (!s->ids)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		r->n_stops++;
		if (!s->n)
			return assay_err_set(err, ASSAY_EUSAGE, "a stop sequence is empty");
	}
	return 0;
}

static int answer(struct assay_generator *g, const char *line, FILE *out, struct assay_err *err)
{
	json_t *o = json_loads(line, 0, NULL), *end;
	const json_int_t most = json_integer_value(json_object_get(o, "max_tokens"));
	struct assay_generation r = {
		.n_wanted = most < 0                   ? 0
			    : most > ASSAY_PAGE_TOKENS ? ASSAY_PAGE_TOKENS + 1
						       : (uint32_t)most,
		.text = json_string_value(json_object_get(o, "prompt")),
		.profile = json_string_value(json_object_get(o, "profile")),
		.come = put_tokens,
		.arg = out,
	};
	struct assay_err why = { 0 };
	int32_t *prompt = read_ids(json_object_get(o, "prompt"), &r.n_prompt);
	int rc = prompt ? read_stops(json_object_get(o, "stop"), &r, &why)
			: assay_err_set(&why, ASSAY_ENOMEM, "out of memory");

	r.prompt = prompt;
	if (!rc)
		rc = assay_generator_respond(g, &r, &why);
	end = json_pack("{s:s,s:I,s:i,s:b}", "event", "end", "prompt", (json_int_t)r.n_prompt, "known", (int)r.n_known,
			"stopped", r.stopped);
	if (rc) {
		json_object_set_new(end, "error", json_string(why.text));
		json_object_set_new(end, "refused", json_boolean(rc == ASSAY_EUSAGE));
	}
	if (r.unprofiled.code)
		json_object_set_new(end, "unprofiled", json_string(r.unprofiled.text));
	put(out, end);
	for (uint32_t i = 0; i < r.n_stops; i++)
		free(r.stops[i].ids);
	free(prompt);
	json_decref(o);
	if (!rc || rc == ASSAY_EUSAGE)
		return 0;
	*err = why;
	return rc;
}

int assay_generator_serve(struct assay_generator *g, FILE *in, FILE *out, struct assay_err *err)
{
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	put(out, json_pack("{s:s,s:s,s:s*}", "event", "ready", "case", assay_generator_key(g), "no_text",
			   assay_generator_no_text(g)));
	while (!rc && getline(&line, &size, in) > 0)
		rc = assay_watch_check(g->w, err) ? err->code : answer(g, line, out, err);
	free(line);
	return rc ? rc : assay_watch_check(g->w, err);
}

/* ---- ids ---- */

int assay_token_ids(const char *text, int32_t **out, size_t *n, struct assay_err *err)
{
	static const char between[] = " \t\r\n,";
	int32_t *v = NULL;

	*n = 0;
	for (text += strspn(text, between); *text; text += strspn(text, between)) {
		char *end;
		long id;

		errno = 0;
		id = strtol(text, &end, 10);
		if (end == text || (*end && !strchr(between, *end)) || errno || id < 0 || id > INT32_MAX) {
			free(v);
			return assay_err_set(err, ASSAY_EUSAGE,
					     "'%.*s' is not a token: expected numbers of the vocabulary",
					     (int)strcspn(text, between), text);
		}
		if (assay_grow(&v, *n, sizeof(*v))) {
			free(v);
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a prompt");
		}
		v[(*n)++] = (int32_t)id;
		text = end;
	}
	*out = v;
	return 0;
}

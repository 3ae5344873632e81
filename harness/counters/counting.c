/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events go to the first provider that counts them, into its last set, or another one where that is full. Sets are
 * opened in every thread of the case and take turns beside its samples.
 */
#include "counters/counting.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "counters/provider.h"

const struct assay_counter_provider *const assay_counter_providers[] = {
#define ROW(name) &assay_provider_##name,
	ASSAY_COUNTER_PROVIDERS(ROW)
#undef ROW
};
const size_t assay_n_counter_providers = sizeof(assay_counter_providers) / sizeof(assay_counter_providers[0]);

void assay_counter_context_init(struct assay_counter_context *ctx, const char *const *names, uint64_t *cells,
				uint32_t n)
{
	*ctx = (struct assay_counter_context){ .cell_names = names, .cells = cells, .n_cells = n };
}

const struct assay_papi *assay_counter_papi(struct assay_counter_context *ctx)
{
	struct assay_err err = { 0 };

	if (ctx->papi_loaded)
		return &ctx->papi;
	assay_papi_load(&ctx->papi);
	if (assay_papi_publish(&ctx->papi, ctx->cell_names, ctx->cells, ctx->n_cells, &err))
		snprintf(ctx->sde_reason, sizeof(ctx->sde_reason), "%.255s", err.text);
	ctx->papi_loaded = true;
	return &ctx->papi;
}

#define LINE_BYTES 64 /* threads write their counts apart */

/* The events that the values of a thread belong to, one block after the other. */
enum moment { BEFORE, AFTER, STOOD, N_MOMENTS };

struct set {
	const struct assay_counter_provider *p;
	size_t provider; /* its number */
	size_t turn;     /* among the sets of its provider */
	size_t n_events;
	void **state; /* one a thread; only [0] where the provider is shared */
	bool *started;
	uint64_t *values; /* of each thread, see enum moment */
	size_t stride;    /* values of a thread */
	uint64_t iterations;
	_Atomic bool failed; /* while it was opened, started or read in some thread */
	char failure[256];   /* of the first thread that failed */
};

struct event {
	char name[ASSAY_NAME_MAX];
	char asked[ASSAY_NAME_MAX]; /* the alternative that is counted */
	struct set *set;            /* NULL: see reason */
	size_t place;
	double sum;
	char source[ASSAY_SOURCE_MAX];
	char reason[256];
};

struct assay_counting {
	struct assay_counting_options o;
	struct set **sets;
	size_t n_sets;
	size_t *turns; /* sets of each provider */
	struct event *events;
	size_t n_events;
	uint64_t sample;
	bool rested; /* sets are to be opened before they start */
};

static uint32_t n_states(const struct assay_counting *c, const struct set *s)
{
	return s->p->shared ? 1 : c->o.n_threads;
}

static void close_state(struct set *s, uint32_t tid)
{
	if (s->started[tid] && s->p->stop)
		s->p->stop(s->state[tid]);
	if (s->state[tid] && s->p->close)
		s->p->close(s->state[tid]);
	s->started[tid] = false;
	s->state[tid] = NULL;
}

static void free_set(const struct assay_counting *c, struct set *s)
{
	for (uint32_t t = 0; s->state && s->started && t < n_states(c, s); t++)
		close_state(s, t);
	free(s->state);
	free(s->started);
	free(s->values);
	free(s);
}

/* A set of @provider with nothing in it, open in this thread, and not yet in the list. */
static int new_set(const struct assay_counting *c, size_t provider, struct set **out, struct assay_err *err)
{
	struct set *s = calloc(1, sizeof(*s));
	int rc = ASSAY_ENOMEM;

	if (s) {
		s->p = c->o.providers[provider];
		s->provider = provider;
		s->turn = c->turns[provider];
		s->state = calloc(n_states(c, s), sizeof(*s->state));
		s->started = calloc(n_states(c, s), sizeof(*s->started));
	}
	if (s && s->state && s->started)
		rc = s->p->open ? s->p->open(c->o.ctx, &s->state[0], err) : 0;
	else
		assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	if (!rc)
		*out = s;
	else if (s)
		free_set(c, s);
	return rc;
}

static int keep_set(struct assay_counting *c, struct set *s, struct assay_err *err)
{
	struct set **v = realloc(c->sets, (c->n_sets + 1) * sizeof(*v));

	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	c->sets = v;
	v[c->n_sets++] = s;
	c->turns[s->provider]++;
	return 0;
}

/* The number of event @name in the list of @p, whose length is *n; *n where it is not in there. */
static size_t listed(const struct assay_counter_provider *p, const char *name, size_t *n)
{
	size_t place = SIZE_MAX;

	for (*n = 0; p->events && p->events[*n]; ++*n)
		if (!strcmp(p->events[*n], name))
			place = *n;
	return place < *n ? place : *n;
}

static int add_event(struct set *s, const char *name, size_t *place, struct assay_err *err)
{
	int rc;

	if (!s->p->add) {
		*place = listed(s->p, name, &s->n_events);
		return 0;
	}
	rc = s->p->add(s->state[0], name, err);
	if (!rc)
		*place = s->n_events++;
	return rc;
}

/*
 * Put @e, under the name of one of its alternatives, into the last set of the provider, or a new one where that is
 * full. *known: the provider has the event, whether it can be counted or not.
 */
static int place_event(struct assay_counting *c, size_t provider, struct event *e, const char *name, bool *known,
		       struct assay_err *err)
{
	const struct assay_counter_provider *p = c->o.providers[provider];
	struct set *s = NULL;
	size_t n;
	int rc;

	*known = !p->add && listed(p, name, &n) < n;
	if (!p->add && !*known)
		return assay_err_set(err, ASSAY_ENOTFOUND, "'%s' is not counted by %s", name, p->name);
	for (size_t i = 0; i < c->n_sets; i++)
		if (c->sets[i]->p == p)
			s = c->sets[i];
	rc = s ? add_event(s, name, &e->place, err) : ASSAY_ELIMIT;
	if (rc == ASSAY_ELIMIT) {
		rc = new_set(c, provider, &s, err);
		if (rc)
			return rc;
		rc = add_event(s, name, &e->place, err);
		*known = rc != ASSAY_ENOTFOUND;
		if (!rc)
			rc = keep_set(c, s, err);
		if (rc) {
			free_set(c, s);
			return rc;
		}
	}
	*known = rc != ASSAY_ENOTFOUND;
	if (rc)
		return rc;
	e->set = s;
	snprintf(e->asked, sizeof(e->asked), "%s", name);
	snprintf(e->source, sizeof(e->source), "%s", p->source);
	return 0;
}

static void set_reason(struct event *e, const char *source, const char *reason)
{
	snprintf(e->source, sizeof(e->source), "%s", source);
	snprintf(e->reason, sizeof(e->reason), "%.255s", reason);
}

/*
 * The first alternative that a provider counts. Otherwise the reason of the first provider that has the event; where
 * none has, of the last in the table, which takes any name.
 */
static int find_provider(struct assay_counting *c, struct event *e, const char *const *names, size_t n,
			 struct assay_err *err)
{
	struct assay_err why = { 0 };
	bool known, settled = false;

	set_reason(e, "", "nothing here counts it");
	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < c->o.n_providers; p++) {
			int rc = place_event(c, p, e, names[i], &known, &why);

			if (rc == ASSAY_ENOMEM)
				return assay_err_set(err, rc, "%s", why.text);
			if (!rc) {
				e->reason[0] = '\0';
				return 0;
			}
			if (!settled)
				set_reason(e, c->o.providers[p]->source, why.text);
			settled |= known;
		}
	return 0;
}

static int place_line(struct assay_counting *c, const char *line, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	struct event *v;
	int rc = assay_strings_split(&names, line, '\t', err);

	if (rc)
		return rc;
	v = realloc(c->events, (c->n_events + 1) * sizeof(*v));
	if (!v) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	} else {
		c->events = v;
		v += c->n_events++;
		*v = (struct event){ 0 };
		snprintf(v->name, sizeof(v->name), "%s", names.v[0]);
		rc = find_provider(c, v, (const char *const *)names.v + 1, names.n - 1, err);
	}
	assay_strings_release(&names);
	return rc;
}

/* ---- every thread its own --------------------------------------------------------------------------------------- */

static void fail_set(struct set *s, const char *why)
{
	if (!atomic_exchange(&s->failed, true))
		snprintf(s->failure, sizeof(s->failure), "%.255s", why);
}

/* A set that is planned, with its events. */
static int open_state(const struct assay_counting *c, struct set *s, uint32_t tid, struct assay_err *err)
{
	int rc = s->p->open ? s->p->open(c->o.ctx, &s->state[tid], err) : 0;

	for (size_t k = 0; k < c->n_events && !rc && s->p->add; k++)
		if (c->events[k].set == s)
			rc = s->p->add(s->state[tid], c->events[k].asked, err);
	return rc;
}

static void open_in_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_counting *c = arg;

	(void)n_threads;
	for (size_t i = 0; i < c->n_sets && tid; i++) {
		struct set *s = c->sets[i];
		struct assay_err err = { 0 };

		if (!s->p->shared && open_state(c, s, tid, &err))
			fail_set(s, err.text);
	}
}

static void close_in_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_counting *c = arg;

	(void)n_threads;
	for (size_t i = 0; i < c->n_sets; i++)
		if (tid < n_states(c, c->sets[i]))
			close_state(c->sets[i], tid);
	for (size_t p = 0; p < c->o.n_providers && tid; p++)
		if (c->turns[p] && !c->o.providers[p]->shared && c->o.providers[p]->leave_thread)
			c->o.providers[p]->leave_thread(c->o.ctx);
}

int assay_counting_open(struct assay_counting **out, const struct assay_counting_options *o, struct assay_err *err)
{
	struct assay_counting *c = calloc(1, sizeof(*c));
	struct assay_strings lines = { 0 };
	int rc = 0;

	if (!c)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	c->o = *o;
	if (!o->providers) {
		c->o.providers = assay_counter_providers;
		c->o.n_providers = assay_n_counter_providers;
	}
	c->turns = calloc(c->o.n_providers, sizeof(*c->turns));
	if (!c->turns)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	if (!rc)
		rc = assay_strings_split(&lines, o->events, '\n', err);
	for (size_t i = 0; i < lines.n && !rc; i++)
		if (lines.v[i][0])
			rc = place_line(c, lines.v[i], err);
	for (size_t i = 0; i < c->n_sets && !rc; i++) {
		struct set *s = c->sets[i];

		s->stride = (N_MOMENTS * s->n_events * sizeof(*s->values) / LINE_BYTES + 1) * LINE_BYTES /
			    sizeof(*s->values);
		s->values = calloc(n_states(c, s) * s->stride, sizeof(*s->values));
		if (!s->values)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	}
	assay_strings_release(&lines);
	if (!rc)
		o->parallel(o->pool, open_in_thread, c);
	if (rc)
		assay_counting_close(c);
	else
		*out = c;
	return rc;
}

void assay_counting_close(struct assay_counting *c)
{
	if (!c)
		return;
	if (c->n_sets)
		c->o.parallel(c->o.pool, close_in_thread, c);
	for (size_t i = 0; i < c->n_sets; i++)
		free_set(c, c->sets[i]);
	free(c->sets);
	free(c->turns);
	free(c->events);
	free(c);
}

/* ---- beside a sample -------------------------------------------------------------------------------------------- */

static bool has_turn(const struct assay_counting *c, const struct set *s)
{
	return !s->failed && c->sample % c->turns[s->provider] == s->turn;
}

/* The running sets of @tid: those of the operating system (@os), or the others. */
static void read_sets(struct assay_counting *c, uint32_t tid, enum moment m, const struct assay_os_counts *os)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		struct set *s = c->sets[i];
		uint64_t *values = s->values + tid * s->stride + m * s->n_events;

		if (tid >= n_states(c, s) || !s->started[tid] || (os ? !s->p->read_os : !s->p->read))
			continue;
		if (os ? s->p->read_os(s->state[tid], os, values) : s->p->read(s->state[tid], values))
			fail_set(s, "it cannot be read");
	}
}

void assay_counting_rest(struct assay_counting *c, uint32_t tid)
{
	for (size_t i = 0; i < c->n_sets; i++)
		if (tid < n_states(c, c->sets[i]))
			close_state(c->sets[i], tid);
	c->rested = c->o.ctx->tested = true;
}

static void read_os(const struct assay_counting *c, struct assay_os_counts *os)
{
	if (c->o.ctx->children)
		assay_os_counts_read_children(os);
	else
		assay_os_counts_read(os);
}

/* A thread runs one set of a provider at a time, so that stopping comes first; starting takes longest, so that reading
 * comes last. What hardware counts is read next to the sample. */
void assay_counting_before(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		struct set *s = c->sets[i];

		if (tid < n_states(c, s) && s->started[tid] && !has_turn(c, s)) {
			if (s->p->stop)
				s->p->stop(s->state[tid]);
			s->started[tid] = false;
		}
	}
	for (size_t i = 0; i < c->n_sets; i++) {
		struct set *s = c->sets[i];
		struct assay_err err = { 0 };

		if (tid >= n_states(c, s) || s->started[tid] || !has_turn(c, s))
			continue;
		if (c->rested && open_state(c, s, tid, &err))
			fail_set(s, err.text);
		else if (s->p->start && s->p->start(s->state[tid], &err))
			fail_set(s, err.text);
		else
			s->started[tid] = true;
	}
	read_os(c, os);
	read_sets(c, tid, BEFORE, os);
	read_sets(c, tid, BEFORE, NULL);
}

void assay_counting_after(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os)
{
	read_sets(c, tid, AFTER, NULL);
	read_os(c, os);
	read_sets(c, tid, AFTER, os);
}

void assay_counting_stand(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os)
{
	read_sets(c, tid, STOOD, NULL);
	assay_os_counts_read(os);
	read_sets(c, tid, STOOD, os);
}

void assay_counting_go_on(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os)
{
	assay_os_counts_read(os);
	read_sets(c, tid, AFTER, os);
	read_sets(c, tid, AFTER, NULL);
	for (size_t i = 0; i < c->n_sets; i++) {
		struct set *s = c->sets[i];
		uint64_t *v = s->values + tid * s->stride;

		for (size_t k = 0; tid < n_states(c, s) && s->started[tid] && k < s->n_events; k++)
			v[BEFORE * s->n_events + k] += v[AFTER * s->n_events + k] - v[STOOD * s->n_events + k];
	}
}

void assay_counting_add(struct assay_counting *c, uint64_t iterations)
{
	for (size_t i = 0; i < c->n_sets; i++)
		if (has_turn(c, c->sets[i]))
			c->sets[i]->iterations += iterations;
	for (size_t k = 0; k < c->n_events; k++) {
		struct event *e = &c->events[k];

		if (!e->set || !has_turn(c, e->set))
			continue;
		for (uint32_t t = 0; t < n_states(c, e->set); t++) {
			const uint64_t *v = e->set->values + t * e->set->stride;

			e->sum += (double)(v[AFTER * e->set->n_events + e->place] - v[e->place]);
		}
	}
	c->sample += iterations != 0;
}

/* ---- what it came to -------------------------------------------------------------------------------------------- */

static int put_event(const struct assay_counting *c, const struct event *e, struct assay_counters *out)
{
	const struct set *s = e->set;
	struct assay_count count = { .per_iteration = true, .running_frac = 1 };
	struct assay_err why = { 0 };
	char reason[256];

	if (!s || s->failed)
		return assay_counters_add_missing(out, e->name, e->source, s ? s->failure : e->reason);
	if (!s->iterations) {
		snprintf(reason, sizeof(reason),
			 "%zu sets of counters take turns, but there were only %llu samples: give the case a larger "
			 "budget",
			 c->turns[s->provider], (unsigned long long)c->sample);
		return assay_counters_add_missing(out, e->name, e->source, reason);
	}
	memcpy(count.name, e->name, sizeof(count.name));
	memcpy(count.source, e->source, sizeof(count.source));
	s->p->how(c->o.ctx, e->asked, count.how, sizeof(count.how));
	if (strcmp(e->name, e->asked))
		snprintf(count.how + strlen(count.how), sizeof(count.how) - strlen(count.how), ", as %s", e->asked);
	count.value = e->sum / (double)s->iterations;
	if (s->p->total && s->p->total(c->o.ctx, e->place, &count.value, &count.per_iteration, &why))
		return assay_counters_add_missing(out, e->name, e->source, why.text);
	if (s->p->running_frac)
		count.running_frac = s->p->running_frac(c->o.ctx, s->n_events);
	return assay_counters_add(out, &count);
}

int assay_counting_result(const struct assay_counting *c, struct assay_counters *out)
{
	int rc = 0;

	for (size_t k = 0; k < c->n_events && !rc; k++)
		rc = put_event(c, &c->events[k], out);
	return rc;
}

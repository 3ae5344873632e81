/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of events, opened in every thread of the case, take turns beside its samples; see counting.h. */
#include "counters/counting_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LINE_BYTES 64 /* threads write their counts apart */

/* ---- every thread its own --------------------------------------------------------------------------------------- */

static void fail_set(struct assay_counting_set *s, const char *why)
{
	if (!atomic_exchange(&s->failed, true))
		snprintf(s->failure, sizeof(s->failure), "%.255s", why);
}

static void open_in_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_counting *c = arg;

	(void)n_threads;
	for (size_t i = 0; i < c->n_sets && tid; i++) {
		struct assay_counting_set *s = c->sets[i];
		struct assay_err err = { 0 };
		int rc;

		if (s->p->shared)
			continue;
		rc = s->p->open(c->o.ctx, &s->state[tid], &err);
		for (size_t k = 0; k < c->n_events && !rc; k++)
			if (c->events[k].set == s)
				rc = s->p->add(s->state[tid], c->events[k].asked, &err);
		if (rc)
			fail_set(s, err.text);
	}
}

static void close_in_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_counting *c = arg;

	(void)n_threads;
	for (size_t i = 0; i < c->n_sets; i++) {
		struct assay_counting_set *s = c->sets[i];

		if (tid >= assay_counting_n_states(c, s) || !s->state[tid])
			continue;
		if (s->started[tid] && s->p->stop)
			s->p->stop(s->state[tid]);
		s->p->close(s->state[tid]);
		s->state[tid] = NULL;
	}
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
			rc = assay_counting_place(c, lines.v[i], err);
	for (size_t i = 0; i < c->n_sets && !rc; i++) {
		struct assay_counting_set *s = c->sets[i];

		s->stride = (2 * s->n_events * sizeof(*s->values) / LINE_BYTES + 1) * LINE_BYTES / sizeof(*s->values);
		s->values = calloc(assay_counting_n_states(c, s) * s->stride, sizeof(*s->values));
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
		assay_counting_free_set(c, c->sets[i]);
	free(c->sets);
	free(c->turns);
	free(c->events);
	free(c);
}

/* ---- beside a sample -------------------------------------------------------------------------------------------- */

static size_t turns_of(const struct assay_counting *c, const struct assay_counting_set *s)
{
	for (size_t p = 0; p < c->o.n_providers; p++)
		if (c->o.providers[p] == s->p)
			return c->turns[p];
	return 1;
}

static bool has_turn(const struct assay_counting *c, const struct assay_counting_set *s)
{
	return !s->failed && c->sample % turns_of(c, s) == s->turn;
}

/* The running sets of @tid: those of the operating system (@os), or the others. */
static void read_sets(struct assay_counting *c, uint32_t tid, bool after, const struct assay_os_counts *os)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		struct assay_counting_set *s = c->sets[i];
		uint64_t *values = s->values + tid * s->stride + (after ? s->n_events : 0);

		if (tid >= assay_counting_n_states(c, s) || !s->started[tid] || (os ? !s->p->read_os : !s->p->read))
			continue;
		if (os ? s->p->read_os(s->state[tid], os, values) : s->p->read(s->state[tid], values))
			fail_set(s, "it cannot be read");
	}
}

/* A thread runs one set of a provider at a time, so that stopping comes first; starting takes longest, so that reading
 * comes last. What hardware counts is read next to the sample. */
void assay_counting_before(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		struct assay_counting_set *s = c->sets[i];

		if (tid < assay_counting_n_states(c, s) && s->started[tid] && !has_turn(c, s)) {
			if (s->p->stop)
				s->p->stop(s->state[tid]);
			s->started[tid] = false;
		}
	}
	for (size_t i = 0; i < c->n_sets; i++) {
		struct assay_counting_set *s = c->sets[i];
		struct assay_err err = { 0 };

		if (tid >= assay_counting_n_states(c, s) || s->started[tid] || !has_turn(c, s))
			continue;
		if (s->p->start && s->p->start(s->state[tid], &err))
			fail_set(s, err.text);
		else
			s->started[tid] = true;
	}
	assay_os_counts_read(os);
	read_sets(c, tid, false, os);
	read_sets(c, tid, false, NULL);
}

void assay_counting_after(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os)
{
	read_sets(c, tid, true, NULL);
	assay_os_counts_read(os);
	read_sets(c, tid, true, os);
}

void assay_counting_add(struct assay_counting *c, uint64_t iterations)
{
	for (size_t i = 0; i < c->n_sets; i++)
		if (has_turn(c, c->sets[i]))
			c->sets[i]->iterations += iterations;
	for (size_t k = 0; k < c->n_events; k++) {
		struct assay_counting_event *e = &c->events[k];

		if (!e->set || !has_turn(c, e->set))
			continue;
		for (uint32_t t = 0; t < assay_counting_n_states(c, e->set); t++) {
			const uint64_t *v = e->set->values + t * e->set->stride;

			e->sum += (double)(v[e->set->n_events + e->place] - v[e->place]);
		}
	}
	c->sample++;
}

/* ---- what it came to -------------------------------------------------------------------------------------------- */

size_t assay_counting_turns(const struct assay_counting *c)
{
	size_t most = 0;

	for (size_t p = 0; p < c->o.n_providers; p++)
		most = c->turns[p] > most ? c->turns[p] : most;
	return most;
}

static int put_event(const struct assay_counting *c, const struct assay_counting_event *e, struct assay_counters *out)
{
	const struct assay_counting_set *s = e->set;
	struct assay_count count = { .per_iteration = true, .running_frac = 1 };
	struct assay_err why = { 0 };
	char reason[256];

	if (!s || s->failed)
		return assay_counters_add_missing(out, e->name, e->source, s ? s->failure : e->reason);
	if (!s->iterations) {
		snprintf(reason, sizeof(reason),
			 "%zu sets of counters take turns, but there were only %llu samples: give the case a larger "
			 "budget",
			 turns_of(c, s), (unsigned long long)c->sample);
		return assay_counters_add_missing(out, e->name, e->source, reason);
	}
	memcpy(count.name, e->name, sizeof(count.name));
	memcpy(count.source, e->source, sizeof(count.source));
	s->p->how(c->o.ctx, e->asked, count.how, sizeof(count.how));
	if (strcmp(e->name, e->asked))
		snprintf(count.how + strlen(count.how), sizeof(count.how) - strlen(count.how), ", as %s", e->asked);
	count.value = e->sum / (double)s->iterations;
	if (s->p->total && s->p->total(s->state[0], e->place, &count.value, &count.per_iteration, &why))
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

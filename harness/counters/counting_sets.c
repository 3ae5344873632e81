/* SPDX-License-Identifier: Apache-2.0 */
/* Events go to the first provider that counts them, into its last set, or a new one where that is full. */
#include "counters/counting_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

uint32_t assay_counting_n_states(const struct assay_counting *c, const struct assay_counting_set *s)
{
	return s->p->shared ? 1 : c->o.n_threads;
}

void assay_counting_free_set(const struct assay_counting *c, struct assay_counting_set *s)
{
	for (uint32_t t = 0; s->state && t < assay_counting_n_states(c, s); t++)
		if (s->state[t])
			s->p->close(s->state[t]);
	free(s->state);
	free(s->started);
	free(s->values);
	free(s);
}

/* A set of @provider with nothing in it, open in this thread, and not yet in the list. */
static int new_set(const struct assay_counting *c, size_t provider, struct assay_counting_set **out,
		   struct assay_err *err)
{
	struct assay_counting_set *s = calloc(1, sizeof(*s));
	int rc = ASSAY_ENOMEM;

	if (s) {
		s->p = c->o.providers[provider];
		s->turn = c->turns[provider];
		s->state = calloc(assay_counting_n_states(c, s), sizeof(*s->state));
		s->started = calloc(assay_counting_n_states(c, s), sizeof(*s->started));
	}
	if (s && s->state && s->started)
		rc = s->p->open(c->o.ctx, &s->state[0], err);
	else
		assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	if (!rc)
		*out = s;
	else if (s)
		assay_counting_free_set(c, s);
	return rc;
}

static int keep_set(struct assay_counting *c, size_t provider, struct assay_counting_set *s, struct assay_err *err)
{
	struct assay_counting_set **v = realloc(c->sets, (c->n_sets + 1) * sizeof(*v));

	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	c->sets = v;
	v[c->n_sets++] = s;
	c->turns[provider]++;
	return 0;
}

/*
 * Put @e, under the name of one of its alternatives, into the last set of the provider, or a new one where that is
 * full. *known: the provider has the event, whether it can be counted or not.
 */
static int place_event(struct assay_counting *c, size_t provider, struct assay_counting_event *e, const char *name,
		       bool *known, struct assay_err *err)
{
	struct assay_counting_set *s = NULL;
	int rc;

	*known = false;
	for (size_t i = 0; i < c->n_sets; i++)
		if (c->sets[i]->p == c->o.providers[provider])
			s = c->sets[i];
	rc = s ? s->p->add(s->state[0], name, err) : ASSAY_ELIMIT;
	if (rc == ASSAY_ELIMIT) {
		rc = new_set(c, provider, &s, err);
		if (rc)
			return rc;
		rc = s->p->add(s->state[0], name, err);
		*known = rc != ASSAY_ENOTFOUND;
		if (!rc)
			rc = keep_set(c, provider, s, err);
		if (rc) {
			assay_counting_free_set(c, s);
			return rc;
		}
	}
	*known = rc != ASSAY_ENOTFOUND;
	if (rc)
		return rc;
	e->set = s;
	e->place = s->n_events++;
	snprintf(e->asked, sizeof(e->asked), "%s", name);
	snprintf(e->source, sizeof(e->source), "%s", s->p->source);
	return 0;
}

static void set_reason(struct assay_counting_event *e, const char *source, const char *reason)
{
	snprintf(e->source, sizeof(e->source), "%s", source);
	snprintf(e->reason, sizeof(e->reason), "%.255s", reason);
}

/*
 * The first alternative that a provider counts. Otherwise the reason of the first provider that has the event; where
 * none has, of the last in the table, which takes any name.
 */
static int find_provider(struct assay_counting *c, struct assay_counting_event *e, const char *const *names, size_t n,
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

int assay_counting_place(struct assay_counting *c, const char *line, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	struct assay_counting_event *v;
	int rc = assay_strings_split(&names, line, '\t', err);

	if (rc)
		return rc;
	v = realloc(c->events, (c->n_events + 1) * sizeof(*v));
	if (!v) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for counters");
	} else {
		c->events = v;
		v += c->n_events++;
		*v = (struct assay_counting_event){ 0 };
		snprintf(v->name, sizeof(v->name), "%s", names.v[0]);
		rc = find_provider(c, v, (const char *const *)names.v + 1, names.n - 1, err);
	}
	assay_strings_release(&names);
	return rc;
}

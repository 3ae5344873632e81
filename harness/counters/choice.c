/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups and events a case counts, and what is derived from their counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/groups.h"
#include "counters/provider.h"
#include "model/result.h"

static int add_group(struct assay_counter_choice *choice, const struct assay_counter_group *g, struct assay_err *err)
{
	const struct assay_counter_group **v;

	for (size_t i = 0; i < choice->n_groups; i++)
		if (choice->groups[i] == g)
			return 0;
	v = realloc(choice->groups, (choice->n_groups + 1) * sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	choice->groups = v;
	v[choice->n_groups++] = g;
	return 0;
}

static int add_named(struct assay_counter_choice *choice, const struct assay_counter_groups *g, const char *name,
		     struct assay_err *err)
{
	const char *known[64];
	char hint[256];
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (!strcmp(g->v[i].name, name))
			return add_group(choice, &g->v[i], err);
		if (n < sizeof(known) / sizeof(known[0]))
			known[n++] = g->v[i].name;
	}
	return assay_err_set(err, ASSAY_EUSAGE, "unknown group of counters '%s'%s", name,
			     assay_conf_hint(name, known, n, hint, sizeof(hint)));
}

int assay_counter_choice_add(struct assay_counter_choice *choice, const struct assay_counter_groups *g,
			     const char *list, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	int rc = list[0] ? assay_strings_split(&names, list, ',', err) : 0;

	for (size_t i = 0; i < names.n && !rc; i++)
		rc = add_named(choice, g, names.v[i], err);
	assay_strings_release(&names);
	return rc;
}

void assay_counter_choice_release(struct assay_counter_choice *choice)
{
	free(choice->groups);
	assay_strings_release(&choice->events);
	*choice = (struct assay_counter_choice){ 0 };
}

/* The first group of the choice that has the event, up to and without @before; NULL: none. */
static const struct assay_counter_group *owner(const struct assay_counter_choice *choice, const char *event,
					       size_t before)
{
	for (size_t i = 0; i < before; i++)
		for (size_t k = 0; k < choice->groups[i]->n_events; k++)
			if (!strcmp(choice->groups[i]->events[k].name, event))
				return choice->groups[i];
	return NULL;
}

void assay_counter_choice_text(const struct assay_counter_choice *choice, struct assay_text *out)
{
	for (size_t i = 0; i < choice->n_groups; i++)
		for (size_t k = 0; k < choice->groups[i]->n_events; k++) {
			const struct assay_group_event *e = &choice->groups[i]->events[k];

			if (owner(choice, e->name, i))
				continue;
			assay_text_add(out, e->name);
			for (size_t a = 0; a < e->names.n; a++)
				assay_text_addf(out, "\t%s", e->names.v[a]);
			assay_text_add(out, "\n");
		}
	for (size_t i = 0; i < choice->events.n; i++)
		if (!owner(choice, choice->events.v[i], choice->n_groups))
			assay_text_addf(out, "%s\t%s\n", choice->events.v[i], choice->events.v[i]);
}

/* ---- derived metrics -------------------------------------------------------------------------------------------- */

static unsigned rank(const char *source)
{
	static const char *const order[] = { ASSAY_SOURCES };
	unsigned i = 0;

	while (i < sizeof(order) / sizeof(order[0]) && strcmp(order[i], source))
		i++;
	return i;
}

/* The value of one metric, or why there is none; @source is of the count that decides it. */
static int value_of(const struct assay_group_metric *m, const struct assay_counters *counters, struct assay_metric *out,
		    struct assay_err *why)
{
	double *values = calloc(m->formula.names.n + 1, sizeof(*values));
	int rc = values ? 0 : assay_err_set(why, ASSAY_ENOMEM, "out of memory");

	if (!m->formula.names.n)
		snprintf(out->source, sizeof(out->source), "%s", ASSAY_SOURCE_ASSAY); /* it rests on no count */
	for (size_t i = 0; i < m->formula.names.n && !rc; i++) {
		const char *name = m->formula.names.v[i];
		const struct assay_count *c = assay_counters_find(counters, name);
		const struct assay_unavailable *u = assay_counters_find_missing(counters, name);

		if (!c) {
			snprintf(out->source, sizeof(out->source), "%s", u ? u->source : "");
			rc = assay_err_set(why, ASSAY_EUNAVAILABLE, "needs %s: %s", name,
					   u ? u->reason : "it was not counted");
			break;
		}
		values[i] = c->value;
		out->estimated |= c->running_frac < 1;
		if (!i || rank(c->source) > rank(out->source))
			memcpy(out->source, c->source, sizeof(out->source));
	}
	if (!rc) {
		rc = assay_formula_value(&m->formula, values, &out->value, why);
		if (rc == ASSAY_EUNAVAILABLE)
			assay_err_prefix(why, "%s:%u", m->path, m->formula_line);
	}
	if (!rc && assay_metric_check(m->tag, out->value, m->lo, m->hi, why))
		rc = ASSAY_EUNAVAILABLE;
	free(values);
	return rc;
}

static bool has_metric(const struct assay_metric *v, size_t n, const char *tag)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].tag, tag))
			return true;
	return false;
}

static int derive(const struct assay_group_metric *m, struct assay_counters *counters, struct assay_metric **metrics,
		  size_t *n, struct assay_err *err)
{
	struct assay_metric out = { .better = m->better }, *grown;
	struct assay_err why = { 0 };
	int rc;

	if (has_metric(*metrics, *n, m->tag))
		return 0;
	snprintf(out.tag, sizeof(out.tag), "%s", m->tag);
	snprintf(out.unit, sizeof(out.unit), "%s", m->unit);
	rc = value_of(m, counters, &out, &why);
	if (rc == ASSAY_EUNAVAILABLE)
		return assay_counters_add_missing(counters, m->tag, out.source, why.text)
			       ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
			       : 0;
	grown = rc ? NULL : realloc(*metrics, (*n + 1) * sizeof(**metrics));
	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	*metrics = grown;
	grown[(*n)++] = out;
	return 0;
}

int assay_counter_derive(const struct assay_counter_choice *choice, struct assay_counters *counters,
			 struct assay_metric **metrics, size_t *n, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < choice->n_groups && !rc; i++)
		for (size_t k = 0; k < choice->groups[i]->n_metrics && !rc; k++)
			rc = derive(&choice->groups[i]->metrics[k], counters, metrics, n, err);
	return rc;
}

/* Append the names that can be counted: the events of all providers, and @published. */
static int add_counted(struct assay_strings *known, const struct assay_strings *published, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < assay_n_counter_providers; i++)
		for (const char *const *e = assay_counter_providers[i]->events; e && *e && !rc; e++)
			rc = assay_strings_add(known, *e, err);
	for (size_t i = 0; i < published->n && !rc; i++)
		rc = assay_strings_add(known, published->v[i], err);
	return rc;
}

static int check_name(const char *name, const struct assay_strings *known, struct assay_err *err)
{
	const char *near;

	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "event '%.60s' has a blank or a control character in its name", name);
	if ((name[0] && strpbrk(name, ":-") && strlen(name) < ASSAY_NAME_MAX) || assay_strings_has(known, name))
		return 0;
	near = assay_nearest(name, (const char *const *)known->v, known->n);
	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "unknown event '%s', did you mean '%s'?", name, near);
	/* there are too many to name them all */
	return assay_err_set(err, ASSAY_EUSAGE, "unknown event '%s', 'assay list groups' shows what can be counted",
			     name);
}

int assay_counter_event_check(const char *name, const struct assay_counter_groups *g,
			      const struct assay_strings *published, struct assay_err *err)
{
	struct assay_strings known = { 0 };
	int rc = add_counted(&known, published, err);

	for (size_t i = 0; i < g->n && !rc; i++)
		for (size_t k = 0; k < g->v[i].n_events && !rc; k++)
			rc = assay_strings_add(&known, g->v[i].events[k].name, err);
	if (!rc)
		rc = check_name(name, &known, err);
	assay_strings_release(&known);
	return rc;
}

int assay_counter_choice_check(const struct assay_counter_choice *choice, const struct assay_strings *published,
			       struct assay_err *err)
{
	struct assay_strings known = { 0 };
	int rc = add_counted(&known, published, err);

	for (size_t i = 0; i < choice->n_groups && !rc; i++)
		for (size_t k = 0; k < choice->groups[i]->n_events && !rc; k++) {
			const struct assay_group_event *e = &choice->groups[i]->events[k];

			for (size_t a = e->n_native; a < e->names.n && !rc; a++) {
				rc = check_name(e->names.v[a], &known, err);
				if (rc)
					assay_err_prefix(err, "%s:%u", e->path, e->line);
			}
		}
	assay_strings_release(&known);
	return rc;
}

/* Lists that grow together. */
struct names {
	struct assay_strings *names, *units, *groups;
};

static int add_name(const struct names *to, const char *name, const char *unit, const char *group,
		    struct assay_err *err)
{
	int rc = assay_strings_add(to->names, name, err);

	if (!rc)
		rc = assay_strings_add(to->units, unit, err);
	return rc ? rc : assay_strings_add(to->groups, group, err);
}

int assay_counter_names(struct assay_strings *names, struct assay_strings *units, struct assay_strings *groups,
			const struct assay_counter_groups *g, struct assay_err *err)
{
	const struct names to = { names, units, groups };
	int rc = 0;

	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < g->v[i].n_metrics && !rc; k++)
			rc = add_name(&to, g->v[i].metrics[k].tag, g->v[i].metrics[k].unit, g->v[i].name, err);
		for (size_t k = 0; k < g->v[i].n_events && !rc; k++)
			rc = add_name(&to, g->v[i].events[k].name, "1", g->v[i].name, err);
	}
	for (size_t i = 0; i < assay_n_counter_providers; i++)
		for (const char *const *e = assay_counter_providers[i]->events; e && *e && !rc; e++)
			rc = add_name(&to, *e, "1", "", err);
	for (size_t i = 0; assay_own_count(i) && !rc; i++)
		rc = add_name(&to, assay_own_count(i), "1", "", err);
	return rc;
}

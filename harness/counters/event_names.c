/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted by name is what providers list. */
#include "counters/groups.h"

#include <string.h>

#include "counters/provider.h"
#include "model/result.h"

static bool is_native(const char *name)
{
	return name[0] && strpbrk(name, ":-") && strlen(name) < ASSAY_NAME_MAX;
}

/* What something counts by this name: the events of all providers, and @published. */
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
	if (is_native(name) || assay_strings_has(known, name))
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads group files; which events exist on this machine is for the providers to say. */
#include "counters/groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define GROUP_ENDING ".group"

/* Of events, and of metrics, in one group; each is looked for among the others. */
#define MAX_NAMES 1000

static const struct assay_conf_option group_options[] = { { "summary", false }, { "events", true }, { NULL, false } };
static const struct assay_conf_option event_options[] = {
	{ "any", true }, { "intel", true }, { "amd", true }, { "arm", true }, { NULL, false },
};
static const struct assay_conf_option metric_options[] = {
	{ "formula", false }, { "unit", false }, { "help", false },
	{ "better", false },  { "range", true }, { NULL, false },
};
static const struct assay_conf_grammar group_sections[] = {
	{ .name = "event", .titled = true, .options = event_options },
	{ .name = "metric", .titled = true, .options = metric_options },
	{ .name = NULL },
};
static const struct assay_conf_grammar root_sections[] = {
	{ .name = "group", .titled = true, .options = group_options, .sections = group_sections },
	{ .name = NULL },
};
static const struct assay_conf_grammar grammar = { .sections = root_sections };

const char *assay_counter_vendor(const char *cpu_model)
{
#if defined(__aarch64__) || defined(__arm__)
	(void)cpu_model;
	return "arm";
#else
	return strstr(cpu_model, "Intel")                               ? "intel"
	       : strstr(cpu_model, "AMD") || strstr(cpu_model, "Hygon") ? "amd"
									: "";
#endif
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static bool names_event(const struct assay_counter_group *g, const char *name)
{
	for (size_t i = 0; i < g->n_events; i++)
		if (!strcmp(g->events[i].name, name))
			return true;
	return false;
}

static struct assay_group_event *new_event(struct assay_counter_group *g, const struct assay_conf *file,
					   const char *name, unsigned line, int *rc, struct assay_err *err)
{
	struct assay_group_event *v;

	if (!name[0] || strlen(name) >= ASSAY_NAME_MAX || strpbrk(name, "\t\n")) {
		*rc = assay_conf_fail(err, file->path, line, "bad event name '%s', expected one of up to %d characters",
				      name, ASSAY_NAME_MAX - 1);
		return NULL;
	}
	if (names_event(g, name)) {
		*rc = assay_conf_fail(err, file->path, line, "event '%s' is listed twice in group '%s'", name, g->name);
		return NULL;
	}
	if (g->n_events == MAX_NAMES) {
		*rc = assay_conf_fail(err, file->path, line, "group '%s' has more than %d events", g->name, MAX_NAMES);
		return NULL;
	}
	v = realloc(g->events, (g->n_events + 1) * sizeof(*v));
	if (!v) {
		*rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", file->path);
		return NULL;
	}
	g->events = v;
	v += g->n_events++;
	*v = (struct assay_group_event){ .name = name, .path = file->path, .line = line };
	return v;
}

static int add_names(struct assay_group_event *e, const struct assay_conf_section *s, const char *option,
		     struct assay_err *err)
{
	const struct assay_conf_entry *entry = assay_conf_entry(s, option);
	int rc = 0;

	for (size_t i = 0; entry && i < entry->n && !rc; i++)
		rc = assay_strings_add(&e->names, entry->values[i].text, err);
	return rc;
}

static int read_event(struct assay_counter_group *g, const struct assay_conf *file, const struct assay_conf_section *s,
		      const char *vendor, struct assay_err *err)
{
	int rc = 0;
	struct assay_group_event *e = new_event(g, file, s->title, s->line, &rc, err);

	if (e && vendor[0])
		rc = add_names(e, s, vendor, err);
	if (e)
		e->n_native = e->names.n;
	if (e && !rc)
		rc = add_names(e, s, "any", err);
	/* one that only other vendors have is still asked for: by its own name, so that it is unavailable with a reason
	 */
	if (e && !rc && !e->names.n) {
		rc = assay_strings_add(&e->names, s->title, err);
		e->n_native = e->names.n;
	}
	return rc;
}

static int read_better(struct assay_group_metric *m, const struct assay_conf_section *s, struct assay_err *err)
{
	static const char *const words[] = { "lower", "neither", "higher" };
	const struct assay_conf_entry *e = assay_conf_entry(s, "better");

	for (int i = 0; e && i < 3; i++)
		if (!strcmp(e->values[0].text, words[i])) {
			m->better = i - 1;
			return 0;
		}
	return e ? assay_conf_fail(err, m->path, e->values[0].line, "better is '%s', expected higher, lower or neither",
				   e->values[0].text)
		 : 0;
}

static int read_range(struct assay_group_metric *m, const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "range");
	char *end[2] = { NULL, NULL };

	m->lo = -INFINITY;
	m->hi = INFINITY;
	if (!e)
		return 0;
	if (e->n == 2) {
		m->lo = strtod(e->values[0].text, &end[0]);
		m->hi = strtod(e->values[1].text, &end[1]);
	}
	if (e->n != 2 || end[0] == e->values[0].text || *end[0] || end[1] == e->values[1].text || *end[1] ||
	    !(m->lo <= m->hi))
		return assay_conf_fail(err, m->path, e->values[0].line,
				       "bad range of metric '%s', expected two numbers such as {\"0\", \"inf\"}",
				       m->tag);
	return 0;
}

static int read_formula(struct assay_group_metric *m, const struct assay_counter_group *g,
			const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "formula");
	const char *known[256];
	struct assay_err why;
	char hint[256];
	size_t n = 0;

	if (!e)
		return assay_conf_fail(err, m->path, s->line, "metric '%s' has no formula", m->tag);
	m->formula_line = e->values[0].line;
	if (assay_formula_parse(&m->formula, e->values[0].text, &why))
		return assay_conf_fail(err, m->path, e->values[0].line, "%s", why.text);
	for (; n < g->n_events && n < sizeof(known) / sizeof(known[0]); n++)
		known[n] = g->events[n].name;
	for (size_t i = 0; i < m->formula.names.n; i++)
		if (!names_event(g, m->formula.names.v[i]))
			return assay_conf_fail(err, m->path, e->values[0].line, "'%s' is not an event of group '%s'%s",
					       m->formula.names.v[i], g->name,
					       assay_conf_hint(m->formula.names.v[i], known, n, hint, sizeof(hint)));
	return 0;
}

static const char *text_of(const struct assay_conf_section *s, const char *option, const char *otherwise)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, option);

	return e ? e->values[0].text : otherwise;
}

static int read_metric(struct assay_counter_group *g, const struct assay_conf *file, const struct assay_conf_section *s,
		       struct assay_err *err)
{
	struct assay_group_metric *v;
	int rc;

	if (g->n_metrics == MAX_NAMES)
		return assay_conf_fail(err, file->path, s->line, "group '%s' has more than %d metrics", g->name,
				       MAX_NAMES);
	v = realloc(g->metrics, (g->n_metrics + 1) * sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", file->path);
	g->metrics = v;
	v += g->n_metrics++;
	*v = (struct assay_group_metric){ .tag = s->title,
					  .unit = text_of(s, "unit", "1"),
					  .help = text_of(s, "help", ""),
					  .path = file->path,
					  .line = s->line };
	if (!v->tag[0] || strlen(v->tag) >= ASSAY_METRIC_TAG_MAX || assay_metric_find(v->tag) ||
	    strspn(v->tag, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(v->tag))
		return assay_conf_fail(
			err, file->path, s->line,
			"bad metric name '%s', expected lower case letters, digits and '_', and none of the harness's",
			v->tag);
	if (strlen(v->unit) >= ASSAY_METRIC_UNIT_MAX)
		return assay_conf_fail(err, file->path, s->line, "unit '%s' of metric '%s' is too long", v->unit,
				       v->tag);
	rc = read_better(v, s, err);
	if (!rc)
		rc = read_range(v, s, err);
	return rc ? rc : read_formula(v, g, s, err);
}

/* Events before metrics, wherever they stand, since formulas name them. */
static int read_group(struct assay_counter_group *g, const struct assay_conf *file, const char *name,
		      const char *vendor, struct assay_err *err)
{
	const struct assay_conf_section *s = file->root.sections;
	const struct assay_conf_entry *entry;
	int rc = 0;

	if (file->root.n_sections != 1 || strcmp(s->title, name))
		return assay_conf_fail(err, file->path, file->root.n_sections ? s->line : 1,
				       "expected one group \"%s\" in this file", name);
	g->name = s->title;
	g->summary = text_of(s, "summary", "");
	entry = assay_conf_entry(s, "events");
	for (size_t i = 0; entry && i < entry->n && !rc; i++) {
		struct assay_group_event *e =
			new_event(g, file, entry->values[i].text, entry->values[i].line, &rc, err);

		if (e)
			rc = assay_strings_add(&e->names, e->name, err);
	}
	for (size_t i = 0; i < s->n_sections && !rc; i++)
		if (!strcmp(s->sections[i].name, "event"))
			rc = read_event(g, file, &s->sections[i], vendor, err);
	if (!rc && !g->n_events)
		rc = assay_conf_fail(err, file->path, s->line, "group '%s' has no events", name);
	for (size_t i = 0; i < s->n_sections && !rc; i++)
		if (!strcmp(s->sections[i].name, "metric"))
			rc = read_metric(g, file, &s->sections[i], err);
	return rc;
}

/* A metric means one thing, in whichever group it stands. */
static int check_metrics(const struct assay_counter_groups *g, struct assay_err *err)
{
	const struct assay_group_metric *first, *again;

	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->v[i].n_metrics; k++)
			for (size_t o = 0; o <= i; o++)
				for (size_t l = 0; l < (o == i ? k : g->v[o].n_metrics); l++) {
					first = &g->v[o].metrics[l];
					again = &g->v[i].metrics[k];
					if (!strcmp(first->tag, again->tag))
						return assay_conf_fail(err, again->path, again->line,
								       "metric '%s' is already defined in %s:%u",
								       again->tag, first->path, first->line);
				}
	return 0;
}

int assay_counter_groups_load(struct assay_counter_groups *out, const char *dir, const char *vendor,
			      struct assay_err *err)
{
	struct assay_counter_groups g = { 0 };
	struct assay_strings names = { 0 };
	char path[4096];
	int rc = assay_file_list(dir, GROUP_ENDING, &names, err);

	if (rc == ASSAY_ENOTFOUND)
		rc = 0;
	if (!rc) {
		g.files = calloc(names.n + 1, sizeof(*g.files));
		g.v = calloc(names.n + 1, sizeof(*g.v));
		if (!g.files || !g.v)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", dir);
	}
	for (size_t i = 0; i < names.n && !rc; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s" GROUP_ENDING, dir, names.v[i]);

		if (n < 0 || (size_t)n >= sizeof(path)) {
			rc = assay_err_set(err, ASSAY_EUSAGE, "the path of '%s' in '%s' is too long", names.v[i], dir);
			break;
		}
		rc = assay_conf_load(&g.files[i], path, &grammar, err);
		if (rc)
			break;
		g.n_files++;
		rc = read_group(&g.v[g.n++], &g.files[i], names.v[i], vendor, err);
	}
	if (!rc)
		rc = check_metrics(&g, err);
	if (!rc) {
		*out = g;
		g = (struct assay_counter_groups){ 0 };
	}
	assay_counter_groups_release(&g);
	assay_strings_release(&names);
	return rc;
}

void assay_counter_groups_release(struct assay_counter_groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < g->v[i].n_events; k++)
			assay_strings_release(&g->v[i].events[k].names);
		for (size_t k = 0; k < g->v[i].n_metrics; k++)
			assay_formula_release(&g->v[i].metrics[k].formula);
		free(g->v[i].events);
		free(g->v[i].metrics);
	}
	for (size_t i = 0; i < g->n_files; i++)
		assay_conf_release(&g->files[i]);
	free(g->files);
	free(g->v);
	*g = (struct assay_counter_groups){ 0 };
}

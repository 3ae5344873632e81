/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides are first brought to one pair, the one of the medians, so that text and JSON say the same. */
#include "cli/show_comparison_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison_judge.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"

static const struct assay_metric *find_metric(const struct assay_pair_side *s, const char *tag)
{
	for (size_t i = 0; i < s->n_metrics; i++)
		if (!strcmp(s->metrics[i].tag, tag))
			return &s->metrics[i];
	return NULL;
}

static int add_metric(const struct assay_comparison_case *c, enum assay_side side, const struct assay_metric *m,
		      struct assay_pair_side *out)
{
	struct assay_metric *grown = realloc(out->metrics, (out->n_metrics + 1) * sizeof(*grown));

	if (!grown)
		return ASSAY_ENOMEM;
	out->metrics = grown;
	grown += out->n_metrics++;
	*grown = *m;
	if (assay_comparison_metric(c, side, m->tag, &grown->value, NULL))
		return ASSAY_ENOMEM;
	return 0;
}

static int add_count(const struct assay_comparison_case *c, enum assay_side side, const struct assay_count *first,
		     struct assay_pair_side *out)
{
	struct assay_count count = *first;

	if (assay_comparison_metric(c, side, first->name, &count.value, NULL))
		return ASSAY_ENOMEM;
	return assay_counters_add(&out->counters, &count);
}

static int gather_counted(const struct assay_comparison_case *c, enum assay_side side, struct assay_pair_side *out)
{
	int rc = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_pair_side *s = &c->pairs[i].side[side];

		for (size_t k = 0; k < s->n_metrics && !rc; k++)
			if (!find_metric(out, s->metrics[k].tag))
				rc = add_metric(c, side, &s->metrics[k], out);
		for (size_t k = 0; k < s->counters.n && !rc; k++)
			if (!assay_counters_find(&out->counters, s->counters.v[k].name))
				rc = add_count(c, side, &s->counters.v[k], out);
	}
	return rc;
}

/* What no pair of the side has. */
static int gather_missing(const struct assay_comparison_case *c, enum assay_side side, struct assay_pair_side *out)
{
	int rc = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_counters *from = &c->pairs[i].side[side].counters;

		for (size_t k = 0; k < from->n_missing && !rc; k++) {
			const struct assay_unavailable *u = &from->missing[k];

			if (!find_metric(out, u->name) && !assay_counters_find(&out->counters, u->name) &&
			    !assay_counters_find_missing(&out->counters, u->name))
				rc = assay_counters_add_missing(&out->counters, u->name, u->source, u->reason);
		}
	}
	return rc;
}

static int gather(const struct assay_comparison_case *c, struct assay_pair *out, struct assay_err *err)
{
	int rc = 0;

	*out = (struct assay_pair){ 0 };
	for (int side = 0; side < 2 && !rc; side++) {
		rc = gather_counted(c, (enum assay_side)side, &out->side[side]);
		if (!rc)
			rc = gather_missing(c, (enum assay_side)side, &out->side[side]);
	}
	if (rc)
		assay_pair_release(out);
	return rc ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

/* What the side has of @name, a count, a metric derived from counts, or a reason; false: nothing. */
static bool cell(const struct assay_pair_side *s, const char *name, bool utf8, char *value, char *note, size_t size)
{
	const struct assay_count *count = assay_counters_find(&s->counters, name);
	const struct assay_unavailable *u = assay_counters_find_missing(&s->counters, name);
	const struct assay_metric *m = find_metric(s, name);

	if (m) {
		assay_metric_text(m->tag, m->value, m->unit, utf8, value, size);
		snprintf(note, size, "%s%s", m->source, m->estimated ? ", an estimate" : "");
	} else if (count) {
		assay_count_text(count, value, size);
		assay_count_note(count, note, size);
	} else if (u) {
		snprintf(value, size, "unavailable");
		snprintf(note, size, "%s: %s", u->source, u->reason);
	}
	return m || count || u;
}

static void add_row(struct assay_columns *t, const struct assay_pair *p, const char *name, bool utf8)
{
	char value[2][320] = { "-", "-" }, note[2][320] = { "", "" }, both[720];
	bool base = cell(&p->side[ASSAY_BASE], name, utf8, value[ASSAY_BASE], note[ASSAY_BASE], sizeof(note[0]));
	bool head = cell(&p->side[ASSAY_HEAD], name, utf8, value[ASSAY_HEAD], note[ASSAY_HEAD], sizeof(note[0]));

	if (base && head && strcmp(note[ASSAY_BASE], note[ASSAY_HEAD]))
		snprintf(both, sizeof(both), "base %s; head %s", note[ASSAY_BASE], note[ASSAY_HEAD]);
	else
		snprintf(both, sizeof(both), "%s", note[head ? ASSAY_HEAD : ASSAY_BASE]);
	assay_columns_tail(t, (const char *const[]){ name, value[ASSAY_BASE], value[ASSAY_HEAD] }, 3, both);
}

static bool has(const struct assay_pair_side *s, const char *name)
{
	return find_metric(s, name) || assay_counters_find(&s->counters, name) ||
	       assay_counters_find_missing(&s->counters, name);
}

/* The names of the head, then those that the base alone has. */
static void add_side(struct assay_columns *t, const struct assay_pair *p, enum assay_side side, bool utf8)
{
	const struct assay_pair_side *s = &p->side[side];
	bool known = side == ASSAY_BASE;

	for (size_t i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].source[0] && !(known && has(&p->side[ASSAY_HEAD], s->metrics[i].tag)))
			add_row(t, p, s->metrics[i].tag, utf8);
	for (size_t i = 0; i < s->counters.n; i++)
		if (!(known && has(&p->side[ASSAY_HEAD], s->counters.v[i].name)))
			add_row(t, p, s->counters.v[i].name, utf8);
	for (size_t i = 0; i < s->counters.n_missing; i++)
		if (!(known && has(&p->side[ASSAY_HEAD], s->counters.missing[i].name)))
			add_row(t, p, s->counters.missing[i].name, utf8);
}

int assay_show_counts(const struct assay_comparison_case *c, const struct assay_emit_style *style,
		      struct assay_text *out, struct assay_err *err)
{
	struct assay_columns t = { .align = "lrrl", .indent = "  ", .width = style->width };
	struct assay_pair p;
	int rc = gather(c, &p, err);

	if (rc)
		return rc;
	assay_columns_row(&t, (const char *const[]){ "counted", "base", "head", "by" });
	add_side(&t, &p, ASSAY_HEAD, style->utf8);
	add_side(&t, &p, ASSAY_BASE, style->utf8);
	if (t.n_rows > 1)
		assay_columns_print(&t, out);
	assay_columns_release(&t);
	assay_pair_release(&p);
	return 0;
}

int assay_show_counts_json(const struct assay_comparison_case *c, json_t *o, struct assay_err *err)
{
	const struct assay_pair_side *base, *head;
	struct assay_pair p;
	int rc = gather(c, &p, err);

	if (rc)
		return rc;
	base = &p.side[ASSAY_BASE];
	head = &p.side[ASSAY_HEAD];
	if (json_object_set_new(o, "metrics",
				json_pack("{s:o,s:o}", "base", assay_json_metrics(base->metrics, base->n_metrics),
					  "head", assay_json_metrics(head->metrics, head->n_metrics))) ||
	    json_object_set_new(o, "counters",
				json_pack("{s:o,s:o}", "base", assay_json_counters(&base->counters), "head",
					  assay_json_counters(&head->counters))) ||
	    json_object_set_new(o, "unavailable",
				json_pack("{s:o,s:o}", "base", assay_json_unavailable(&base->counters), "head",
					  assay_json_unavailable(&head->counters))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_pair_release(&p);
	return rc;
}

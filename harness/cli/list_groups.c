/* SPDX-License-Identifier: Apache-2.0 */
/* Text and JSON of groups of counters. */
#include "cli/list_groups.h"

#include <stdio.h>

#include "reports/columns.h"

static void events_line(const struct assay_counter_group *g, struct assay_columns *t)
{
	struct assay_text line = { 0 };

	for (size_t i = 0; i < g->n_events; i++)
		assay_text_addf(&line, "%s%s", i ? ", " : "counts ", g->events[i].name);
	if (line.s)
		assay_columns_line(t, 2, line.s);
	t->failed |= line.failed;
	assay_text_release(&line);
}

void assay_list_groups_text(const struct assay_counter_groups *g, const struct assay_emit_style *style,
			    struct assay_text *out)
{
	struct assay_columns t = { .align = "l", .width = style->width };
	char line[512], name[ASSAY_NAME_MAX + 2];

	for (size_t i = 0; i < g->n; i++) {
		const struct assay_counter_group *x = &g->v[i];

		snprintf(line, sizeof(line), "%s%s%s  %s", style->colour ? "\033[1m" : "", x->name,
			 style->colour ? "\033[0m" : "", x->summary);
		assay_columns_line(&t, 0, line);
		events_line(x, &t);
		for (size_t k = 0; k < x->n_metrics; k++) {
			const struct assay_group_metric *m = &x->metrics[k];

			snprintf(line, sizeof(line), " = %s: %s%s", m->formula.text, m->help,
				 m->better > 0   ? "; higher is better"
				 : m->better < 0 ? "; lower is better"
						 : "");
			snprintf(name, sizeof(name), "  %.*s", ASSAY_NAME_MAX - 1, m->tag);
			assay_columns_tail(&t, (const char *const[]){ name }, 1, line);
		}
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static json_t *metrics_json(const struct assay_counter_group *g)
{
	json_t *a = json_array();

	for (size_t i = 0; i < g->n_metrics; i++) {
		const struct assay_group_metric *m = &g->metrics[i];

		json_array_append_new(
			a, json_pack("{s:o,s:o,s:o,s:o,s:[o,o],s:o}", "tag", assay_json_text(m->tag), "unit",
				     assay_json_text(m->unit), "help", assay_json_text(m->help), "better",
				     m->better ? json_string(m->better > 0 ? "higher" : "lower") : json_null(), "range",
				     assay_json_number(m->lo), assay_json_number(m->hi), "formula",
				     assay_json_text(m->formula.text)));
	}
	return a;
}

json_t *assay_list_groups_json(const struct assay_counter_groups *g)
{
	json_t *a = json_array();

	for (size_t i = 0; i < g->n; i++) {
		const struct assay_counter_group *x = &g->v[i];
		json_t *events = json_array();

		for (size_t k = 0; k < x->n_events; k++)
			json_array_append_new(events, assay_json_text(x->events[k].name));
		json_array_append_new(a, json_pack("{s:o,s:o,s:o,s:o}", "name", assay_json_text(x->name), "summary",
						   assay_json_text(x->summary), "events", events, "metrics",
						   metrics_json(x)));
	}
	return a;
}

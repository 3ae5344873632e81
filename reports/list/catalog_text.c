/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog, for people: ops with their variants, suites, groups of counters, cases. */
#include <stdio.h>
#include <string.h>

#include "reports/columns.h"
#include "reports/text_parts.h"

struct view {
	const struct assay_report_catalog *r;
	const struct assay_emit_style *style;
};

static void title(const struct view *v, struct assay_columns *t, const char *name, const char *help)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s%s%s%s", assay_paint(v->style, ASSAY_BOLD), name,
		 assay_paint(v->style, ASSAY_RESET), help && help[0] ? "  " : "", help ? help : "");
	assay_columns_line(t, 0, line);
}

static void defect_line(const struct view *v, struct assay_columns *t, const char *defect)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s%s", assay_paint(v->style, ASSAY_RED), defect,
		 assay_paint(v->style, ASSAY_RESET));
	assay_columns_line(t, 4, line);
}

static void axis_line(const struct assay_catalog_op *op, struct assay_columns *t)
{
	struct assay_text line = { 0 };

	for (size_t i = 0; i < op->n_axes; i++) {
		const struct assay_catalog_axis *a = &op->axes[i];

		assay_text_addf(&line, "%s%s=", i ? ", " : "axes: ", a->name);
		if (a->symbols.n) {
			for (size_t k = 0; k < a->symbols.n; k++)
				assay_text_addf(&line, "%s%s", k ? "|" : "", a->symbols.v[k]);
		} else {
			assay_text_addf(&line, "%lld..%lld", (long long)a->min, (long long)a->max);
		}
	}
	if (line.s)
		assay_columns_line(t, 4, line.s);
	t->failed |= line.failed;
	assay_text_release(&line);
}

static void variant_row(const struct view *v, const struct assay_catalog_variant *x, const char *name,
			struct assay_columns *t)
{
	char note[512];

	if (x->defect)
		snprintf(note, sizeof(note), "%s%s%s", assay_paint(v->style, ASSAY_RED), x->defect,
			 assay_paint(v->style, ASSAY_RESET));
	else if (x->unavailable)
		snprintf(note, sizeof(note), "%snot here: %s%s", assay_paint(v->style, ASSAY_YELLOW), x->unavailable,
			 assay_paint(v->style, ASSAY_RESET));
	else if (x->needs)
		snprintf(note, sizeof(note), "%s%sneeds %s", x->help ? x->help : "", x->help ? "; " : "", x->needs);
	else
		snprintf(note, sizeof(note), "%s", x->help ? x->help : "");
	assay_columns_tail(t, (const char *const[]){ name }, 1, note);
}

static void ops_text(const struct view *v, bool variants, struct assay_text *out)
{
	struct assay_columns t = { .align = "ll", .indent = "  ", .width = v->style->width };

	for (size_t i = 0; i < v->r->catalog->n_ops; i++) {
		const struct assay_catalog_op *op = &v->r->catalog->ops[i];

		title(v, &t, op->name, op->help);
		if (op->defect)
			defect_line(v, &t, op->defect);
		axis_line(op, &t);
		for (size_t k = 0; variants && k < v->r->catalog->n_variants; k++)
			if (!strcmp(v->r->catalog->variants[k].op, op->name))
				variant_row(v, &v->r->catalog->variants[k], v->r->catalog->variants[k].name, &t);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void variants_text(const struct view *v, struct assay_text *out)
{
	struct assay_columns t = { .align = "ll", .width = v->style->width };
	char name[2 * ASSAY_NAME_MAX + 2];

	for (size_t i = 0; i < v->r->catalog->n_variants; i++) {
		const struct assay_catalog_variant *x = &v->r->catalog->variants[i];

		snprintf(name, sizeof(name), "%s/%s", x->op, x->name);
		variant_row(v, x, name, &t);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void plugins_text(const struct view *v, bool only_refused, struct assay_text *out)
{
	struct assay_columns t = { .align = "lll", .width = v->style->width };
	char note[1024];

	for (size_t i = 0; i < v->r->catalog->n_plugins; i++) {
		const struct assay_catalog_plugin *p = &v->r->catalog->plugins[i];

		if (p->error) {
			snprintf(note, sizeof(note), "%srefused: %s%s", assay_paint(v->style, ASSAY_RED), p->error,
				 assay_paint(v->style, ASSAY_RESET));
			assay_columns_tail(&t, (const char *const[]){ p->path }, 1, note);
		} else if (!only_refused) {
			snprintf(note, sizeof(note), "ABI %u.%u", p->abi_major, p->abi_minor);
			assay_columns_row(&t, (const char *const[]){ p->path, p->version, note });
		}
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void suites_text(const struct view *v, const char *lead, struct assay_text *out)
{
	for (size_t i = 0; i < v->r->suites->n; i++)
		assay_text_addf(out, "%s%s\n", lead, v->r->suites->v[i]);
}

static void cases_text(const struct view *v, struct assay_text *out)
{
	struct assay_columns t = { .align = "ll", .width = v->style->width };
	char note[320];

	for (size_t i = 0; i < v->r->n_cases; i++) {
		const struct assay_case *c = &v->r->cases[i];

		note[0] = '\0';
		if (c->skip_reason[0])
			snprintf(note, sizeof(note), "%sskipped: %s%s", assay_paint(v->style, ASSAY_YELLOW),
				 c->skip_reason, assay_paint(v->style, ASSAY_RESET));
		assay_columns_row(&t, (const char *const[]){ c->key, note });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

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

static void groups_text(const struct view *v, struct assay_text *out)
{
	struct assay_columns t = { .align = "l", .width = v->style->width };
	char line[512], name[ASSAY_NAME_MAX + 2];

	for (size_t i = 0; i < v->r->n_groups; i++) {
		const struct assay_counter_group *x = &v->r->groups[i];

		title(v, &t, x->name, x->summary);
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

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct view v = { .r = &r->catalog, .style = style };
	const char *what = r->catalog.what;

	if (!what) {
		ops_text(&v, true, out);
		assay_text_addf(out, "\n%ssuites%s\n", assay_paint(style, ASSAY_BOLD), assay_paint(style, ASSAY_RESET));
		suites_text(&v, "  ", out);
		plugins_text(&v, true, out);
	} else if (!strcmp(what, "plugins")) {
		plugins_text(&v, false, out);
	} else if (!strcmp(what, "ops")) {
		ops_text(&v, false, out);
	} else if (!strcmp(what, "variants")) {
		variants_text(&v, out);
	} else if (!strcmp(what, "suites")) {
		suites_text(&v, "", out);
	} else if (!strcmp(what, "groups")) {
		groups_text(&v, out);
	} else {
		cases_text(&v, out);
	}
}

ASSAY_EMITTER(catalog_text, ASSAY_REPORT_CATALOG, "text", write_text);

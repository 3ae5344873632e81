/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog, for scripts: always all of it, and the cases of a suite where they are asked for. */
#include "reports/emitter.h"
#include "reports/json_parts.h"

static json_t *names_json(const struct assay_strings *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, assay_json_text(l->v[i]));
	return a;
}

static json_t *axes_json(const struct assay_catalog_op *op)
{
	json_t *a = json_array();

	for (size_t i = 0; i < op->n_axes; i++) {
		const struct assay_catalog_axis *x = &op->axes[i];
		json_t *o = json_pack("{s:o,s:o}", "name", assay_json_text(x->name), "help", assay_json_text(x->help));
		bool symbols = x->symbols.n > 0, given = x->def != INT64_MIN;

		if (symbols) {
			json_object_set_new(o, "symbols", names_json(&x->symbols));
		} else {
			json_object_set_new(o, "min", json_integer(x->min));
			json_object_set_new(o, "max", json_integer(x->max));
		}
		if (given && symbols && x->def >= 0 && (size_t)x->def < x->symbols.n)
			json_object_set_new(o, "default", assay_json_text(x->symbols.v[x->def]));
		else
			json_object_set_new(o, "default", given ? json_integer(x->def) : json_null());
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *metrics_json(const struct assay_catalog_op *op)
{
	json_t *a = json_array();

	for (size_t i = 0; i < op->n_metrics; i++) {
		const struct assay_catalog_metric *m = &op->metrics[i];

		json_array_append_new(a, json_pack("{s:o,s:o,s:o,s:o,s:s}", "tag", assay_json_text(m->tag), "unit",
						   assay_json_text(m->unit), "help", assay_json_text(m->help), "better",
						   assay_json_better(m->better), "kind",
						   m->kind == ASSAY_METRIC_HISTOGRAM ? "histogram" : "gauge"));
	}
	return a;
}

static json_t *ops_json(const struct assay_report_catalog *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->catalog->n_ops; i++) {
		const struct assay_catalog_op *op = &v->catalog->ops[i];
		const char *plugin = op->program ? NULL : v->catalog->plugins[op->plugin].name;

		json_array_append_new(a, json_pack("{s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "name",
						   assay_json_text(op->name), "help", assay_json_text(op->help),
						   "exact", op->exact, "composes", assay_json_text(op->composes),
						   "plugin", assay_json_text(plugin), "axes", axes_json(op), "metrics",
						   metrics_json(op), "counters", names_json(&op->counters), "defect",
						   assay_json_text(op->defect)));
	}
	return a;
}

static json_t *variants_json(const struct assay_report_catalog *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->catalog->n_variants; i++) {
		const struct assay_catalog_variant *x = &v->catalog->variants[i];

		json_array_append_new(a,
				      json_pack("{s:o,s:o,s:o,s:o,s:o,s:b,s:b,s:o,s:o}", "op", assay_json_text(x->op),
						"name", assay_json_text(x->name), "help", assay_json_text(x->help),
						"needs", assay_json_text(x->needs), "plugin",
						assay_json_text(v->catalog->plugins[x->plugin].name), "reference",
						x->reference, "available", !x->unavailable, "reason",
						assay_json_text(x->unavailable), "defect", assay_json_text(x->defect)));
	}
	return a;
}

static json_t *plugins_json(const struct assay_report_catalog *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->catalog->n_plugins; i++) {
		const struct assay_catalog_plugin *p = &v->catalog->plugins[i];

		json_array_append_new(a,
				      json_pack("{s:o,s:o,s:o,s:o,s:b,s:o}", "path", assay_json_text(p->path), "name",
						assay_json_text(p->name), "version", assay_json_text(p->version),
						"build_id", assay_json_text(p->build_id), "loaded", !p->error, "reason",
						assay_json_text(p->error)));
	}
	return a;
}

static json_t *cases_json(const struct assay_report_catalog *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n_cases; i++) {
		const struct assay_case *c = &v->cases[i];
		char portable[ASSAY_KEY_MAX];

		assay_case_portable_key(c, portable);
		json_array_append_new(a, json_pack("{s:o,s:o,s:o,s:o,s:i,s:s,s:o}", "key", assay_json_text(c->key),
						   "manifest_key", assay_json_text(portable), "op",
						   assay_json_text(c->op), "variant", assay_json_text(c->variant),
						   "threads", (int)c->threads, "cache", assay_cache_name(c->cache),
						   "skip_reason", assay_json_text(c->skip_reason)));
	}
	return a;
}

static json_t *group_metrics_json(const struct assay_counter_group *g)
{
	json_t *a = json_array();

	for (size_t i = 0; i < g->n_metrics; i++) {
		const struct assay_group_metric *m = &g->metrics[i];

		json_array_append_new(a,
				      json_pack("{s:o,s:o,s:o,s:o,s:[o,o],s:o}", "tag", assay_json_text(m->tag), "unit",
						assay_json_text(m->unit), "help", assay_json_text(m->help), "better",
						assay_json_better(m->better), "range", assay_json_number(m->lo),
						assay_json_number(m->hi), "formula", assay_json_text(m->formula.text)));
	}
	return a;
}

static json_t *groups_json(const struct assay_report_catalog *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n_groups; i++) {
		const struct assay_counter_group *x = &v->groups[i];
		json_t *events = json_array();

		for (size_t k = 0; k < x->n_events; k++)
			json_array_append_new(events, assay_json_text(x->events[k].name));
		json_array_append_new(a, json_pack("{s:o,s:o,s:o,s:o}", "name", assay_json_text(x->name), "summary",
						   assay_json_text(x->summary), "events", events, "metrics",
						   group_metrics_json(x)));
	}
	return a;
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_catalog *v = &r->catalog;
	json_t *root =
		json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "plugins", plugins_json(v), "ops", ops_json(v),
			  "variants", variants_json(v), "suites", names_json(v->suites), "groups", groups_json(v));

	(void)style;
	if (v->suite) {
		json_object_set_new(root, "suite", assay_json_text(v->suite));
		json_object_set_new(root, "cases", cases_json(v));
	}
	assay_json_print(root, out);
}

ASSAY_EMITTER(catalog_json, ASSAY_REPORT_CATALOG, "json", write_json);

/* SPDX-License-Identifier: Apache-2.0 */
/* Text and JSON of `assay list`: the catalog, the suites and the cases of one of them. */
#include "cli/list_emit.h"

#include <stdio.h>
#include <string.h>

#include "cli/list_groups.h"
#include "reports/columns.h"
#include "reports/json_parts.h"

static const char *paint(const struct assay_list_view *v, const char *colour)
{
	return v->style.colour ? colour : "";
}

static void title(const struct assay_list_view *v, struct assay_columns *t, const char *name, const char *help)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s%s%s%s", paint(v, "\033[1m"), name, paint(v, "\033[0m"),
		 help && help[0] ? "  " : "", help ? help : "");
	assay_columns_line(t, 0, line);
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

static void variant_row(const struct assay_list_view *v, const struct assay_catalog_variant *x, const char *name,
			struct assay_columns *t)
{
	char note[512];

	if (x->unavailable)
		snprintf(note, sizeof(note), "%snot here: %s%s", paint(v, "\033[33m"), x->unavailable,
			 paint(v, "\033[0m"));
	else if (x->needs)
		snprintf(note, sizeof(note), "%s%sneeds %s", x->help ? x->help : "", x->help ? "; " : "", x->needs);
	else
		snprintf(note, sizeof(note), "%s", x->help ? x->help : "");
	assay_columns_tail(t, (const char *const[]){ name }, 1, note);
}

static void ops_text(const struct assay_list_view *v, bool variants, struct assay_text *out)
{
	struct assay_columns t = { .align = "ll", .indent = "  ", .width = v->style.width };

	for (size_t i = 0; i < v->catalog->n_ops; i++) {
		const struct assay_catalog_op *op = &v->catalog->ops[i];

		title(v, &t, op->name, op->help);
		axis_line(op, &t);
		for (size_t k = 0; variants && k < v->catalog->n_variants; k++)
			if (!strcmp(v->catalog->variants[k].op, op->name))
				variant_row(v, &v->catalog->variants[k], v->catalog->variants[k].name, &t);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void variants_text(const struct assay_list_view *v, struct assay_text *out)
{
	struct assay_columns t = { .align = "ll", .width = v->style.width };
	char name[2 * ASSAY_NAME_MAX + 2];

	for (size_t i = 0; i < v->catalog->n_variants; i++) {
		const struct assay_catalog_variant *x = &v->catalog->variants[i];

		snprintf(name, sizeof(name), "%s/%s", x->op, x->name);
		variant_row(v, x, name, &t);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void plugins_text(const struct assay_list_view *v, bool only_refused, struct assay_text *out)
{
	struct assay_columns t = { .align = "lll", .width = v->style.width };
	char note[1024];

	for (size_t i = 0; i < v->catalog->n_plugins; i++) {
		const struct assay_catalog_plugin *p = &v->catalog->plugins[i];

		if (p->error) {
			snprintf(note, sizeof(note), "%srefused: %s%s", paint(v, "\033[31m"), p->error,
				 paint(v, "\033[0m"));
			assay_columns_tail(&t, (const char *const[]){ p->path }, 1, note);
		} else if (!only_refused) {
			snprintf(note, sizeof(note), "ABI %u.%u", p->abi_major, p->abi_minor);
			assay_columns_row(&t, (const char *const[]){ p->path, p->version, note });
		}
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void suites_text(const struct assay_list_view *v, const char *lead, struct assay_text *out)
{
	for (size_t i = 0; i < v->suites.n; i++)
		assay_text_addf(out, "%s%s\n", lead, v->suites.v[i]);
}

static void cases_text(const struct assay_list_view *v, struct assay_text *out)
{
	struct assay_columns t = { .align = "ll", .width = v->style.width };
	char note[320];

	for (size_t i = 0; i < v->plan->n_cases; i++) {
		const struct assay_case *c = &v->plan->cases[i];

		note[0] = '\0';
		if (c->skip_reason[0])
			snprintf(note, sizeof(note), "%sskipped: %s%s", paint(v, "\033[33m"), c->skip_reason,
				 paint(v, "\033[0m"));
		assay_columns_row(&t, (const char *const[]){ c->key, note });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

int assay_list_text(const struct assay_list_view *v, struct assay_text *out, struct assay_err *err)
{
	if (!v->what) {
		ops_text(v, true, out);
		assay_text_addf(out, "\n%ssuites%s\n", paint(v, "\033[1m"), paint(v, "\033[0m"));
		suites_text(v, "  ", out);
		plugins_text(v, true, out);
	} else if (!strcmp(v->what, "plugins")) {
		plugins_text(v, false, out);
	} else if (!strcmp(v->what, "ops")) {
		ops_text(v, false, out);
	} else if (!strcmp(v->what, "variants")) {
		variants_text(v, out);
	} else if (!strcmp(v->what, "suites")) {
		suites_text(v, "", out);
	} else if (!strcmp(v->what, "groups")) {
		assay_list_groups_text(v->groups, &v->style, out);
	} else {
		cases_text(v, out);
	}
	return out->failed ? assay_err_set(err, ASSAY_ENOMEM, "cannot write the list: out of memory") : 0;
}

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

		json_array_append_new(
			a, json_pack("{s:o,s:o,s:o,s:o}", "tag", assay_json_text(m->tag), "unit",
				     assay_json_text(m->unit), "help", assay_json_text(m->help), "better",
				     m->better ? json_string(m->better > 0 ? "higher" : "lower") : json_null()));
	}
	return a;
}

static json_t *ops_json(const struct assay_list_view *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->catalog->n_ops; i++) {
		const struct assay_catalog_op *op = &v->catalog->ops[i];

		json_array_append_new(a, json_pack("{s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o}", "name",
						   assay_json_text(op->name), "help", assay_json_text(op->help),
						   "exact", op->exact, "composes", assay_json_text(op->composes),
						   "plugin", assay_json_text(v->catalog->plugins[op->plugin].name),
						   "axes", axes_json(op), "metrics", metrics_json(op), "counters",
						   names_json(&op->counters)));
	}
	return a;
}

static json_t *variants_json(const struct assay_list_view *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->catalog->n_variants; i++) {
		const struct assay_catalog_variant *x = &v->catalog->variants[i];

		json_array_append_new(a, json_pack("{s:o,s:o,s:o,s:o,s:o,s:b,s:b,s:o}", "op", assay_json_text(x->op),
						   "name", assay_json_text(x->name), "help", assay_json_text(x->help),
						   "needs", assay_json_text(x->needs), "plugin",
						   assay_json_text(v->catalog->plugins[x->plugin].name), "reference",
						   x->reference, "available", !x->unavailable, "reason",
						   assay_json_text(x->unavailable)));
	}
	return a;
}

static json_t *plugins_json(const struct assay_list_view *v)
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

static json_t *cases_json(const struct assay_plan *plan)
{
	json_t *a = json_array();

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct assay_case *c = &plan->cases[i];
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

int assay_list_json(const struct assay_list_view *v, struct assay_text *out, struct assay_err *err)
{
	json_t *root = json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "plugins", plugins_json(v), "ops",
				 ops_json(v), "variants", variants_json(v), "suites", names_json(&v->suites), "groups",
				 assay_list_groups_json(v->groups));

	if (v->plan) {
		json_object_set_new(root, "suite", assay_json_text(v->plan->suite));
		json_object_set_new(root, "cases", cases_json(v->plan));
	}
	return assay_json_print(root, out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What was done to a database as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

static bool is_bytes(const char *name)
{
	const size_t n = strlen(name), end = strlen("_bytes");

	return n > end && !strcmp(name + n - end, "_bytes");
}

/* "kept_in_baselines" as "kept in baselines", "before_bytes" as "before" */
static void words_of(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)(strlen(name) - (is_bytes(name) ? strlen("_bytes") : 0)), name);
	for (char *c = buf; *c; c++)
		if (*c == '_')
			*c = ' ';
}

static void value_of(const struct assay_database_count *c, char *buf, size_t size)
{
	if (is_bytes(c->name))
		snprintf(buf, size, "%.1f MiB", (double)c->value / (1 << 20));
	else
		assay_exact_count_text(c->value, buf, size);
}

static void lines(const char *name, const char *colour, const struct assay_strings *v,
		  const struct assay_emit_style *style, struct assay_text *out)
{
	for (size_t i = 0; i < v->n; i++) {
		assay_text_addf(out, "%s%s%s ", assay_paint(style, colour), name, assay_paint(style, ASSAY_RESET));
		for (const char *c = v->v[i]; *c; c++)
			assay_text_addn(out, (unsigned char)*c < ' ' || *c == 0x7f ? "?" : c, 1);
		assay_text_add(out, "\n");
	}
}

static void database_text(const struct assay_report *report, const struct assay_emit_style *style,
			  struct assay_text *out)
{
	const struct assay_database_report *r = report->database;
	struct assay_columns t = { .align = "lr", .width = style->width };

	assay_text_addf(out, "%s%s '%s'%s\n", r->dry ? "dry run: " : "", r->action, r->db,
			r->dry ? ": nothing was changed, this is what would be" : "");
	for (size_t i = 0; i < r->n_counts; i++) {
		char name[48], value[40];

		words_of(r->counts[i].name, name, sizeof(name));
		value_of(&r->counts[i], value, sizeof(value));
		assay_columns_row(&t, (const char *const[]){ name, value });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	lines("note", ASSAY_YELLOW, &r->notes, style, out);
}

static json_t *list(const struct assay_strings *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(a, assay_json_text(v->v[i]));
	return a;
}

static void database_json(const struct assay_report *report, const struct assay_emit_style *style,
			  struct assay_text *out)
{
	const struct assay_database_report *r = report->database;
	json_t *root = json_pack("{s:i,s:s,s:o,s:b}", "schema", 1, "action", r->action, "db", assay_json_text(r->db),
				 "dry_run", r->dry);

	(void)style;
	for (size_t i = 0; i < r->n_counts; i++)
		json_object_set_new(root, r->counts[i].name, assay_json_u64(r->counts[i].value));
	json_object_set_new(root, "notes", list(&r->notes));
	assay_json_print(root, out);
}

ASSAY_EMITTER(database_text, ASSAY_REPORT_DATABASE, "text", database_text);
ASSAY_EMITTER(database_json, ASSAY_REPORT_DATABASE, "json", database_json);

/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on operations on a database: imported files of other tools, merges, and pruning. */
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

/* ---- import done ---- */

/* The outcome of importing a file of another tool. */

static void add_run(struct assay_text *out, const struct assay_import_report *r, const struct assay_import_run *run)
{
	assay_text_addf(out, "run %" PRId64 ": %zu case%s of %s", run->id, run->n_cases, run->n_cases == 1 ? "" : "s",
			r->format);
	assay_text_addf(out, ", %" PRIu64 " sample%s", run->n_samples, run->n_samples == 1 ? "" : "s");
	if (run->n_failed)
		assay_text_addf(out, ", %zu failed", run->n_failed);
	if (run->n_ok + run->n_failed < run->n_cases)
		assay_text_addf(out, ", %zu without a time", run->n_cases - run->n_ok - run->n_failed);
	assay_text_addf(out, "\n  suite %s; machine %s; commit %s; date %s\n", run->suite,
			run->machine[0] ? run->machine : "unknown", run->commit[0] ? run->commit : "unknown",
			run->dated ? "known" : "unknown");
	if (!run->machine[0])
		assay_text_add(out, "  a gate only compares runs of one machine: name it with --machine NAME\n");
}

static void add_ids(struct assay_text *out, const int64_t *ids, size_t n)
{
	assay_text_add(out, n == 1 ? "run" : "runs");
	for (size_t i = 0; i < n; i++)
		assay_text_addf(out, "%s %" PRId64, i ? "," : "", ids[i]);
}

static json_t *ids_json(const int64_t *ids, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(ids[i]));
	return list;
}

static void import_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_import_report *r = report->import;

	(void)style;
	for (size_t i = 0; i < r->n_runs; i++)
		add_run(out, r, &r->runs[i]);
	if (r->n_same) {
		add_ids(out, r->same, r->n_same);
		assay_text_addf(out, " came from this file with the same options: nothing was added%s\n",
				r->n_runs ? " to them" : "");
	}
	if (r->replaced) {
		assay_text_addf(out, "run %" PRId64 ", from this file with other options, was removed\n", r->replaced);
	} else if (r->n_other) {
		add_ids(out, r->other, r->n_other);
		assay_text_addf(out,
				" came from this file with other options; if those were wrong, '--replace %" PRId64
				"' removes that run\n",
				r->other[r->n_other - 1]);
	}
	if (r->n_aggregates)
		assay_text_addf(out, "%zu aggregate row%s ignored: means and the like follow from the repetitions\n",
				r->n_aggregates, r->n_aggregates == 1 ? "" : "s");
}

static json_t *run_json(const struct assay_import_run *run)
{
	return json_pack("{s:I,s:o,s:o,s:o,s:b,s:I,s:I,s:I,s:I}", "id", (json_int_t)run->id, "suite",
			 assay_json_text(run->suite), "machine", assay_json_text(run->machine), "commit",
			 assay_json_text(run->commit), "dated", run->dated, "cases", (json_int_t)run->n_cases, "ok",
			 (json_int_t)run->n_ok, "failed", (json_int_t)run->n_failed, "samples",
			 (json_int_t)run->n_samples);
}

static void import_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_import_report *r = report->import;
	json_t *runs = json_array();

	(void)style;
	for (size_t i = 0; i < r->n_runs; i++)
		json_array_append_new(runs, run_json(&r->runs[i]));
	assay_json_print(json_pack("{s:i,s:s,s:o,s:b,s:I,s:o,s:o,s:o,s:o}", "schema", 1, "format", r->format, "digest",
				   assay_json_text(r->digest), "already", !r->n_runs, "aggregates",
				   (json_int_t)r->n_aggregates, "runs", runs, "same", ids_json(r->same, r->n_same),
				   "other", ids_json(r->other, r->n_other), "replaced",
				   r->replaced ? json_integer(r->replaced) : json_null()),
			 out);
}

ASSAY_EMITTER(import_text, ASSAY_REPORT_IMPORT, "text", import_text);
ASSAY_EMITTER(import_json, ASSAY_REPORT_IMPORT, "json", import_json);

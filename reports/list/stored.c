/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the store: lists of runs, comparisons and baselines, and what was done to one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

/* ---- runs ---- */

static void runs_text(const struct assay_report *list, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run_info *runs = list->runs.v;
	struct assay_columns t = { .align = "rllrlrll", .width = style->width };
	bool labels = false;

	for (size_t i = 0; i < list->runs.n; i++)
		labels |= runs[i].label[0] != '\0';
	if (!list->runs.n)
		assay_text_add(out, "no runs are stored yet: 'assay run' makes one\n");
	else
		assay_columns_row(&t, (const char *const[]){ "run", "started", "suite", "seed", "commit", "ok",
							     "machine", labels ? "label" : "" });
	for (size_t i = 0; i < list->runs.n; i++) {
		const struct assay_run_info *r = &runs[i];
		char id[24], when[32], seed[24], commit[24], ok[48];

		snprintf(id, sizeof(id), "r%" PRId64, r->id);
		assay_when_text(r->started_ns, when, sizeof(when));
		if (r->started_unknown)
			snprintf(when, sizeof(when), "unknown");
		snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
		if (r->imported[0])
			snprintf(seed, sizeof(seed), "imported");
		snprintf(commit, sizeof(commit), "%.12s%s", r->revision.hash[0] ? r->revision.hash : "-",
			 r->revision.hash[0] && r->revision.dirty ? "+" : "");
		snprintf(ok, sizeof(ok), "%zu/%zu%s", r->n_ok, r->n_cases,
			 r->ended_ns ? "" : " unfinished (or under way)");
		assay_columns_row(
			&t, (const char *const[]){ id, when, r->suite, seed, commit, ok, r->machine_label, r->label });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void runs_json(const struct assay_report *list, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run_info *runs = list->runs.v;
	json_t *a = json_array();

	(void)style;
	for (size_t i = 0; i < list->runs.n; i++) {
		const struct assay_run_info *r = &runs[i];

		json_array_append_new(
			a, json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:I,s:I}", "id", (json_int_t)r->id,
				     "suite", assay_json_text(r->suite), "label", assay_json_text(r->label), "imported",
				     assay_json_text(r->imported), "seed",
				     r->imported[0] ? json_null() : assay_json_u64(r->seed), "started",
				     r->started_unknown ? json_null() : assay_json_time(r->started_ns), "ended",
				     r->imported[0] ? json_null() : assay_json_time(r->ended_ns), "commit",
				     assay_json_text(r->revision.hash), "dirty", r->revision.dirty, "machine_id",
				     assay_json_text(r->machine_id), "machine", assay_json_text(r->machine_label),
				     "cases", (json_int_t)r->n_cases, "ok", (json_int_t)r->n_ok));
	}
	assay_json_print(json_pack("{s:i,s:o}", "schema", 1, "runs", a), out);
}

ASSAY_EMITTER(runs_text, ASSAY_REPORT_RUNS, "text", runs_text);
ASSAY_EMITTER(runs_json, ASSAY_REPORT_RUNS, "json", runs_json);

/* ---- comparisons ---- */

/* The room that the numbers of a list leave to the names of the sides. */
#define SIDES_ROOM(width) ((width) > 80 ? (width)-80 : 0)

static json_t *info_json(const struct assay_comparison_info *c)
{
	return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I}", "id", (json_int_t)c->id,
			 "base", assay_json_text(c->base), "head", assay_json_text(c->head), "suite",
			 assay_json_text(c->suite), "seed", assay_json_u64(c->seed), "started",
			 assay_json_time(c->started_ns), "ended", assay_json_time(c->ended_ns), "machine_id",
			 assay_json_text(c->machine_id), "machine", assay_json_text(c->machine_label), "verdict",
			 assay_json_text(c->verdict), "exit",
			 c->exit_code < 0 ? json_null() : json_integer(c->exit_code), "cases", (json_int_t)c->n_cases,
			 "controls", (json_int_t)c->n_controls, "pairs", (json_int_t)c->n_pairs, "counted",
			 (json_int_t)c->n_counted);
}

static void comparisons_text(const struct assay_report *list, const struct assay_emit_style *style,
			     struct assay_text *out)
{
	struct assay_columns t = { .align = "rlllrrrl", .width = style->width };

	if (!list->comparisons.n)
		assay_text_add(out, "no comparisons are stored yet: 'assay compare' makes one\n");
	else
		assay_columns_row(&t, (const char *const[]){ "comparison", "started", "suite", "verdict", "cases",
							     "pairs", "counted", "sides" });
	for (size_t i = 0; i < list->comparisons.n; i++) {
		const struct assay_comparison_info *c = &list->comparisons.v[i];
		const char *verdict = c->verdict[0] ? c->verdict : "unfinished";
		char id[24], when[32], cases[24], pairs[24], counted[24], sides[640];

		snprintf(id, sizeof(id), "c%" PRId64, c->id);
		assay_when_text(c->started_ns, when, sizeof(when));
		snprintf(cases, sizeof(cases), "%zu", c->n_cases);
		snprintf(pairs, sizeof(pairs), "%zu", c->n_pairs);
		snprintf(counted, sizeof(counted), "%zu", c->n_counted);
		snprintf(sides, sizeof(sides), "%s against %s", c->head, c->base);
		if (t.width && strlen(sides) > SIDES_ROOM(t.width)) {
			assay_columns_row(
				&t, (const char *const[]){ id, when, c->suite, verdict, cases, pairs, counted, NULL });
			assay_columns_line(&t, 12, sides);
		} else {
			assay_columns_row(
				&t, (const char *const[]){ id, when, c->suite, verdict, cases, pairs, counted, sides });
		}
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void comparisons_json(const struct assay_report *list, const struct assay_emit_style *style,
			     struct assay_text *out)
{
	json_t *a = json_array();

	(void)style;
	for (size_t i = 0; i < list->comparisons.n; i++)
		json_array_append_new(a, info_json(&list->comparisons.v[i]));
	assay_json_print(json_pack("{s:i,s:o}", "schema", 1, "comparisons", a), out);
}

ASSAY_EMITTER(comparisons_text, ASSAY_REPORT_COMPARISONS, "text", comparisons_text);
ASSAY_EMITTER(comparisons_json, ASSAY_REPORT_COMPARISONS, "json", comparisons_json);

/* ---- baselines ---- */

static json_t *baseline_object(const struct assay_baseline_info *b)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < b->n_runs; i++)
		json_array_append_new(runs, json_integer(b->runs[i]));
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o}", "name", b->name, "suite", b->suite, "machine_id",
			 assay_json_text(b->machine_id), "machine", assay_json_text(b->machine_label), "saved",
			 assay_json_time(b->saved_ns), "runs", runs);
}

static void baseline_row(struct assay_columns *t, const struct assay_baseline_info *b)
{
	struct assay_text runs = { 0 };
	char when[32];

	assay_when_text(b->saved_ns, when, sizeof(when));
	for (size_t i = 0; i < b->n_runs; i++)
		assay_text_addf(&runs, "%s%" PRId64, i ? "," : "", b->runs[i]);
	assay_columns_row(t, (const char *const[]){ b->name, b->suite, when, runs.s ? runs.s : "", b->machine_label });
	assay_text_release(&runs);
}

static void baselines_text(const struct assay_report *list, const struct assay_emit_style *style,
			   struct assay_text *out)
{
	struct assay_columns t = { .align = "lllll", .width = style->width };

	if (!list->baselines.n)
		assay_text_add(out, "no baselines yet: 'assay baseline save NAME' makes one\n");
	else
		assay_columns_row(&t, (const char *const[]){ "name", "suite", "saved", "runs", "machine" });
	for (size_t i = 0; i < list->baselines.n; i++)
		baseline_row(&t, &list->baselines.v[i]);
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void baselines_json(const struct assay_report *list, const struct assay_emit_style *style,
			   struct assay_text *out)
{
	json_t *a = json_array();

	(void)style;
	for (size_t i = 0; i < list->baselines.n; i++)
		json_array_append_new(a, baseline_object(&list->baselines.v[i]));
	assay_json_print(json_pack("{s:i,s:o}", "schema", 1, "baselines", a), out);
}

ASSAY_EMITTER(baselines_text, ASSAY_REPORT_BASELINES, "text", baselines_text);
ASSAY_EMITTER(baselines_json, ASSAY_REPORT_BASELINES, "json", baselines_json);

static void baseline_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_baseline *b = &r->baseline;

	(void)style;
	if (b->saved)
		assay_text_addf(out, "run %" PRId64 " saved in baseline '%s'\n", b->run, b->saved);
	if (b->dropped)
		assay_text_addf(out, "baseline '%s' dropped; its runs are kept\n", b->dropped);
	if (b->updated)
		assay_text_addf(out, "exact counts of %zu case%s recorded in %s: see what changed, and commit it\n",
				b->n_cases, b->n_cases == 1 ? "" : "s", b->updated);
	if (b->n_kept)
		assay_text_addf(out, "%zu recorded case%s not counted this time, and kept; --prune removes them\n",
				b->n_kept, b->n_kept == 1 ? " was" : "s were");
}

static void baseline_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_baseline *b = &r->baseline;
	json_t *root = json_pack("{s:i}", "schema", 1);

	(void)style;
	if (b->saved) {
		json_object_set_new(root, "saved", assay_json_text(b->saved));
		json_object_set_new(root, "run", json_integer(b->run));
	}
	if (b->dropped)
		json_object_set_new(root, "dropped", assay_json_text(b->dropped));
	if (b->updated) {
		json_object_set_new(root, "updated", assay_json_text(b->updated));
		json_object_set_new(root, "cases", json_integer((json_int_t)b->n_cases));
		json_object_set_new(root, "kept", json_integer((json_int_t)b->n_kept));
	}
	assay_json_print(root, out);
}

ASSAY_EMITTER(baseline_text, ASSAY_REPORT_BASELINE, "text", baseline_text);
ASSAY_EMITTER(baseline_json, ASSAY_REPORT_BASELINE, "json", baseline_json);

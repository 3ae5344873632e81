/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts for people: a line a case, and where asked for a line a function. */
#include "reports/run/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/exact.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/text_parts.h"

enum { COL_CASE, COL_INSTRUCTIONS, COL_READS, COL_WRITES, COL_D1, COL_LL, COL_BRANCHES, COL_MISSED, N_COLS };

static const enum assay_exact_event column_events[N_COLS] = {
	[COL_INSTRUCTIONS] = ASSAY_EXACT_INSTRUCTIONS,
	[COL_READS] = ASSAY_EXACT_DATA_READS,
	[COL_WRITES] = ASSAY_EXACT_DATA_WRITES,
	[COL_D1] = ASSAY_EXACT_D1_MISSES,
	[COL_LL] = ASSAY_EXACT_LL_MISSES,
	[COL_BRANCHES] = ASSAY_EXACT_BRANCHES,
	[COL_MISSED] = ASSAY_EXACT_MISPREDICTIONS,
};

static void add_counts(struct assay_columns *t, const char *name, const struct assay_exact_counts *c)
{
	char text[N_COLS][32];
	const char *cells[N_COLS] = { [COL_CASE] = name };

	for (unsigned i = COL_CASE + 1; i < N_COLS; i++) {
		assay_exact_count_text(c->v[column_events[i]], text[i], sizeof(text[i]));
		cells[i] = text[i];
	}
	assay_columns_row(t, cells);
}

/* "exact_d1_hit_rate 97.6 %, …": as a policy names them. */
static void add_rates(struct assay_columns *t, const struct assay_exact_case *c, const struct assay_emit_style *style)
{
	char text[256] = "", value[32];
	size_t at = 0;

	for (size_t i = 0; i < assay_n_metrics && at < sizeof(text); i++) {
		const struct assay_metric_info *m = &assay_metrics[i];
		double v = assay_exact_case_metric(c, m->tag);

		/* the counts are columns */
		if (!isfinite(v) || (m->better < 0 && strcmp(m->tag, ASSAY_EXACT_IMBALANCE)))
			continue;
		assay_metric_text(m->tag, v, m->unit, style->utf8, value, sizeof(value));
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s", at ? ", " : "", m->tag, value);
	}
	if (at)
		assay_columns_line(t, 4, text);
}

static void add_case(struct assay_columns *t, const struct assay_exact_case *c, const struct assay_emit_style *style)
{
	char text[600];

	if (c->status != ASSAY_STATUS_OK) {
		const char *cells[1] = { c->key };

		snprintf(text, sizeof(text), "%s: %s", assay_status_name(c->status), c->reason);
		assay_columns_tail(t, cells, 1, text);
		return;
	}
	add_counts(t, c->key, &c->total);
	add_rates(t, c, style);
	for (size_t i = 0; i < c->n_functions && style->verbose; i++) {
		const struct assay_exact_function *f = &c->functions[i];
		char name[ASSAY_EXACT_FUNCTION_MAX + ASSAY_NAME_MAX + 8];

		snprintf(name, sizeof(name), f->object[0] ? "  %s (%s)" : "  %s", f->name, f->object);
		add_counts(t, name, &f->counts);
	}
}

static void begin(struct assay_columns *t)
{
	static const char *const head[N_COLS] = { "exact counts of one run",
						  "instructions",
						  "reads",
						  "writes",
						  "D1 misses",
						  "LL misses",
						  "branches",
						  "mispredicted" };

	assay_columns_row(t, head);
}

/* The output of workers while they counted. @side: of the name; may be "". */
static void add_logs(const struct assay_exact_run *run, const char *side, struct assay_text *out)
{
	for (size_t i = 0; i < run->n_cases; i++) {
		char of[ASSAY_KEY_MAX + 48];

		snprintf(of, sizeof(of), "%s%s, counted,", run->cases[i].key, side);
		assay_log_text(out, of, run->cases[i].log);
	}
}

/* Where the counts come from, and of how many cases there are any. */
static void add_setting(const struct assay_exact_run *run, struct assay_text *out)
{
	const struct assay_exact_sums sums = assay_exact_run_sums(run);

	if (sums.ok > sums.stepped || !sums.stepped)
		assay_text_addf(out, "  one thread of %s, seed %llu\n",
				run->setting.tool[0] ? run->setting.tool : "valgrind", (unsigned long long)run->seed);
	if (sums.stepped)
		assay_text_addf(out, "  %zu of %zu stepped on this processor, seed %llu\n", sums.stepped, sums.ok,
				(unsigned long long)run->seed);
	assay_text_addf(out, "  %s, %s\n", run->setting.cache, run->setting.libc);
	assay_text_addf(out, "%zu of %zu counted", sums.ok, sums.owed);
	if (sums.smaller)
		assay_text_addf(out, ", smaller shapes for %zu", sums.smaller);
	if (sums.device)
		assay_text_addf(out, "; %zu more on devices, where nothing is counted exactly", sums.device);
	if (sums.unable)
		assay_text_addf(out, "; %zu more that do not run here", sums.unable);
	if (sums.unnamed)
		assay_text_addf(out, "; %zu more that the suite does not name for counts", sums.unnamed);
	assay_text_add(out, "\n");
}

void assay_counts_text(const struct assay_exact_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lrrrrrrr", .indent = "  ", .width = style->width };

	begin(&t);
	for (size_t i = 0; i < run->n_cases; i++)
		if (style->verbose || !assay_exact_is_unnamed(&run->cases[i]))
			add_case(&t, &run->cases[i], style);
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	add_setting(run, out);
	if (style->verbose)
		add_logs(run, "", out);
}

/* ---- two builds ---- */

/* "+3.0 %", "new" where the base has none, "=". */
static void add_changes(struct assay_columns *t, const char *name, const struct assay_exact_counts *base,
			const struct assay_exact_counts *head)
{
	char text[N_COLS][32];
	const char *cells[N_COLS] = { [COL_CASE] = name };

	for (unsigned i = COL_CASE + 1; i < N_COLS; i++) {
		assay_exact_change_text(base->v[column_events[i]], head->v[column_events[i]], text[i], sizeof(text[i]));
		cells[i] = text[i];
	}
	assay_columns_row(t, cells);
}

/* A function that one side lacks counts nothing there. */
static void add_function_changes(struct assay_columns *t, const struct assay_exact_case *base,
				 const struct assay_exact_case *head)
{
	static const struct assay_exact_counts none;
	char name[ASSAY_EXACT_FUNCTION_MAX + 8];

	for (size_t i = 0; i < head->n_functions; i++) {
		const struct assay_exact_function *f = &head->functions[i];
		const struct assay_exact_function *g = assay_exact_function_find(base, f->name, f->object);

		snprintf(name, sizeof(name), "    %s", f->name);
		add_changes(t, name, g ? &g->counts : &none, &f->counts);
	}
	for (size_t i = 0; i < base->n_functions; i++) {
		const struct assay_exact_function *g = &base->functions[i];

		snprintf(name, sizeof(name), "    %s", g->name);
		if (!assay_exact_function_find(head, g->name, g->object))
			add_changes(t, name, &g->counts, &none);
	}
}

void assay_counts_sides_text(const struct assay_exact_run *base, const struct assay_exact_run *head,
			     const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lrrrrrrr", .indent = "  ", .width = style->width };

	begin(&t);
	for (size_t i = 0; i < head->n_cases; i++) {
		const struct assay_exact_case *h = &head->cases[i], *b = assay_exact_case_find(base, h->key);

		add_case(&t, h, style);
		if (h->status != ASSAY_STATUS_OK)
			continue;
		if (!b || b->status != ASSAY_STATUS_OK) {
			assay_columns_line(&t, 4, b ? b->reason : "not in the base");
			continue;
		}
		add_changes(&t, "  against the base", &b->total, &h->total);
		if (style->verbose)
			add_function_changes(&t, b, h);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	add_setting(head, out);
	if (!style->verbose)
		return;
	add_logs(head, " of the head", out);
	add_logs(base, " of the base", out);
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	assay_counts_text(r->counts, style, out);
}

ASSAY_EMITTER(counts_text, ASSAY_REPORT_COUNTS, "text", write_text);

/* SPDX-License-Identifier: Apache-2.0 */
/* The differences of two profiles, function by function, as a table and for scripts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/profile/parts.h"

#define FEW 15 /* rows without --verbose */

/* Does the interval leave out that nothing changed? */
static bool is_sure(const struct assay_profile_change *c)
{
	return c->ci.lo > 0 || c->ci.hi < 0;
}

static void name_of(const struct assay_profile_change *c, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)c->length, c->name);
}

/* "per call: 2.1 µs, base 2.0 µs: +100 ns" */
static void add_whole(const struct assay_profile_diff *d, const char *what, double was, double is,
		      const struct assay_emit_style *style, struct assay_text *out)
{
	char text[3][48];

	assay_profile_change_text(d, was, style->utf8, text[0], sizeof(text[0]));
	assay_profile_change_text(d, is, style->utf8, text[1], sizeof(text[1]));
	assay_profile_change_text(d, is - was, style->utf8, text[2], sizeof(text[2]));
	assay_profile_put_line(style, out, "%s: %s, base %s: %s", what, text[1] + 1, text[0] + 1, text[2]);
}

static void add_head(const struct assay_profile_diff *d, const struct assay_emit_style *style, struct assay_text *out)
{
	static const char *const sides[] = { "base", "head" };
	const struct assay_profile_site *all[2] = { &d->side[0]->heap.all, &d->side[1]->heap.all };
	const bool heap = d->side[1]->heap.processes;

	for (unsigned i = 0; i < 2; i++) {
		struct assay_text label = { 0 };

		assay_profile_label(d->side[i], &label);
		assay_profile_put_line(style, out, "%s  %s  %" PRIu64 " %s", sides[i], label.s ? label.s : "",
				       d->weight[i], d->side[i]->unit);
		out->failed |= label.failed;
		assay_text_release(&label);
	}
	add_whole(d,
		  d->spans           ? (d->per_iteration ? "all threads, per call" : "all threads")
		  : d->per_iteration ? "per call"
		  : d->sampled       ? "processor time"
		  : heap             ? "allocated"
				     : "all",
		  d->whole[0], d->whole[1], style, out);
	if (heap) {
		add_whole(d, "at the peak", all[0]->most_bytes, all[1]->most_bytes, style, out);
		add_whole(d, "never given back", all[0]->live_bytes, all[1]->live_bytes, style, out);
	}
	if (d->two_machines)
		assay_profile_put_line(style, out, "taken on two machines: what changed may be the machine");
}

static void times_text(double times, char *buf, size_t size)
{
	snprintf(buf, size, isfinite(times) ? "%.6g" : "-", times);
}

/* Own time and change, then time with all within it and head over base, then how many there were. */
static void add_span_rows(const struct assay_profile_diff *d, size_t shown, const struct assay_emit_style *style,
			  struct assay_columns *t)
{
	assay_columns_row(t, (const char *const[]){ "change", "self base", "self head", "total base", "total head",
						    "head/base", "count base", "count head", "span" });
	for (size_t i = 0; i < shown; i++) {
		const struct assay_profile_change *c = &d->v[i];
		char change[48], own[2][48], total[2][48], ratio[32] = "-", times[2][32], name[512];

		assay_profile_change_text(d, c->change, style->utf8, change, sizeof(change));
		for (unsigned k = 0; k < 2; k++) {
			assay_profile_change_text(d, c->own[k], style->utf8, own[k], sizeof(own[k]));
			assay_profile_change_text(d, c->total[k], style->utf8, total[k], sizeof(total[k]));
			times_text(c->times[k], times[k], sizeof(times[k]));
		}
		if (c->total[0] > 0 && c->total[1] > 0)
			snprintf(ratio, sizeof(ratio), "%.3f", c->total[1] / c->total[0]);
		name_of(c, name, sizeof(name));
		assay_columns_row(t, (const char *const[]){ change, own[0] + 1, own[1] + 1, total[0] + 1, total[1] + 1,
							    ratio, times[0], times[1],
							    assay_profile_name(name, c->object) });
	}
}

static void add_function_rows(const struct assay_profile_diff *d, size_t shown, const struct assay_emit_style *style,
			      struct assay_columns *t)
{
	assay_columns_row(t, (const char *const[]){ "change", d->sampled ? "95 % interval" : "", "self base",
						    "self head", "function", "source" });
	for (size_t i = 0; i < shown; i++) {
		const struct assay_profile_change *c = &d->v[i];
		char change[48], ci[128] = "", own[2][48], name[512], place[256];

		assay_profile_change_text(d, c->change, style->utf8, change, sizeof(change));
		if (isfinite(c->ci.lo)) {
			char lo[48], hi[48];

			assay_profile_change_text(d, c->ci.lo, style->utf8, lo, sizeof(lo));
			assay_profile_change_text(d, c->ci.hi, style->utf8, hi, sizeof(hi));
			snprintf(ci, sizeof(ci), "%s to %s%s", lo, hi, is_sure(c) ? "" : " (not sure)");
		}
		for (unsigned k = 0; k < 2; k++)
			assay_profile_change_text(d, c->own[k], style->utf8, own[k], sizeof(own[k]));
		name_of(c, name, sizeof(name));
		assay_profile_place(c->file, c->line, c->last_line, place, sizeof(place));
		assay_columns_row(t, (const char *const[]){ change, ci, own[0] + 1, own[1] + 1,
							    assay_profile_name(name, c->object),
							    place[0] ? place : c->object });
	}
}

void assay_profile_diff_tables(const struct assay_profile_diff *d, const struct assay_emit_style *style,
			       struct assay_text *out)
{
	struct assay_columns t = { .align = d->spans ? "rrrrrrrrl" : "rlrrll", .indent = "  " };
	const size_t shown = style->verbose || d->n < FEW ? d->n : FEW;

	add_head(d, style, out);
	(d->spans ? add_span_rows : add_function_rows)(d, shown, style, &t);
	assay_profile_put_table(&t, style, out);
	if (shown < d->n)
		assay_profile_put_line(style, out, "  and %zu more %s: --verbose shows all", d->n - shown,
				       d->spans ? "spans" : "functions");
}

static void profile_diff_text(const struct assay_report *r, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	assay_profile_diff_tables(r->profile_diff, style, out);
}

static json_t *side_json(const struct assay_profile_diff *d, unsigned side)
{
	const struct assay_profile *p = d->side[side];

	json_t *o =
		json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "id", p->id ? json_integer((json_int_t)p->id) : json_null(),
			  "name", assay_json_text(p->name), "case", p->is_case ? assay_json_text(p->what) : json_null(),
			  "command", p->is_case ? json_null() : assay_json_text(p->what), "samples",
			  assay_json_u64(d->weight[side]), "whole", assay_json_number(d->whole[side]));

	if (o && p->heap.processes) {
		json_object_set_new(o, "peak_bytes", json_real(p->heap.all.most_bytes));
		json_object_set_new(o, "live_bytes", json_real(p->heap.all.live_bytes));
	}
	return o;
}

static json_t *change_json(const struct assay_profile_change *c)
{
	char name[512];

	name_of(c, name, sizeof(name));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:[o,o],s:[o,o],s:o,s:o}", "name",
			 assay_json_text(assay_profile_name(name, c->object)), "object", assay_json_text(c->object),
			 "file", assay_json_text(c->file), "line", c->line ? json_integer(c->line) : json_null(),
			 "last_line", c->line ? json_integer(c->last_line) : json_null(), "self",
			 assay_json_u64(c->self[0]), assay_json_u64(c->self[1]), "own", assay_json_number(c->own[0]),
			 assay_json_number(c->own[1]), "change", assay_json_number(c->change), "ci",
			 isfinite(c->ci.lo) ? json_pack("[f,f]", c->ci.lo, c->ci.hi) : json_null());
}

static json_t *two(double base, double head)
{
	return json_pack("[o,o]", assay_json_number(base), assay_json_number(head));
}

static json_t *span_json(const struct assay_profile_change *c)
{
	char name[512];

	name_of(c, name, sizeof(name));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "name", assay_json_text(assay_profile_name(name, c->object)),
			 "own", two(c->own[0], c->own[1]), "change", assay_json_number(c->change), "total",
			 two(c->total[0], c->total[1]), "ratio",
			 c->total[0] > 0 && c->total[1] > 0 ? json_real(c->total[1] / c->total[0]) : json_null(),
			 "times", two(c->times[0], c->times[1]));
}

static void profile_diff_json(const struct assay_report *r, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	const struct assay_profile_diff *d = r->profile_diff;
	json_t *functions = json_array();

	(void)style;
	for (size_t i = 0; i < d->n; i++)
		json_array_append_new(functions, d->spans ? span_json(&d->v[i]) : change_json(&d->v[i]));
	assay_json_print(json_pack("{s:i,s:s,s:s,s:b,s:b,s:o,s:o,s:o}", "schema", 1, "kind", d->side[1]->kind, "unit",
				   d->unit, "per_iteration", d->per_iteration, "two_machines", d->two_machines, "base",
				   side_json(d, 0), "head", side_json(d, 1), d->spans ? "spans" : "functions",
				   functions),
			 out);
}

ASSAY_EMITTER(profile_diff_text, ASSAY_REPORT_PROFILE_DIFF, "text", profile_diff_text);
ASSAY_EMITTER(profile_diff_json, ASSAY_REPORT_PROFILE_DIFF, "json", profile_diff_json);

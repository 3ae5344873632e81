/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two profiles, function by function, as a table and for scripts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/profile_parts.h"

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

static void add_head(const struct assay_profile_diff *d, const struct assay_emit_style *style, struct assay_text *out)
{
	static const char *const sides[] = { "base", "head" };
	char whole[3][48];

	for (unsigned i = 0; i < 2; i++) {
		assay_text_addf(out, "%s  ", sides[i]);
		assay_profile_label(d->side[i], out);
		assay_text_addf(out, "  %" PRIu64 " %s\n", d->weight[i], d->side[i]->unit);
		assay_profile_change_text(d, d->whole[i], style->utf8, whole[i], sizeof(whole[i]));
	}
	assay_profile_change_text(d, d->whole[1] - d->whole[0], style->utf8, whole[2], sizeof(whole[2]));
	assay_text_addf(out, "%s: %s, was %s: %s\n",
			d->per_iteration ? "an iteration"
			: d->sampled     ? "processor time"
					 : "all",
			whole[1] + 1, whole[0] + 1, whole[2]);
	if (d->two_machines)
		assay_text_add(out, "taken on two machines: what changed may be the machine\n");
}

static void profile_diff_text(const struct assay_report *r, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	const struct assay_profile_diff *d = r->profile_diff;
	struct assay_columns t = { .align = "rlrrll", .indent = "  " };
	const size_t shown = style->verbose || d->n < FEW ? d->n : FEW;

	add_head(d, style, out);
	assay_columns_row(&t, (const char *const[]){ "change", d->sampled ? "95 % interval" : "", "was", "is",
						     "function", "source" });
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
		assay_columns_row(&t, (const char *const[]){ change, ci, own[0] + 1, own[1] + 1,
							     assay_profile_name(name), place[0] ? place : c->object });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (shown < d->n)
		assay_text_addf(out, "  and %zu more functions: --verbose shows all\n", d->n - shown);
}

static json_t *side_json(const struct assay_profile_diff *d, unsigned side)
{
	const struct assay_profile *p = d->side[side];

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "id", p->id ? json_integer((json_int_t)p->id) : json_null(),
			 "name", assay_json_text(p->name), "case", p->is_case ? assay_json_text(p->what) : json_null(),
			 "command", p->is_case ? json_null() : assay_json_text(p->what), "samples",
			 assay_json_u64(d->weight[side]), "whole", assay_json_number(d->whole[side]));
}

static json_t *change_json(const struct assay_profile_change *c)
{
	char name[512];

	name_of(c, name, sizeof(name));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:[o,o],s:[o,o],s:o,s:o}", "name",
			 assay_json_text(assay_profile_name(name)), "object", assay_json_text(c->object), "file",
			 assay_json_text(c->file), "line", c->line ? json_integer(c->line) : json_null(), "last_line",
			 c->line ? json_integer(c->last_line) : json_null(), "self", assay_json_u64(c->self[0]),
			 assay_json_u64(c->self[1]), "own", assay_json_number(c->own[0]), assay_json_number(c->own[1]),
			 "change", assay_json_number(c->change), "ci",
			 isfinite(c->ci.lo) ? json_pack("[f,f]", c->ci.lo, c->ci.hi) : json_null());
}

static void profile_diff_json(const struct assay_report *r, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	const struct assay_profile_diff *d = r->profile_diff;
	json_t *functions = json_array();

	(void)style;
	for (size_t i = 0; i < d->n; i++)
		json_array_append_new(functions, change_json(&d->v[i]));
	assay_json_print(json_pack("{s:i,s:s,s:s,s:b,s:b,s:o,s:o,s:o}", "schema", 1, "kind", d->side[1]->kind, "unit",
				   d->unit, "per_iteration", d->per_iteration, "two_machines", d->two_machines, "base",
				   side_json(d, 0), "head", side_json(d, 1), "functions", functions),
			 out);
}

ASSAY_EMITTER(profile_diff_text, ASSAY_REPORT_PROFILE_DIFF, "text", profile_diff_text);
ASSAY_EMITTER(profile_diff_json, ASSAY_REPORT_PROFILE_DIFF, "json", profile_diff_json);

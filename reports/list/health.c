/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `assay doctor`, for people and for scripts. */
#include <stdio.h>

#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

static const char *const words[] = {
	[ASSAY_HEALTH_GOOD] = "ok",
	[ASSAY_HEALTH_WARN] = "warn",
	[ASSAY_HEALTH_MISSING] = "none",
};
static const char *const colours[] = {
	[ASSAY_HEALTH_GOOD] = ASSAY_GREEN,
	[ASSAY_HEALTH_WARN] = ASSAY_YELLOW,
	[ASSAY_HEALTH_MISSING] = ASSAY_RED,
};

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lll", .width = style->width };
	size_t count[3] = { 0 };
	char word[32];

	for (size_t i = 0; i < sizeof(r->health->abilities) / sizeof(r->health->abilities[0]); i++)
		if (r->health->abilities[i][0])
			assay_text_addf(out, "%s\n", r->health->abilities[i]);
	assay_text_addf(out, "%s%s\n\n", out->len ? "\n" : "", r->health->topology);
	for (size_t i = 0; i < r->health->findings.n; i++) {
		const struct assay_finding *f = &r->health->findings.v[i];

		count[f->health]++;
		snprintf(word, sizeof(word), "%s%s%s", assay_paint(style, colours[f->health]), words[f->health],
			 assay_paint(style, ASSAY_RESET));
		assay_columns_tail(&t, (const char *const[]){ word, f->name }, 2, f->value);
		if (f->advice[0])
			assay_columns_tail(&t, (const char *const[]){ "", "" }, 2, f->advice);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	assay_text_addf(out, "\n%zu ok, %zu warn, %zu none\n", count[ASSAY_HEALTH_GOOD], count[ASSAY_HEALTH_WARN],
			count[ASSAY_HEALTH_MISSING]);
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_health_check *h = r->health;
	json_t *a = json_array(), *abilities = json_array();

	(void)style;
	for (size_t i = 0; i < h->findings.n; i++) {
		const struct assay_finding *f = &h->findings.v[i];

		json_array_append_new(a, json_pack("{s:s,s:s,s:o,s:o}", "name", f->name, "health", words[f->health],
						   "value", assay_json_text(f->value), "advice",
						   assay_json_text(f->advice)));
	}
	for (size_t i = 0; i < sizeof(h->abilities) / sizeof(h->abilities[0]); i++)
		if (h->abilities[i][0])
			json_array_append_new(abilities, assay_json_text(h->abilities[i]));
	assay_json_print(json_pack("{s:i,s:o,s:o,s:{s:s,s:f,s:f,s:f,s:o},s:o}", "schema", 1, "abilities", abilities,
				   "topology", assay_json_text(h->topology), "clock", "source", h->clock,
				   "resolution_ns", h->clock_resolution_ns, "overhead_ns", h->clock_overhead_ns,
				   "sample_overhead_ns", h->sample_overhead_ns, "why", assay_json_text(h->clock_why),
				   "findings", a),
			 out);
}

ASSAY_EMITTER(health_text, ASSAY_REPORT_HEALTH, "text", write_text);
ASSAY_EMITTER(health_json, ASSAY_REPORT_HEALTH, "json", write_json);

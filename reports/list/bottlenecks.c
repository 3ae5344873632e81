/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bottleneck of each case of a run, with advice: {"schema":1,"run","cases":[{"key","bound",
 * "roof_frac","exceeded","roof","evidence","missing","advice":[{"rule","priority","evidence","text","gain","gain_most",
 * "steps":{}}]}]}.
 */
#include <math.h>
#include <stdio.h>

#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

/* "12x", "234x" */
static int add_factor(char *buf, size_t size, const char *before, double v)
{
	return v >= 99.5 ? snprintf(buf, size, "%s %.0fx", before, v) : snprintf(buf, size, "%s %.2gx", before, v);
}

void assay_advice_gain_text(const struct assay_advice *a, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	if (isfinite(a->gain))
		n = (size_t)add_factor(buf, size, "; expect", a->gain);
	if (isfinite(a->most) && n < size && !(a->most < 1.05 * a->gain)) {
		n += (size_t)add_factor(buf + n, size - n, n ? "," : ";", a->most);
		if (n < size)
			snprintf(buf + n, size - n, " at most");
	}
}

static void add_advice(const struct assay_advice *a, size_t place, const struct assay_emit_style *style,
		       struct assay_columns *t)
{
	char line[1024], gain[96];

	assay_advice_gain_text(a, gain, sizeof(gain));
	snprintf(line, sizeof(line), "%zu. %s%s%s: %s (%s%s)", place, assay_paint(style, ASSAY_BOLD), a->rule,
		 assay_paint(style, ASSAY_RESET), a->text, a->evidence, gain);
	assay_columns_line(t, 6, line);
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lrll", .indent = "  ", .width = style->width };
	size_t advised = 0;

	assay_columns_row(&t, (const char *const[]){ "bound by", "% of limit", "case", "" });
	for (size_t i = 0; i < r->bottlenecks.n; i++) {
		const struct assay_bottleneck *b = &r->bottlenecks.v[i];
		char share[32] = "-", line[512];

		if (isfinite(b->roof_frac))
			snprintf(share, sizeof(share), "%.*f %%%s", b->roof_frac < 0.0995 ? 1 : 0, 100 * b->roof_frac,
				 assay_limit_mark(b->roof_frac));
		assay_columns_row(&t, (const char *const[]){ assay_bound_by_name(b->bound), share, b->key, NULL });
		assay_columns_line(&t, 6, b->evidence);
		for (size_t k = 0; k < b->n_advice; k++)
			add_advice(&b->advice[k], k + 1, style, &t);
		advised += b->n_advice > 0;
		snprintf(line, sizeof(line), "not measured: %s", b->missing);
		if (b->missing[0] && style->verbose)
			assay_columns_line(&t, 6, line);
	}
	if (r->bottlenecks.n)
		assay_columns_print(&t, out);
	assay_columns_release(&t);
	assay_text_addf(out, "%s%zu of %zu case%s with advice; reports/ADVICE.md names the rules%s\n",
			r->bottlenecks.n ? "\n" : "", advised, r->bottlenecks.n, r->bottlenecks.n == 1 ? "" : "s",
			style->verbose ? "" : "; -v tells what was not measured");
}

static json_t *advice_json(const struct assay_advice *a)
{
	json_t *steps = json_object();

	for (size_t i = 0; i < a->n_steps; i++)
		json_object_set_new(steps, a->steps[i].variant, assay_json_number(a->steps[i].gain));
	return json_pack("{s:s,s:i,s:o,s:s,s:o,s:o,s:o}", "rule", a->rule, "priority", (int)a->priority, "evidence",
			 assay_json_text(a->evidence), "text", a->text, "gain", assay_json_number(a->gain), "gain_most",
			 assay_json_number(a->most), "steps", steps);
}

json_t *assay_json_bottleneck(const struct assay_bottleneck *b)
{
	json_t *advice = json_array();

	for (size_t i = 0; i < b->n_advice; i++)
		json_array_append_new(advice, advice_json(&b->advice[i]));
	return json_pack("{s:o,s:s,s:o,s:b,s:o,s:o,s:o,s:o}", "key", assay_json_text(b->key), "bound",
			 assay_bound_by_name(b->bound), "roof_frac", assay_json_number(b->roof_frac), "exceeded",
			 assay_limit_exceeded(b->roof_frac), "roof", assay_json_text(b->roof), "evidence",
			 assay_json_text(b->evidence), "missing", assay_json_text(b->missing), "advice", advice);
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	json_t *cases = json_array();

	(void)style;
	for (size_t i = 0; i < r->bottlenecks.n; i++)
		json_array_append_new(cases, assay_json_bottleneck(&r->bottlenecks.v[i]));
	assay_json_print(json_pack("{s:i,s:I,s:o}", "schema", 1, "run", (json_int_t)r->bottlenecks.run, "cases", cases),
			 out);
}

ASSAY_EMITTER(bottlenecks_text, ASSAY_REPORT_BOTTLENECKS, "text", write_text);
ASSAY_EMITTER(bottlenecks_json, ASSAY_REPORT_BOTTLENECKS, "json", write_json);

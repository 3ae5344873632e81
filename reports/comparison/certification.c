/* SPDX-License-Identifier: Apache-2.0 */
/* The results of `assay certify`, for people and for scripts. */
#include <math.h>
#include <stdio.h>

#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"

static void add_rate(struct assay_text *out, const char *what, const struct assay_rate *r)
{
	if (r->of)
		assay_text_addf(out, "  %-28s %4u of %-4u %6.2f %%  (95 %%: %.2f to %.2f %%)\n", what, r->k, r->of,
				100.0 * r->k / r->of, 100 * r->lo, 100 * r->hi);
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_certify_report *c = r->certification;
	char text[160];

	assay_text_addf(out, "machine  %s\n", c->machine.label);
	for (size_t i = 0; i < c->keys.n; i++)
		assay_text_addf(out, "case     %s\n", c->keys.v[i]);
	snprintf(text, sizeof(text),
		 "at most %.3g %% of gates of unchanged code fail; margin %.3g %%, budget %.3g s a case",
		 100 * c->alpha, 100 * c->margin_frac, (double)c->budget_ns * 1e-9);
	assay_text_add(out, "promise  ");
	assay_columns_wrap(out, text, 9, 9, style->width);
	assay_text_add(out, "\n");
	assay_text_add(out, "\n");
	add_rate(out, "unchanged code: false alarms", &c->false_alarms);
	add_rate(out, "unchanged code: passed", &c->passed);
	for (size_t i = 0; i < c->n_slowdowns; i++) {
		snprintf(text, sizeof(text), "+%.1f %%: found", 100 * c->power[i].slowdown_frac);
		add_rate(out, text, &c->power[i].detected);
		snprintf(text, sizeof(text), "+%.1f %%: passed", 100 * c->power[i].slowdown_frac);
		if (c->power[i].passed.k)
			add_rate(out, text, &c->power[i].passed);
	}
	if (isfinite(c->sd))
		assay_text_addf(out,
				"\n  minimum detectable slowdown (95 %% power)  %.2f %% within %.3g s a case\n"
				"  between process pairs                     %.3f %% standard deviation\n",
				100 * c->smallest_detectable_frac, (double)c->budget_ns * 1e-9, 100 * c->sd);
	else
		assay_text_add(out,
			       "\n  minimum detectable slowdown (95 % power)  unknown: this takes two process pairs of "
			       "one case; raise --budget\n");
	assay_text_addf(out, "  a case took                               %.2f s, %.1f pairs\n", c->seconds_per_case,
			c->pairs_per_case);
}

static json_t *power_json(const struct assay_certify_report *c)
{
	json_t *power = json_array();

	for (unsigned k = 0; k < c->n_slowdowns; k++) {
		const struct assay_rate *detected = &c->power[k].detected;

		json_array_append_new(power,
				      json_pack("{s:f,s:i,s:i,s:i,s:[f,f]}", "slowdown", c->power[k].slowdown_frac,
						"detected", (int)detected->k, "of", (int)detected->of, "passed",
						(int)c->power[k].passed.k, "ci", detected->lo, detected->hi));
	}
	return power;
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_certify_report *c = r->certification;
	json_t *keys = json_array();

	(void)style;
	for (size_t i = 0; i < c->keys.n; i++)
		json_array_append_new(keys, json_string(c->keys.v[i]));
	assay_json_print(json_pack("{s:i,s:i,s:i,s:[f,f],s:i,s:i,s:o,s:o,s:f,s:f,s:o,s:f,s:f,s:f,s:f,s:f,s:o,s:I}",
				   "schema", 1, "gates", (int)c->gates, "false_alarms", (int)c->false_alarms.k,
				   "false_alarm_ci", c->false_alarms.lo, c->false_alarms.hi, "passed", (int)c->passed.k,
				   "inconclusive", (int)c->inconclusive, "power", power_json(c), "smallest_detectable",
				   assay_json_number(c->smallest_detectable_frac), "alpha", c->alpha, "margin",
				   c->margin_frac, "pair_sd", assay_json_number(c->sd), "pair_df", c->df, "judged",
				   c->n_judged, "pairs_per_case", c->pairs_per_case, "seconds_per_case",
				   c->seconds_per_case, "seconds", c->seconds, "cases", keys, "seed",
				   (json_int_t)(c->seed & INT64_MAX)),
			 out);
}

ASSAY_EMITTER(certification_text, ASSAY_REPORT_CERTIFICATION, "text", write_text);
ASSAY_EMITTER(certification_json, ASSAY_REPORT_CERTIFICATION, "json", write_json);

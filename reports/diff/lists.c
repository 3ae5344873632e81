/* SPDX-License-Identifier: Apache-2.0 */
/* A diff as Markdown, for pull requests and notes, and as CSV, for spreadsheets: a row a case. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/diff/words.h"
#include "reports/emitter.h"
#include "reports/text_parts.h"

static void markdown_case(const struct assay_report_diff *r, const struct assay_diff_case *c, struct assay_text *out)
{
	struct assay_diff_words w;

	assay_diff_words_of(r, c, true, &w);
	assay_text_addf(out, "| %s | %s | %s | %s | %s | %s | ", w.result, w.speedup, w.interval, w.value[0],
			w.value[1], w.roof);
	if (w.base_variant[0])
		assay_markdown_name(out, w.base_variant);
	assay_text_add(out, " | ");
	assay_markdown_name(out, c->c.key);
	assay_text_add(out, " | ");
	assay_markdown_prose(out, c->reason[0] ? c->reason : c->because.name[0] ? c->because.text : "");
	assay_text_add(out, " |\n");
}

static void write_markdown(const struct assay_report *report, const struct assay_emit_style *style,
			   struct assay_text *out)
{
	const struct assay_report_diff *r = &report->diff;
	const struct assay_diff *d = r->diff;
	char side[320], controls[320];
	struct assay_text machine = { 0 };

	(void)style;
	assay_text_add(out, "## assay diff\n");
	for (int s = 0; s < 2; s++) {
		assay_diff_words_side(&d->side[s], side, sizeof(side));
		assay_text_addf(out, "\n- %s: ", s ? "head" : "base");
		assay_markdown_prose(out, side);
	}
	assay_diff_words_machine(d, &machine);
	assay_text_add(out, "\n- machine: ");
	assay_markdown_prose(out, machine.s ? machine.s : "");
	out->failed |= machine.failed;
	assay_text_release(&machine);
	assay_text_add(out, "\n\n");
	assay_diff_words_counts(d, out);
	assay_text_add(out, ".\n\n| result | ");
	if (r->metric)
		assay_markdown_name(out, r->metric);
	assay_text_addf(out,
			"%s | interval | base | head | %% of limit | against | case | because |\n"
			"| --- | ---: | --- | ---: | ---: | --- | --- | --- | --- |\n",
			r->metric ? "" : "speed-up");
	for (size_t i = 0; i < d->n_cases; i++)
		markdown_case(r, &d->cases[i], out);
	assay_diff_words_controls(d, controls, sizeof(controls));
	if (controls[0])
		assay_text_addf(out, "\n> **Control:** %s.\n", controls);
	assay_text_addf(out, "\nNot covered: %s.\n", d->uncovered);
	if (d->measure) {
		assay_text_add(out, "\nMeasure both in turn: ");
		assay_markdown_name(out, d->measure);
		assay_text_add(out, "\n");
	}
}

static void csv_number(struct assay_text *out, double v)
{
	if (isfinite(v))
		assay_text_addf(out, ",%.9g", v);
	else
		assay_text_add(out, ",");
}

static void write_csv(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_diff *r = &report->diff;
	const char *metric = r->metric ? r->metric : "roof_frac";

	(void)style;
	assay_text_add(out, "case,base_variant,result,reason,base_ns,head_ns,ratio,ratio_lo,ratio_hi,same_code,because,"
			    "metric,base_value,head_value,limit_exceeded\n");
	for (size_t i = 0; i < r->diff->n_cases; i++) {
		const struct assay_diff_case *c = &r->diff->cases[i];
		const struct assay_diff_number *m = assay_diff_number(c, metric);
		const double numbers[] = { c->ns[0], c->ns[1], c->ratio, c->lo, c->hi };
		const bool exceeded = m && (assay_limit_exceeded(m->value[0]) || assay_limit_exceeded(m->value[1]));

		assay_csv_add(out, c->c.key);
		assay_text_add(out, ",");
		assay_csv_add(out, c->base_variant);
		assay_text_addf(out, ",%s,", assay_diff_result_name(c->result));
		assay_csv_add(out, c->reason);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			csv_number(out, numbers[k]);
		assay_text_addf(out, ",%s,", !assay_diff_compared(c) ? "" : c->same_code ? "1" : "0");
		assay_csv_add(out, c->because.name[0] ? c->because.text : "");
		assay_text_add(out, ",");
		assay_csv_add(out, metric);
		csv_number(out, m ? m->value[0] : NAN);
		csv_number(out, m ? m->value[1] : NAN);
		assay_text_addf(out, ",%s\n", !m || strcmp(metric, "roof_frac") ? "" : exceeded ? "1" : "0");
	}
}

ASSAY_EMITTER(diff_markdown, ASSAY_REPORT_DIFF, "markdown", write_markdown);
ASSAY_EMITTER(diff_csv, ASSAY_REPORT_DIFF, "csv", write_csv);

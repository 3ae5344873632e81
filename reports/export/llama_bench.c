/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of a run that are llama-bench's tests, as the table in Markdown that llama-bench prints, so that its rows
 * can be put below: model, size, backend, threads, test, and tokens per second ± half of their interval, where
 * llama-bench has the standard deviation. The backend names the variant.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/summary.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

/* The value of an axis; -1: the case has none of this name. */
static int64_t axis(const struct assay_result *r, const char *name, const char **text)
{
	for (unsigned i = 0; i < r->c.n_axes; i++)
		if (!strcmp(r->c.axes[i].name, name)) {
			*text = r->c.axes[i].text;
			return r->c.axes[i].value;
		}
	return -1;
}

/* "pp512": only read; "tg128": only generated, from a token on; or both. */
static void add_test(struct assay_text *out, int64_t pp, int64_t tg)
{
	if (tg <= 1)
		assay_text_addf(out, "pp%" PRId64, pp);
	else if (pp <= 1)
		assay_text_addf(out, "tg%" PRId64, tg);
	else
		assay_text_addf(out, "pp%" PRId64 "+tg%" PRId64, pp, tg);
}

static void add_case(struct assay_text *out, const struct assay_result *r)
{
	const struct assay_metric *rate = assay_result_metric(r, "tokens_per_s"),
				  *size = assay_result_metric(r, "model_bytes");
	const char *model = "", *text;
	const int64_t pp = axis(r, "pp", &text), tg = axis(r, "tg", &text);

	axis(r, "model", &model);
	if (!rate || !model[0] || pp < 0)
		return;
	assay_text_add(out, "| ");
	assay_markdown_name(out, model);
	assay_text_add(out, " | ");
	if (size)
		assay_text_addf(out, "%.2f MiB", size->value / 1048576);
	assay_text_addf(out, " | %s %s | %u | ", r->c.device[0] ? r->c.device : "CPU", r->c.variant, r->c.threads);
	add_test(out, pp, tg < 0 ? 0 : tg);
	assay_text_addf(out, " | %.2f", rate->value);
	if (r->ci95_reached)
		assay_text_addf(out, " ± %.2f", assay_summary_half_width_frac(r) * rate->value);
	assay_text_add(out, " |\n");
}

static void run_llama_bench(const struct assay_report *report, const struct assay_emit_style *style,
			    struct assay_text *out)
{
	const struct assay_run *run = report->run.run;

	(void)style;
	assay_text_add(out, "| model | size | backend | threads | test | t/s |\n"
			    "| --- | ---: | --- | ---: | ---: | ---: |\n");
	for (size_t i = 0; i < run->n_results; i++)
		add_case(out, &run->results[i]);
}

ASSAY_EMITTER(run_llama_bench, ASSAY_REPORT_RUN, "llama-bench", run_llama_bench);

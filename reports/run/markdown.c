/* SPDX-License-Identifier: Apache-2.0 */
/* A run as a table in Markdown: every case with its time, its rate and what speaks against it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "model/summary.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

static void add_head(struct assay_text *out, const struct assay_run *run)
{
	char build[96];

	assay_build_text(&run->build, build, sizeof(build));
	assay_text_addf(out, "## assay: run %" PRId64 " of suite ", run->id);
	assay_markdown_name(out, run->suite);
	if (run->label[0]) {
		assay_text_add(out, ", ");
		assay_markdown_name(out, run->label);
	}
	assay_text_add(out, "\n\n");
	assay_markdown_name(out, build[0] ? build : "commit unknown");
	assay_text_add(out, " on ");
	assay_markdown_name(out, run->machine.label);
	if (assay_run_is_imported(run)) {
		assay_text_add(out, ". Imported from ");
		assay_markdown_name(out, run->imported.format);
		assay_text_add(out, ": pinning and correctness are unknown");
	}
	assay_text_add(out, ".\n\n");
}

/* Notes beside the numbers. */
static const char *check_word(const struct assay_result *r, char *buf, size_t size)
{
	char edges[ASSAY_EDGES_MAX];

	if (r->checked && r->correct && r->deviation.edges)
		snprintf(buf, size, "deviates on %s", assay_edges_text(r->deviation.edges, edges, sizeof(edges)));
	else
		snprintf(buf, size, "%s", !r->checked ? "not checked" : r->correct ? "ok" : "wrong");
	return buf;
}

static void add_case(struct assay_text *out, const struct assay_run *run, const struct assay_result *r)
{
	const struct assay_emit_style style = { .utf8 = true };
	char time[64], rate[64], check[80];

	assay_text_add(out, "| ");
	assay_markdown_name(out, r->c.key);
	if (r->status != ASSAY_STATUS_OK) {
		assay_text_addf(out, " |  |  |  | %s: ", assay_status_name(r->status));
		assay_markdown_prose(out, r->reason);
		assay_text_add(out, " |\n");
		return;
	}
	assay_quantity_text(r->median_ns * 1e-9, "s", true, time, sizeof(time));
	assay_run_cells_rate(r, assay_run_cells_rate_tag(run, r->c.op), &style, rate, sizeof(rate));
	assay_text_addf(out, " | %s | ", time);
	if (r->ci95_reached)
		assay_text_addf(out, "±%.1f %%", 100 * assay_summary_half_width_frac(r));
	assay_text_addf(out, " | %s | %s |\n", rate, check_word(r, check, sizeof(check)));
}

static void run_markdown(const struct assay_report *report, const struct assay_emit_style *style,
			 struct assay_text *out)
{
	const struct assay_run *run = report->run.run;

	(void)style;
	add_head(out, run);
	assay_text_add(out, "| case | time | 95 % | rate | check |\n| --- | ---: | ---: | ---: | --- |\n");
	for (size_t i = 0; i < run->n_results; i++)
		add_case(out, run, &run->results[i]);
	assay_text_add(out, "\nThe time is the median of one call. `?` marks the range of all samples, where there are "
			    "too few for an interval.\n");
}

ASSAY_EMITTER(run_markdown, ASSAY_REPORT_RUN, "markdown", run_markdown);

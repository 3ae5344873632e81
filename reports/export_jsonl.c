/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines: an object for each result of a run or each verdict of a gate, which says by itself what it is of. */
#include <inttypes.h>

#include "reports/json_parts.h"
#include "reports/emitter.h"

static void run_jsonl(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->run.run;

	(void)style;
	for (size_t i = 0; i < run->n_results; i++) {
		json_t *o = assay_json_run_case(run, &run->results[i], r->run.samples), *of = assay_json_run(run);

		/* long, and the same in every line: 'json' has them */
		json_object_del(of, "environment");
		json_object_del(json_object_get(of, "machine"), "facts");
		json_object_set_new(o, "schema", json_integer(1));
		json_object_set_new(o, "run", of);
		assay_json_line(o, out);
	}
}

static void gate_jsonl(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_gate_report *g = r->gate.gate;

	(void)style;
	for (size_t i = 0; i < g->n_cases; i++) {
		json_t *o = assay_json_gate_case(&g->cases[i]);

		json_object_set_new(o, "schema", json_integer(1));
		json_object_set_new(o, "comparison", g->comparison_id ? json_integer(g->comparison_id) : json_null());
		json_object_set_new(o, "base", assay_json_text(g->base));
		json_object_set_new(o, "head", assay_json_text(g->head));
		assay_json_line(o, out);
	}
}

ASSAY_EMITTER(run_jsonl, ASSAY_REPORT_RUN, "jsonl", run_jsonl);
ASSAY_EMITTER(gate_jsonl, ASSAY_REPORT_GATE, "jsonl", gate_jsonl);

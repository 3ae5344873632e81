/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One metric or count of every case of a run, as text and for scripts: {"schema":1,"run","metric","unit","cases":[{
 * "key","value","source","reason"}]}, where a value or a reason is null.
 */
#include "reports/emitter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"

struct reading {
	double value;       /* NaN: there is none */
	const char *source; /* of the value; "" unknown */
	char reason[640];   /* why there is none */
};

static void read_timed(const struct assay_result *r, const char *name, struct reading *out)
{
	const struct assay_metric *m = assay_result_metric(r, name);
	const struct assay_count *c = assay_counters_find(&r->counters, name);
	const struct assay_unavailable *u =
		assay_counters_find_missing(&r->counters, assay_exact_is_metric(name) ? ASSAY_EXACT_MISSING : name);

	*out = (struct reading){ .value = m   ? m->value
					  : c ? c->value
					      : NAN,
				 .source = m   ? m->source
					   : c ? c->source
					       : "" };
	if (r->status != ASSAY_STATUS_OK)
		snprintf(out->reason, sizeof(out->reason), "%s: %s", assay_status_name(r->status), r->reason);
	else
		snprintf(out->reason, sizeof(out->reason), "%s", u ? u->reason : "not a metric or count of this case");
}

/* Exact counts stand beside the results of a run. */
static struct reading read_metric(const struct assay_run *run, size_t i, const char *name)
{
	const struct assay_exact_case *c = run->exact ? assay_exact_case_find(run->exact, run->results[i].c.key) : NULL;
	struct reading out;

	read_timed(&run->results[i], name, &out);
	if (!assay_exact_is_metric(name) || !c)
		return out;
	out.value = c->status == ASSAY_STATUS_OK ? assay_exact_metric(&c->total, name) : NAN;
	out.source = ASSAY_SOURCE_EXACT;
	if (c->status != ASSAY_STATUS_OK)
		snprintf(out.reason, sizeof(out.reason), "%s", c->reason);
	return out;
}

static const char *unit_of(const struct assay_run *run, const char *name)
{
	const struct assay_metric_info *own = assay_metric_find(name);

	for (size_t i = 0; i < run->n_results; i++)
		if (assay_result_metric(&run->results[i], name))
			return assay_result_metric(&run->results[i], name)->unit;
	return own ? own->unit : "1";
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->metric.run;
	const char *name = r->metric.name, *unit = unit_of(run, name);
	struct assay_columns t = { .align = "lrl", .width = style->width };

	assay_columns_row(&t, (const char *const[]){ "case", name, "" });
	for (size_t i = 0; i < run->n_results; i++) {
		const struct reading v = read_metric(run, i, name);
		char value[64];

		assay_metric_text(name, v.value, unit, style->utf8, value, sizeof(value));
		assay_columns_row(&t, (const char *const[]){ run->results[i].c.key, value,
							     isfinite(v.value) ? v.source : v.reason });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->metric.run;
	json_t *cases = json_array();

	(void)style;
	for (size_t i = 0; i < run->n_results; i++) {
		const struct reading v = read_metric(run, i, r->metric.name);
		const bool has = isfinite(v.value);

		json_array_append_new(cases,
				      json_pack("{s:o,s:o,s:o,s:o}", "key", assay_json_text(run->results[i].c.key),
						"value", assay_json_number(v.value), "source",
						has ? assay_json_text(v.source) : json_null(), "reason",
						has ? json_null() : assay_json_text(v.reason)));
	}
	assay_json_print(json_pack("{s:i,s:I,s:o,s:s,s:o}", "schema", 1, "run", (json_int_t)run->id, "metric",
				   assay_json_text(r->metric.name), "unit", unit_of(run, r->metric.name), "cases",
				   cases),
			 out);
}

ASSAY_EMITTER(run_metric_text, ASSAY_REPORT_METRIC, "text", write_text);
ASSAY_EMITTER(run_metric_json, ASSAY_REPORT_METRIC, "json", write_json);

/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics, counts, and what could not be counted: of a case of a run and of a side of a comparison alike. */
#include "reports/json_parts.h"

json_t *assay_json_metrics(const struct assay_metric *v, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++) {
		const struct assay_metric *m = &v[i];

		json_object_set_new(o, m->tag,
				    json_pack("{s:o,s:s,s:o,s:o,s:b}", "value", assay_json_number(m->value), "unit",
					      m->unit, "better",
					      m->better ? json_string(m->better > 0 ? "higher" : "lower") : json_null(),
					      "source", m->source[0] ? json_string(m->source) : json_null(),
					      "estimated", m->estimated));
	}
	return o;
}

json_t *assay_json_counters(const struct assay_counters *counters)
{
	json_t *o = json_object();

	for (size_t i = 0; i < counters->n; i++) {
		const struct assay_count *c = &counters->v[i];

		json_object_set_new(o, c->name,
				    json_pack("{s:o,s:s,s:o,s:s,s:o}", "value", assay_json_number(c->value), "source",
					      c->source, "how", assay_json_text(c->how), "per",
					      c->per_iteration ? "iteration" : "case", "running_frac",
					      assay_json_number(c->running_frac)));
	}
	return o;
}

json_t *assay_json_unavailable(const struct assay_counters *counters)
{
	json_t *o = json_object();

	for (size_t i = 0; i < counters->n_missing; i++) {
		const struct assay_unavailable *u = &counters->missing[i];

		json_object_set_new(o, u->name,
				    json_pack("{s:s,s:o}", "source", u->source, "reason", assay_json_text(u->reason)));
	}
	return o;
}

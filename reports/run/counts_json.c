/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact counts for scripts: {"schema":1,"run":{"evidence":"exact",…},"cases":[{"key","status","reason","how",
 * "counters","metrics","functions","lines","threads","mix","log"}]}. Those of a run with times are the member "exact"
 * of its object, without "schema".
 */
#include "reports/emitter.h"

#include <math.h>

#include "model/exact.h"
#include "reports/json_parts.h"

static json_t *counts_json(const struct assay_exact_counts *c)
{
	json_t *o = json_object();

	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		json_object_set_new(o, assay_exact_event_name((enum assay_exact_event)e), assay_json_u64(c->v[e]));
	return o;
}

/* As the counters and metrics of a timed case, so that a script reads both in the same way. */
static json_t *counters_json(const struct assay_exact_case *c)
{
	json_t *o = json_object();

	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS && c->status == ASSAY_STATUS_OK; e++)
		json_object_set_new(o, assay_exact_event_name((enum assay_exact_event)e),
				    json_pack("{s:o,s:s,s:s}", "value", assay_json_u64(c->total.v[e]), "source",
					      "exact", "how", assay_exact_how_name(c->how)));
	return o;
}

/* Under the names that a timed case and the policy know them by. */
static json_t *metrics_json(const struct assay_exact_case *c)
{
	json_t *o = json_object();

	for (size_t i = 0; i < assay_n_metrics && c->status == ASSAY_STATUS_OK; i++) {
		const struct assay_metric_info *m = &assay_metrics[i];
		double v = assay_exact_case_metric(c, m->tag);

		if (isfinite(v))
			json_object_set_new(o, m->tag,
					    json_pack("{s:o,s:s,s:s,s:s}", "value", assay_json_number(v), "unit",
						      m->unit, "better", m->better > 0 ? "higher" : "lower", "source",
						      "exact"));
	}
	return o;
}

static json_t *lines_json(const struct assay_exact_case *c)
{
	json_t *lines = json_array();
	struct assay_exact_line l;

	for (const char *at = c->detail; assay_exact_next_line(&at, &l);)
		json_array_append_new(lines, json_pack("{s:o,s:i,s:o,s:o}", "file", assay_json_text(l.file), "line",
						       (int)l.line, "function", assay_json_text(l.function), "counts",
						       counts_json(&l.counts)));
	return lines;
}

static json_t *threads_json(const struct assay_exact_case *c)
{
	json_t *threads = json_array();
	struct assay_exact_counts t;

	for (const char *at = c->detail; assay_exact_next_thread(&at, &t);)
		json_array_append_new(threads, counts_json(&t));
	return threads;
}

static json_t *mix_json(const struct assay_exact_case *c)
{
	json_t *mix = json_object();
	struct assay_exact_mix m;

	for (const char *at = c->detail; assay_exact_next_mix(&at, &m);)
		json_object_set_new(mix, m.name, assay_json_u64(m.count));
	return mix;
}

static json_t *case_json(const struct assay_exact_case *c)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < c->n_functions; i++) {
		const struct assay_exact_function *f = &c->functions[i];

		json_array_append_new(functions,
				      json_pack("{s:o,s:o,s:o}", "name", assay_json_text(f->name), "object",
						assay_json_text(f->object), "counts", counts_json(&f->counts)));
	}
	return json_pack("{s:o,s:s,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "key", assay_json_text(c->key), "status",
			 assay_status_name(c->status), "reason", assay_json_text(c->reason), "how",
			 assay_exact_how_name(c->how), "counters", counters_json(c), "metrics", metrics_json(c),
			 "functions", functions, "lines", lines_json(c), "threads", threads_json(c), "mix", mix_json(c),
			 "log", assay_json_text(c->log));
}

static json_t *run_json(const struct assay_exact_run *run)
{
	const struct assay_exact_setting *s = &run->setting;

	return json_pack("{s:o,s:o,s:s,s:o,s:o,s:o,s:{s:o,s:o,s:o,s:o,s:o,s:o}}", "id",
			 run->id ? json_integer(run->id) : json_null(), "suite", assay_json_text(run->suite),
			 "evidence", "exact", "seed", assay_json_u64(run->seed), "started",
			 assay_json_time(run->started_ns), "build", assay_json_build(&run->build), "setting", "arch",
			 assay_json_text(s->arch), "tool", assay_json_text(s->tool), "libc", assay_json_text(s->libc),
			 "cache", assay_json_text(s->cache), "features", assay_json_text(s->features), "environment",
			 assay_json_text(s->environment));
}

void assay_json_add_exact(json_t *root, const struct assay_exact_run *run)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < run->n_cases; i++)
		json_array_append_new(cases, case_json(&run->cases[i]));
	json_object_set_new(root, "run", run_json(run));
	json_object_set_new(root, "cases", cases);
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	json_t *root = json_pack("{s:i}", "schema", 1);

	(void)style;
	assay_json_add_exact(root, r->counts);
	assay_json_print(root, out);
}

ASSAY_EMITTER(counts_json, ASSAY_REPORT_COUNTS, "json", write_json);

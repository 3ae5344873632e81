/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as RFC 4180 has them: lines end in CR LF, and what holds a comma, a quote or a line end stands in quotes. An
 * empty field is a number or word that there is none of. Of a run: a row a case, with a column for each metric and
 * count that any case has, "metric:TAG" and "count:NAME", in their base units. Of a gate: a row a verdict.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/build.h"
#include "model/summary.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

struct row {
	struct assay_text *out;
	bool begun;
};

static void begin_field(struct row *r)
{
	if (r->begun)
		assay_text_add(r->out, ",");
	r->begun = true;
}

static void add(struct row *r, const char *s)
{
	begin_field(r);
	assay_csv_add(r->out, s);
}

static void end(struct row *r)
{
	assay_text_add(r->out, "\r\n");
	r->begun = false;
}

static void add_number(struct row *r, double v)
{
	char s[40] = "";

	if (isfinite(v))
		snprintf(s, sizeof(s), "%.12g", v);
	begin_field(r);
	assay_text_add(r->out, s);
}

static void add_count(struct row *r, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, v);
	add(r, s);
}

static void add_time(struct row *r, uint64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / 1000000000u);
	char s[40] = "";
	struct tm tm;

	if (unix_ns && gmtime_r(&t, &tm))
		strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%SZ", &tm);
	add(r, s);
}

static void add_words(struct row *r, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(r, names[i]);
}

/* ---- runs ---- */

/* The columns of metrics that any case has, in the order of the first that has each. */
static void collect(const struct assay_run *run, struct assay_strings *metrics, struct assay_strings *counts)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		for (size_t k = 0; k < r->n_metrics; k++)
			if (!assay_strings_has(metrics, r->metrics[k].tag))
				assay_strings_add(metrics, r->metrics[k].tag, NULL);
		for (size_t k = 0; k < r->counters.n; k++)
			if (!assay_strings_has(counts, r->counters.v[k].name))
				assay_strings_add(counts, r->counters.v[k].name, NULL);
	}
}

static void add_titles(struct row *row, const struct assay_strings *v, const char *before)
{
	char title[ASSAY_NAME_MAX + 16];

	for (size_t i = 0; i < v->n; i++) {
		snprintf(title, sizeof(title), "%s%s", before, v->v[i]);
		add(row, title);
	}
}

static void add_case(struct row *row, const struct assay_run *run, const struct assay_result *r,
		     const struct assay_strings *metrics, const struct assay_strings *counts)
{
	const struct assay_commit revision = assay_build_revision(&run->build);
	const double share = assay_run_cells_metric(r, "roof_frac");
	const bool timed = r->n_samples > 0;
	char shape[ASSAY_SHAPE_MAX], threads[16] = "";
	size_t n = 0;

	shape[0] = '\0';
	for (unsigned i = 0; i < r->c.n_axes; i++)
		n += (size_t)snprintf(shape + n, sizeof(shape) - n, "%s%s=%s", i ? "," : "", r->c.axes[i].name,
				      r->c.axes[i].text);
	if (r->c.threads)
		snprintf(threads, sizeof(threads), "%u", r->c.threads);
	add_count(row, (uint64_t)run->id);
	add(row, run->suite);
	add(row, run->label);
	add(row, run->imported.format);
	add_time(row, run->started_unknown ? 0 : run->started_ns);
	add(row, run->machine.label);
	add(row, revision.hash);
	add_words(row,
		  (const char *const[]){ r->c.key, r->c.op, r->c.variant, shape, threads, assay_cache_name(r->c.cache),
					 assay_status_name(r->status), r->reason,
					 !r->checked  ? ""
					 : r->correct ? "true"
						      : "false",
					 r->digest },
		  10);
	add_count(row, r->n_samples);
	add_count(row, r->rounds);
	add_count(row, r->iterations);
	add_number(row, timed ? r->median_ns : NAN);
	add_number(row, timed ? assay_summary_interval_ns(r).lo : NAN);
	add_number(row, timed ? assay_summary_interval_ns(r).hi : NAN);
	add_number(row, timed ? r->min_ns : NAN);
	add_number(row, timed ? r->mad_ns : NAN);
	add(row, isnan(share) ? "" : assay_limit_exceeded(share) ? "true" : "false");
	for (size_t i = 0; i < metrics->n; i++)
		add_number(row, assay_run_cells_metric(r, metrics->v[i]));
	for (size_t i = 0; i < counts->n; i++) {
		const struct assay_count *c = assay_counters_find(&r->counters, counts->v[i]);

		add_number(row, c ? c->value : NAN);
	}
	end(row);
}

static void run_csv(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	static const char *const titles[] = { "run",           "suite",      "label",      "imported", "started",
					      "machine",       "commit",     "key",        "op",       "variant",
					      "shape",         "threads",    "cache",      "status",   "reason",
					      "correct",       "digest",     "samples",    "rounds",   "iterations",
					      "median_ns",     "ci95_lo_ns", "ci95_hi_ns", "min_ns",   "mad_ns",
					      "limit_exceeded" };
	const struct assay_run *run = report->run.run;
	struct assay_strings metrics = { 0 }, counts = { 0 };
	struct row row = { .out = out };

	(void)style;
	collect(run, &metrics, &counts);
	add_words(&row, titles, sizeof(titles) / sizeof(titles[0]));
	add_titles(&row, &metrics, "metric:");
	add_titles(&row, &counts, "count:");
	end(&row);
	for (size_t i = 0; i < run->n_results; i++)
		add_case(&row, run, &run->results[i], &metrics, &counts);
	assay_strings_release(&metrics);
	assay_strings_release(&counts);
}

/* ---- gates ---- */

static void gate_csv(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	static const char *const titles[] = { "comparison", "base",   "head",  "key",    "metric", "evidence",
					      "verdict",    "reason", "ratio", "ci_lo",  "ci_hi",  "margin",
					      "pairs",      "value",  "limit", "suspect" };
	const struct assay_gate_report *g = report->gate.gate;
	struct row row = { .out = out };

	(void)style;
	add_words(&row, titles, sizeof(titles) / sizeof(titles[0]));
	end(&row);
	for (size_t i = 0; i < g->n_cases; i++) {
		const struct assay_gate_case *c = &g->cases[i];

		add_number(&row, g->comparison_id ? (double)g->comparison_id : NAN);
		add_words(&row,
			  (const char *const[]){ g->base, g->head, c->key, c->metric, assay_evidence_name(c->evidence),
						 assay_verdict_name(c->verdict), c->reason },
			  7);
		add_number(&row, c->ratio);
		add_number(&row, c->ci_lo);
		add_number(&row, c->ci_hi);
		add_number(&row, c->margin_frac);
		add_number(&row, c->pairs ? (double)c->pairs : NAN);
		add_number(&row, c->value);
		add_number(&row, c->limit);
		add(&row, c->suspect ? "true" : "false");
		end(&row);
	}
}

ASSAY_EMITTER(run_csv, ASSAY_REPORT_RUN, "csv", run_csv);
ASSAY_EMITTER(gate_csv, ASSAY_REPORT_GATE, "csv", gate_csv);

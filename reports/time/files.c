/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of `assay time`, for programs: the house's JSON; the JSON of hyperfine 1.19, whose fields mean what they
 * mean there, with "memory_usage_byte" left out where it is not known; and its tables in Markdown and CSV, with the
 * verdicts behind.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/gate_report.h"
#include "model/summary.h"
#include "reports/emitter.h"
#include "reports/gate/words.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

static const struct assay_gate_case *verdict_of(const struct assay_time_report *r, size_t i)
{
	const size_t at = i < r->reference ? i : i - 1;

	return r->gate && i != r->reference && at < r->gate->n_cases ? &r->gate->cases[at] : NULL;
}

/* NaN where the result has no number. */
static double or_nan(const struct assay_time_command *c, double ns)
{
	return c->result.status == ASSAY_STATUS_OK && c->result.n_samples ? ns * 1e-9 : NAN;
}

static json_t *parameters(const struct assay_time_command *c)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < c->result.c.n_axes; i++)
		json_object_set_new(o, c->result.c.axes[i].name, assay_json_text(c->result.c.axes[i].text));
	return o;
}

static json_t *exit_codes(const struct assay_time_command *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_runs; i++)
		json_array_append_new(list,
				      c->runs[i].exit_code < 0 ? json_null() : json_integer(c->runs[i].exit_code));
	return list;
}

static double metric(const struct assay_time_command *c, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(&c->result, tag);

	return m ? m->value : NAN;
}

static json_t *command_json(const struct assay_time_command *c)
{
	const struct assay_count *faults = assay_counters_find(&c->result.counters, ASSAY_COUNT_FAULTS);
	const struct assay_interval ci =
		c->result.n_samples ? assay_summary_interval_ns(&c->result) : (struct assay_interval){ NAN, NAN };

	return json_pack(
		"{s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:o,s:o,s:o}", "command",
		assay_json_text(c->command), "name", assay_json_text(c->name), "key", assay_json_text(c->result.c.key),
		"parameters", parameters(c), "status", assay_status_name(c->result.status), "reason",
		assay_json_text(c->result.reason), "mean_s", assay_json_number(c->mean_s), "stddev_s",
		assay_json_number(c->sd_s), "median_s", assay_json_number(or_nan(c, c->result.median_ns)), "ci95_s",
		isfinite(ci.lo) ? json_pack("[o,o]", assay_json_number(ci.lo * 1e-9), assay_json_number(ci.hi * 1e-9))
				: json_null(),
		"min_s", assay_json_number(or_nan(c, c->result.min_ns)), "max_s", assay_json_number(c->max_s), "user_s",
		assay_json_number(c->user_s), "system_s", assay_json_number(c->system_s), "max_rss_bytes",
		assay_json_number(metric(c, "rss_peak_bytes")), "page_faults",
		assay_json_number(faults ? faults->value : NAN), "runs", (int)c->n_runs, "exit_codes", exit_codes(c),
		"counters", assay_json_counters(&c->result.counters), "unavailable",
		assay_json_unavailable(&c->result.counters));
}

static void write_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_time_report *r = report->time;
	json_t *commands = json_array(), *comparisons = json_array(), *root;

	(void)style;
	for (size_t i = 0; i < r->n_commands; i++) {
		const struct assay_gate_case *g = verdict_of(r, i);
		json_t *o = g ? assay_json_gate_case(g) : NULL;

		json_array_append_new(commands, command_json(&r->commands[i]));
		if (!g)
			continue;
		json_object_set_new(o, "command", assay_json_text(r->commands[i].command));
		json_object_set_new(o, "against", assay_json_text(r->commands[r->reference].command));
		json_array_append_new(comparisons, o);
	}
	root = json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "commands", commands, "comparisons",
			 comparisons, "shell", assay_json_text(r->shell), "shell_s",
			 assay_json_number(r->shell[0] ? r->shell_s : NAN), "cpus", assay_json_text(r->cpus), "run",
			 r->run_id ? json_integer(r->run_id) : json_null(), "comparison",
			 r->comparison_id ? json_integer(r->comparison_id) : json_null());
	if (r->gate) {
		json_object_set_new(root, "verdict", json_string(assay_verdict_name(r->gate->verdict)));
		json_object_set_new(root, "exit", json_integer((int)r->gate->exit));
	}
	assay_json_print(root, out);
}

static json_t *hyperfine(const struct assay_time_command *c)
{
	json_t *times = json_array(), *memory = json_array(), *o;
	bool known = true;

	for (size_t i = 0; i < c->result.n_samples; i++) {
		json_array_append_new(times, assay_json_number((double)c->result.samples[i].ns * 1e-9));
		json_array_append_new(memory, assay_json_u64(c->runs[i].peak_bytes));
		known &= c->runs[i].peak_bytes > 0;
	}
	o = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "command", assay_json_text(c->name), "mean",
		      assay_json_number(c->mean_s), "stddev", assay_json_number(c->sd_s), "median",
		      assay_json_number(or_nan(c, c->result.median_ns)), "user", assay_json_number(c->user_s), "system",
		      assay_json_number(c->system_s), "min", assay_json_number(or_nan(c, c->result.min_ns)), "max",
		      assay_json_number(c->max_s), "times", times);
	if (known && c->n_runs)
		json_object_set(o, "memory_usage_byte", memory);
	json_decref(memory);
	json_object_set_new(o, "exit_codes", exit_codes(c));
	if (c->result.c.n_axes)
		json_object_set_new(o, "parameters", parameters(c));
	return o;
}

static void write_hyperfine(const struct assay_report *report, const struct assay_emit_style *style,
			    struct assay_text *out)
{
	json_t *results = json_array();

	(void)style;
	for (size_t i = 0; i < report->time->n_commands; i++)
		json_array_append_new(results, hyperfine(&report->time->commands[i]));
	assay_json_print(json_pack("{s:o}", "results", results), out);
}

static void write_markdown(const struct assay_report *report, const struct assay_emit_style *style,
			   struct assay_text *out)
{
	const struct assay_time_report *r = report->time;

	(void)style;
	assay_text_add(out, "| Command | Mean [ms] | Min [ms] | Max [ms] | Change | 95 % | Verdict |\n"
			    "|:---|---:|---:|---:|---:|---:|:---|\n");
	for (size_t i = 0; i < r->n_commands; i++) {
		const struct assay_time_command *c = &r->commands[i];
		const struct assay_gate_case *g = verdict_of(r, i);
		struct assay_gate_words w = { "", "", "", "" };

		if (g)
			assay_gate_words_of(g, &w);
		assay_text_add(out, "| ");
		assay_markdown_name(out, c->name);
		if (c->result.status == ASSAY_STATUS_OK && c->n_runs)
			assay_text_addf(out, " | %.3f ± %.3f | %.3f | %.3f |", 1e3 * c->mean_s, 1e3 * c->sd_s,
					1e-6 * c->result.min_ns, 1e3 * c->max_s);
		else
			assay_text_addf(out, " | %s | | |", c->n_runs ? assay_status_name(c->result.status) : "");
		assay_text_addf(out, " %s | %s | %s |\n", w.change, w.interval,
				g         ? assay_verdict_name(g->verdict)
				: r->gate ? "reference"
					  : "");
	}
}

static void add_number(struct assay_text *out, double v)
{
	assay_text_add(out, ",");
	if (isfinite(v))
		assay_text_addf(out, "%.9g", v);
}

static void write_csv(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_time_report *r = report->time;
	const struct assay_case *first = &r->commands[0].result.c;

	(void)style;
	assay_text_add(out, "command,mean,stddev,median,user,system,min,max");
	for (unsigned a = 0; a < first->n_axes; a++) {
		assay_text_add(out, ",parameter_");
		assay_csv_add(out, first->axes[a].name);
	}
	assay_text_add(out, ",ratio,ci_lo,ci_hi,verdict\n");
	for (size_t i = 0; i < r->n_commands; i++) {
		const struct assay_time_command *c = &r->commands[i];
		const struct assay_gate_case *g = verdict_of(r, i);
		const double v[] = { c->mean_s, c->sd_s,     or_nan(c, c->result.median_ns),
				     c->user_s, c->system_s, or_nan(c, c->result.min_ns),
				     c->max_s };

		assay_csv_add(out, c->name);
		for (size_t k = 0; k < sizeof(v) / sizeof(v[0]); k++)
			add_number(out, v[k]);
		for (unsigned a = 0; a < c->result.c.n_axes; a++) {
			assay_text_add(out, ",");
			assay_csv_add(out, c->result.c.axes[a].text);
		}
		add_number(out, g ? g->ratio : NAN);
		add_number(out, g ? g->ci_lo : NAN);
		add_number(out, g ? g->ci_hi : NAN);
		assay_text_addf(out, ",%s\n", g ? assay_verdict_name(g->verdict) : "");
	}
}

ASSAY_EMITTER(time_json, ASSAY_REPORT_TIME, "json", write_json);
ASSAY_EMITTER(time_hyperfine, ASSAY_REPORT_TIME, "hyperfine", write_hyperfine);
ASSAY_EMITTER(time_markdown, ASSAY_REPORT_TIME, "markdown", write_markdown);
ASSAY_EMITTER(time_csv, ASSAY_REPORT_TIME, "csv", write_csv);

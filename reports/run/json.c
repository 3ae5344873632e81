/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run for scripts: {"schema":1,"run":{…},"cases":[…]}. What does not apply is null. Numbers above 2^63 - 1 (a seed)
 * are strings. With samples each case carries "raw": [[iterations, ns, flags], …].
 */
#include "reports/emitter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/json_parts.h"
#include "reports/run/parts.h"

static json_t *axes_json(const struct assay_case *c)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < c->n_axes; i++) {
		const struct assay_axis_value *a = &c->axes[i];
		char number[32];

		/* a symbol's value is its index: what counts is the word */
		snprintf(number, sizeof(number), "%lld", (long long)a->value);
		json_object_set_new(o, a->name,
				    strcmp(number, a->text) ? assay_json_text(a->text) : json_integer(a->value));
	}
	if (c->device[0])
		json_object_set_new(o, "device", assay_json_text(c->device));
	return o;
}

static json_t *cpus_json(const int *cpus, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_integer(cpus[i]));
	return a;
}

static json_t *raw_json(const struct assay_result *r)
{
	json_t *a = json_array();

	for (size_t i = 0; r->samples && i < r->n_samples; i++)
		json_array_append_new(a, json_pack("[o,o,i]", assay_json_u64(r->samples[i].iterations),
						   assay_json_u64(r->samples[i].ns), (int)r->samples[i].flags));
	return a;
}

/* A time is null unless there are samples to take it from. */
static json_t *time_json(const struct assay_result *r, double ns)
{
	return r->n_samples ? assay_json_number(ns) : json_null();
}

/* "exceeded": the share is so far above 1 that the limit or the case is wrong. */
static json_t *roof_json(const struct assay_result *r)
{
	const struct assay_metric *share = assay_result_metric(r, "roof_frac");
	const struct assay_result_roof *roof = &r->roof;
	const struct assay_roof_range *t = &roof->in_turn;
	json_t *in_turn = json_null();

	if (roof->bound == ASSAY_BOUND_NONE)
		return json_null();
	if (t->most_frac > 0)
		in_turn = json_pack("{s:[o,o],s:b}", "ci95_frac", assay_json_number(t->least_frac),
				    assay_json_number(t->most_frac), "ci95_reached", t->reached);
	return json_pack("{s:s,s:o,s:o,s:o,s:b}", "bound", assay_bound_name(roof->bound), "op",
			 assay_json_text(roof->op), "name", assay_json_text(roof->name), "in_turn", in_turn, "exceeded",
			 share && assay_limit_exceeded(share->value));
}

/* Of what a time is held against: null where no other variant was measured, or the ratio has no interval. */
static json_t *against_json(const struct assay_run_against *a)
{
	if (!a->other || !isfinite(a->times.times))
		return json_null();
	return json_pack("{s:o,s:o,s:[o,o]}", "variant", assay_json_text(a->other->c.variant), "speedup",
			 assay_json_number(1 / a->times.times), "speedup_ci", assay_json_number(1 / a->times.ci.hi),
			 assay_json_number(1 / a->times.ci.lo));
}

static json_t *deviates_json(const struct assay_deviation *d)
{
	json_t *a = json_array();

	for (unsigned i = 0; assay_edge_name(i); i++)
		if (d->edges & 1u << i)
			json_array_append_new(a, json_string(assay_edge_name(i)));
	return a;
}

json_t *assay_json_run_case(const struct assay_run *run, const struct assay_result *r, bool samples)
{
	const struct assay_run_against against = assay_run_cells_against(run, r);
	const bool paced = r->n_samples && assay_result_pace_tried(r);
	/* of warm-up and disturbance the files of other tools say nothing */
	const bool watched = r->n_samples && !assay_run_is_imported(run);
	json_t *o = json_object();

	json_object_set_new(o, "key", assay_json_text(r->c.key));
	json_object_set_new(o, "op", assay_json_text(r->c.op));
	json_object_set_new(o, "variant", assay_json_text(r->c.variant));
	json_object_set_new(o, "axes", axes_json(&r->c));
	json_object_set_new(o, "threads", r->c.threads ? json_integer(r->c.threads) : json_null());
	json_object_set_new(o, "cache", assay_json_text(assay_cache_name(r->c.cache)));
	json_object_set_new(o, "status", json_string(assay_status_name(r->status)));
	json_object_set_new(o, "reason", assay_json_text(r->reason));
	json_object_set_new(o, "note", assay_json_text(r->note));
	json_object_set_new(o, "correct", r->checked ? json_boolean(r->correct) : json_null());
	json_object_set_new(o, "digest", assay_json_text(r->digest));
	json_object_set_new(o, "max_rel_err",
			    r->checked && r->max_rel_err >= 0 ? assay_json_number(r->max_rel_err) : json_null());
	json_object_set_new(o, "deviates", deviates_json(&r->deviation));
	json_object_set_new(o, "deviation", assay_json_text(r->deviation.reason));
	json_object_set_new(o, "samples", json_integer((json_int_t)r->n_samples));
	json_object_set_new(o, "rounds", json_integer((json_int_t)r->rounds));
	json_object_set_new(o, "iterations", assay_json_u64(r->iterations));
	json_object_set_new(o, "median_ns", time_json(r, r->median_ns));
	json_object_set_new(o, "ci95_ns",
			    r->ci95_reached
				    ? json_pack("[o,o]", time_json(r, r->ci95_lo_ns), time_json(r, r->ci95_hi_ns))
				    : json_null());
	json_object_set_new(o, "min_ns", time_json(r, r->min_ns));
	json_object_set_new(o, "mad_ns", time_json(r, r->mad_ns));
	json_object_set_new(o, "against", against_json(&against));
	json_object_set_new(o, "metrics", assay_json_metrics(r->metrics, r->n_metrics));
	if (r->raw_metrics && r->raw_metrics[0])
		json_object_set_new(o, "raw_metrics", assay_json_raw_metrics(r));
	json_object_set_new(o, "histograms", assay_json_histograms(r->histograms, r->n_histograms));
	json_object_set_new(o, "counters", assay_json_counters(&r->counters));
	json_object_set_new(o, "unavailable", assay_json_unavailable(&r->counters));
	json_object_set_new(o, "roof", roof_json(r));
	json_object_set_new(o, "dropped_frac", watched ? assay_json_number(r->dropped_frac) : json_null());
	json_object_set_new(o, "disturbed_frac", watched ? assay_json_number(r->disturbed_frac) : json_null());
	json_object_set_new(o, "slow_core_frac", paced ? assay_json_number(r->slow_core_frac) : json_null());
	json_object_set_new(o, "slow_core", paced ? json_boolean(r->slow_core) : json_null());
	json_object_set_new(o, "ci95_reached", r->n_samples ? json_boolean(r->ci95_reached) : json_null());
	json_object_set_new(o, "steady", watched ? json_boolean(r->steady) : json_null());
	json_object_set_new(o, "converged", r->ci95_reached ? json_boolean(r->converged) : json_null());
	json_object_set_new(o, "cpus", cpus_json(r->cpus, r->n_cpus));
	json_object_set_new(o, "numa_node", r->numa_node >= 0 && r->n_cpus ? json_integer(r->numa_node) : json_null());
	json_object_set_new(o, "copies", assay_json_u64(r->copies));
	json_object_set_new(o, "code_hash", assay_json_text(r->code_hash));
	json_object_set_new(o, "log", assay_json_text(r->log));
	if (samples)
		json_object_set_new(o, "raw", raw_json(r));
	return o;
}

json_t *assay_json_run(const struct assay_run *run)
{
	/* of inputs and the end the files of other tools say nothing */
	const bool imported = assay_run_is_imported(run);
	json_t *o = json_object();

	json_object_set_new(o, "id", run->id ? json_integer(run->id) : json_null());
	json_object_set_new(o, "suite", assay_json_text(run->suite));
	json_object_set_new(o, "label", assay_json_text(run->label));
	json_object_set_new(o, "imported", assay_json_text(run->imported.format));
	json_object_set_new(o, "seed", imported ? json_null() : assay_json_u64(run->seed));
	json_object_set_new(o, "started", run->started_unknown ? json_null() : assay_json_time(run->started_ns));
	json_object_set_new(o, "ended", imported ? json_null() : assay_json_time(run->ended_ns));
	json_object_set_new(o, "machine",
			    json_pack("{s:o,s:o,s:o}", "id", assay_json_text(run->machine.id), "label",
				      assay_json_text(run->machine.label), "facts",
				      assay_json_facts(run->machine.facts, run->machine.n_facts)));
	json_object_set_new(o, "build", assay_json_build(&run->build));
	json_object_set_new(o, "environment", assay_json_facts(run->environment, run->n_environment));
	json_object_set_new(o, "all_threads", run->all_threads ? json_integer(run->all_threads) : json_null());
	json_object_set_new(o, "all_cpus", cpus_json(run->all_cpus, run->n_all_cpus));
	return o;
}

/* Case by case: a tree of all of them takes several times the memory of their text. */
static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->run.run;

	(void)style;
	assay_text_add(out, "{\n  \"schema\": 1,");
	assay_json_part("\n  \"run\": ", assay_json_run(run), 1, out);
	assay_text_add(out, ",\n  \"cases\": [");
	for (size_t i = 0; i < run->n_results; i++)
		assay_json_part(i ? ",\n    " : "\n    ", assay_json_run_case(run, &run->results[i], r->run.samples), 2,
				out);
	assay_text_add(out, run->n_results ? "\n  ]" : "]");
	if (run->exact) {
		json_t *exact = json_object();

		assay_json_add_exact(exact, run->exact);
		assay_json_part(",\n  \"exact\": ", exact, 1, out);
	}
	assay_text_add(out, "\n}\n");
}

ASSAY_EMITTER(run_json, ASSAY_REPORT_RUN, "json", write_json);

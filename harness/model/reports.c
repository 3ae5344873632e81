/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/gate_report.h"
#include "model/summary.h"
#include "stats/stats.h"

/* ---- bisect report ---- */

void assay_bisect_report_release(struct assay_bisect_report *r)
{
	free(r->steps);
	*r = (struct assay_bisect_report){ 0 };
}

const char *assay_bisect_end_name(enum assay_bisect_end e)
{
	static const char *const names[] = {
		[ASSAY_BISECT_FOUND] = "found",   [ASSAY_BISECT_RANGE] = "range",          [ASSAY_BISECT_SAME] = "same",
		[ASSAY_BISECT_UNSURE] = "unsure", [ASSAY_BISECT_UNTAKEN] = "not measured",
	};

	return names[e];
}

/* ---- certify report ---- */

void assay_certify_report_release(struct assay_certify_report *r)
{
	assay_strings_release(&r->keys);
	*r = (struct assay_certify_report){ 0 };
}

/* ---- database report ---- */

void assay_import_report_release(struct assay_import_report *r)
{
	free(r->runs);
	free(r->same);
	free(r->other);
	*r = (struct assay_import_report){ 0 };
}

/* ---- finding ---- */

/* A growing list. */

void assay_findings_add(struct assay_findings *l, const char *name, enum assay_health health, const char *value,
			const char *advice)
{
	struct assay_finding *f;

	if (l->n >= l->capacity) {
		size_t capacity = 2 * l->n + 32;
		struct assay_finding *grown = realloc(l->v, capacity * sizeof(*grown));

		l->failed |= !grown;
		if (!grown)
			return;
		l->v = grown;
		l->capacity = capacity;
	}
	f = &l->v[l->n++];
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->health = health;
	snprintf(f->value, sizeof(f->value), "%s", value);
	snprintf(f->advice, sizeof(f->advice), "%s", advice);
}

void assay_findings_release(struct assay_findings *l)
{
	free(l->v);
	*l = (struct assay_findings){ 0 };
}

/* ---- fleet report ---- */

enum assay_verdict assay_fleet_case_verdict(const struct assay_fleet_report *r, size_t i)
{
	enum assay_verdict worst = ASSAY_IMPROVED;
	bool any = false;

	for (size_t k = 0; k < r->n_machines; k++) {
		const struct assay_fleet_cell *c = assay_fleet_cell_at(r, i, k);

		if (c->there)
			worst = assay_verdict_worse(worst, c->verdict);
		any |= c->there;
	}
	return any ? worst : ASSAY_NOT_MEASURED;
}

void assay_fleet_report_release(struct assay_fleet_report *r)
{
	for (size_t i = 0; i < r->n_cases * r->n_machines; i++)
		free(r->cells[i].reason);
	free(r->cells);
	free(r->keys);
	free(r->machines);
	*r = (struct assay_fleet_report){ 0 };
}

/* ---- time report ---- */

int assay_time_command_sum(struct assay_time_command *c, struct assay_err *err)
{
	struct assay_result *r = &c->result;
	double *x;

	c->mean_s = c->sd_s = c->max_s = c->user_s = c->system_s = NAN;
	if (r->status != ASSAY_STATUS_OK || !r->n_samples) {
		assay_result_drop_numbers(r);
		return 0;
	}
	x = malloc(r->n_samples * sizeof(*x));
	if (!x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	c->max_s = c->user_s = c->system_s = 0;
	for (size_t i = 0; i < r->n_samples; i++) {
		x[i] = (double)r->samples[i].ns * 1e-9;
		c->max_s = fmax(c->max_s, x[i]);
		c->user_s += c->runs[i].user_s / (double)c->n_runs;
		c->system_s += c->runs[i].system_s / (double)c->n_runs;
	}
	c->mean_s = assay_stats_mean(x, r->n_samples);
	c->sd_s = assay_stats_sd(x, r->n_samples);
	free(x);
	return assay_summary_fill(r, err);
}

void assay_time_report_release(struct assay_time_report *r)
{
	for (size_t i = 0; i < r->n_commands; i++) {
		free(r->commands[i].command);
		free(r->commands[i].runs);
		assay_result_release(&r->commands[i].result);
	}
	free(r->commands);
	*r = (struct assay_time_report){ 0 };
}

void assay_model_report_release(struct assay_model_report *r)
{
	for (size_t i = 0; i < r->n_values; i++) {
		free(r->values[i].key);
		free(r->values[i].text);
	}
	for (size_t i = 0; i < r->n_tensors; i++)
		free(r->tensors[i].name);
	free(r->values);
	free(r->tensors);
	*r = (struct assay_model_report){ 0 };
}

/* ---- bottleneck ---- */

const char *assay_bound_by_name(enum assay_bound_by b)
{
	static const char *const names[ASSAY_N_BOUND_BY] = {
		[ASSAY_BOUND_BY_UNKNOWN] = "unknown",     [ASSAY_BOUND_BY_MEMORY] = "memory",
		[ASSAY_BOUND_BY_COMPUTE] = "compute",     [ASSAY_BOUND_BY_LATENCY] = "latency",
		[ASSAY_BOUND_BY_OVERHEAD] = "overhead",   [ASSAY_BOUND_BY_ALLOCATION] = "allocation",
		[ASSAY_BOUND_BY_IMBALANCE] = "imbalance",
	};

	return names[b];
}

/* ---- gate report ---- */

void assay_gate_report_release(struct assay_gate_report *r)
{
	free(r->cases);
	free(r->controls);
	free(r->advice);
	r->cases = NULL;
	r->n_cases = 0;
	r->controls = NULL;
	r->n_controls = 0;
}

/* ---- history ---- */

void assay_baseline_infos_release(struct assay_baseline_info *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].runs);
	free(v);
}

const char *assay_trend_commit(const struct assay_trend_point *p, bool *dirty)
{
	bool own = assay_commit_is_own(&p->plugin);

	*dirty = own ? p->plugin.dirty : p->dirty;
	return own ? p->plugin.hash : p->commit;
}

void assay_trend_line_release(struct assay_trend_line *l)
{
	free(l->points);
	free(l->gaps);
	free(l->changes);
	*l = (struct assay_trend_line){ 0 };
}

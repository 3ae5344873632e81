/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a run into verdicts: is everything there and right, does it keep its limits, is it slower than it was. */
#include "judge/gate_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/limits.h"
#include "judge/policy_names.h"
#include "model/exact.h"
#include "stats/stats.h"

/* ---- rows ------------------------------------------------------------------------------------------------------- */

struct assay_gate_case *assay_gate_row(struct assay_judging *j, const char *key, const char *metric,
				       enum assay_evidence evidence)
{
	struct assay_gate_report *r = &j->report;
	struct assay_gate_case *c;

	if (r->n_cases == j->cap) {
		size_t cap = j->cap ? 2 * j->cap : 64;

		c = realloc(r->cases, cap * sizeof(*c));
		if (!c) {
			j->failed = true;
			return NULL;
		}
		r->cases = c;
		j->cap = cap;
	}
	c = &r->cases[r->n_cases++];
	memset(c, 0, sizeof(*c));
	snprintf(c->key, sizeof(c->key), "%s", key);
	snprintf(c->metric, sizeof(c->metric), "%s", metric);
	c->evidence = evidence;
	c->verdict = ASSAY_PASS;
	c->ratio = c->ci_lo = c->ci_hi = c->margin_frac = NAN;
	c->dropped_frac = c->smallest_detectable_frac = c->value = c->limit = NAN;
	return c;
}

void assay_gate_finding(struct assay_judging *j, const char *key, const char *metric, enum assay_evidence evidence,
			enum assay_verdict verdict, const char *fmt, ...)
{
	struct assay_gate_case *c = assay_gate_row(j, key, metric, evidence);
	va_list ap;

	if (!c)
		return;
	c->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

/* ---- manifest --------------------------------------------------------------------------------------------------- */

/* On one core t=all and t=1 are one case, planned as t=1. */
static bool names_case(const struct assay_judging *j, const struct assay_manifest_entry *e, const struct assay_case *c)
{
	struct assay_case all;

	if (assay_manifest_matches(e, c))
		return true;
	if (j->in->all_threads != 1 || c->threads != 1)
		return false;
	all = *c;
	all.all_threads = true;
	return assay_manifest_matches(e, &all);
}

static const struct assay_manifest_entry *entry_of(const struct assay_judging *j, const struct assay_case *c)
{
	const struct assay_manifest *m = j->in->manifest;

	for (size_t i = 0; i < m->n_entries; i++)
		if (names_case(j, &m->entries[i], c))
			return &m->entries[i];
	return NULL;
}

/* Does the run have any case of the op and variant that @key names? */
static bool variant_took_part(const struct assay_run *run, const char *key)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_case *c = &run->results[i].c;
		size_t op = strlen(c->op), variant = strlen(c->variant);

		if (!strncmp(key, c->op, op) && key[op] == '/' && !strncmp(key + op + 1, c->variant, variant) &&
		    key[op + 1 + variant] == '/')
			return true;
	}
	return false;
}

static void add_missing(struct assay_judging *j, const struct assay_manifest_entry *e)
{
	struct assay_gate_case *c = assay_gate_row(j, e->key, "status", ASSAY_EVIDENCE_NONE);

	if (!c)
		return;
	c->verdict = ASSAY_NOT_MEASURED;
	c->missing = true;
	snprintf(c->reason, sizeof(c->reason), "in the manifest (line %u) but not in the run%s", e->line,
		 j->in->run->ended_ns ? "" : ", which did not finish");
}

static void judge_missing(struct assay_judging *j)
{
	const struct assay_manifest *m = j->in->manifest;
	const struct assay_run *run = j->in->run;

	for (size_t i = 0; i < m->n_entries; i++) {
		const struct assay_manifest_entry *e = &m->entries[i];
		bool found = false;

		for (size_t k = 0; !found && k < run->n_results; k++)
			found = names_case(j, e, &run->results[k].c);
		if (found)
			continue;
		if (e->demand == ASSAY_MANIFEST_OPTIONAL && !variant_took_part(run, e->key))
			assay_gate_finding(j, e->key, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
					   "not in this build, which the manifest allows");
		else
			add_missing(j, e);
	}
}

/* ---- status ----------------------------------------------------------------------------------------------------- */

bool assay_gate_right(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_OK && r->checked && r->correct;
}

/* What became of a case that has no time to judge. */
static void judge_failed(struct assay_judging *j, const struct assay_result *r, const struct assay_manifest_entry *e)
{
	const char *key = r->c.key;

	if (r->status == ASSAY_STATUS_WRONG || (r->status == ASSAY_STATUS_OK && r->checked))
		assay_gate_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_WRONG_RESULT, "%s",
				   r->reason[0] ? r->reason : "wrong output");
	else if (r->status == ASSAY_STATUS_OK)
		assay_gate_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
				   "its output was never compared with the right one");
	else if (r->status == ASSAY_STATUS_SKIPPED && e && e->demand == ASSAY_MANIFEST_REQUIRED)
		assay_gate_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
				   "skipped, but the manifest requires it: %s", r->reason);
	else if (r->status == ASSAY_STATUS_SKIPPED)
		assay_gate_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS, "skipped: %s", r->reason);
	else
		assay_gate_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "%s: %s",
				   assay_status_name(r->status), r->reason);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

/* The median over the runs of the baseline; NaN when none has it. */
static double base_value(const struct assay_judging *j, const struct assay_result *r, const char *name)
{
	double *x = malloc((j->in->n_base + 1) * sizeof(*x)), median = NAN;
	size_t n = 0;

	for (size_t i = 0; x && !j->incomparable[0] && i < j->in->n_base; i++) {
		const struct assay_result *b = assay_gate_result_of(j->in->base[i], r->c.key);
		struct assay_limit_facts f = { .value = NAN };

		if (b && assay_gate_right(b))
			assay_limit_value(b->metrics, b->n_metrics, &b->counters, name, &f);
		if (isfinite(f.value))
			x[n++] = f.value;
	}
	if (n) {
		assay_stats_sort(x, n);
		median = assay_stats_median(x, n);
	}
	free(x);
	return median;
}

static void judge_limits(struct assay_judging *j, const struct assay_result *r)
{
	const struct assay_policy *p = j->in->policy;

	for (size_t i = 0; i < p->n_limits; i++) {
		const struct assay_limit *l = &p->limits[i];
		struct assay_limit_facts f;
		struct assay_gate_case *c;
		char why[256];

		if (!assay_policy_selects(l->cases, &r->c))
			continue;
		assay_limit_value(r->metrics, r->n_metrics, &r->counters, l->metric, &f);
		assay_limit_explain(l, j->in->countable, &f, why, sizeof(why));
		if (!isfinite(f.value) && !f.why_no_value && assay_exact_is_metric(l->metric))
			f.why_no_value = "exact counts are taken of the cases that the suite names in exact \"canon\" "
					 "{ cases = {…} }, and "
					 "not with --evidence stored";
		if (!assay_limit_applies(l, &f))
			continue;
		c = assay_gate_row(j, r->c.key, l->metric, ASSAY_EVIDENCE_NONE);
		if (!c)
			return;
		f.base = l->base ? base_value(j, r, l->metric) : NAN;
		f.why_no_base = j->incomparable[0] ? j->incomparable : NULL;
		assay_limit_judge(l, &f, c);
	}
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* The rows from @first on speak of a case that the manifest does not know. */
static void note_unlisted(struct assay_judging *j, size_t first)
{
	for (size_t i = first; i < j->report.n_cases; i++) {
		char *reason = j->report.cases[i].reason;
		size_t len = strlen(reason);

		snprintf(reason + len, sizeof(j->report.cases[i].reason) - len, "; not in the manifest");
	}
}

static void judge_result(struct assay_judging *j, const struct assay_result *r)
{
	const struct assay_manifest_entry *e = entry_of(j, &r->c);
	size_t first = j->report.n_cases;

	if (assay_gate_right(r)) {
		assay_gate_judge_baseline(j, r);
		judge_limits(j, r);
	} else {
		judge_failed(j, r, e);
	}
	if (!e)
		note_unlisted(j, first);
}

static void sum_up(struct assay_judging *j)
{
	struct assay_gate_report *r = &j->report;
	bool forgiven = r->no_baseline && j->in->allow_no_baseline;

	r->verdict = ASSAY_IMPROVED;
	r->exit = ASSAY_EXIT_OK;
	for (size_t i = 0; i < r->n_cases; i++) {
		enum assay_verdict v = r->cases[i].verdict;

		if (forgiven && v == ASSAY_INCOMPARABLE)
			v = ASSAY_PASS;
		r->verdict = assay_verdict_worse(r->verdict, v);
		r->exit = assay_exit_worse(r->exit, assay_verdict_exit(v, j->in->strict));
	}
	if (r->no_baseline && !forgiven) {
		r->verdict = assay_verdict_worse(r->verdict, ASSAY_INCOMPARABLE);
		r->exit = assay_exit_worse(r->exit, ASSAY_EXIT_INCOMPARABLE);
	}
	if (!r->n_cases) {
		r->verdict = ASSAY_NOT_MEASURED;
		r->exit = ASSAY_EXIT_NOT_MEASURED;
	}
}

static void name_sides(struct assay_judging *j)
{
	const struct assay_run *run = j->in->run;
	const char *commit = run->build.commit;

	snprintf(j->report.base, sizeof(j->report.base), "%s",
		 j->in->n_base ? j->in->base_name ? j->in->base_name : "baseline" : "");
	snprintf(j->report.head, sizeof(j->report.head), "run %" PRId64 " (%.12s%s)", run->id,
		 commit[0] ? commit : "no commit", run->build.dirty ? "+" : "");
}

int assay_gate_judge(const struct assay_gate_input *in, struct assay_gate_report *out, struct assay_err *err)
{
	struct assay_judging j = { .in = in, .report = { .alpha = in->policy->alpha } };
	size_t n;
	int rc;

	rc = assay_policy_check_names(in, err);
	if (rc)
		return rc;
	j.points = calloc(in->n_base + 1, sizeof(*j.points));
	if (!j.points)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging run %" PRId64, in->run->id);
	name_sides(&j);
	assay_gate_check_baseline(&j);
	n = assay_gate_count_comparable(&j);
	j.report.no_baseline = !n && !j.incomparable[0];
	/* Bonferroni: the chance that any of the n intervals misses on its harmful side is alpha. */
	j.error = in->policy->alpha / (double)(n ? n : 1);
	for (size_t i = 0; i < in->run->n_results; i++)
		judge_result(&j, &in->run->results[i]);
	judge_missing(&j);
	assay_gate_believe_unchanged(&j, 1);
	assay_gate_believe_unchanged(&j, -1);
	free(j.points);
	if (j.failed) {
		assay_gate_report_release(&j.report);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging run %" PRId64, in->run->id);
	}
	sum_up(&j);
	*out = j.report;
	return 0;
}

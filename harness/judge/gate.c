/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a run into verdicts: is everything there and right, does it keep its limits, is it slower than it was. */
#include "judge/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/limits.h"
#include "judge/policy_names.h"
#include "judge/stored.h"
#include "model/exact.h"
#include "stats/stats.h"

/* So many cases of unchanged code, and at least this share of them, must have moved for the machine to be blamed. */
#define MOVED_LEAST 2
#define MOVED_FRAC 0.1

struct judging {
	const struct assay_gate_input *in;
	struct assay_gate_report report;
	size_t cap;
	char incomparable[384];            /* why the baseline cannot be used at all; empty: it can */
	double error;                      /* of each side of each interval */
	struct assay_stored_point *points; /* one for each base run */
	bool failed;                       /* out of memory */
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* A row that says PASS and nothing else yet; NULL when out of memory. */
static struct assay_gate_case *add_row(struct judging *j, const char *key, const char *metric,
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

static void add_finding(struct judging *j, const char *key, const char *metric, enum assay_evidence evidence,
			enum assay_verdict verdict, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

static void add_finding(struct judging *j, const char *key, const char *metric, enum assay_evidence evidence,
			enum assay_verdict verdict, const char *fmt, ...)
{
	struct assay_gate_case *c = add_row(j, key, metric, evidence);
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
static bool names_case(const struct judging *j, const struct assay_manifest_entry *e, const struct assay_case *c)
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

static const struct assay_manifest_entry *entry_of(const struct judging *j, const struct assay_case *c)
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

static void add_missing(struct judging *j, const struct assay_manifest_entry *e)
{
	struct assay_gate_case *c = add_row(j, e->key, "status", ASSAY_EVIDENCE_NONE);

	if (!c)
		return;
	c->verdict = ASSAY_NOT_MEASURED;
	c->missing = true;
	snprintf(c->reason, sizeof(c->reason), "in the manifest (line %u) but not in the run%s", e->line,
		 j->in->run->ended_ns ? "" : ", which did not finish");
}

static void judge_missing(struct judging *j)
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
			add_finding(j, e->key, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
				    "not in this build, which the manifest allows");
		else
			add_missing(j, e);
	}
}

/* ---- status ----------------------------------------------------------------------------------------------------- */

static bool right(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_OK && r->checked && r->correct;
}

/* What became of a case that has no time to judge. */
static void judge_failed(struct judging *j, const struct assay_result *r, const struct assay_manifest_entry *e)
{
	const char *key = r->c.key;

	if (r->status == ASSAY_STATUS_WRONG || (r->status == ASSAY_STATUS_OK && r->checked))
		add_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_WRONG_RESULT, "%s",
			    r->reason[0] ? r->reason : "wrong output");
	else if (r->status == ASSAY_STATUS_OK)
		add_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
			    "its output was never compared with the right one");
	else if (r->status == ASSAY_STATUS_SKIPPED && e && e->demand == ASSAY_MANIFEST_REQUIRED)
		add_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
			    "skipped, but the manifest requires it: %s", r->reason);
	else if (r->status == ASSAY_STATUS_SKIPPED)
		add_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS, "skipped: %s", r->reason);
	else
		add_finding(j, key, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "%s: %s",
			    assay_status_name(r->status), r->reason);
}

/* ---- baseline --------------------------------------------------------------------------------------------------- */

static const struct assay_result *result_of(const struct assay_run *run, const char *key)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (!strcmp(run->results[i].c.key, key))
			return &run->results[i];
	return NULL;
}

/* Another machine or other inputs: no time of it may be compared. */
static void check_baseline(struct judging *j)
{
	const struct assay_run *run = j->in->run;

	for (size_t i = 0; i < j->in->n_base; i++) {
		const struct assay_run *b = j->in->base[i];

		if (strcmp(b->machine.id, run->machine.id))
			snprintf(j->incomparable, sizeof(j->incomparable),
				 "run %" PRId64
				 " of the baseline is of another machine: %.8s (%.96s), this is %.8s (%.96s)",
				 b->id, b->machine.id, b->machine.label, run->machine.id, run->machine.label);
		else if (b->seed != run->seed)
			snprintf(j->incomparable, sizeof(j->incomparable),
				 "run %" PRId64 " of the baseline has other inputs: seed %" PRIu64
				 ", this has %" PRIu64,
				 b->id, b->seed, run->seed);
		else
			continue;
		return;
	}
}

/* Exact ops give the same bits on any machine, as long as the inputs are the same. */
static void judge_digest(struct judging *j, const struct assay_result *r)
{
	for (size_t i = 0; r->digest[0] && i < j->in->n_base; i++) {
		const struct assay_run *run = j->in->base[i];
		const struct assay_result *b = run->seed == j->in->run->seed ? result_of(run, r->c.key) : NULL;

		if (!b || !right(b) || !b->digest[0] || !strcmp(b->digest, r->digest))
			continue;
		add_finding(j, r->c.key, "digest", ASSAY_EVIDENCE_EXACT, ASSAY_WRONG_RESULT,
			    "output %.8s… differs from %.8s… in run %" PRId64 " of the baseline, for the same inputs",
			    r->digest, b->digest, run->id);
		return;
	}
}

static double disturbed_frac(const struct assay_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++)
		n += assay_samples_disturbed(&r->samples[i], 1) != 0;
	return r->n_samples ? (double)n / (double)r->n_samples : 0.0;
}

static struct assay_stored_point point_of(const struct assay_result *r)
{
	return (struct assay_stored_point){
		.median = r->median_ns,
		.lo = r->ci95_lo_ns,
		.hi = r->ci95_hi_ns,
		.n = (size_t)llround((double)r->n_samples * (1.0 - r->dropped_frac)),
	};
}

/* Collect what the baseline has of a case. @same_code: every run of it had the very machine code of @r. */
static size_t base_points(struct judging *j, const struct assay_result *r, bool *same_code)
{
	bool same = r->code_hash[0] != '\0';
	size_t n = 0;

	for (size_t i = 0; i < j->in->n_base; i++) {
		const struct assay_result *b = result_of(j->in->base[i], r->c.key);

		if (!b || !right(b) || !b->n_samples)
			continue;
		same = same && !strcmp(b->code_hash, r->code_hash);
		j->points[n++] = point_of(b);
	}
	*same_code = same && n;
	return n;
}

static size_t count_comparable(struct judging *j)
{
	size_t n = 0;
	bool same;

	for (size_t i = 0; i < j->in->run->n_results; i++)
		n += right(&j->in->run->results[i]) && base_points(j, &j->in->run->results[i], &same);
	return n;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Is the interval of a time wholly beyond the margin, on the slower (+1) or on the faster side (-1)? */
static int beyond_margin(const struct assay_gate_case *c)
{
	switch (assay_stored_verdict(c->ci_lo, c->ci_hi, c->margin_frac)) {
	case ASSAY_REGRESSED: return 1;
	case ASSAY_IMPROVED: return -1;
	default: return 0;
	}
}

static void explain_time(struct assay_gate_case *c)
{
	char detail[160] = "";

	if (c->verdict == ASSAY_INCONCLUSIVE && beyond_margin(c))
		snprintf(detail, sizeof(detail), ": the machine changed, not the program");
	else if (c->verdict == ASSAY_INCONCLUSIVE)
		snprintf(detail, sizeof(detail), ": a slowdown of %.1f %% or more would have been seen",
			 100.0 * c->smallest_detectable_frac);
	snprintf(c->reason, sizeof(c->reason), "%s%+.1f %% (%+.1f %% to %+.1f %%), allowed %+g %%%s",
		 c->same_code ? "same code, " : "", 100.0 * (c->ratio - 1.0), 100.0 * (c->ci_lo - 1.0),
		 100.0 * (c->ci_hi - 1.0), 100.0 * c->margin_frac, detail);
}

static void judge_time(struct judging *j, const struct assay_result *r)
{
	const struct assay_policy *p = j->in->policy;
	struct assay_stored_point head = point_of(r);
	double noise = disturbed_frac(r);
	struct assay_stored_compare cmp;
	struct assay_gate_case *c;
	bool same_code;
	size_t n = base_points(j, r, &same_code);

	if (!n) {
		add_finding(j, r->c.key, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
			    "measured and right, not in the baseline");
		return;
	}
	c = add_row(j, r->c.key, "time_s", ASSAY_EVIDENCE_STORED);
	if (!c)
		return;
	c->same_code = same_code;
	c->verdict = ASSAY_INCONCLUSIVE;
	c->margin_frac = assay_policy_margin(p, &r->c);
	c->dropped_frac = r->dropped_frac;
	if (!assay_stored_compare(&head, j->points, n, j->error, c->margin_frac, &cmp)) {
		snprintf(c->reason, sizeof(c->reason),
			 "too few samples for an interval (%zu here), give the case a larger budget", head.n);
		return;
	}
	c->ratio = cmp.ratio;
	c->ci_lo = cmp.lo;
	c->ci_hi = cmp.hi;
	c->smallest_detectable_frac = cmp.detectable_frac;
	if (noise > p->max_dropped_frac) {
		snprintf(c->reason, sizeof(c->reason),
			 "host too noisy: %.0f %% of the samples were disturbed, %g %% are allowed", 100.0 * noise,
			 100.0 * p->max_dropped_frac);
		return;
	}
	c->verdict = assay_stored_verdict(cmp.lo, cmp.hi, c->margin_frac);
	/* The same machine code cannot have become slower or faster: then it is the machine that changed. */
	if (same_code && (c->verdict == ASSAY_REGRESSED || c->verdict == ASSAY_IMPROVED))
		c->verdict = ASSAY_INCONCLUSIVE;
	explain_time(c);
}

/*
 * Code that is the same as in the baseline is the control of the others: where many of its times moved in the same @direction
 * (+1 slower, -1 faster), the machine did it, and such times say nothing about a program.
 */
static void believe_unchanged(struct judging *j, int direction)
{
	struct assay_gate_report *r = &j->report;
	size_t same = 0, moved = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		same += r->cases[i].same_code;
		moved += r->cases[i].same_code && beyond_margin(&r->cases[i]) == direction;
	}
	if (moved < MOVED_LEAST || (double)moved < MOVED_FRAC * (double)same)
		return;
	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *c = &r->cases[i];
		size_t len = strlen(c->reason);

		if (c->evidence != ASSAY_EVIDENCE_STORED || c->verdict != (direction > 0 ? ASSAY_REGRESSED : ASSAY_IMPROVED))
			continue;
		c->verdict = ASSAY_INCONCLUSIVE;
		snprintf(c->reason + len, sizeof(c->reason) - len,
			 "; but so did %zu of %zu cases whose code is the same: the machine changed", moved, same);
	}
}

static void judge_baseline(struct judging *j, const struct assay_result *r)
{
	const char *why = j->in->no_base_reason;

	judge_digest(j, r);
	if (j->incomparable[0])
		add_finding(j, r->c.key, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, "%s", j->incomparable);
	else if (j->report.no_baseline)
		add_finding(j, r->c.key, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, "%s",
			    j->in->n_base ? "the baseline has none of the cases of this run"
			    : why         ? why
					  : "no baseline");
	else
		judge_time(j, r);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

/* The median over the runs of the baseline; NaN when none has it. */
static double base_value(const struct judging *j, const struct assay_result *r, const char *name)
{
	double *x = malloc((j->in->n_base + 1) * sizeof(*x)), median = NAN;
	size_t n = 0;

	for (size_t i = 0; x && !j->incomparable[0] && i < j->in->n_base; i++) {
		const struct assay_result *b = result_of(j->in->base[i], r->c.key);
		struct assay_limit_facts f = { .value = NAN };

		if (b && right(b))
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

static void judge_limits(struct judging *j, const struct assay_result *r)
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
			f.why_no_value = "exact counts are taken of the cases that the suite names in exact \"canon\" { cases = {…} }, and "
					 "not with --evidence stored";
		if (!assay_limit_applies(l, &f))
			continue;
		c = add_row(j, r->c.key, l->metric, ASSAY_EVIDENCE_NONE);
		if (!c)
			return;
		f.base = l->base ? base_value(j, r, l->metric) : NAN;
		f.why_no_base = j->incomparable[0] ? j->incomparable : NULL;
		assay_limit_judge(l, &f, c);
	}
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* The rows from @first on speak of a case that the manifest does not know. */
static void note_unlisted(struct judging *j, size_t first)
{
	for (size_t i = first; i < j->report.n_cases; i++) {
		char *reason = j->report.cases[i].reason;
		size_t len = strlen(reason);

		snprintf(reason + len, sizeof(j->report.cases[i].reason) - len, "; not in the manifest");
	}
}

static void judge_result(struct judging *j, const struct assay_result *r)
{
	const struct assay_manifest_entry *e = entry_of(j, &r->c);
	size_t first = j->report.n_cases;

	if (right(r)) {
		judge_baseline(j, r);
		judge_limits(j, r);
	} else {
		judge_failed(j, r, e);
	}
	if (!e)
		note_unlisted(j, first);
}

static void sum_up(struct judging *j)
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

static void name_sides(struct judging *j)
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
	struct judging j = { .in = in, .report = { .alpha = in->policy->alpha } };
	size_t n;
	int rc;

	rc = assay_policy_check_names(in, err);
	if (rc)
		return rc;
	j.points = calloc(in->n_base + 1, sizeof(*j.points));
	if (!j.points)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging run %" PRId64, in->run->id);
	name_sides(&j);
	check_baseline(&j);
	n = count_comparable(&j);
	j.report.no_baseline = !n && !j.incomparable[0];
	/* Bonferroni: the chance that any of the n intervals misses on its harmful side is alpha. */
	j.error = in->policy->alpha / (double)(n ? n : 1);
	for (size_t i = 0; i < in->run->n_results; i++)
		judge_result(&j, &in->run->results[i]);
	judge_missing(&j);
	believe_unchanged(&j, 1);
	believe_unchanged(&j, -1);
	free(j.points);
	if (j.failed) {
		assay_gate_report_release(&j.report);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging run %" PRId64, in->run->id);
	}
	sum_up(&j);
	*out = j.report;
	return 0;
}

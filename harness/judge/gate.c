/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a run into verdicts: is everything there and right, does it keep its limits, is it slower than it was. */
#include "judge/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "judge/limits.h"
#include "judge/rows.h"
#include "model/exact.h"

struct judging {
	const struct assay_gate_input *in;
	struct assay_gate_report report;
	struct assay_gate_time time;
	struct assay_name_index entries; /* of the manifest, by their keys */
	bool *named;                     /* those that name a case of the run */
	struct assay_err *err;
};

static struct assay_row_name status_of(const char *key)
{
	return (struct assay_row_name){ key, "status", ASSAY_EVIDENCE_NONE };
}

/* ---- manifest --------------------------------------------------------------------------------------------------- */

/* On one core two lines may name a case: the one that asks for most counts. */
static const struct assay_manifest_entry *entry_of(struct judging *j, const struct assay_case *c)
{
	const struct assay_manifest *m = j->in->manifest;
	const struct assay_manifest_entry *strictest = NULL;
	char names[3][ASSAY_KEY_MAX];
	size_t at;

	for (size_t n = assay_manifest_names_of(c, j->in->all_threads, names); n > 0; n--) {
		if (!assay_name_index_find(&j->entries, names[n - 1], &at))
			continue;
		j->named[at] = true;
		if (!strictest || m->entries[at].demand < strictest->demand)
			strictest = &m->entries[at];
	}
	return strictest;
}

static int index_manifest(struct judging *j)
{
	const struct assay_manifest *m = j->in->manifest;
	size_t at;
	int rc = 0;

	j->named = calloc(m->n_entries + 1, sizeof(*j->named));
	if (!j->named)
		return assay_err_set(j->err, ASSAY_ENOMEM, "out of memory judging a run");
	for (size_t i = 0; i < m->n_entries && !rc; i++)
		rc = assay_name_index_put(&j->entries, m->entries[i].key, i, &at, NULL, j->err);
	return rc;
}

/* Does the run have any case of the entry's op and variant? */
static bool variant_took_part(const struct assay_run *run, const struct assay_manifest_entry *e)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (assay_manifest_of_variant(e, &run->results[i].c))
			return true;
	return false;
}

/* The remedy for missing cases, added to the first of them. */
static void hint_at_missing(struct judging *j)
{
	const struct assay_run *run = j->in->run;
	char *hint = j->report.missing_hint;
	const size_t size = sizeof(j->report.missing_hint);

	if (!run->ended_ns)
		return;
	if (assay_run_is_imported(run) && !j->in->manifest->n_entries)
		snprintf(hint, size,
			 "if that is meant, 'assay baseline save NAME --run r%" PRId64
			 "' makes this run what later ones are held against",
			 run->id);
	else if (!assay_run_is_imported(run))
		snprintf(hint, size,
			 "if that is meant, 'assay list --manifest --suite %s > FILE' writes what the suite has, and "
			 "--manifest FILE judges by it",
			 run->suite);
}

/* @key is in @where but not in the run. */
static int add_missing(struct judging *j, const char *key, const char *where)
{
	struct assay_gate_case *c = assay_row_add(&j->report, status_of(key), j->err);
	const bool first = !j->report.missing_hint[0];

	if (!c)
		return ASSAY_ENOMEM;
	c->verdict = ASSAY_NOT_MEASURED;
	c->missing = true;
	if (first)
		hint_at_missing(j);
	snprintf(c->reason, sizeof(c->reason), "in %.220s but not in the run%s%s%s", where,
		 j->in->run->ended_ns ? "" : ", which did not finish", first && j->report.missing_hint[0] ? "; " : "",
		 first ? j->report.missing_hint : "");
	return 0;
}

/* The last row passes @c without numbers: it says so when the policy demands any. */
static void note_skipped(struct judging *j, const struct assay_case *c)
{
	struct assay_gate_case *row = &j->report.cases[j->report.n_cases - 1];
	size_t n = assay_limits_require(j->in->policy, c, false);

	row->skipped = true;
	j->report.n_unjudged += n;
	if (n)
		assay_row_note(row, "; what the policy demands of it was not judged");
}

static int pass_absent(struct judging *j, const struct assay_manifest_entry *e)
{
	struct assay_case c = { .threads = 1 };
	int rc = assay_row_say(&j->report, status_of(e->key), ASSAY_PASS, j->err,
			       "not in this build, which the manifest allows");

	snprintf(c.key, sizeof(c.key), "%s", e->key);
	if (!rc)
		note_skipped(j, &c);
	return rc;
}

static int judge_missing(struct judging *j)
{
	const struct assay_manifest *m = j->in->manifest;
	const struct assay_run *run = j->in->run;
	char where[224];
	int rc = 0;

	for (size_t i = 0; i < m->n_entries && !rc; i++) {
		const struct assay_manifest_entry *e = &m->entries[i];

		if (j->named[i])
			continue;
		snprintf(where, sizeof(where), "the manifest (%.180s:%u)", m->path, e->line);
		rc = e->demand == ASSAY_MANIFEST_OPTIONAL && !variant_took_part(run, e) ? pass_absent(j, e)
											: add_missing(j, e->key, where);
	}
	return rc;
}

/* Runs of other tools need no manifest: where there is none, what the baseline measured must be measured again. */
static bool baseline_demands(const struct judging *j)
{
	return !j->in->manifest->n_entries && assay_run_is_imported(j->in->run);
}

static int judge_gone(struct judging *j)
{
	struct assay_name_index seen = { 0 };
	const struct assay_run *run = j->in->run;
	char where[160];
	bool there;
	size_t at;
	int rc = 0;

	if (!baseline_demands(j))
		return 0;
	for (size_t i = 0; i < run->n_results && !rc; i++)
		rc = assay_name_index_put(&seen, run->results[i].c.key, 0, &at, NULL, j->err);
	for (size_t k = 0; k < j->in->n_base; k++) {
		const struct assay_run *base = j->in->base[k];

		snprintf(where, sizeof(where), "run %" PRId64 " of the baseline", base->id);
		for (size_t i = 0; i < base->n_results && !rc; i++) {
			const struct assay_result *r = &base->results[i];

			if (!assay_run_result_counts(base, r))
				continue;
			rc = assay_name_index_put(&seen, r->c.key, 0, &at, &there, j->err);
			if (!rc && !there)
				rc = add_missing(j, r->c.key, where);
		}
	}
	for (size_t i = 0; i < j->in->n_gone && !rc; i++) {
		const struct assay_gone *gone = &j->in->gone[i];

		snprintf(where, sizeof(where), "run %" PRId64, gone->run_id);
		rc = assay_name_index_put(&seen, gone->key, 0, &at, &there, j->err);
		if (!rc && !there)
			rc = add_missing(j, gone->key, where);
	}
	assay_name_index_release(&seen);
	return rc;
}

/* The run of the baseline that measured what the run skipped, if that counts. */
static const struct assay_run *measured_before(const struct judging *j, const char *key)
{
	for (size_t k = 0; baseline_demands(j) && k < j->in->n_base; k++) {
		const struct assay_result *r = assay_run_result(j->in->base[k], key);

		if (r && assay_run_result_counts(j->in->base[k], r))
			return j->in->base[k];
	}
	return NULL;
}

/* A run that never ended was not judged as a whole, such as by comparing the outputs of variants. */
static int judge_unfinished(struct judging *j)
{
	char key[32];

	if (j->in->run->ended_ns)
		return 0;
	snprintf(key, sizeof(key), "run %" PRId64, j->in->run->id);
	return assay_row_say(&j->report, status_of(key), ASSAY_NOT_MEASURED, j->err,
			     "it did not finish: outputs of variants were not compared with each other, and cases may "
			     "lack rounds; measure a whole run");
}

/* ---- status ----------------------------------------------------------------------------------------------------- */

/* The row of a case that has no time to judge. */
static int judge_failed(struct judging *j, const struct assay_result *r, const struct assay_manifest_entry *e)
{
	const struct assay_row_name name = status_of(r->c.key);
	const struct assay_run *before;
	int rc;

	if (r->status == ASSAY_STATUS_WRONG || (r->status == ASSAY_STATUS_OK && r->checked))
		return assay_row_say(&j->report, name, ASSAY_WRONG_RESULT, j->err, "%s",
				     r->reason[0] ? r->reason : "wrong output");
	if (r->status == ASSAY_STATUS_OK)
		return assay_row_say(&j->report, name, ASSAY_NOT_MEASURED, j->err,
				     "its output was never compared with the right one");
	if (r->status != ASSAY_STATUS_SKIPPED)
		return assay_row_say(&j->report, name, ASSAY_NOT_MEASURED, j->err, "%s: %s",
				     assay_status_name(r->status), r->reason);
	if (e && e->demand == ASSAY_MANIFEST_REQUIRED)
		return assay_row_say(&j->report, name, ASSAY_NOT_MEASURED, j->err,
				     "skipped, but the manifest requires it: %s", r->reason);
	if (!e && assay_limits_require(j->in->policy, &r->c, false))
		return assay_row_say(&j->report, name, ASSAY_NOT_MEASURED, j->err,
				     "skipped, but the policy sets a limit for it: %s", r->reason);
	before = measured_before(j, r->c.key);
	if (before)
		return assay_row_say(&j->report, name, ASSAY_NOT_MEASURED, j->err,
				     "skipped, but run %" PRId64 " of the baseline measured it: %s", before->id,
				     r->reason);
	rc = assay_row_say(&j->report, name, ASSAY_PASS, j->err, "skipped: %s", r->reason);
	if (!rc)
		note_skipped(j, &r->c);
	return rc;
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

struct measured {
	const struct assay_gate_time *time;
	const struct assay_result *r;
	const char *why_not_counted; /* the commands that take exact counts and judge them */
};

static int look_up(const void *arg, const struct assay_limit *l, struct assay_limit_facts *out, struct assay_err *err)
{
	const struct measured *m = arg;

	assay_limit_value(m->r->metrics, m->r->n_metrics, &m->r->counters, l->metric, out);
	if (!isfinite(out->value) && !out->why_no_value && assay_exact_is_metric(l->metric))
		out->why_no_value = m->why_not_counted;
	out->why_no_base = m->time->incomparable[0] ? m->time->incomparable : NULL;
	return l->base ? assay_gate_time_metric(m->time, m->r->c.key, l->metric, &out->base, err) : 0;
}

static int judge_limits(struct judging *j, const struct assay_result *r)
{
	char why[2 * ASSAY_NAME_MAX + ASSAY_KEY_MAX + 160];
	const struct measured m = { &j->time, r, why };
	const struct assay_limit_case c = { .c = &r->c, .countable = j->in->countable, .look_up = look_up, .arg = &m };

	snprintf(why, sizeof(why),
		 "no exact counts of it were taken: 'assay run --suite %s --only %s --evidence exact' takes them, "
		 "'assay gate --suite %s --evidence exact' judges them",
		 j->in->run->suite, r->c.key, j->in->run->suite);
	return assay_limits_judge(j->in->policy, &c, &j->report, j->err);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static int judge_result(struct judging *j, const struct assay_result *r)
{
	const struct assay_manifest_entry *e = entry_of(j, &r->c);
	size_t first = j->report.n_cases;
	int rc;

	if (assay_run_result_counts(j->in->run, r)) {
		rc = assay_gate_time_judge(&j->time, r, &j->report, j->err);
		if (!rc)
			rc = assay_limits_judge_edges(j->in->policy, &r->c, &r->deviation,
						      first < j->report.n_cases ? &j->report.cases[first] : NULL,
						      &j->report, j->err);
		if (!rc)
			rc = judge_limits(j, r);
	} else {
		rc = judge_failed(j, r, e);
	}
	/* runs of other tools need no manifest */
	for (size_t i = first; !e && j->in->manifest->n_entries && i < j->report.n_cases; i++)
		assay_row_note(&j->report.cases[i], "; not in the manifest");
	return rc;
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
	if (j->in->suspects_fail)
		assay_rows_fail_suspects(r);
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
	char build[96];

	snprintf(j->report.base, sizeof(j->report.base), "%s",
		 j->in->n_base ? j->in->base_name ? j->in->base_name : "baseline" : "");
	assay_build_text(&run->build, build, sizeof(build));
	snprintf(j->report.head, sizeof(j->report.head), "run %" PRId64 " (%s)", run->id, build);
}

static int judge_all(struct judging *j)
{
	int rc = index_manifest(j);

	for (size_t i = 0; i < j->in->run->n_results && !rc; i++)
		rc = judge_result(j, &j->in->run->results[i]);
	if (!rc)
		rc = judge_missing(j);
	if (!rc)
		rc = judge_gone(j);
	return rc ? rc : judge_unfinished(j);
}

int assay_gate_judge(const struct assay_gate_input *in, struct assay_gate_report *out, struct assay_err *err)
{
	struct judging j = { .in = in,
			     .report = { .alpha = in->policy->alpha },
			     .time = { .run = in->run,
				       .base = in->base,
				       .n_base = in->n_base,
				       .segments = in->segments,
				       .no_base_reason = in->no_base_reason,
				       .policy = in->policy },
			     .err = err };
	const struct assay_policy_known known = {
		.run = in->run,
		.manifest = in->manifest,
		.manifests = in->other_manifests,
		.n_manifests = in->n_other_manifests,
		.counted = in->countable,
	};
	int rc = assay_policy_check_known(in->policy, &known, err);

	if (rc)
		return rc;
	name_sides(&j);
	if (in->manifest->n_entries)
		snprintf(j.report.manifest, sizeof(j.report.manifest), "%.190s", in->manifest->path);
	if (assay_run_is_imported(in->run))
		snprintf(j.report.unchecked, sizeof(j.report.unchecked),
			 "imported from %s: whether outputs are right, where threads ran and what disturbed them is "
			 "unknown",
			 in->run->imported.format);
	rc = assay_gate_time_begin(&j.time, err);
	j.report.no_baseline = j.time.no_baseline;
	if (!rc)
		rc = judge_all(&j);
	assay_gate_time_release(&j.time);
	assay_name_index_release(&j.entries);
	free(j.named);
	if (rc) {
		assay_gate_report_release(&j.report);
		return rc;
	}
	assay_gate_time_believe_unchanged(&j.report);
	sum_up(&j);
	*out = j.report;
	return 0;
}

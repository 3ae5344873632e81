/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One matrix and one verdict from the databases of all nodes. Runs and comparisons are found again by when they began
 * and where, since a merge gives them other numbers.
 */
#include "drive/fleet/fleet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "drive/compare/compare.h"
#include "drive/exchange/exchange.h"
#include "drive/gate/gate.h"
#include "store/comparison.h"
#include "store/store.h"

struct judging {
	const struct assay_fleet_request *q;
	const struct assay_watch *watch;
	struct assay_fleet_report *r;
	struct assay_run_info *found_runs;               /* one a node, as its own database has it */
	struct assay_comparison_info *found_comparisons; /* likewise */
	struct assay_run_info *runs;                     /* all in the merged database */
	struct assay_comparison_info *comparisons;
	size_t n_runs, n_comparisons;
	uint64_t begun_ns; /* before which no node had begun */
	struct assay_strings
		demanded; /* of a fleet of shards: by the manifest, of a node that did not have it to measure */
	struct assay_strings covered; /* likewise: that a node measured, as manifests write it */
	bool first;                   /* no earlier run of the suite is there to compare with */
};

/* ---- what a node has stored ---- */

/* The newest that ended; *at stays 0 where there is none. */
static int find_in(struct judging *j, size_t i, const char *db, struct assay_err *err)
{
	struct assay_store *store = NULL;
	struct assay_run_info *runs = NULL;
	struct assay_comparison_info *comparisons = NULL;
	size_t n = 0;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	if (!rc && j->q->gate)
		rc = assay_store_comparisons(store, NULL, 1, &comparisons, &n, err);
	else if (!rc)
		rc = assay_store_runs(store, j->q->suite, 1, &runs, &n, err);
	if (!rc && n && j->q->gate && comparisons[0].ended_ns)
		j->found_comparisons[i] = comparisons[0];
	if (!rc && n && !j->q->gate && runs[0].ended_ns)
		j->found_runs[i] = runs[0];
	free(runs);
	free(comparisons);
	assay_store_close(store);
	return rc;
}

/* A database that cannot be read is the node's failure, and no other node's. */
static void find_all(struct judging *j, struct assay_fleet_measured *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct assay_err why = { 0 };

		if (!nodes[i].db)
			continue;
		if (find_in(j, i, nodes[i].db, &why))
			snprintf(nodes[i].reason, sizeof(nodes[i].reason), "%s", why.text);
		else if (!j->found_runs[i].id && !j->found_comparisons[i].id)
			snprintf(nodes[i].reason, sizeof(nodes[i].reason), "its job ended without a finished %s",
				 j->q->gate ? "comparison" : "run");
		else
			continue;
		nodes[i].db = NULL;
	}
}

static int merge(const struct judging *j, const struct assay_fleet_measured *nodes, size_t n, struct assay_err *err)
{
	struct assay_database_report report = { 0 };
	struct assay_strings files = { 0 };
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (nodes[i].db)
			rc = assay_strings_add(&files, nodes[i].db, err);
	if (!rc && files.n)
		rc = assay_database_merge(j->q->db, &files, j->watch, &report, err);
	for (size_t i = 0; i < report.notes.n; i++)
		assay_watch_warn(j->watch, "%s", report.notes.v[i]);
	assay_database_report_release(&report);
	assay_strings_release(&files);
	return rc;
}

static int read_merged(struct judging *j, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, j->q->db, ASSAY_STORE_READ, err);

	if (!rc && j->q->gate)
		rc = assay_store_comparisons(store, NULL, 0, &j->comparisons, &j->n_comparisons, err);
	else if (!rc)
		rc = assay_store_runs(store, j->q->suite, 0, &j->runs, &j->n_runs, err);
	assay_store_close(store);
	return rc;
}

static int64_t merged_run(const struct judging *j, const struct assay_run_info *of)
{
	for (size_t i = 0; i < j->n_runs; i++)
		if (j->runs[i].started_ns == of->started_ns && !strcmp(j->runs[i].machine_id, of->machine_id))
			return j->runs[i].id;
	return 0;
}

static int64_t merged_comparison(const struct judging *j, const struct assay_comparison_info *of)
{
	for (size_t i = 0; i < j->n_comparisons; i++)
		if (j->comparisons[i].started_ns == of->started_ns &&
		    !strcmp(j->comparisons[i].machine_id, of->machine_id))
			return j->comparisons[i].id;
	return 0;
}

/* Nodes of one kind are one machine to the store, so that a run of this fleet must not be the baseline of another. */
static void find_beginning(struct judging *j, size_t n)
{
	uint64_t least_ns = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		const uint64_t ns = j->q->gate ? j->found_comparisons[i].started_ns : j->found_runs[i].started_ns;

		if (ns && ns < least_ns)
			least_ns = ns;
	}
	j->r->started_ns = least_ns < UINT64_MAX ? least_ns : 0;
	j->begun_ns = least_ns - 1;
	j->first = true;
	for (size_t i = 0; i < j->n_runs; i++)
		j->first &= j->runs[i].started_ns > j->begun_ns;
}

/* ---- the matrix ---- */

/* The row of @key, which is most often the one behind the last that was asked for. SIZE_MAX: out of memory. */
static size_t row_of(struct assay_fleet_report *r, const char *key, size_t *last)
{
	const size_t width = r->n_machines;
	struct assay_fleet_cell *cells;
	void *keys;

	for (size_t i = 0; i < r->n_cases; i++) {
		const size_t at = (*last + i) % r->n_cases;

		if (!strcmp(r->keys[at], key))
			return *last = at;
	}
	keys = realloc(r->keys, (r->n_cases + 1) * sizeof(*r->keys));
	if (!keys)
		return SIZE_MAX;
	r->keys = keys;
	cells = realloc(r->cells, (r->n_cases + 1) * width * sizeof(*cells));
	if (!cells)
		return SIZE_MAX;
	r->cells = cells;
	snprintf(r->keys[r->n_cases], sizeof(*r->keys), "%s", key);
	for (size_t k = 0; k < width; k++)
		cells[r->n_cases * width + k] = (struct assay_fleet_cell){
			.verdict = ASSAY_IMPROVED, .median_ns = NAN, .ratio = NAN, .ci_lo = NAN, .ci_hi = NAN
		};
	return *last = r->n_cases++;
}

/* A case has a row for each metric; the gravest says the verdict, that of the time the change. */
static int add_row(struct assay_fleet_report *r, size_t k, const struct assay_gate_case *c, size_t *last)
{
	const size_t i = row_of(r, c->key, last);
	struct assay_fleet_cell *cell;
	enum assay_verdict worse;

	if (i == SIZE_MAX)
		return ASSAY_ENOMEM;
	cell = assay_fleet_cell_at(r, i, k);
	worse = assay_verdict_worse(cell->verdict, c->verdict);
	if (c->reason[0] && c->verdict != ASSAY_PASS && (!cell->reason || worse != cell->verdict)) {
		free(cell->reason);
		cell->reason = strdup(c->reason);
		if (!cell->reason)
			return ASSAY_ENOMEM;
	}
	cell->verdict = worse;
	cell->there = true;
	if (isfinite(c->ratio) && !isfinite(cell->ratio)) {
		cell->ratio = c->ratio;
		cell->ci_lo = c->ci_lo;
		cell->ci_hi = c->ci_hi;
	}
	return 0;
}

/* The verdict of the cases that a node had to measure: of the rest nothing is known yet. */
static void judge_shard(const struct judging *j, const struct assay_gate_report *gate, enum assay_verdict *verdict,
			enum assay_exit *status)
{
	*verdict = j->first ? ASSAY_PASS : ASSAY_IMPROVED;
	*status = ASSAY_EXIT_OK;
	for (size_t i = 0; i < gate->n_cases; i++) {
		/* as a gate that allows it does */
		const bool baseless = j->first && gate->cases[i].verdict == ASSAY_INCOMPARABLE;

		if (gate->cases[i].missing || baseless)
			continue;
		*verdict = assay_verdict_worse(*verdict, gate->cases[i].verdict);
		*status = assay_exit_worse(*status, assay_verdict_exit(gate->cases[i].verdict, j->q->strict));
	}
}

static int add_gate(struct judging *j, size_t k, const struct assay_gate_report *gate, struct assay_err *err)
{
	struct assay_fleet_machine *m = &j->r->machines[k];
	const struct assay_gate_case *worst = NULL;
	enum assay_exit status = gate->exit;
	size_t last = 0;
	int rc = 0;

	m->verdict = gate->verdict;
	if (j->q->shard)
		judge_shard(j, gate, &m->verdict, &status);
	for (size_t i = 0; i < gate->n_cases && !rc; i++) {
		const struct assay_gate_case *c = &gate->cases[i];

		if (j->q->shard && c->missing && !assay_strings_has(&j->demanded, c->key))
			rc = assay_strings_add(&j->demanded, c->key, NULL);
		if (j->q->shard && (c->missing || c->skipped))
			continue;
		rc = add_row(j->r, k, c, &last);
		if (c->verdict == m->verdict && c->verdict != ASSAY_PASS && !worst)
			worst = c;
	}
	if (worst)
		snprintf(m->reason, sizeof(m->reason), "%s", worst->reason);
	j->r->exit = assay_exit_worse(j->r->exit, status);
	return rc ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for the matrix of the fleet") : 0;
}

/* It had the case to measure, so that the manifest's demand is met; one that was skipped passes. */
static int cover(struct judging *j, const struct assay_case *c, struct assay_fleet_cell *cell, struct assay_err *err)
{
	char key[ASSAY_KEY_MAX];

	if (!cell->there)
		cell->verdict = ASSAY_PASS;
	cell->there = true;
	assay_case_portable_key(c, key);
	return assay_strings_add(&j->covered, key, err);
}

/* Rows without a cell: no node had to measure them, or the one that had to is lost. */
static int add_uncovered(struct judging *j, struct assay_err *err)
{
	size_t last = 0;

	for (size_t i = 0; i < j->demanded.n; i++)
		if (!assay_strings_has(&j->covered, j->demanded.v[i]) &&
		    row_of(j->r, j->demanded.v[i], &last) == SIZE_MAX)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the matrix of the fleet");
	return 0;
}

static int add_times(struct judging *j, size_t k, int64_t run, struct assay_err *err)
{
	struct assay_store *store = NULL;
	struct assay_run v = { 0 };
	size_t last = 0;
	int rc = assay_store_open(&store, j->q->db, ASSAY_STORE_READ, err);

	if (!rc)
		rc = assay_store_run_load(store, run, &v, err);
	for (size_t i = 0; i < v.n_results && !rc; i++) {
		const size_t at = row_of(j->r, v.results[i].c.key, &last);

		if (at == SIZE_MAX)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the matrix of the fleet");
		else if (v.results[i].status == ASSAY_STATUS_OK)
			assay_fleet_cell_at(j->r, at, k)->median_ns = v.results[i].median_ns;
		if (!rc && j->q->shard)
			rc = cover(j, &v.results[i].c, assay_fleet_cell_at(j->r, at, k), err);
	}
	assay_run_release(&v);
	assay_store_close(store);
	return rc;
}

/* ---- verdicts ---- */

static int judge_run(struct judging *j, size_t k, struct assay_err *err)
{
	struct assay_fleet_machine *m = &j->r->machines[k];
	struct assay_gate_request q = {
		.db = j->q->db,
		.suite = j->q->suite,
		.begun_ns = j->begun_ns,
		.manifest = j->q->manifest,
		.policy = j->q->policy,
		.allow_no_baseline = j->first,
		.strict = j->q->strict,
		.suspects_fail = j->q->suspects_fail,
	};
	struct assay_gate_report gate = { 0 };
	int rc;

	snprintf(m->machine, sizeof(m->machine), "%s", j->found_runs[k].machine_label);
	q.run_id = m->run = merged_run(j, &j->found_runs[k]);
	rc = assay_gate(&q, j->watch, &gate, err);
	if (!rc)
		rc = add_gate(j, k, &gate, err);
	assay_gate_report_release(&gate);
	return rc ? rc : add_times(j, k, m->run, err);
}

static int judge_comparison(struct judging *j, size_t k, struct assay_err *err)
{
	struct assay_fleet_machine *m = &j->r->machines[k];
	const struct assay_comparison_info *found = &j->found_comparisons[k];
	struct assay_compare_outcome out = { 0 };
	int rc;

	snprintf(m->machine, sizeof(m->machine), "%s", found->machine_label);
	m->comparison = merged_comparison(j, found);
	rc = assay_compare_replay(&(struct assay_replay_request){ .db = j->q->db,
								  .id = m->comparison,
								  .strict = j->q->strict,
								  .suspects_fail = j->q->suspects_fail },
				  j->watch, &out, err);
	if (!rc)
		rc = add_gate(j, k, &out.report, err);
	/* as the comparison names them, which is shorter than a commit */
	if (!rc) {
		snprintf(j->r->base, sizeof(j->r->base), "%s", found->base);
		snprintf(j->r->head, sizeof(j->r->head), "%s", found->head);
	}
	assay_compare_outcome_release(&out);
	return rc;
}

/* All cases that other nodes have are missing here, unless each was to have some of its own. */
static void lose(struct assay_fleet_report *r, size_t k, const char *reason, bool shard)
{
	struct assay_fleet_machine *m = &r->machines[k];

	m->verdict = ASSAY_NOT_MEASURED;
	snprintf(m->reason, sizeof(m->reason), "%s", reason);
	r->exit = assay_exit_worse(r->exit, ASSAY_EXIT_NOT_MEASURED);
	for (size_t i = 0; i < r->n_cases && !shard; i++)
		*assay_fleet_cell_at(r, i, k) = (struct assay_fleet_cell){ .there = true,
									   .verdict = ASSAY_NOT_MEASURED,
									   .median_ns = NAN,
									   .ratio = NAN,
									   .ci_lo = NAN,
									   .ci_hi = NAN };
}

static int judge_all(struct judging *j, const struct assay_fleet_measured *nodes, size_t n, struct assay_err *err)
{
	int rc = 0;

	for (size_t k = 0; k < n && !rc; k++) {
		snprintf(j->r->machines[k].name, sizeof(j->r->machines[k].name), "%s", nodes[k].name);
		if (!nodes[k].db)
			continue;
		rc = j->q->gate ? judge_comparison(j, k, err) : judge_run(j, k, err);
		if (rc)
			assay_err_prefix(err, "node '%s'", nodes[k].name);
	}
	if (!rc)
		rc = add_uncovered(j, err);
	for (size_t k = 0; k < n && !rc; k++)
		if (!nodes[k].db)
			lose(j->r, k, nodes[k].reason, j->q->shard);
	j->r->verdict = n ? ASSAY_IMPROVED : ASSAY_NOT_MEASURED;
	for (size_t k = 0; k < n && !rc; k++)
		j->r->verdict = assay_verdict_worse(j->r->verdict, j->r->machines[k].verdict);
	/* of a shard that has no node: what the manifest demands and nobody measured */
	for (size_t i = 0; i < j->r->n_cases && !rc; i++)
		if (assay_fleet_case_verdict(j->r, i) == ASSAY_NOT_MEASURED) {
			j->r->verdict = assay_verdict_worse(j->r->verdict, ASSAY_NOT_MEASURED);
			j->r->exit = assay_exit_worse(j->r->exit, ASSAY_EXIT_NOT_MEASURED);
		}
	return rc;
}

int assay_fleet_judge(const struct assay_fleet_request *q, struct assay_fleet_measured *nodes, size_t n,
		      const struct assay_watch *w, struct assay_fleet_report *out, struct assay_err *err)
{
	struct judging j = { .q = q, .watch = w, .r = out };
	int rc = 0;

	out->machines = calloc(n + 1, sizeof(*out->machines));
	out->n_machines = n;
	j.found_runs = calloc(n + 1, sizeof(*j.found_runs));
	j.found_comparisons = calloc(n + 1, sizeof(*j.found_comparisons));
	if (!out->machines || !j.found_runs || !j.found_comparisons)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc) {
		find_all(&j, nodes, n);
		rc = merge(&j, nodes, n, err);
	}
	for (size_t i = 0; i < n && !rc; i++)
		if (nodes[i].db) {
			rc = read_merged(&j, err);
			break;
		}
	find_beginning(&j, n);
	if (!rc)
		rc = judge_all(&j, nodes, n, err);
	free(j.found_runs);
	free(j.found_comparisons);
	assay_strings_release(&j.demanded);
	assay_strings_release(&j.covered);
	free(j.runs);
	free(j.comparisons);
	return rc;
}

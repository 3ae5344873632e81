/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole run out of the database. Each table is read once, ordered by result, and merged with the results as it goes
 * by: the number of queries does not depend on the number of cases. All of it in one read transaction, so that a run
 * that is under way is seen at one moment. Beside it, the raw samples of one case.
 */
#include "store/store_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/summary.h"
#include "store/sample_blob.h"
#include "store/store_exact.h"
#include "store/store_rows.h"

struct loader {
	struct assay_store *s;
	struct assay_run run;
	int64_t *ids; /* of the results, ascending, parallel to run.results */
	size_t at;    /* result that the merge has reached */
	struct assay_err *err;
};

static struct assay_store_whole whole(const struct loader *l)
{
	return (struct assay_store_whole){ "run", l->run.id };
}

static int damaged(const struct loader *l, const char *table)
{
	return assay_store_part_damaged(l->s, whole(l), table, l->err);
}

/* Call @each for every row of @sql, whose parameter is the run's id. */
static int for_each(struct loader *l, const char *table, const char *sql, assay_store_each_row each)
{
	l->at = 0;
	return assay_store_for_each(l->s, whole(l), table, sql, each, l, l->err);
}

/* The result that a row of a child table belongs to; rows come in ascending order. NULL: to none. */
static struct assay_result *merge(struct loader *l, int64_t id)
{
	while (l->at < l->run.n_results && l->ids[l->at] < id)
		l->at++;
	return l->at < l->run.n_results && l->ids[l->at] == id ? &l->run.results[l->at] : NULL;
}

static int each_head(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_run *run = &l->run;

	assay_store_row_text(row, run->suite, sizeof(run->suite));
	run->seed = (uint64_t)assay_store_row_int(row);
	run->started_ns = (uint64_t)assay_store_row_int(row);
	run->ended_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_text(row, run->machine.id, sizeof(run->machine.id));
	assay_store_row_text(row, run->machine.label, sizeof(run->machine.label));
	assay_store_row_build(row, &run->build);
	return 0;
}

static int each_environment(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_run *run = &l->run;
	struct assay_fact *f;
	int rc;

	rc = assay_store_grow(&run->environment, run->n_environment, sizeof(*f), l->err);
	if (rc)
		return rc;
	f = &run->environment[run->n_environment++];
	assay_store_row_text(row, f->name, sizeof(f->name));
	assay_store_row_text(row, f->value, sizeof(f->value));
	return 0;
}

/* '0,2,4' */
static int read_cpus(struct loader *l, struct assay_row *row, struct assay_result *r)
{
	const char *p = (const char *)sqlite3_column_text(row->st, row->column++);
	int rc;

	while (p && *p) {
		char *end;
		long cpu = strtol(p, &end, 10);

		if (end == p || (*end && *end != ','))
			return damaged(l, "result");
		rc = assay_store_grow(&r->cpus, r->n_cpus, sizeof(*r->cpus), l->err);
		if (rc)
			return rc;
		r->cpus[r->n_cpus++] = (int)cpu;
		p = *end ? end + 1 : end;
	}
	return 0;
}

static int read_samples(struct loader *l, struct assay_row *row, struct assay_result *r, size_t want)
{
	const void *blob;
	size_t len;
	int rc;

	blob = assay_store_row_blob(row, &len);
	if (blob) {
		rc = assay_sample_blob_decode(blob, len, &r->samples, &r->n_samples, l->err);
		if (rc)
			return assay_err_prefix(l->err, "result of '%s' in database '%.160s'", r->c.key, l->s->path);
	}
	return r->n_samples == want ? 0 : damaged(l, "result_samples");
}

static void read_measurement(struct assay_row *row, struct assay_result *r)
{
	assay_store_row_text(row, r->code_hash, sizeof(r->code_hash));
	r->steady = assay_store_row_bool(row);
	r->converged = assay_store_row_bool(row);
	r->warmup_ns = (uint64_t)assay_store_row_int(row);
	r->numa_node = (int)assay_store_row_int(row);
	r->copies = (uint64_t)assay_store_row_int(row);
	r->started_ns = (uint64_t)assay_store_row_int(row);
}

static int each_result(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_run *run = &l->run;
	char status[ASSAY_NAME_MAX];
	struct assay_result *r;
	size_t n_samples;
	int rc;

	rc = assay_store_grow(&run->results, run->n_results, sizeof(*r), l->err);
	if (!rc)
		rc = assay_store_grow(&l->ids, run->n_results, sizeof(*l->ids), l->err);
	if (rc)
		return rc;
	l->ids[run->n_results] = assay_store_row_int(row);
	r = &run->results[run->n_results++];
	memset(r, 0, sizeof(*r));

	assay_store_row_case(row, &r->c);
	assay_store_row_text(row, status, sizeof(status));
	if (!assay_status_parse(status, &r->status))
		row->bad = true;
	assay_store_row_text(row, r->reason, sizeof(r->reason));
	r->checked = assay_store_row_bool(row);
	r->correct = assay_store_row_bool(row);
	assay_store_row_text(row, r->digest, sizeof(r->digest));
	r->max_rel_err = assay_store_row_real(row);
	read_measurement(row, r);
	rc = read_cpus(l, row, r);
	n_samples = (size_t)assay_store_row_int(row);
	if (!rc)
		rc = read_samples(l, row, r, n_samples);
	return rc ? rc : assay_summary_fill(r, l->err);
}

static int each_axis(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *r = merge(l, assay_store_row_int(row));

	if (!r)
		return damaged(l, "case_axis");
	assay_store_row_axis(row, &r->c);
	return 0;
}

static int each_metric(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *r = merge(l, assay_store_row_int(row));
	struct assay_metric m = { 0 };

	if (!r)
		return damaged(l, "result_metric");
	assay_store_row_metric(row, &m);
	if (assay_result_put_metric(r, &m))
		return assay_err_set(l->err, ASSAY_ENOMEM, "out of memory");
	return 0;
}

static int each_counter(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *r = merge(l, assay_store_row_int(row));

	return r ? assay_store_row_count(row, &r->counters, l->err) : damaged(l, "result_counter");
}

static int each_missing(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *r = merge(l, assay_store_row_int(row));

	return r ? assay_store_row_missing(row, &r->counters, l->err) : damaged(l, "result_unavailable");
}

static const char head_sql[] =
	"SELECT run.suite, run.seed, run.started_ns, run.ended_ns, m.id, m.label,"
	" b.id, b.commit_hash, b.dirty, b.compiler, b.flags, b.plugins"
	" FROM run JOIN machine m ON m.id = run.machine JOIN build b ON b.id = run.build WHERE run.id = ?";

static const char environment_sql[] = "SELECT name, value FROM environment WHERE run = ? ORDER BY place";

static const char result_sql[] =
	"SELECT r.id, c.key, c.op, c.variant, c.threads, c.cache, r.all_threads, r.budget_ns, r.timeout_ns, "
	"r.memory_bytes,"
	" r.status, r.reason, r.checked, r.correct, r.digest, r.max_rel_err,"
	" r.code_hash, r.steady, r.converged, r.warmup_ns, r.numa_node, r.copies, r.started_ns,"
	" r.cpus, r.n_samples, d.encoded"
	" FROM result r JOIN bench_case c ON c.id = r.bench_case LEFT JOIN result_samples d ON d.result = r.id"
	" WHERE r.run = ? ORDER BY r.id";

static const char axis_sql[] =
	"SELECT r.id, a.name, a.text, a.value FROM result r JOIN case_axis a ON a.bench_case = r.bench_case"
	" WHERE r.run = ? ORDER BY r.id, a.place";

static const char metric_sql[] = "SELECT r.id, m.tag, m.unit, m.better, m.value, m.source, m.estimated FROM result r "
				 "JOIN result_metric m ON m.result = r.id"
				 " WHERE r.run = ? ORDER BY r.id, m.place";

static const char counter_sql[] =
	"SELECT r.id, c.name, c.source, c.value, c.how, c.per_iteration, c.running_frac"
	" FROM result r JOIN result_counter c ON c.result = r.id WHERE r.run = ? ORDER BY r.id, c.place";

static const char missing_sql[] =
	"SELECT r.id, u.name, u.source, u.reason FROM result r JOIN result_unavailable u ON u.result = r.id"
	" WHERE r.run = ? ORDER BY r.id, u.place";

static int load_exact(struct loader *l)
{
	struct assay_exact_run *exact = calloc(1, sizeof(*exact));
	int rc;

	if (!exact)
		return assay_err_set(l->err, ASSAY_ENOMEM, "out of memory");
	rc = assay_store_exact_of_run(l->s, l->run.id, exact, l->err);
	if (rc)
		free(exact);
	else
		l->run.exact = exact;
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

static int load(struct loader *l)
{
	int rc = l->run.id ? 0 : assay_store_newest(l->s, "SELECT max(id) FROM run", "run", "run", &l->run.id, l->err);

	if (!rc)
		rc = for_each(l, "run", head_sql, each_head);
	if (!rc && !l->run.suite[0])
		rc = assay_err_set(l->err, ASSAY_ENOTFOUND, "no run %lld in '%.200s'", (long long)l->run.id,
				   l->s->path);
	if (!rc)
		rc = assay_store_read_facts(l->s, &l->run.machine, l->err);
	if (!rc)
		rc = for_each(l, "environment", environment_sql, each_environment);
	if (!rc)
		rc = for_each(l, "result", result_sql, each_result);
	if (!rc)
		rc = for_each(l, "case_axis", axis_sql, each_axis);
	if (!rc)
		rc = for_each(l, "result_metric", metric_sql, each_metric);
	if (!rc)
		rc = for_each(l, "result_counter", counter_sql, each_counter);
	if (!rc)
		rc = for_each(l, "result_unavailable", missing_sql, each_missing);
	if (!rc)
		rc = load_exact(l);
	return rc;
}

int assay_store_run_load(struct assay_store *s, int64_t id, struct assay_run *out, struct assay_err *err)
{
	struct loader l = { .s = s, .run.id = id, .err = err };
	int rc;

	rc = assay_store_begin_read(s, err);
	if (rc)
		return rc;
	rc = assay_store_finish(s, load(&l), err);
	free(l.ids);
	if (rc)
		assay_run_release(&l.run);
	else
		*out = l.run;
	return rc;
}

int assay_store_samples_load(struct assay_store *s, int64_t run_id, const char *key, struct assay_sample **out,
			     size_t *n, struct assay_err *err)
{
	static const char sql[] = "SELECT p.encoded FROM bench_case c JOIN result r ON r.bench_case = c.id"
				  " LEFT JOIN result_samples p ON p.result = r.id WHERE c.key = ? AND r.run = ?";
	struct assay_sample *samples = NULL;
	struct assay_binder b;
	size_t n_samples = 0;
	int sqlite_rc, rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, key);
	assay_store_bind_int(&b, run_id);
	sqlite_rc = assay_store_step(&b);
	if (sqlite_rc == SQLITE_DONE) {
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "run %lld has no result of '%.255s'", (long long)run_id, key);
	} else if (sqlite_rc != SQLITE_ROW) {
		return assay_store_fail(s, sqlite_rc, err, "cannot read the samples of '%.100s'", key);
	} else {
		struct assay_row row = assay_store_row(b.st);
		size_t len;
		const void *blob = assay_store_row_blob(&row, &len);

		if (blob)
			rc = assay_sample_blob_decode(blob, len, &samples, &n_samples, err);
	}
	sqlite3_reset(b.st);
	if (!rc) {
		*out = samples;
		*n = n_samples;
	}
	return rc;
}

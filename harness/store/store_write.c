/* SPDX-License-Identifier: Apache-2.0 */
/* Adding runs and results. A result is one transaction, so that a kill loses at most the case in flight. */
#include "store/store_db.h"

#include <math.h>
#include <stdlib.h>

#include "store/sample_blob.h"
#include "store/store_rows.h"

static int add_environment(struct assay_store *s, const struct assay_run *run, int64_t id, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO environment (run, place, name, value) VALUES (?, ?, ?, ?)";
	sqlite3_stmt *st;
	int rc;

	rc = assay_store_prepare(s, sql, &st, err);
	for (size_t i = 0; i < run->n_environment && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_int(&b, id);
		assay_store_bind_size(&b, i);
		assay_store_bind_text(&b, run->environment[i].name);
		assay_store_bind_text(&b, run->environment[i].value);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "fact", run->environment[i].name);
	}
	return rc;
}

static int add_run(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO run (suite, seed, started_ns, machine, build) VALUES (?, ?, ?, ?, ?)";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, run->suite);
	assay_store_bind_int(&b, (int64_t)run->seed);
	assay_store_bind_size(&b, run->started_ns);
	assay_store_bind_text(&b, run->machine.id);
	assay_store_bind_text(&b, run->build.id);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "run of suite", run->suite);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int assay_store_run_begin(struct assay_store *s, struct assay_run *run, struct assay_err *err)
{
	int64_t id = 0;
	int rc;

	rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = assay_store_put_machine(s, &run->machine, err);
	if (!rc)
		rc = assay_store_put_build(s, &run->build, err);
	if (!rc)
		rc = add_run(s, run, &id, err);
	if (!rc)
		rc = add_environment(s, run, id, err);
	rc = assay_store_finish(s, rc, err);
	if (!rc)
		run->id = id;
	return rc;
}

int assay_store_run_end(struct assay_store *s, int64_t run_id, uint64_t ended_ns, struct assay_err *err)
{
	static const char sql[] = "UPDATE run SET ended_ns = ? WHERE id = ? AND ended_ns IS NULL";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_size(&b, ended_ns);
	assay_store_bind_int(&b, run_id);
	rc = assay_store_step_once(&b);
	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot end run %lld", (long long)run_id);
	if (!sqlite3_changes(s->db))
		return assay_err_set(err, ASSAY_ENOTFOUND, "no open run %lld in '%.200s'", (long long)run_id, s->path);
	return 0;
}

/* Numbers that are none get a message that names them; the CHECKs of the schema would only name a column. */
static int check_numbers(const struct assay_result *r, struct assay_err *err)
{
	const struct {
		const char *name;
		double value;
	} own[] = {
		{ "median_ns", r->median_ns },
		{ "ci95_lo_ns", r->ci95_lo_ns },
		{ "ci95_hi_ns", r->ci95_hi_ns },
		{ "min_ns", r->min_ns },
		{ "mad_ns", r->mad_ns },
		{ "dropped_frac", r->dropped_frac },
		/* a wrong output may be infinitely wrong */
		{ "max_rel_err", r->status == ASSAY_STATUS_OK ? r->max_rel_err : 0 },
	};
	char what[160];

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!isfinite(own[i].value))
			return assay_err_set(err, ASSAY_ELIMIT, "cannot store '%.255s': %s is %g, not a finite number",
					     r->c.key, own[i].name, own[i].value);
	if (assay_store_not_finite(r->metrics, r->n_metrics, &r->counters, what, sizeof(what)))
		return assay_err_set(err, ASSAY_ELIMIT, "cannot store '%.255s': %s, not a finite number", r->c.key,
				     what);
	return 0;
}

static void bind_outcome(struct assay_binder *b, const struct assay_result *r)
{
	assay_store_bind_text(b, assay_status_name(r->status));
	assay_store_bind_text(b, r->reason);
	assay_store_bind_int(b, r->checked);
	assay_store_bind_int(b, r->correct);
	assay_store_bind_text(b, r->digest);
	if (isfinite(r->max_rel_err) && r->max_rel_err >= 0)
		assay_store_bind_real(b, r->max_rel_err);
	else
		assay_store_bind_null(b);
}

static void bind_measurement(struct assay_binder *b, const struct assay_result *r)
{
	assay_store_bind_text(b, r->code_hash);
	assay_store_bind_int(b, r->steady);
	assay_store_bind_int(b, r->converged);
	assay_store_bind_size(b, r->warmup_ns);
	assay_store_bind_size(b, r->n_samples);
	assay_store_bind_size(b, r->iterations);
	assay_store_bind_real(b, r->median_ns);
	assay_store_bind_real(b, r->ci95_lo_ns);
	assay_store_bind_real(b, r->ci95_hi_ns);
	assay_store_bind_real(b, r->min_ns);
	assay_store_bind_real(b, r->mad_ns);
	assay_store_bind_real(b, r->dropped_frac);
	assay_store_bind_int(b, r->numa_node);
	assay_store_bind_size(b, r->copies);
	assay_store_bind_size(b, r->started_ns);
}

static int insert_result(struct assay_store *s, int64_t run_id, int64_t case_id, const struct assay_result *r,
			 int64_t *id, struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO result (run, bench_case, all_threads, budget_ns, timeout_ns, memory_bytes, cpus,"
		" status, reason, checked, correct, digest, max_rel_err,"
		" code_hash, steady, converged, warmup_ns, n_samples, iterations,"
		" median_ns, ci95_lo_ns, ci95_hi_ns, min_ns, mad_ns, dropped_frac, numa_node, copies, started_ns)"
		" VALUES (?,?,?,?,?,?,?, ?,?,?,?,?,?, ?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?)";
	struct assay_text cpus = { 0 };
	struct assay_binder b;
	sqlite3_stmt *st;
	char *list;
	int rc;

	rc = assay_store_prepare(s, sql, &st, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < r->n_cpus; i++)
		assay_text_addf(&cpus, "%s%d", i ? "," : "", r->cpus[i]);
	list = assay_text_take(&cpus);
	if (!list)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	b = assay_store_bind(st);
	assay_store_bind_int(&b, run_id);
	assay_store_bind_int(&b, case_id);
	assay_store_bind_int(&b, r->c.all_threads);
	assay_store_bind_size(&b, r->c.budget_ns);
	assay_store_bind_size(&b, r->c.timeout_ns);
	assay_store_bind_size(&b, r->c.memory_bytes);
	assay_store_bind_text(&b, list);
	bind_outcome(&b, r);
	bind_measurement(&b, r);
	rc = assay_store_step_once(&b);
	free(list);
	if (rc == SQLITE_CONSTRAINT_UNIQUE)
		return assay_err_set(err, ASSAY_ESTORE, "run %lld already has a result of '%.255s'", (long long)run_id,
				     r->c.key);
	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return assay_err_set(err, ASSAY_ENOTFOUND, "no run %lld in '%.200s'", (long long)run_id, s->path);
	rc = assay_store_done(s, rc, err, "result of", r->c.key);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static int add_samples(struct assay_store *s, int64_t result, const struct assay_result *r, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO result_samples (result, encoded) VALUES (?, ?)";
	unsigned char *blob = NULL;
	struct assay_binder b;
	sqlite3_stmt *st;
	size_t len = 0;
	int rc;

	rc = assay_store_prepare(s, sql, &st, err);
	if (!rc)
		rc = assay_sample_blob_encode(r->samples, r->n_samples, &blob, &len, err);
	if (rc)
		return rc;
	b = assay_store_bind(st);
	assay_store_bind_int(&b, result);
	assay_store_bind_blob(&b, blob, len);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "samples of", r->c.key);
	free(blob);
	return rc;
}

static int find_result(struct assay_store *s, int64_t run_id, const char *key, int64_t *id, struct assay_err *err)
{
	static const char sql[] = "SELECT r.id FROM bench_case c JOIN result r ON r.bench_case = c.id"
				  " WHERE c.key = ? AND r.run = ?";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, key);
	assay_store_bind_int(&b, run_id);
	rc = assay_store_step(&b);
	if (rc == SQLITE_ROW)
		*id = sqlite3_column_int64(b.st, 0);
	sqlite3_reset(b.st);
	if (rc == SQLITE_DONE)
		return assay_err_set(err, ASSAY_ENOTFOUND, "run %lld has no result of '%.255s'", (long long)run_id,
				     key);
	return rc == SQLITE_ROW ? 0 : assay_store_fail(s, rc, err, "cannot look up '%.100s'", key);
}

/* Run @sql for result @id, its last parameter; the others are what @bind binds of @r. NULL: there are none. */
static int update_result(struct assay_store *s, const char *sql,
			 void (*bind)(struct assay_binder *, const struct assay_result *), int64_t id,
			 const struct assay_result *r, struct assay_err *err)
{
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	if (bind)
		bind(&b, r);
	assay_store_bind_int(&b, id);
	return assay_store_done(s, assay_store_step_once(&b), err, "result of", r->c.key);
}

/* Metrics and counts are put again afterwards. */
static int replace_outcome(struct assay_store *s, int64_t id, const struct assay_result *r, struct assay_err *err)
{
	static const char *const clear[] = {
		"DELETE FROM result_metric WHERE result = ?",
		"DELETE FROM result_counter WHERE result = ?",
		"DELETE FROM result_unavailable WHERE result = ?",
	};
	int rc = update_result(
		s,
		"UPDATE result SET status = ?, reason = ?, checked = ?, correct = ?, digest = ?, max_rel_err = ?"
		" WHERE id = ?",
		bind_outcome, id, r, err);

	for (size_t i = 0; i < sizeof(clear) / sizeof(clear[0]) && !rc; i++)
		rc = update_result(s, clear[i], NULL, id, r, err);
	return rc;
}

static int replace_measurement(struct assay_store *s, int64_t id, const struct assay_result *r, struct assay_err *err)
{
	return update_result(s,
			     "UPDATE result SET code_hash = ?, steady = ?, converged = ?, warmup_ns = ?, n_samples = "
			     "?, iterations = ?,"
			     " median_ns = ?, ci95_lo_ns = ?, ci95_hi_ns = ?, min_ns = ?, mad_ns = ?, dropped_frac = ?,"
			     " numa_node = ?, copies = ?, started_ns = ? WHERE id = ?",
			     bind_measurement, id, r, err);
}

static int add_numbers(struct assay_store *s, int64_t id, const struct assay_result *r, struct assay_err *err)
{
	int rc = assay_store_put_metrics(s, ASSAY_STORE_RESULT, id, r->metrics, r->n_metrics, err);

	return rc ? rc : assay_store_put_counters(s, ASSAY_STORE_RESULT, id, &r->counters, err);
}

/* What hangs on a result; the result itself is there. */
static int add_parts(struct assay_store *s, int64_t id, const struct assay_result *r, struct assay_err *err)
{
	int rc = r->n_samples ? add_samples(s, id, r, err) : 0;

	return rc ? rc : add_numbers(s, id, r, err);
}

int assay_store_result_add(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err)
{
	int64_t case_id = 0, id = 0;
	int rc;

	rc = check_numbers(r, err);
	if (!rc)
		rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = assay_store_put_case(s, &r->c, &case_id, err);
	if (!rc)
		rc = insert_result(s, run_id, case_id, r, &id, err);
	if (!rc)
		rc = add_parts(s, id, r, err);
	return assay_store_finish(s, rc, err);
}

int assay_store_result_replace(struct assay_store *s, int64_t run_id, const struct assay_result *r,
			       struct assay_err *err)
{
	int64_t id = 0;
	int rc;

	rc = check_numbers(r, err);
	if (!rc)
		rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = find_result(s, run_id, r->c.key, &id, err);
	if (!rc)
		rc = update_result(s, "DELETE FROM result_samples WHERE result = ?", NULL, id, r, err);
	/*
	 * a result that is ok must have a measurement, one that is not may have none: the schema checks both together
	 */
	if (!rc)
		rc = r->status == ASSAY_STATUS_OK ? replace_measurement(s, id, r, err) : replace_outcome(s, id, r, err);
	if (!rc)
		rc = r->status == ASSAY_STATUS_OK ? replace_outcome(s, id, r, err) : replace_measurement(s, id, r, err);
	if (!rc)
		rc = add_parts(s, id, r, err);
	return assay_store_finish(s, rc, err);
}

int assay_store_metrics_put(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err)
{
	int64_t id = 0;
	int rc;

	rc = check_numbers(r, err);
	if (!rc)
		rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = find_result(s, run_id, r->c.key, &id, err);
	if (!rc)
		rc = replace_outcome(s, id, r, err);
	if (!rc)
		rc = add_numbers(s, id, r, err);
	return assay_store_finish(s, rc, err);
}

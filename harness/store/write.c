/* SPDX-License-Identifier: Apache-2.0 */
/* Adding runs and results. A result is one transaction, so that a kill loses at most the case in flight. */
#include "store/store.h"

#include <math.h>
#include <stdlib.h>

#include "store/blobs.h"
#include "store/rows.h"

static int add_run(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err)
{
	struct assay_binder b =
		assay_store_ask(s, err, "INSERT INTO run ({}) VALUES ({?})", NULL, "c", &assay_store_run_columns, run);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "run of suite", run->suite);

	if (rc)
		return rc;
	*id = sqlite3_last_insert_rowid(s->db);
	return assay_store_put_part(s, &assay_store_environment, *id, run->environment, run->n_environment, err);
}

/* Inside a transaction. */
static int put_run(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err)
{
	int rc = assay_store_put_machine(s, &run->machine, err);

	if (!rc)
		rc = assay_store_put_build(s, &run->build, err);
	return rc ? rc : add_run(s, run, id, err);
}

int assay_store_run_end(struct assay_store *s, int64_t run_id, uint64_t ended_ns, struct assay_err *err)
{
	static const char sql[] = "UPDATE run SET ended_ns = ? WHERE id = ? AND ended_ns IS NULL";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "si", ended_ns, run_id);
	int rc = assay_store_step_once(&b);

	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot end run %lld", (long long)run_id);
	if (!sqlite3_changes(s->db))
		return assay_err_set(err, ASSAY_ENOTFOUND, "no open run %lld in '%.200s'", (long long)run_id, s->path);
	assay_store_cases_forget_run(s);
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
		{ "roof_least_frac", r->roof.in_turn.least_frac },
		{ "roof_most_frac", r->roof.in_turn.most_frac },
		/* a wrong output may be infinitely wrong */
		{ "max_rel_err", r->status == ASSAY_STATUS_OK ? r->max_rel_err : 0 },
	};
	char what[160];

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!isfinite(own[i].value))
			return assay_err_set(err, ASSAY_ELIMIT, "cannot store '%.255s': %s is %g, not a finite number",
					     r->c.key, own[i].name, own[i].value);
	if (assay_store_not_finite(r, what, sizeof(what)))
		return assay_err_set(err, ASSAY_ELIMIT, "cannot store '%.255s': %s, not a finite number", r->c.key,
				     what);
	return 0;
}

/* All that a result says of itself; the limits of its case stand before. */
static const struct assay_columns *const whole[] = { &assay_store_outcome_columns, &assay_store_measurement_columns,
						     &assay_store_statistics_columns };

/* A result on its way into the database. */
struct writing {
	const struct assay_result *r;
	int64_t run_id;
	const struct assay_store_case *c;
	int64_t series;
};

static int insert_result(struct assay_store *s, const struct writing *w, int64_t *id, struct assay_err *err)
{
	struct assay_binder b =
		assay_store_ask(s, err,
				"INSERT INTO result (run, bench_case, series, {}, {}, {}, {})"
				" VALUES (?, ?, ?, {?}, {?}, {?}, {?})",
				NULL, "iiicccc", w->run_id, w->c->id, w->series, &assay_store_limit_columns, &w->r->c,
				whole[0], w->r, whole[1], w->r, whole[2], w->r);
	int rc = assay_store_step_once(&b);

	if (rc == SQLITE_CONSTRAINT_UNIQUE)
		return assay_err_set(err, ASSAY_ESTORE, "run %lld already has a result of '%.255s'",
				     (long long)w->run_id, w->r->c.key);
	rc = assay_store_done(s, rc, err, "result of", w->r->c.key);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static int put_samples(struct assay_store *s, int64_t result, const struct assay_result *r, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO result_samples (result, encoded) VALUES (?, ?)";
	unsigned char *blob = NULL;
	struct assay_binder b;
	size_t len = 0;
	int rc = assay_sample_blob_encode(r->samples, r->n_samples, &blob, &len, err);

	if (rc)
		return rc;
	b = assay_store_ask(s, err, sql, NULL, "ib", result, blob, len);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "samples of", r->c.key);
	free(blob);
	return rc;
}

static int find_result(struct assay_store *s, int64_t run_id, const char *key, int64_t *id, struct assay_err *err)
{
	static const char sql[] = "SELECT r.id FROM bench_case c JOIN result r ON r.bench_case = c.id"
				  " WHERE c.key = ? AND r.run = ?";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "ti", key, run_id);
	int rc;

	*id = 0;
	rc = assay_store_read_number(s, &b, "'result'", id, err);
	if (!rc && !*id)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "run %lld has no result of '%.255s'", (long long)run_id, key);
	return rc;
}

/* Run @sql for result @id, its last parameter; the others are the first @n lists of the whole. */
static int change_result(struct assay_store *s, const char *sql, size_t n, int64_t id, const struct assay_result *r,
			 struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, whole, "");

	for (size_t i = 0; i < n; i++)
		assay_store_bind_columns(&b, whole[i], r);
	assay_store_bind_int(&b, id);
	return assay_store_done(s, assay_store_step_once(&b), err, "result of", r->c.key);
}

/* Metrics, counts and reasons in place of those that result @id has. */
static int replace_numbers(struct assay_store *s, int64_t id, const struct assay_result *r, struct assay_err *err)
{
	int rc = change_result(s, "DELETE FROM result_numbers WHERE result = ?", 0, id, r, err);

	return rc ? rc : assay_store_put_result_numbers(s, id, r, err);
}

/* Inside a transaction. */
static int put_result(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err)
{
	struct writing w = { .r = r, .run_id = run_id };
	int64_t id = 0;
	int rc = assay_store_put_case(s, &r->c, &w.c, err);

	if (!rc)
		rc = assay_store_put_series(s, r->c.key, w.c, run_id, &w.series, err);
	if (!rc)
		rc = insert_result(s, &w, &id, err);
	if (!rc && r->n_samples)
		rc = put_samples(s, id, r, err);
	return rc ? rc : assay_store_put_result_numbers(s, id, r, err);
}

/* Begin a transaction that stores @r. */
static int begin_result(struct assay_store *s, const struct assay_result *r, struct assay_err *err)
{
	int rc = check_numbers(r, err);

	return rc ? rc : assay_store_begin(s, err);
}

int assay_store_result_add(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err)
{
	int rc = begin_result(s, r, err);

	if (rc)
		return rc;
	rc = put_result(s, run_id, r, err);
	return assay_store_finish(s, rc, err);
}

int assay_store_run_begin_with(struct assay_store *s, struct assay_run *run, const struct assay_result *first,
			       struct assay_err *err)
{
	int64_t id = 0;
	int rc = first ? begin_result(s, first, err) : assay_store_begin(s, err);

	if (rc)
		return rc;
	rc = put_run(s, run, &id, err);
	if (!rc && first)
		rc = put_result(s, id, first, err);
	rc = assay_store_finish(s, rc, err);
	if (!rc)
		run->id = id;
	return rc;
}

int assay_store_run_begin(struct assay_store *s, struct assay_run *run, struct assay_err *err)
{
	return assay_store_run_begin_with(s, run, NULL, err);
}

/* Change the result of the case of @r; @measured: all that it says of itself, and not only what the run adds. */
static int update(struct assay_store *s, int64_t run_id, const struct assay_result *r, bool measured,
		  struct assay_err *err)
{
	int64_t id = 0;
	int rc = begin_result(s, r, err);

	if (rc)
		return rc;
	rc = find_result(s, run_id, r->c.key, &id, err);
	if (!rc && measured)
		rc = change_result(s, "DELETE FROM result_samples WHERE result = ?", 0, id, r, err);
	if (!rc)
		rc = measured ? change_result(s, "UPDATE result SET {=?}, {=?}, {=?} WHERE id = ?", 3, id, r, err)
			      : change_result(s, "UPDATE result SET {=?} WHERE id = ?", 1, id, r, err);
	if (!rc && measured && r->n_samples)
		rc = put_samples(s, id, r, err);
	if (!rc)
		rc = replace_numbers(s, id, r, err);
	return assay_store_finish(s, rc, err);
}

int assay_store_result_replace(struct assay_store *s, int64_t run_id, const struct assay_result *r,
			       struct assay_err *err)
{
	return update(s, run_id, r, true, err);
}

int assay_store_metrics_put(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err)
{
	return update(s, run_id, r, false, err);
}

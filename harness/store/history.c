/* SPDX-License-Identifier: Apache-2.0 */
/* Questions across runs and comparisons: lists of both, the run to compare with, the history of a case. */
#include "store/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "store/rows.h"

static const struct assay_column run_list[] = {
	ASSAY_COLUMN(struct assay_run_info, id, "run.id"),
	ASSAY_COLUMN(struct assay_run_info, suite, "run.suite"),
	ASSAY_COLUMN_SEED(struct assay_run_info, seed, "run.seed"),
	ASSAY_COLUMN(struct assay_run_info, started_ns, "run.started_ns"),
	ASSAY_COLUMN(struct assay_run_info, ended_ns, "run.ended_ns"),
	ASSAY_COLUMN(struct assay_run_info, machine_id, "m.id"),
	ASSAY_COLUMN(struct assay_run_info, machine_label, "m.label"),
	ASSAY_COLUMN(struct assay_run_info, n_cases, "(SELECT count(*) FROM result WHERE run = run.id)"),
	ASSAY_COLUMN(struct assay_run_info, n_ok, "(SELECT count(*) FROM result WHERE run = run.id AND status = 'ok')"),
	ASSAY_COLUMN(struct assay_run_info, imported, "run.imported"),
	ASSAY_COLUMN(struct assay_run_info, label, "run.label"),
	ASSAY_COLUMN(struct assay_run_info, started_unknown, "run.started_unknown"),
};
static const struct assay_columns run_columns = ASSAY_COLUMNS(run_list);
static const struct assay_columns *const run_lists[] = { &run_columns, &assay_store_commit_columns };

static void read_run_revision(struct assay_row *row, void *element)
{
	((struct assay_run_info *)element)->revision = assay_store_row_revision(row);
}

static const struct assay_store_rows run_rows = { "the list of runs", sizeof(struct assay_run_info), &run_columns,
						  read_run_revision };

/* A WHERE that says which runs follows. */
#define RUN_INFO "SELECT {}, {b} FROM run JOIN build b ON b.id = run.build JOIN machine m ON m.id = run.machine"

int assay_store_runs(struct assay_store *s, const char *suite, size_t limit, struct assay_run_info **out, size_t *n,
		     struct assay_err *err)
{
	static const char sql[] =
		RUN_INFO " WHERE ?1 IS NULL OR run.suite = ?1 ORDER BY run.started_ns DESC, run.id DESC LIMIT ?2";
	struct assay_binder b =
		assay_store_ask(s, err, sql, run_lists, "ti", suite, limit && limit <= INT64_MAX ? (int64_t)limit : -1);

	return assay_store_collect(s, &b, &run_rows, out, n, err);
}

int assay_store_newest_runs(struct assay_store *s, struct assay_run_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		RUN_INFO " WHERE run.id IN (SELECT (SELECT r.id FROM run r WHERE r.machine = machine.id"
			 " ORDER BY r.started_ns DESC, r.id DESC LIMIT 1) FROM machine)"
			 " ORDER BY run.started_ns DESC, run.id DESC";
	struct assay_binder b = assay_store_ask(s, err, sql, run_lists, "");

	return assay_store_collect(s, &b, &run_rows, out, n, err);
}

static const struct assay_column comparison_list[] = {
	ASSAY_COLUMN(struct assay_comparison_info, id, "k.id"),
	ASSAY_COLUMN(struct assay_comparison_info, base, "k.base"),
	ASSAY_COLUMN(struct assay_comparison_info, head, "k.head"),
	ASSAY_COLUMN(struct assay_comparison_info, suite, "k.suite"),
	ASSAY_COLUMN_SEED(struct assay_comparison_info, seed, "k.seed"),
	ASSAY_COLUMN(struct assay_comparison_info, started_ns, "k.started_ns"),
	ASSAY_COLUMN(struct assay_comparison_info, ended_ns, "k.ended_ns"),
	ASSAY_COLUMN(struct assay_comparison_info, machine_id, "m.id"),
	ASSAY_COLUMN(struct assay_comparison_info, machine_label, "m.label"),
	ASSAY_COLUMN(struct assay_comparison_info, verdict, "k.verdict"),
	ASSAY_COLUMN(struct assay_comparison_info, exit_code, "coalesce(k.exit_code, -1)"),
	ASSAY_COLUMN(struct assay_comparison_info, n_cases,
		     "(SELECT count(*) FROM comparison_case WHERE comparison = k.id AND control = 'none')"),
	ASSAY_COLUMN(struct assay_comparison_info, n_controls,
		     "(SELECT count(*) FROM comparison_case WHERE comparison = k.id AND control <> 'none')"),
	ASSAY_COLUMN(struct assay_comparison_info, n_pairs,
		     "(SELECT count(*) FROM comparison_case c JOIN pair p ON p.comparison_case = c.id"
		     " WHERE c.comparison = k.id)"),
	ASSAY_COLUMN(struct assay_comparison_info, n_counted,
		     "(SELECT count(*) FROM exact_run e JOIN exact_case c ON c.exact_run = e.id"
		     " WHERE e.comparison = k.id AND e.side = 'head' AND c.status = 'ok')"),
};
static const struct assay_columns comparison_columns = ASSAY_COLUMNS(comparison_list);

int assay_store_comparisons(struct assay_store *s, const char *machine_id, size_t limit,
			    struct assay_comparison_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] = "SELECT {} FROM comparison k JOIN machine m ON m.id = k.machine"
				  " WHERE ?1 IS NULL OR k.machine = ?1 ORDER BY k.started_ns DESC, k.id DESC LIMIT ?2";
	static const struct assay_store_rows rows = { "the list of comparisons", sizeof(**out), &comparison_columns,
						      NULL };
	struct assay_binder b = assay_store_ask(s, err, sql, ASSAY_LISTS(&comparison_columns), "ti", machine_id,
						limit && limit <= INT64_MAX ? (int64_t)limit : -1);

	return assay_store_collect(s, &b, &rows, out, n, err);
}

/*
 * Finished runs of the suite ?1 that began before the run ?4, which began at ?5, and whose seed and machine are its,
 * ?2 and ?3, or others.
 */
#define FINISHED_BEFORE(seed, machine) "run" WHERE_FINISHED_BEFORE(seed, machine)
#define WHERE_FINISHED_BEFORE(seed, machine)                                                                           \
	" WHERE run.suite = ?1 AND run.seed " seed " ?2 AND run.machine " machine " ?3"                                \
	" AND (run.started_ns, run.id) < (?5, ?4) AND run.ended_ns IS NOT NULL"

static void bind_before(struct assay_binder *b, const struct assay_run *run)
{
	assay_store_bind_text(b, run->suite);
	assay_store_bind_int(b, (int64_t)run->seed);
	assay_store_bind_text(b, run->machine.id);
	assay_store_bind_int(b, run->id ? run->id : INT64_MAX);
	assay_store_bind_int(b, run->id ? (int64_t)run->started_ns : INT64_MAX);
}

static int count_before(struct assay_store *s, const char *sql, const struct assay_run *run, int64_t *out,
			struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "");

	bind_before(&b, run);
	return assay_store_read_number(s, &b, "the history", out, err);
}

/* A run of a part of the suite is no measure of the whole. The search ends where no run can have more of its cases. */
static int find_comparable(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err)
{
	static const char most_sql[] =
		"SELECT count(*) FROM result b WHERE b.run = ? AND b.status = 'ok' AND EXISTS"
		" (SELECT 1 FROM result a WHERE a.series = b.series AND a.status = 'ok' AND a.run <> b.run)";
	static const char sql[] =
		"SELECT run.id, (SELECT count(*) FROM result b JOIN result a ON a.run = run.id AND a.bench_case = "
		"b.bench_case AND a.status = 'ok' WHERE b.run = ?4 AND b.status = 'ok')"
		" FROM " FINISHED_BEFORE("=", "=") " ORDER BY run.started_ns DESC, run.id DESC";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(s, err, most_sql, NULL, "i", run->id);
	int64_t most = 0, best = -1;
	int rc = assay_store_read_number(s, &b, "the history", &most, err);

	if (rc)
		return rc;
	b = assay_store_ask(s, err, sql, NULL, "");
	bind_before(&b, run);
	while (best < most && assay_store_next(s, &b, &row, "the history", &rc, err)) {
		const int64_t candidate = assay_store_row_int(&row), n = assay_store_row_int(&row);

		if (n > best) {
			best = n;
			*id = candidate;
		}
	}
	sqlite3_reset(b.st);
	return rc;
}

int assay_store_comparable(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err)
{
	static const char other_machines[] = "SELECT count(*) FROM " FINISHED_BEFORE("=", "<>");
	static const char other_seeds[] = "SELECT count(*) FROM " FINISHED_BEFORE("<>", "=");
	int64_t found = 0, elsewhere = 0, seeds = 0;
	int rc = find_comparable(s, run, &found, err);

	if (!rc && !found)
		rc = count_before(s, other_machines, run, &elsewhere, err);
	if (!rc && !found)
		rc = count_before(s, other_seeds, run, &seeds, err);
	if (rc)
		return rc;
	if (!found)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no earlier finished run of suite '%s' with this seed on this machine (%lld on "
				     "other machines, %lld "
				     "with other seeds)",
				     run->suite, (long long)elsewhere, (long long)seeds);
	*id = found;
	return 0;
}

int assay_store_comparables(struct assay_store *s, const struct assay_run *run, struct assay_trend_point **out,
			    size_t *n, struct assay_err *err)
{
	static const char sql[] = "SELECT {} FROM run JOIN build b ON b.id = run.build" WHERE_FINISHED_BEFORE(
		"=", "=") " ORDER BY run.started_ns, run.id";
	static const struct assay_store_rows rows = { "the history", sizeof(**out), &assay_store_point_columns, NULL };
	struct assay_binder b = assay_store_ask(s, err, sql, ASSAY_LISTS(&assay_store_point_columns), "");

	bind_before(&b, run);
	return assay_store_collect(s, &b, &rows, out, n, err);
}

/* A row for each axis of the cases that @of selects as (bench_case, all_threads), or one with none. */
#define CASES_OF(of)                                                                                                   \
	"SELECT {c}, of_case.all_threads, a.name IS NOT NULL, {a} FROM bench_case c JOIN (" of ") of_case"             \
	" ON of_case.bench_case = c.id AND of_case.all_threads IS NOT NULL"                                            \
	" LEFT JOIN case_axis a ON a.bench_case = c.id ORDER BY c.key, a.place"

static int collect_cases(struct assay_store *s, const char *sql, const char *machine_id, struct assay_case **out,
			 size_t *n, struct assay_err *err)
{
	struct assay_case *v = NULL;
	struct assay_row row = { 0 };
	size_t count = 0;
	struct assay_binder b = assay_store_ask(
		s, err, sql, ASSAY_LISTS(&assay_store_case_columns, &assay_store_axis_columns), "t", machine_id);
	int rc = 0;

	while (assay_store_next(s, &b, &row, "'bench_case'", &rc, err)) {
		struct assay_case c = { 0 };

		assay_store_row_columns(&row, &assay_store_case_columns, &c);
		assay_case_read_key(&c);
		c.all_threads = assay_store_row_bool(&row);
		if (!count || strcmp(v[count - 1].key, c.key)) {
			rc = assay_store_grow(&v, count, sizeof(*v), err);
			if (rc)
				break;
			v[count++] = c;
		}
		if (assay_store_row_bool(&row))
			assay_store_row_axis(&row, &v[count - 1]);
	}
	if (rc) {
		free(v);
		return rc;
	}
	*out = v;
	*n = count;
	return 0;
}

int assay_store_cases(struct assay_store *s, const char *machine_id, struct assay_case **out, size_t *n,
		      struct assay_err *err)
{
	static const char sql[] =
		CASES_OF("SELECT s.bench_case, max((SELECT max(r.all_threads) FROM result r WHERE r.series = s.id"
			 " AND r.status = 'ok')) AS all_threads"
			 " FROM series s WHERE (?1 IS NULL OR s.machine = ?1) GROUP BY s.bench_case");

	return collect_cases(s, sql, machine_id, out, n, err);
}

int assay_store_cases_failed(struct assay_store *s, const char *machine_id, struct assay_case **out, size_t *n,
			     struct assay_err *err)
{
	static const char sql[] =
		CASES_OF("SELECT s.bench_case, (SELECT max(r.all_threads) FROM result r WHERE r.series = s.id)"
			 " AS all_threads FROM series s WHERE s.machine = ?1 AND NOT EXISTS"
			 " (SELECT 1 FROM result r WHERE r.series = s.id AND r.status = 'ok')");

	return collect_cases(s, sql, machine_id, out, n, err);
}

int assay_store_failed_series(struct assay_store *s, const char *key, const char *machine_id,
			      struct assay_failed_series *out, struct assay_err *err)
{
	static const char sql[] = "SELECT count(*) OVER (), r.status, r.reason FROM bench_case c JOIN series s ON "
				  "s.bench_case = c.id AND s.machine = ?2 JOIN result r ON r.series = s.id"
				  " WHERE c.key = ?1 ORDER BY r.run DESC LIMIT 1";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "tt", key, machine_id);
	struct assay_row row = { 0 };
	int rc = 0;

	*out = (struct assay_failed_series){ 0 };
	while (assay_store_next(s, &b, &row, "the history", &rc, err)) {
		out->n_runs = (size_t)assay_store_row_int(&row);
		assay_store_row_status(&row, &out->status);
		assay_store_row_text(&row, out->reason, sizeof(out->reason));
	}
	return rc;
}

int assay_store_totals(struct assay_store *s, const struct assay_run *run, struct assay_run_totals *out,
		       struct assay_err *err)
{
	/* A run without results counts too. Counting in the index run by run takes a fraction of what GROUP BY does. */
	static const char sql[] =
		"WITH upto AS MATERIALIZED"
		" (SELECT id FROM run WHERE suite = ?1 AND machine = ?2 AND (started_ns, id) <= (?3, ?4)),"
		" outcome (status) AS (VALUES ('ok'), ('skipped'), ('wrong'), ('crashed'), ('timeout'), ('failed'))"
		" SELECT '', count(*) FROM upto UNION ALL SELECT status, (SELECT sum((SELECT count(*) FROM result r"
		" INDEXED BY result_by_status WHERE r.run = upto.id AND r.status = outcome.status)) FROM upto)"
		" FROM outcome";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "ttii", run->suite, run->machine.id,
						(int64_t)run->started_ns, run->id);
	struct assay_row row = { 0 };
	int rc = 0;

	*out = (struct assay_run_totals){ 0 };
	while (assay_store_next(s, &b, &row, "the history", &rc, err)) {
		enum assay_status status;

		if (assay_store_row_status(&row, &status))
			out->results[status] = (uint64_t)assay_store_row_int(&row);
		else
			out->runs = (uint64_t)assay_store_row_int(&row);
	}
	return rc;
}

static const struct assay_column newest_list[] = {
	ASSAY_COLUMN(struct assay_newest_result, key, "c.key"),
	ASSAY_COLUMN(struct assay_newest_result, suite, "run.suite"),
	ASSAY_COLUMN(struct assay_newest_result, run_id, "run.id"),
	ASSAY_COLUMN(struct assay_newest_result, median_ns, "r.median_ns"),
};
static const struct assay_columns newest_columns = ASSAY_COLUMNS(newest_list);

static void read_outcome(struct assay_row *row, void *element)
{
	struct assay_newest_result *r = element;

	r->revision = assay_store_row_revision(row);
	assay_store_row_status(row, &r->status);
}

int assay_store_newest_results(struct assay_store *s, const char *machine_id, struct assay_newest_result **out,
			       size_t *n, struct assay_err *err)
{
	/* a look-up in result_by_series for each outcome, so that no history is read */
	static const char sql[] =
		"WITH outcome (status, all_threads) AS (VALUES ('ok', 0), ('ok', 1), ('wrong', 0), ('wrong', 1), "
		"('crashed', 0), ('crashed', 1), ('timeout', 0), ('timeout', 1), ('failed', 0), ('failed', 1)),"
		" newest AS (SELECT s.bench_case, (SELECT max((SELECT max(r.run) FROM result r WHERE r.series = s.id"
		" AND r.status = outcome.status AND r.all_threads = outcome.all_threads)) FROM outcome) AS run"
		" FROM series s WHERE s.machine = ?)"
		" SELECT {}, {b}, r.status FROM newest n JOIN result r ON r.run = n.run AND r.bench_case = n.bench_case"
		" JOIN bench_case c ON c.id = n.bench_case JOIN run ON run.id = n.run JOIN build b ON b.id = run.build"
		" ORDER BY c.key";
	static const struct assay_store_rows rows = { "the newest results", sizeof(**out), &newest_columns,
						      read_outcome };
	struct assay_binder b = assay_store_ask(s, err, sql, ASSAY_LISTS(&newest_columns, &assay_store_commit_columns),
						"t", machine_id);

	return assay_store_collect(s, &b, &rows, out, n, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Questions across runs and comparisons: lists of both, the run to compare with, the history of a case. */
#include "store/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "store/rows.h"

static void read_run_info(struct assay_row *row, void *element)
{
	struct assay_run_info *r = element;
	struct assay_build b = { 0 };

	r->id = assay_store_row_int(row);
	assay_store_row_text(row, r->suite, sizeof(r->suite));
	r->seed = (uint64_t)assay_store_row_int(row);
	r->started_ns = (uint64_t)assay_store_row_int(row);
	r->ended_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_build(row, b.commit, &b.dirty, &b.plugin);
	r->revision = assay_build_revision(&b);
	assay_store_row_text(row, r->machine_id, sizeof(r->machine_id));
	assay_store_row_text(row, r->machine_label, sizeof(r->machine_label));
	r->n_cases = (size_t)assay_store_row_int(row);
	r->n_ok = (size_t)assay_store_row_int(row);
	assay_store_row_text(row, r->imported, sizeof(r->imported));
	assay_store_row_text(row, r->label, sizeof(r->label));
	r->started_unknown = assay_store_row_bool(row);
}

/* The columns that are read of each run; a WHERE that says which runs follows. */
#define RUN_INFO                                                                                                       \
	"SELECT run.id, run.suite, run.seed, run.started_ns, run.ended_ns, b.commit_hash, "                            \
	"b.dirty, b.plugin_commit, b.plugin_dirty, m.id, m.label,"                                                     \
	" (SELECT count(*) FROM result WHERE run = run.id),"                                                           \
	" (SELECT count(*) FROM result WHERE run = run.id AND status = 'ok'),"                                         \
	" run.imported, run.label, run.started_unknown"                                                                \
	" FROM run JOIN build b ON b.id = run.build JOIN machine m ON m.id = run.machine"

int assay_store_runs(struct assay_store *s, const char *suite, size_t limit, struct assay_run_info **out, size_t *n,
		     struct assay_err *err)
{
	static const char sql[] =
		RUN_INFO " WHERE ?1 IS NULL OR run.suite = ?1 ORDER BY run.started_ns DESC, run.id DESC LIMIT ?2";
	struct assay_binder b = assay_store_statement(s, sql, err);

	assay_store_bind_text(&b, suite);
	assay_store_bind_int(&b, limit && limit <= INT64_MAX ? (int64_t)limit : -1);
	return assay_store_collect(s, &b, "the list of runs", sizeof(**out), read_run_info, out, n, err);
}

int assay_store_newest_runs(struct assay_store *s, struct assay_run_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		RUN_INFO " WHERE run.id IN (SELECT (SELECT r.id FROM run r WHERE r.machine = machine.id"
			 " ORDER BY r.started_ns DESC, r.id DESC LIMIT 1) FROM machine)"
			 " ORDER BY run.started_ns DESC, run.id DESC";
	struct assay_binder b = assay_store_statement(s, sql, err);

	return assay_store_collect(s, &b, "the list of runs", sizeof(**out), read_run_info, out, n, err);
}

static void read_comparison_info(struct assay_row *row, void *element)
{
	struct assay_comparison_info *i = element;

	i->id = assay_store_row_int(row);
	assay_store_row_text(row, i->base, sizeof(i->base));
	assay_store_row_text(row, i->head, sizeof(i->head));
	assay_store_row_text(row, i->suite, sizeof(i->suite));
	i->seed = (uint64_t)assay_store_row_int(row);
	i->started_ns = (uint64_t)assay_store_row_int(row);
	i->ended_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_text(row, i->machine_id, sizeof(i->machine_id));
	assay_store_row_text(row, i->machine_label, sizeof(i->machine_label));
	assay_store_row_text(row, i->verdict, sizeof(i->verdict));
	i->exit_code = (int)assay_store_row_int(row);
	if (!i->verdict[0])
		i->exit_code = -1;
	i->n_cases = (size_t)assay_store_row_int(row);
	i->n_controls = (size_t)assay_store_row_int(row);
	i->n_pairs = (size_t)assay_store_row_int(row);
	i->n_counted = (size_t)assay_store_row_int(row);
}

int assay_store_comparisons(struct assay_store *s, const char *machine_id, size_t limit,
			    struct assay_comparison_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT k.id, k.base, k.head, k.suite, k.seed, k.started_ns, k.ended_ns, m.id, m.label,"
		" k.verdict, k.exit_code,"
		" (SELECT count(*) FROM comparison_case WHERE comparison = k.id AND control = 'none'),"
		" (SELECT count(*) FROM comparison_case WHERE comparison = k.id AND control <> 'none'),"
		" (SELECT count(*) FROM comparison_case c JOIN pair p ON p.comparison_case = c.id"
		"  WHERE c.comparison = k.id),"
		" (SELECT count(*) FROM exact_run e JOIN exact_case c ON c.exact_run = e.id"
		"  WHERE e.comparison = k.id AND e.side = 'head' AND c.status = 'ok')"
		" FROM comparison k JOIN machine m ON m.id = k.machine"
		" WHERE ?1 IS NULL OR k.machine = ?1 ORDER BY k.started_ns DESC, k.id DESC LIMIT ?2";
	struct assay_binder b = assay_store_statement(s, sql, err);

	assay_store_bind_text(&b, machine_id);
	assay_store_bind_int(&b, limit && limit <= INT64_MAX ? (int64_t)limit : -1);
	return assay_store_collect(s, &b, "the list of comparisons", sizeof(**out), read_comparison_info, out, n, err);
}

/*
 * Finished runs of the suite ?1 that began before the run ?4, which began at ?5, and whose seed and machine are its,
 * ?2 and ?3, or others.
 */
#define FINISHED_BEFORE(seed, machine) "run r" WHERE_FINISHED_BEFORE(seed, machine)
#define WHERE_FINISHED_BEFORE(seed, machine)                                                                           \
	" WHERE r.suite = ?1 AND r.seed " seed " ?2 AND r.machine " machine " ?3"                                      \
	" AND (r.started_ns, r.id) < (?5, ?4) AND r.ended_ns IS NOT NULL"

static struct assay_binder ask_before(struct assay_store *s, const char *sql, const struct assay_run *run,
				      struct assay_err *err)
{
	struct assay_binder b = assay_store_statement(s, sql, err);

	assay_store_bind_text(&b, run->suite);
	assay_store_bind_int(&b, (int64_t)run->seed);
	assay_store_bind_text(&b, run->machine.id);
	assay_store_bind_int(&b, run->id ? run->id : INT64_MAX);
	assay_store_bind_int(&b, run->id ? (int64_t)run->started_ns : INT64_MAX);
	return b;
}

static int count_before(struct assay_store *s, const char *sql, const struct assay_run *run, int64_t *out,
			struct assay_err *err)
{
	struct assay_binder b = ask_before(s, sql, run, err);

	return assay_store_read_number(s, &b, "the history", out, err);
}

/* A run of a part of the suite is no measure of the whole. The search ends where no run can have more of its cases. */
static int find_comparable(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err)
{
	static const char most_sql[] =
		"SELECT count(*) FROM result b WHERE b.run = ? AND b.status = 'ok' AND EXISTS"
		" (SELECT 1 FROM result a WHERE a.series = b.series AND a.status = 'ok' AND a.run <> b.run)";
	static const char sql[] =
		"SELECT r.id, (SELECT count(*) FROM result b JOIN result a ON a.run = r.id AND a.bench_case = "
		"b.bench_case AND a.status = 'ok' WHERE b.run = ?4 AND b.status = 'ok')"
		" FROM " FINISHED_BEFORE("=", "=") " ORDER BY r.started_ns DESC, r.id DESC";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement(s, most_sql, err);
	int64_t most = 0, best = -1;
	int rc;

	assay_store_bind_int(&b, run->id);
	rc = assay_store_read_number(s, &b, "the history", &most, err);
	if (rc)
		return rc;
	b = ask_before(s, sql, run, err);
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

static void read_comparable(struct assay_row *row, void *element)
{
	struct assay_trend_point *p = element;

	p->run_id = assay_store_row_int(row);
	p->started_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_build(row, p->commit, &p->dirty, &p->plugin);
}

int assay_store_comparables(struct assay_store *s, const struct assay_run *run, struct assay_trend_point **out,
			    size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT r.id, r.started_ns, b.commit_hash, b.dirty, b.plugin_commit, b.plugin_dirty FROM run r JOIN "
		"build b ON b.id = r.build" WHERE_FINISHED_BEFORE("=", "=") " ORDER BY r.started_ns, r.id";
	struct assay_binder b = ask_before(s, sql, run, err);

	return assay_store_collect(s, &b, "the history", sizeof(**out), read_comparable, out, n, err);
}

/* A row for each axis of the cases that @of selects as (bench_case, all_threads), or one with none. */
#define CASES_OF(of)                                                                                                   \
	"SELECT {c}, of_case.all_threads, a.name IS NOT NULL, {a} FROM bench_case c JOIN (" of ") of_case"             \
	" ON of_case.bench_case = c.id AND of_case.all_threads IS NOT NULL"                                            \
	" LEFT JOIN case_axis a ON a.bench_case = c.id ORDER BY c.key, a.place"

static int collect_cases(struct assay_store *s, const char *sql, const char *machine_id, struct assay_case **out,
			 size_t *n, struct assay_err *err)
{
	static const struct assay_columns *const lists[] = { &assay_store_case_columns, &assay_store_axis_columns };
	struct assay_case *v = NULL;
	struct assay_row row = { 0 };
	size_t count = 0;
	struct assay_binder b = assay_store_statement_of(s, sql, lists, err);
	int rc = 0;

	assay_store_bind_text(&b, machine_id);
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
	struct assay_binder b = assay_store_statement(s, sql, err);
	struct assay_row row = { 0 };
	int rc = 0;

	*out = (struct assay_failed_series){ 0 };
	assay_store_bind_text(&b, key);
	assay_store_bind_text(&b, machine_id);
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
	/* a run without results counts too */
	static const char sql[] =
		"WITH upto AS (SELECT id FROM run WHERE suite = ?1 AND machine = ?2 AND (started_ns, id) <= (?3, ?4))"
		" SELECT '', count(*) FROM upto UNION ALL SELECT r.status, count(*) FROM upto CROSS JOIN result r"
		" INDEXED BY result_by_status ON r.run = upto.id GROUP BY r.status";
	struct assay_binder b = assay_store_statement(s, sql, err);
	struct assay_row row = { 0 };
	int rc = 0;

	*out = (struct assay_run_totals){ 0 };
	assay_store_bind_text(&b, run->suite);
	assay_store_bind_text(&b, run->machine.id);
	assay_store_bind_int(&b, (int64_t)run->started_ns);
	assay_store_bind_int(&b, run->id);
	while (assay_store_next(s, &b, &row, "the history", &rc, err)) {
		enum assay_status status;

		if (assay_store_row_status(&row, &status))
			out->results[status] = (uint64_t)assay_store_row_int(&row);
		else
			out->runs = (uint64_t)assay_store_row_int(&row);
	}
	return rc;
}

static void read_newest_result(struct assay_row *row, void *element)
{
	struct assay_newest_result *r = element;
	struct assay_build b = { 0 };

	assay_store_row_text(row, r->key, sizeof(r->key));
	assay_store_row_text(row, r->suite, sizeof(r->suite));
	r->run_id = assay_store_row_int(row);
	assay_store_row_build(row, b.commit, &b.dirty, &b.plugin);
	r->revision = assay_build_revision(&b);
	assay_store_row_status(row, &r->status);
	r->median_ns = assay_store_row_real(row);
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
		" SELECT c.key, run.suite, run.id, b.commit_hash, b.dirty, b.plugin_commit, b.plugin_dirty, r.status,"
		" r.median_ns FROM newest n JOIN result r ON r.run = n.run AND r.bench_case = n.bench_case"
		" JOIN bench_case c ON c.id = n.bench_case JOIN run ON run.id = n.run JOIN build b ON b.id = run.build"
		" ORDER BY c.key";
	struct assay_binder b = assay_store_statement(s, sql, err);

	assay_store_bind_text(&b, machine_id);
	return assay_store_collect(s, &b, "the newest results", sizeof(**out), read_newest_result, out, n, err);
}

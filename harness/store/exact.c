/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts in and out. */
#include "store/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/rows.h"

/* ---- rows of cases ---------------------------------------------------------------------------------------------- */

struct reading {
	struct assay_store *s;
	struct assay_exact_run *run;
	int64_t case_id; /* of the case whose functions follow; 0: none yet */
	struct assay_err *err;
};

/* One row a case and function, or a case without any. */
static int add_row(struct reading *r, struct assay_row *row)
{
	struct assay_exact_run *run = r->run;
	struct assay_exact_function f = { .name = "" };
	struct assay_exact_case *c;
	int64_t id = assay_store_row_int(row);
	int rc = 0;

	if (id != r->case_id) {
		rc = assay_store_grow(&run->cases, run->n_cases, sizeof(*run->cases), r->err);
		if (rc)
			return rc;
		c = &run->cases[run->n_cases++];
		*c = (struct assay_exact_case){ .key = "" };
		r->case_id = id;
		assay_store_row_columns(row, &assay_store_exact_case_columns, c);
	} else {
		row->column += (int)assay_store_exact_case_columns.n;
		c = &run->cases[run->n_cases - 1];
	}
	if (sqlite3_column_type(row->st, row->column) == SQLITE_NULL)
		return 0;
	assay_store_row_columns(row, &assay_store_exact_function_columns, &f);
	return assay_exact_add_function(c, &f) ? assay_err_set(r->err, ASSAY_ENOMEM, "out of memory") : 0;
}

#define SELECT_CASES "SELECT c.id, {c}, {f} FROM exact_case c LEFT JOIN exact_function f ON f.exact_case = c.id "
#define CASES_ORDER  " ORDER BY c.id, f.name, f.object"

/* The cases that @sql selects with @number bound, into r->run. */
static int read_cases(struct reading *r, const char *sql, int64_t number)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(
		r->s, r->err, sql, ASSAY_LISTS(&assay_store_exact_case_columns, &assay_store_exact_function_columns),
		"i", number);
	int rc = 0;

	while (assay_store_next(r->s, &b, &row, "exact counts", &rc, r->err))
		rc = add_row(r, &row);
	return rc;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* @side: of the comparison run->comparison_id; NULL where there is none. */
static int put_run(struct assay_store *s, const struct assay_exact_run *run, const char *side, int64_t *id,
		   struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, "INSERT INTO exact_run ({}, side) VALUES ({?}, ?)", NULL, "ct",
						&assay_store_exact_run_columns, run, side);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "exact counts of suite", run->suite);

	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static int put_case(struct assay_store *s, int64_t run, const struct assay_exact_case *c, struct assay_err *err)
{
	static const struct assay_store_part cases = { "exact counts of", "exact_case", "exact_run",
						       &assay_store_exact_case_columns, 0 };
	static const struct assay_store_part functions = { "counts of", "exact_function", "exact_case",
							   &assay_store_exact_function_columns, 0 };
	int rc = assay_store_put_row(s, &cases, run, c, err);
	const int64_t id = sqlite3_last_insert_rowid(s->db);

	for (size_t i = 0; i < c->n_functions && !rc; i++)
		rc = assay_store_put_row(s, &functions, id, &c->functions[i], err);
	return rc;
}

/* Inside a transaction. */
static int put(struct assay_store *s, const struct assay_exact_run *run, const char *side, int64_t *id,
	       struct assay_err *err)
{
	int rc = assay_store_put_build(s, &run->build, err);

	if (!rc)
		rc = put_run(s, run, side, id, err);
	for (size_t i = 0; i < run->n_cases && !rc; i++)
		rc = put_case(s, *id, &run->cases[i], err);
	return rc;
}

int assay_store_exact_add(struct assay_store *s, struct assay_exact_run *run, struct assay_err *err)
{
	int64_t id = 0;
	int rc = assay_store_begin(s, err);

	if (rc)
		return rc;
	rc = assay_store_finish(s, put(s, run, NULL, &id, err), err);
	if (!rc)
		run->id = id;
	return rc;
}

int assay_store_exact_add_sides(struct assay_store *s, struct assay_exact_run run[2], struct assay_err *err)
{
	int64_t id[2] = { 0, 0 };
	int rc = assay_store_begin(s, err);

	if (rc)
		return rc;
	rc = assay_store_comparison_is_open(s, "SELECT ended_ns IS NOT NULL FROM comparison WHERE id = ?",
					    run->comparison_id, err);
	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = put(s, &run[i], assay_store_side_names[i], &id[i], err);
	rc = assay_store_finish(s, rc, err);
	for (unsigned i = 0; i < 2 && !rc; i++)
		run[i].id = id[i];
	return rc;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

static const struct assay_columns *const run_lists[] = { &assay_store_exact_run_columns, &assay_store_build_columns };

/* The run of counts that @b selects, with its cases; ASSAY_ENOTFOUND without a message where there is none. */
static int load(struct assay_store *s, struct assay_binder *b, struct assay_exact_run *out, struct assay_err *err)
{
	struct assay_exact_run run = { 0 };
	struct reading r = { .s = s, .run = &run, .err = err };
	struct assay_row row = { 0 };
	int rc = 0;

	while (assay_store_next(s, b, &row, "exact counts", &rc, err)) {
		run.id = assay_store_row_int(&row);
		assay_store_row_columns(&row, &assay_store_exact_run_columns, &run);
		assay_store_row_columns(&row, &assay_store_build_columns, &run.build);
	}
	if (!rc && !run.id)
		return ASSAY_ENOTFOUND;
	if (!rc)
		rc = read_cases(&r, SELECT_CASES "WHERE c.exact_run = ?" CASES_ORDER, run.id);
	if (rc)
		assay_exact_run_release(&run);
	else
		*out = run;
	return rc;
}

/* The one that belongs to @whole, by @sql. */
static int load_of(struct assay_store *s, const char *sql, struct assay_store_whole whole, struct assay_exact_run *out,
		   struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, run_lists, "i", whole.id);
	int rc = load(s, &b, out, err);

	return rc != ASSAY_ENOTFOUND ? rc
				     : assay_err_set(err, ASSAY_ENOTFOUND, "%s %lld has no exact counts", whole.kind,
						     (long long)whole.id);
}

#define SELECT_RUN "SELECT e.id, {e}, {b} FROM exact_run e JOIN build b ON b.id = e.build "

int assay_store_exact_newest(struct assay_store *s, const char *suite, struct assay_exact_run *out,
			     struct assay_err *err)
{
	static const char sql[] =
		SELECT_RUN "WHERE e.suite = ? AND e.comparison IS NULL ORDER BY e.started_ns DESC, e.id DESC LIMIT 1";
	struct assay_binder b = assay_store_ask(s, err, sql, run_lists, "t", suite);
	int rc = load(s, &b, out, err);

	return rc != ASSAY_ENOTFOUND ? rc
				     : assay_err_set(err, ASSAY_ENOTFOUND, "no exact counts of suite '%s' in '%.200s'",
						     suite, s->path);
}

int assay_store_exact_suite_alone(struct assay_store *s, char *suite, size_t size, struct assay_err *err)
{
	static const char sql[] = "SELECT suite FROM exact_run WHERE run IS NULL AND comparison IS NULL "
				  "ORDER BY started_ns DESC, id DESC LIMIT 1";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "");
	int rc = 0;

	suite[0] = '\0';
	while (assay_store_next(s, &b, &row, "exact counts", &rc, err))
		assay_store_row_text(&row, suite, size);
	return rc;
}

int assay_store_exact_of_run(struct assay_store *s, int64_t run_id, struct assay_exact_run *out, struct assay_err *err)
{
	return load_of(s, SELECT_RUN "WHERE e.run = ?", (struct assay_store_whole){ "run", run_id }, out, err);
}

int assay_store_exact_load(struct assay_store *s, int64_t id, struct assay_exact_run *out, struct assay_err *err)
{
	return load_of(s, SELECT_RUN "WHERE e.id = ?", (struct assay_store_whole){ "run of counts", id }, out, err);
}

int assay_store_exact_of_case(struct assay_store *s, const char *key, int64_t **ids, size_t *n, struct assay_err *err)
{
	static const char sql[] = "SELECT e.id FROM exact_run e JOIN exact_case c ON c.exact_run = e.id WHERE c.key = ?"
				  " AND c.status = 'ok' AND e.comparison IS NULL ORDER BY e.started_ns, e.id";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "t", key);

	return assay_store_collect_ids(s, &b, "exact counts", ids, n, err);
}

int assay_store_exact_of_side(struct assay_store *s, int64_t comparison_id, enum assay_side side,
			      struct assay_exact_run *out, struct assay_err *err)
{
	static const char *const sql[2] = {
		[ASSAY_BASE] = SELECT_RUN "WHERE e.comparison = ? AND e.side = 'base'",
		[ASSAY_HEAD] = SELECT_RUN "WHERE e.comparison = ? AND e.side = 'head'",
	};

	return load_of(s, sql[side], (struct assay_store_whole){ "comparison", comparison_id }, out, err);
}

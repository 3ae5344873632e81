/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run has a row for each case, and thousands of runs have the same cases: within a transaction, in which nobody else
 * changes anything, a case is looked up once.
 */
#include "store/store_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "store/store_rows.h"

struct assay_store_cases {
	struct assay_name_index keys, series; /* the latter by machine and key */
	struct assay_store_case *v;
	size_t n;
	int64_t run_id; /* which is open and whose machine is known; 0: none */
	char machine[ASSAY_DIGEST_LEN + 1];
};

void assay_store_cases_forget(struct assay_store *s)
{
	if (!s->cases)
		return;
	assay_name_index_release(&s->cases->keys);
	assay_name_index_release(&s->cases->series);
	free(s->cases->v);
	free(s->cases);
	s->cases = NULL;
}

void assay_store_cases_forget_run(struct assay_store *s)
{
	if (s->cases)
		s->cases->run_id = 0;
}

/* The stored row; out->id stays 0 where there is none. */
static int load_case(struct assay_store *s, const char *key, struct assay_store_case *out, struct assay_err *err)
{
	static const struct assay_columns *const lists[] = { &assay_store_case_columns, &assay_store_axis_columns };
	static const char sql[] = "SELECT c.id, a.name IS NOT NULL, {c}, {a} FROM bench_case c"
				  " LEFT JOIN case_axis a ON a.bench_case = c.id WHERE c.key = ? ORDER BY a.place";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement_of(s, sql, lists, err);
	struct assay_case c;
	int rc = 0;

	*out = (struct assay_store_case){ .id = 0 };
	assay_store_bind_text(&b, key);
	while (assay_store_next(s, &b, &row, "'bench_case'", &rc, err)) {
		const bool first = !out->id;
		bool has_axis;

		out->id = assay_store_row_int(&row);
		has_axis = assay_store_row_bool(&row);
		row.seal = first ? &out->begun : NULL;
		c = (struct assay_case){ .n_axes = out->n_axes };
		assay_store_row_columns(&row, &assay_store_case_columns, &c);
		row.seal = NULL;
		if (has_axis)
			assay_store_row_axis(&row, &c);
		if (c.n_axes > out->n_axes)
			out->axes[out->n_axes++] = c.axes[c.n_axes - 1];
	}
	return rc;
}

/* @out is as load_case() would read it; its id is 0, and nothing was done, where the key is there. */
static int insert_case(struct assay_store *s, const struct assay_case *c, struct assay_store_case *out,
		       struct assay_err *err)
{
	static const struct assay_store_part axes = {
		"axis", "INSERT INTO case_axis (bench_case, place, {}) VALUES (?, ?, {?})", &assay_store_axis_columns,
		sizeof(c->axes[0])
	};
	int rc = assay_store_put(s, "INSERT INTO bench_case ({}) VALUES ({?}) ON CONFLICT (key) DO NOTHING",
				 &assay_store_case_columns, c, "case", err);

	*out = (struct assay_store_case){ .id = 0 };
	if (rc || !sqlite3_changes(s->db))
		return rc;
	*out = (struct assay_store_case){ .id = sqlite3_last_insert_rowid(s->db), .n_axes = c->n_axes };
	memcpy(out->axes, c->axes, c->n_axes * sizeof(c->axes[0]));
	if (assay_store_seal_columns(&out->begun, &assay_store_case_columns, c))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return assay_store_put_part(s, &axes, out->id, c->axes, c->n_axes, err);
}

int assay_store_put_case(struct assay_store *s, const struct assay_case *c, const struct assay_store_case **out,
			 struct assay_err *err)
{
	struct assay_store_cases *cases = s->cases ? s->cases : (s->cases = calloc(1, sizeof(*s->cases)));
	size_t at;
	int rc;

	s->forget_cases = assay_store_cases_forget;
	if (!cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!assay_name_index_find(&cases->keys, c->key, &at)) {
		rc = assay_store_grow(&cases->v, cases->n, sizeof(*cases->v), err);
		if (!rc)
			rc = insert_case(s, c, &cases->v[cases->n], err);
		if (!rc && !cases->v[cases->n].id)
			rc = load_case(s, c->key, &cases->v[cases->n], err);
		if (!rc)
			rc = assay_name_index_put(&cases->keys, c->key, cases->n, &at, NULL, err);
		if (rc)
			return rc;
		at = cases->n++;
	}
	*out = &cases->v[at];
	return 0;
}

static int find_machine(struct assay_store *s, int64_t run_id, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b =
		assay_store_statement(s, "SELECT ended_ns IS NOT NULL, machine FROM run WHERE id = ?", err);
	bool ended = false;
	int rc = 0;

	s->cases->run_id = 0;
	assay_store_bind_int(&b, run_id);
	while (assay_store_next(s, &b, &row, "'run'", &rc, err)) {
		ended = assay_store_row_bool(&row);
		assay_store_row_text(&row, s->cases->machine, sizeof(s->cases->machine));
		s->cases->run_id = run_id;
	}
	if (!rc && ended) {
		assay_store_cases_forget_run(s);
		return assay_err_set(err, ASSAY_ESTORE, "cannot add to run %lld in '%.200s': the run has ended",
				     (long long)run_id, s->path);
	}
	if (!rc && !s->cases->run_id)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no run %lld in '%.200s'", (long long)run_id, s->path);
	return rc;
}

/* Find the series of this case on the machine at hand, or add it. */
static int insert_series(struct assay_store *s, const char *key, int64_t case_id, int64_t *series,
			 struct assay_err *err)
{
	static const char insert[] = "INSERT INTO series (bench_case, machine) VALUES (?, ?)"
				     " ON CONFLICT (bench_case, machine) DO NOTHING";
	static const char find[] = "SELECT id FROM series WHERE bench_case = ? AND machine = ?";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement(s, insert, err);
	int rc;

	assay_store_bind_int(&b, case_id);
	assay_store_bind_lasting(&b, s->cases->machine);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "series of", key);
	*series = sqlite3_last_insert_rowid(s->db);
	if (rc || sqlite3_changes(s->db))
		return rc;
	/* RETURNING would do both in one, but opens a temporary table for each row */
	b = assay_store_statement(s, find, err);
	assay_store_bind_int(&b, case_id);
	assay_store_bind_lasting(&b, s->cases->machine);
	while (assay_store_next(s, &b, &row, "'series'", &rc, err))
		*series = assay_store_row_int(&row);
	return rc;
}

int assay_store_put_series(struct assay_store *s, const char *key, int64_t case_id, int64_t run_id, int64_t *series,
			   struct assay_err *err)
{
	char name[ASSAY_DIGEST_LEN + ASSAY_KEY_MAX + 2];
	size_t at;
	int rc = s->cases->run_id == run_id ? 0 : find_machine(s, run_id, err);

	if (rc)
		return rc;
	*stpcpy(stpcpy(stpcpy(name, s->cases->machine), "/"), key) = '\0';
	if (assay_name_index_find(&s->cases->series, name, &at)) {
		*series = (int64_t)at;
		return 0;
	}
	rc = insert_series(s, key, case_id, series, err);
	return rc ? rc : assay_name_index_put(&s->cases->series, name, (size_t)*series, &at, NULL, err);
}

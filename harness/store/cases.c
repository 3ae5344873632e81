/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run has a row for each case, and thousands of runs have the same cases: within a transaction, in which nobody else
 * changes anything, a case is looked up once.
 */
#include "store/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The series of one machine. */
struct machine {
	char id[ASSAY_DIGEST_LEN + 1];
	int64_t *series; /* by the place of the case; 0: not looked up */
	size_t n;
};

struct assay_store_cases {
	struct assay_name_index keys;
	struct assay_store_case *v;
	size_t n;
	struct machine *machines;
	size_t n_machines;
	int64_t run_id; /* which is open and whose machine is known; 0: none */
	size_t machine; /* its place */
};

void assay_store_cases_forget(struct assay_store *s)
{
	if (!s->cases)
		return;
	assay_name_index_release(&s->cases->keys);
	for (size_t i = 0; i < s->cases->n; i++)
		free(s->cases->v[i].axes);
	for (size_t i = 0; i < s->cases->n_machines; i++)
		free(s->cases->machines[i].series);
	free(s->cases->machines);
	free(s->cases->v);
	free(s->cases);
	s->cases = NULL;
}

void assay_store_cases_forget_run(struct assay_store *s)
{
	if (s->cases)
		s->cases->run_id = 0;
}

static int add_axes(struct assay_store_case *to, const struct assay_axis_value *v, size_t n, struct assay_err *err)
{
	struct assay_axis_value *more = n ? realloc(to->axes, (to->n_axes + n) * sizeof(*v)) : NULL;

	if (!n)
		return 0;
	if (!more)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	memcpy(more + to->n_axes, v, n * sizeof(*v));
	to->axes = more;
	to->n_axes += (unsigned)n;
	return 0;
}

/* The stored row; out->id stays 0 where there is none. What @out has is freed by the caller, on failure as well. */
static int load_case(struct assay_store *s, const char *key, struct assay_store_case *out, struct assay_err *err)
{
	static const char sql[] = "SELECT c.id, a.name IS NOT NULL, {c}, {a} FROM bench_case c"
				  " LEFT JOIN case_axis a ON a.bench_case = c.id WHERE c.key = ? ORDER BY a.place";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(
		s, err, sql, ASSAY_LISTS(&assay_store_case_columns, &assay_store_axis_columns), "t", key);
	struct assay_case c;
	int rc = 0;

	*out = (struct assay_store_case){ .id = 0 };
	while (assay_store_next(s, &b, &row, "'bench_case'", &rc, err)) {
		bool has_axis;

		out->id = assay_store_row_int(&row);
		has_axis = assay_store_row_bool(&row);
		c = (struct assay_case){ .n_axes = out->n_axes };
		assay_store_row_columns(&row, &assay_store_case_columns, &c);
		if (has_axis)
			assay_store_row_axis(&row, &c);
		if (c.n_axes > out->n_axes)
			rc = add_axes(out, &c.axes[c.n_axes - 1], 1, err);
	}
	return rc;
}

/* @out is as load_case() would read it; its id is 0, and nothing was done, where the key is there. */
static int insert_case(struct assay_store *s, const struct assay_case *c, struct assay_store_case *out,
		       struct assay_err *err)
{
	static const struct assay_store_part axes = { "axis", "case_axis", "bench_case", &assay_store_axis_columns,
						      sizeof(c->axes[0]) };
	struct assay_binder b =
		assay_store_ask(s, err, "INSERT INTO bench_case ({}) VALUES ({?}) ON CONFLICT (key) DO NOTHING", NULL,
				"c", &assay_store_case_columns, c);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "case", c->key);

	*out = (struct assay_store_case){ .id = 0 };
	if (rc || !sqlite3_changes(s->db))
		return rc;
	out->id = sqlite3_last_insert_rowid(s->db);
	rc = add_axes(out, c->axes, c->n_axes, err);
	return rc ? rc : assay_store_put_part(s, &axes, out->id, c->axes, c->n_axes, err);
}

int assay_store_put_case(struct assay_store *s, const struct assay_case *c, const struct assay_store_case **out,
			 struct assay_err *err)
{
	struct assay_store_cases *cases = s->cases ? s->cases : (s->cases = calloc(1, sizeof(*s->cases)));
	struct assay_store_case added = { .id = 0 };
	size_t at;
	int rc;

	s->forget_cases = assay_store_cases_forget;
	if (!cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!assay_name_index_find(&cases->keys, c->key, &at)) {
		rc = assay_store_grow(&cases->v, cases->n, sizeof(*cases->v), err);
		if (!rc)
			rc = insert_case(s, c, &added, err);
		if (!rc && !added.id)
			rc = load_case(s, c->key, &added, err);
		if (!rc)
			rc = assay_name_index_put(&cases->keys, c->key, cases->n, &at, NULL, err);
		if (rc) {
			free(added.axes);
			return rc;
		}
		at = cases->n++;
		cases->v[at] = added;
	}
	*out = &cases->v[at];
	return 0;
}

/* The place of machine @id among those of this transaction. */
static int find_machine(struct assay_store_cases *cases, const char *id, struct assay_err *err)
{
	int rc;

	for (cases->machine = 0; cases->machine < cases->n_machines; cases->machine++)
		if (!strcmp(cases->machines[cases->machine].id, id))
			return 0;
	rc = assay_store_grow(&cases->machines, cases->n_machines, sizeof(*cases->machines), err);
	if (rc)
		return rc;
	cases->machines[cases->n_machines] = (struct machine){ .n = 0 };
	strcpy(cases->machines[cases->n_machines++].id, id);
	return 0;
}

static int find_run(struct assay_store *s, int64_t run_id, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(s, err, "SELECT ended_ns IS NOT NULL, machine FROM run WHERE id = ?",
						NULL, "i", run_id);
	char machine[ASSAY_DIGEST_LEN + 1];
	bool found = false, ended = false;
	int rc = 0;

	s->cases->run_id = 0;
	while (assay_store_next(s, &b, &row, "'run'", &rc, err)) {
		ended = assay_store_row_bool(&row);
		assay_store_row_text(&row, machine, sizeof(machine));
		found = true;
	}
	if (!rc && ended)
		return assay_err_set(err, ASSAY_ESTORE, "cannot add to run %lld in '%.200s': the run has ended",
				     (long long)run_id, s->path);
	if (!rc && !found)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no run %lld in '%.200s'", (long long)run_id, s->path);
	if (!rc)
		rc = find_machine(s->cases, machine, err);
	if (!rc)
		s->cases->run_id = run_id;
	return rc;
}

/* Find the series of this case on the machine @machine, or add it. */
static int insert_series(struct assay_store *s, const char *key, int64_t case_id, const char *machine, int64_t *series,
			 struct assay_err *err)
{
	static const char insert[] = "INSERT INTO series (bench_case, machine) VALUES (?, ?)"
				     " ON CONFLICT (bench_case, machine) DO NOTHING";
	static const char find[] = "SELECT id FROM series WHERE bench_case = ? AND machine = ?";
	struct assay_binder b = assay_store_ask(s, err, insert, NULL, "it", case_id, machine);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "series of", key);

	*series = sqlite3_last_insert_rowid(s->db);
	if (rc || sqlite3_changes(s->db))
		return rc;
	/* RETURNING would do both in one, but opens a temporary table for each row */
	b = assay_store_ask(s, err, find, NULL, "it", case_id, machine);
	return assay_store_read_number(s, &b, "'series'", series, err);
}

int assay_store_put_series(struct assay_store *s, const char *key, const struct assay_store_case *c, int64_t run_id,
			   int64_t *series, struct assay_err *err)
{
	const size_t at = (size_t)(c - s->cases->v);
	struct machine *m;
	int rc = s->cases->run_id == run_id ? 0 : find_run(s, run_id, err);

	if (rc)
		return rc;
	m = &s->cases->machines[s->cases->machine];
	while (m->n <= at && !rc) {
		rc = assay_store_grow(&m->series, m->n, sizeof(*m->series), err);
		if (!rc)
			m->series[m->n++] = 0;
	}
	if (!rc && !m->series[at])
		rc = insert_series(s, key, c->id, m->id, &m->series[at], err);
	if (!rc)
		*series = m->series[at];
	return rc;
}

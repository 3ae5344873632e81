/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts in and out. */
#include "store/store_exact.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_comparison_names.h"
#include "store/store_rows.h"

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* @side: of the comparison run->comparison_id; NULL where there is none. */
static int put_run(struct assay_store *s, const struct assay_exact_run *run, const char *side, int64_t *id,
		   struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO exact_run (run, suite, seed, started_ns, build, arch, tool, libc, cache, features,"
		" environment, comparison, side) VALUES (?,?,?,?,?,?,?,?,?,?,?, ?,?)";
	const struct assay_exact_setting *t = &run->setting;
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	if (run->run_id)
		assay_store_bind_int(&b, run->run_id);
	else
		assay_store_bind_null(&b);
	assay_store_bind_text(&b, run->suite);
	assay_store_bind_int(&b, (int64_t)run->seed);
	assay_store_bind_size(&b, run->started_ns);
	assay_store_bind_text(&b, run->build.id);
	assay_store_bind_text(&b, t->arch);
	assay_store_bind_text(&b, t->tool);
	assay_store_bind_text(&b, t->libc);
	assay_store_bind_text(&b, t->cache);
	assay_store_bind_text(&b, t->features);
	assay_store_bind_text(&b, t->environment);
	if (side)
		assay_store_bind_int(&b, run->comparison_id);
	else
		assay_store_bind_null(&b);
	assay_store_bind_text(&b, side);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "exact counts of suite", run->suite);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static int put_functions(struct assay_store *s, int64_t id, const struct assay_exact_case *c, struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO exact_function (exact_case, name, object, instructions, data_reads, data_writes,"
		" i1_misses, d1_misses, ll_misses, branches, mispredictions) VALUES (?,?,?,?,?,?,?,?,?,?,?)";
	sqlite3_stmt *st;
	int rc = assay_store_prepare(s, sql, &st, err);

	for (size_t i = 0; i < c->n_functions && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_int(&b, id);
		assay_store_bind_text(&b, c->functions[i].name);
		assay_store_bind_text(&b, c->functions[i].object);
		for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
			assay_store_bind_size(&b, c->functions[i].counts.v[e]);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "counts of", c->functions[i].name);
	}
	return rc;
}

static int put_case(struct assay_store *s, int64_t run, const struct assay_exact_case *c, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO exact_case (exact_run, key, status, reason, digest) VALUES (?,?,?,?,?)";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_int(&b, run);
	assay_store_bind_text(&b, c->key);
	assay_store_bind_text(&b, assay_status_name(c->status));
	assay_store_bind_text(&b, c->reason);
	assay_store_bind_text(&b, c->digest);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "exact counts of", c->key);
	return rc ? rc : put_functions(s, sqlite3_last_insert_rowid(s->db), c, err);
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
	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = put(s, &run[i], assay_store_side_names[i], &id[i], err);
	rc = assay_store_finish(s, rc, err);
	for (unsigned i = 0; i < 2 && !rc; i++)
		run[i].id = id[i];
	return rc;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

/* The row that @sql selects with @suite or @number bound; run->id stays 0 when there is none. */
static int load_run(struct assay_store *s, const char *sql, const char *suite, int64_t number,
		    struct assay_exact_run *run, struct assay_err *err)
{
	struct assay_exact_setting *t = &run->setting;
	struct assay_row row = { 0 };
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	if (suite)
		assay_store_bind_text(&b, suite);
	else
		assay_store_bind_int(&b, number);
	while (assay_store_next(s, &b, &row, "exact counts", &rc, err)) {
		assay_store_row_build(&row, &run->build);
		run->id = assay_store_row_int(&row);
		run->run_id = assay_store_row_int(&row);
		assay_store_row_text(&row, run->suite, sizeof(run->suite));
		run->seed = (uint64_t)assay_store_row_int(&row);
		run->started_ns = (uint64_t)assay_store_row_int(&row);
		assay_store_row_text(&row, t->arch, sizeof(t->arch));
		assay_store_row_text(&row, t->tool, sizeof(t->tool));
		assay_store_row_text(&row, t->libc, sizeof(t->libc));
		assay_store_row_text(&row, t->cache, sizeof(t->cache));
		assay_store_row_text(&row, t->features, sizeof(t->features));
		assay_store_row_text(&row, t->environment, sizeof(t->environment));
		run->comparison_id = assay_store_row_int(&row);
	}
	return rc;
}

/* One row a case and function, or a case without any. */
static int add_row(struct assay_row *row, struct assay_exact_run *run, int64_t *last, struct assay_err *err)
{
	struct assay_exact_function f = { .name = "" };
	struct assay_exact_case *c;
	int64_t id = assay_store_row_int(row);
	char status[32];
	int rc = 0;

	if (id != *last) {
		rc = assay_store_grow(&run->cases, run->n_cases, sizeof(*run->cases), err);
		if (rc)
			return rc;
		c = &run->cases[run->n_cases++];
		*c = (struct assay_exact_case){ .key = "" };
		*last = id;
		assay_store_row_text(row, c->key, sizeof(c->key));
		assay_store_row_text(row, status, sizeof(status));
		assay_store_row_text(row, c->reason, sizeof(c->reason));
		assay_store_row_text(row, c->digest, sizeof(c->digest));
		row->bad |= !assay_status_parse(status, &c->status);
	} else {
		row->column += 4;
		c = &run->cases[run->n_cases - 1];
	}
	if (sqlite3_column_type(row->st, row->column) == SQLITE_NULL)
		return 0;
	assay_store_row_text(row, f.name, sizeof(f.name));
	assay_store_row_text(row, f.object, sizeof(f.object));
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		f.counts.v[e] = (uint64_t)assay_store_row_int(row);
	return assay_exact_add_function(c, &f) ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

static int load_cases(struct assay_store *s, struct assay_exact_run *run, struct assay_err *err)
{
	static const char sql[] = "SELECT c.id, c.key, c.status, c.reason, c.digest, f.name, f.object, f.instructions, "
				  "f.data_reads, f.data_writes, f.i1_misses,"
				  " f.d1_misses, f.ll_misses, f.branches, f.mispredictions"
				  " FROM exact_case c LEFT JOIN exact_function f ON f.exact_case = c.id WHERE "
				  "c.exact_run = ? ORDER BY c.id";
	struct assay_row row = { 0 };
	struct assay_binder b;
	int64_t last = 0;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_int(&b, run->id);
	while (assay_store_next(s, &b, &row, "exact counts", &rc, err))
		rc = add_row(&row, run, &last, err);
	return rc;
}

/* The newest of @suite; with NULL what belongs to @number of @what. */
static int load(struct assay_store *s, const char *sql, const char *suite, const char *what, int64_t number,
		struct assay_exact_run *out, struct assay_err *err)
{
	struct assay_exact_run run = { 0 };
	int rc = load_run(s, sql, suite, number, &run, err);

	if (!rc && !run.id)
		rc = suite ? assay_err_set(err, ASSAY_ENOTFOUND, "no exact counts of suite '%s' in '%.200s'", suite,
					   s->path)
			   : assay_err_set(err, ASSAY_ENOTFOUND, "%s %lld has no exact counts", what,
					   (long long)number);
	if (!rc)
		rc = load_cases(s, &run, err);
	if (rc)
		assay_exact_run_release(&run);
	else
		*out = run;
	return rc;
}

#define RUN_COLUMNS                                                                                                    \
	"SELECT b.id, b.commit_hash, b.dirty, b.compiler, b.flags, b.plugins, e.id, e.run, e.suite, e.seed, "          \
	"e.started_ns, e.arch,"                                                                                        \
	" e.tool, e.libc, e.cache, e.features, e.environment, e.comparison FROM exact_run e JOIN build b ON b.id = "   \
	"e.build "

int assay_store_exact_newest(struct assay_store *s, const char *suite, struct assay_exact_run *out,
			     struct assay_err *err)
{
	return load(s, RUN_COLUMNS "WHERE e.suite = ? AND e.comparison IS NULL ORDER BY e.id DESC LIMIT 1", suite, NULL,
		    0, out, err);
}

int assay_store_exact_of_run(struct assay_store *s, int64_t run_id, struct assay_exact_run *out, struct assay_err *err)
{
	return load(s, RUN_COLUMNS "WHERE e.run = ?", NULL, "run", run_id, out, err);
}

int assay_store_exact_of_side(struct assay_store *s, int64_t comparison_id, enum assay_side side,
			      struct assay_exact_run *out, struct assay_err *err)
{
	static const char *const sql[2] = {
		[ASSAY_BASE] = RUN_COLUMNS "WHERE e.comparison = ? AND e.side = 'base'",
		[ASSAY_HEAD] = RUN_COLUMNS "WHERE e.comparison = ? AND e.side = 'head'",
	};

	return load(s, sql[side], NULL, "comparison", comparison_id, out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other database is attached, read-only, and rows are copied by INSERT ... SELECT. Whole things are merged: a run,
 * a comparison, counts that stand alone, a profile. Two things are the same if they began at the same
 * time and agree in what they are of, and one of them holds all that the other does.
 *
 * One list of tables drives the copying. Rows are numbered anew: temp.moved_TABLE keeps what the numbers of the thing
 * at hand become, temp.same_TABLE those of shared rows and of whole things. Columns and what they refer to are taken
 * from the schema.
 */
#include "store/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/blobs.h"
#include "store/comparison.h"
#include "store/exact.h"
#include "store/profile.h"
#include "store/rows.h"

/* ---- tables ----------------------------------------------------------------------------------------------------- */

enum { SHARED = 1, RUN = 2, COMPARISON = 4, COUNTS = 8, PROFILE = 16 };

struct table {
	const char *name;
	unsigned of; /* which things its rows belong to */
	enum { NO_ID, NUMBER, DIGEST } id;
	const char *owner; /* the column that names the row it belongs to; NULL: it is shared, or a thing itself */
	const char *same;  /* of shared rows: m is the row here that t of the other database is */
};

/* A row stands behind those that it refers to. */
static const struct table tables[] = {
	{ "machine", SHARED, DIGEST, NULL, "m.id = t.id" },
	{ "machine_fact", SHARED, NO_ID, "machine", NULL },
	{ "build", SHARED, DIGEST, NULL, "m.id = t.id" },
	{ "bench_case", SHARED, NUMBER, NULL, "m.key = t.key" },
	{ "case_axis", SHARED, NO_ID, "bench_case", NULL },
	{ "series", SHARED, NUMBER, NULL,
	  "m.machine = t.machine AND m.bench_case = (SELECT new FROM temp.same_bench_case WHERE old = t.bench_case)" },
	{ "number_name", SHARED, NUMBER, NULL,
	  "(m.kind, m.name, m.source, m.unit, m.better, m.estimated, m.how, m.per_iteration) = (t.kind, t.name, "
	  "t.source,"
	  " t.unit, t.better, t.estimated, t.how, t.per_iteration)" },
	{ "run", RUN, NUMBER, NULL, NULL },
	{ "environment", RUN, NO_ID, "run", NULL },
	{ "result", RUN, NUMBER, "run", NULL },
	{ "result_samples", RUN, NO_ID, "result", NULL },
	{ "result_numbers", RUN, NO_ID, "result", NULL },
	{ "comparison", COMPARISON, NUMBER, NULL, NULL },
	{ "comparison_case", COMPARISON, NUMBER, "comparison", NULL },
	{ "pair", COMPARISON, NUMBER, "comparison_case", NULL },
	{ "pair_side", COMPARISON, NUMBER, "pair", NULL },
	{ "pair_metric", COMPARISON, NO_ID, "pair_side", NULL },
	{ "pair_counter", COMPARISON, NO_ID, "pair_side", NULL },
	{ "pair_unavailable", COMPARISON, NO_ID, "pair_side", NULL },
	{ "because", COMPARISON, NO_ID, "comparison_case", NULL },
	{ "because_pair", COMPARISON, NO_ID, "comparison_case", NULL },
	{ "because_function", COMPARISON, NO_ID, "comparison_case", NULL },
	{ "exact_run", RUN, NUMBER, "run", NULL },
	{ "exact_run", COMPARISON, NUMBER, "comparison", NULL },
	{ "exact_run", COUNTS, NUMBER, NULL, NULL },
	{ "exact_case", RUN | COMPARISON | COUNTS, NUMBER, "exact_run", NULL },
	{ "exact_function", RUN | COMPARISON | COUNTS, NO_ID, "exact_case", NULL },
	{ "profile", PROFILE, NUMBER, NULL, NULL },
	{ "profile_thread", PROFILE, NO_ID, "profile", NULL },
	{ "profile_frame", PROFILE, NO_ID, "profile", NULL },
	{ "profile_stack", PROFILE, NO_ID, "profile", NULL },
	{ "profile_heap", PROFILE, NO_ID, "profile", NULL },
	{ "profile_site", PROFILE, NO_ID, "profile", NULL },
	{ "profile_gpu", PROFILE, NO_ID, "profile", NULL },
	{ "profile_gpu_device", PROFILE, NO_ID, "profile", NULL },
	{ "profile_gpu_work", PROFILE, NO_ID, "profile", NULL },
	{ "profile_wait", PROFILE, NO_ID, "profile", NULL },
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

/* ---- things ----------------------------------------------------------------------------------------------------- */

/* Is the thing @id whole? It is if it can be loaded, by @load into a struct @type v. */
#define VERIFY(what, type, load, release)                                                                              \
	static int verify_##what(struct assay_store *s, int64_t id, struct assay_err *err)                             \
	{                                                                                                              \
		struct type v;                                                                                         \
		int rc = load;                                                                                         \
                                                                                                                       \
		if (!rc)                                                                                               \
			release(&v);                                                                                   \
		return rc;                                                                                             \
	}
VERIFY(run, assay_run, assay_store_run_load(s, id, &v, err), assay_run_release)
VERIFY(comparison, assay_comparison, assay_store_comparison_load(s, id, &v, NULL, NULL, err), assay_comparison_release)
VERIFY(exact, assay_exact_run, assay_store_exact_load(s, id, &v, err), assay_exact_run_release)
VERIFY(profile, assay_profile, assay_store_profile_load(s, id, &v, err), assay_profile_release)

struct thing {
	unsigned of;
	const char *table;
	const char *list; /* ids of the other database, oldest first */
	/*
	 * Of its row ?1, each row m here that may be the same: its id, whether it holds all of the other and the other
	 * way round; whether it has ended and how much it holds, and the same of the other.
	 */
	const char *same;
	/*
	 * Remove what the unfinished row ?1 holds, and give it the end of the other's row ?2; NULL: none is unfinished.
	 */
	const char *complete;
	int (*verify)(struct assay_store *s, int64_t id, struct assay_err *err);
};

#define LIST(table, where) "SELECT id FROM other." table where " ORDER BY started_ns, id"
/* Does row @x of database @a hold all that row @y of @b does? */
#define HOLDS(parts, a, x, b, y) "NOT EXISTS (SELECT * FROM (" parts(b, y) ") EXCEPT SELECT * FROM (" parts(a, x) "))"
#define HOLDS_ALL(parts)         HOLDS(parts, "main", "m", "other", "o")
#define IS_HELD(parts)           HOLDS(parts, "other", "o", "main", "m")
#define OF_BOTH(progress)        progress("main", "m") ", " progress("other", "o")
#define SAME(table, agree, parts, progress)                                                                            \
	"SELECT m.id, " HOLDS_ALL(parts) ", " IS_HELD(parts) ", " OF_BOTH(                                             \
		progress) " FROM other." table " o JOIN main." table " m ON m.started_ns = o.started_ns AND " agree    \
			  " WHERE o.id = ?1 ORDER BY m.id"

#define RUN_PARTS(db, row)                                                                                             \
	"SELECT c.key, r.n_samples, r.status, r.median_ns, r.started_ns FROM " db ".result r JOIN " db                 \
	".bench_case c ON c.id = r.bench_case WHERE r.run = " row ".id UNION ALL SELECT c.key, c.digest, c.status, "   \
	"NULL, 'exact' FROM " db ".exact_run e JOIN " db ".exact_case c ON c.exact_run = e.id WHERE e.run = " row      \
	".id"
#define RUN_PROGRESS(db, row) row ".ended_ns IS NOT NULL, (SELECT count(*) FROM " db ".result WHERE run = " row ".id)"
#define COMPARISON_PARTS(db, row)                                                                                      \
	"SELECT c.key, k.control, p.seed, p.wall_ns FROM " db ".comparison_case k JOIN " db ".bench_case c ON "        \
	"c.id = k.bench_case LEFT JOIN " db ".pair p ON p.comparison_case = k.id WHERE k.comparison = " row ".id"
#define COMPARISON_PROGRESS(db, row)                                                                                   \
	row ".ended_ns IS NOT NULL, (SELECT count(*) FROM " db ".comparison_case c JOIN " db                           \
	    ".pair p ON p.comparison_case = c.id WHERE c.comparison = " row ".id)"
#define COUNTS_PARTS(db, row)  "SELECT key, digest, status FROM " db ".exact_case WHERE exact_run = " row ".id"
#define PROFILE_PARTS(db, row) "SELECT " row ".seconds, " row ".timed_weight"
#define FINISHED(db, row)      "1, 0"

static const struct thing things[] = {
	{ RUN, "run", LIST("run", ""),
	  SAME("run", "m.suite = o.suite AND m.seed = o.seed AND m.machine = o.machine AND m.build = o.build",
	       RUN_PARTS, RUN_PROGRESS),
	  "DELETE FROM main.result WHERE run = ?1; DELETE FROM main.environment WHERE run = ?1;"
	  " DELETE FROM main.exact_run WHERE run = ?1;"
	  " UPDATE main.run SET ended_ns = (SELECT ended_ns FROM other.run WHERE id = ?2) WHERE id = ?1",
	  verify_run },
	{ COMPARISON, "comparison", LIST("comparison", ""),
	  SAME("comparison",
	       "m.suite = o.suite AND m.seed = o.seed AND m.machine = o.machine AND m.base_build = o.base_build"
	       " AND m.head_build = o.head_build AND m.base = o.base AND m.head = o.head",
	       COMPARISON_PARTS, COMPARISON_PROGRESS),
	  "DELETE FROM main.comparison_case WHERE comparison = ?1; DELETE FROM main.exact_run WHERE comparison = ?1;"
	  " UPDATE main.comparison SET (ended_ns, verdict, exit_code) = (SELECT ended_ns, verdict, exit_code"
	  " FROM other.comparison WHERE id = ?2) WHERE id = ?1",
	  verify_comparison },
	{ COUNTS, "exact_run", LIST("exact_run", " WHERE run IS NULL AND comparison IS NULL"),
	  SAME("exact_run",
	       "m.run IS NULL AND m.comparison IS NULL AND m.suite = o.suite AND m.seed = o.seed AND m.build = o.build"
	       " AND m.tool = o.tool AND m.environment = o.environment AND m.features = o.features",
	       COUNTS_PARTS, FINISHED),
	  NULL, verify_exact },
	{ PROFILE, "profile", LIST("profile", ""),
	  SAME("profile",
	       "m.kind = o.kind AND m.name = o.name AND m.machine = o.machine AND m.build IS o.build"
	       " AND m.what = o.what",
	       PROFILE_PARTS, FINISHED),
	  NULL, verify_profile },
};
#define N_THINGS (sizeof(things) / sizeof(things[0]))

/* ---- copying ---------------------------------------------------------------------------------------------------- */

/* The ids that names of numbers in the other database have here, by their ids there. */
struct name_id {
	int64_t there, here;
};

struct merging {
	struct assay_store *to, *from;
	struct assay_store_merged *m;
	struct assay_err *err;
	struct name_id *names;
	size_t n_names;
	/* Of each table: give its rows numbers, insert them; NULL: none, or not prepared. */
	struct {
		sqlite3_stmt *number, *insert;
	} st[N_TABLES];
};

static int fail(struct merging *g, int rc, const char *table)
{
	return assay_store_fail(g->to, rc, g->err, "cannot copy '%s'", table);
}

/* Run the statements of @sql with ?1 and ?2, of those that have parameters. */
static int run(struct merging *g, const char *sql, int64_t first, int64_t second, const char *table)
{
	int rc = SQLITE_OK;

	for (const char *rest = NULL; rc == SQLITE_OK && *sql; sql = rest) {
		sqlite3_stmt *st = NULL;

		rc = sqlite3_prepare_v2(g->to->db, sql, -1, &st, &rest);
		if (rc == SQLITE_OK && sqlite3_bind_parameter_count(st) > 0)
			sqlite3_bind_int64(st, 1, first);
		if (rc == SQLITE_OK && sqlite3_bind_parameter_count(st) > 1)
			sqlite3_bind_int64(st, 2, second);
		if (rc == SQLITE_OK && sqlite3_step(st) != SQLITE_DONE)
			rc = sqlite3_extended_errcode(g->to->db);
		sqlite3_finalize(st);
	}
	return rc == SQLITE_OK ? 0 : fail(g, rc, table);
}

static const struct table *find_table(const char *name)
{
	for (size_t i = 0; i < N_TABLES; i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

/* The value here of @column of the other's row t; @to is the table that it refers to, NULL where it refers to none. */
static void add_value(struct assay_text *sql, const struct table *t, const char *column, const char *to)
{
	const struct table *of = to ? find_table(to) : NULL;

	if (!strcmp(column, "id") && t->id == NUMBER)
		assay_text_addf(sql, "(SELECT new FROM temp.moved_%s WHERE old = t.id)", t->name);
	else if (of && of->id == NUMBER)
		assay_text_addf(sql, "(SELECT new FROM temp.%s_%s WHERE old = t.%s)",
				of->of == SHARED ? "same" : "moved", to, column);
	else if (!strcmp(t->name, "result_numbers") && !strcmp(column, "encoded"))
		assay_text_add(sql, "renumber(t.encoded)");
	else
		assay_text_addf(sql, "t.%s", column);
}

/* FROM and WHERE: the rows of the other database that are copied. ?1 is the number of a thing. */
static void add_which(struct assay_text *sql, const struct table *t)
{
	assay_text_addf(sql, " FROM other.%s t WHERE ", t->name);
	if (t->owner)
		assay_text_addf(sql, "t.%s IN (SELECT old FROM temp.moved_%s)", t->owner, t->owner);
	else if (t->same)
		assay_text_addf(sql, "NOT EXISTS (SELECT 1 FROM main.%s m WHERE %s)", t->name, t->same);
	else
		assay_text_add(sql, "t.id = ?1");
}

static int prepare(struct merging *g, struct assay_text *sql, sqlite3_stmt **st, const char *table)
{
	int rc = sql->failed ? SQLITE_NOMEM : sqlite3_prepare_v2(g->to->db, sql->s, -1, st, NULL);

	assay_text_release(sql);
	return rc == SQLITE_OK ? 0 : fail(g, rc, table);
}

/* A number that was given once, and whose row is gone, is not given again. */
static int prepare_number(struct merging *g, const struct table *t, sqlite3_stmt **st)
{
	struct assay_text sql = { 0 };

	assay_text_addf(&sql, "INSERT INTO temp.moved_%s SELECT t.id, ", t->name);
	if (t->id == DIGEST)
		assay_text_add(&sql, "t.id");
	else
		assay_text_addf(&sql,
				"(SELECT max(ifnull(max(id), 0), ifnull((SELECT seq FROM main.sqlite_sequence"
				" WHERE name = '%s'), 0)) FROM main.%s) + row_number() OVER (ORDER BY t.id)",
				t->name, t->name);
	add_which(&sql, t);
	return prepare(g, &sql, st, t->name);
}

static int prepare_insert(struct merging *g, const struct table *t, sqlite3_stmt **st)
{
	struct assay_text sql = { 0 }, values = { 0 };
	sqlite3_stmt *columns = NULL;
	int rc;

	assay_text_addf(&sql,
			"SELECT c.name, f.\"table\" FROM pragma_table_info('%s') c"
			" LEFT JOIN pragma_foreign_key_list('%s') f ON f.\"from\" = c.name",
			t->name, t->name);
	rc = prepare(g, &sql, &columns, t->name);
	if (rc)
		return rc;
	assay_text_addf(&sql, "INSERT INTO main.%s", t->name);
	while ((rc = sqlite3_step(columns)) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(columns, 0);

		assay_text_addf(&sql, "%s%s", values.s ? ", " : " (", column);
		assay_text_add(&values, values.s ? ", " : ") SELECT ");
		add_value(&values, t, column, (const char *)sqlite3_column_text(columns, 1));
	}
	sqlite3_finalize(columns);
	assay_text_add(&sql, values.s ? values.s : "");
	sql.failed |= values.failed || rc != SQLITE_DONE;
	assay_text_release(&values);
	if (t->id)
		assay_text_addf(&sql, " FROM other.%s t WHERE t.id IN (SELECT old FROM temp.moved_%s) ORDER BY t.id",
				t->name, t->name);
	else
		add_which(&sql, t);
	return prepare(g, &sql, st, t->name);
}

static int step(struct merging *g, sqlite3_stmt *st, int64_t id, const char *table)
{
	int rc;

	if (sqlite3_bind_parameter_count(st))
		sqlite3_bind_int64(st, 1, id);
	rc = sqlite3_step(st);
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : fail(g, rc, table);
}

/* The rows of table @i that belong to what was moved so far; of a thing its row @id. */
static int copy_table(struct merging *g, size_t i, int64_t id)
{
	const struct table *t = &tables[i];
	int rc = 0;

	if (t->id && !g->st[i].number)
		rc = prepare_number(g, t, &g->st[i].number);
	if (!rc && !g->st[i].insert)
		rc = prepare_insert(g, t, &g->st[i].insert);
	if (!rc && t->id) {
		rc = step(g, g->st[i].number, id, t->name);
		if (!rc && !sqlite3_changes(g->to->db))
			return 0;
	}
	if (!rc)
		rc = step(g, g->st[i].insert, id, t->name);
	if (!rc && !strcmp(t->name, "result"))
		g->m->results += (size_t)sqlite3_changes(g->to->db);
	return rc;
}

static const struct name_id *find_name(const struct merging *g, int64_t there)
{
	size_t from = 0, to = g->n_names;

	while (from < to) {
		const size_t at = from + (to - from) / 2;

		if (g->names[at].there == there)
			return &g->names[at];
		if (g->names[at].there < there)
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

/* renumber(BLOB): the numbers of a result, with the ids that their names have here. */
static void renumber(sqlite3_context *out, int n_args, sqlite3_value **args)
{
	const struct merging *g = sqlite3_user_data(out);
	struct assay_stored_number *v = NULL;
	unsigned char *again = NULL;
	struct assay_err err;
	size_t n = 0, len = (size_t)sqlite3_value_bytes(args[0]);
	int rc = assay_number_blob_decode(sqlite3_value_blob(args[0]), len, &v, &n, &err);

	(void)n_args;
	for (size_t i = 0; i < n && !rc; i++) {
		const struct name_id *name = find_name(g, v[i].name);

		if (name)
			v[i].name = name->here;
		else
			rc = assay_err_set(&err, ASSAY_ESTORE, "numbers are damaged (one has no name)");
	}
	if (!rc)
		rc = assay_number_blob_encode(v, n, &again, &len, &err);
	free(v);
	if (rc)
		sqlite3_result_error(out, err.text, -1);
	else
		sqlite3_result_blob64(out, again, len, free);
}

static const struct assay_column name_list[] = {
	ASSAY_COLUMN(struct name_id, there, "old"),
	ASSAY_COLUMN(struct name_id, here, "new"),
};
static const struct assay_columns name_columns = ASSAY_COLUMNS(name_list);

/* Machines, builds, cases and names of numbers: those that are not here, and which each of the others is here. */
static int copy_shared(struct merging *g)
{
	static const struct assay_store_rows rows = { "'number_name'", sizeof(*g->names), &name_columns, NULL };
	struct assay_binder b;
	int rc = 0;

	for (size_t i = 0; i < N_TABLES && !rc; i++) {
		struct assay_text sql = { 0 };
		sqlite3_stmt *st = NULL;

		if (tables[i].of != SHARED)
			continue;
		rc = copy_table(g, i, 0);
		if (rc || tables[i].id != NUMBER)
			continue;
		assay_text_addf(&sql, "INSERT INTO temp.same_%s SELECT t.id, m.id FROM other.%s t JOIN main.%s m ON %s",
				tables[i].name, tables[i].name, tables[i].name, tables[i].same);
		rc = prepare(g, &sql, &st, tables[i].name);
		if (!rc)
			rc = step(g, st, 0, tables[i].name);
		sqlite3_finalize(st);
	}
	if (rc)
		return rc;
	b = assay_store_ask(g->to, g->err, "SELECT {} FROM temp.same_number_name ORDER BY old",
			    ASSAY_LISTS(&name_columns), "");
	return assay_store_collect(g->to, &b, &rows, &g->names, &g->n_names, g->err);
}

#define MEANING(db, id)                                                                                                \
	"(SELECT op || ' ' || variant || ' ' || threads || ' ' || cache || coalesce((SELECT group_concat(a) FROM "     \
	"(SELECT ' ' || name || '=' || text || ':' || value AS a FROM " db ".case_axis WHERE bench_case = " id         \
	" ORDER BY place)), '') FROM " db ".bench_case WHERE id = " id ")"

static int check_cases(struct merging *g)
{
	static const char sql[] =
		"SELECT o.key FROM other.bench_case o JOIN main.bench_case m ON m.key = o.key WHERE " MEANING(
			"other", "o.id") " <> " MEANING("main", "m.id") " LIMIT 1";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(g->to, g->err, sql, NULL, "");
	char key[ASSAY_KEY_MAX] = "";
	int rc = 0;

	while (assay_store_next(g->to, &b, &row, "'bench_case'", &rc, g->err))
		assay_store_row_text(&row, key, sizeof(key));
	if (rc || !key[0])
		return rc;
	return assay_err_set(g->err, ASSAY_ESTORE,
			     "'%.160s' stands for another case in '%.120s' than in '%.120s': they cannot be merged",
			     key, g->from->path, g->to->path);
}

/* ---- whole things ----------------------------------------------------------------------------------------------- */

/* *at becomes the id of the same thing here, 0 where there is none; *less says that it is there in part. */
static int find_here(struct merging *g, const struct thing *k, int64_t id, int64_t *at, bool *less)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(g->to, g->err, k->same, NULL, "i", id);
	int rc = 0;

	*at = 0;
	*less = false;
	while (assay_store_next(g->to, &b, &row, k->table, &rc, g->err)) {
		const int64_t here = assay_store_row_int(&row);
		const bool holds_all = assay_store_row_bool(&row), is_held = assay_store_row_bool(&row);
		const bool here_ended = assay_store_row_bool(&row);
		const int64_t here_held = assay_store_row_int(&row);
		const bool ended = assay_store_row_bool(&row);
		const int64_t held = assay_store_row_int(&row);

		if (*at)
			continue;
		/* one of them may be a copy that was made while it was measured, or hold some cases only */
		*less = k->complete &&
			((is_held && !holds_all) || (!here_ended && (ended ? held >= here_held : held > here_held)));
		if (*less || holds_all || (!ended && here_held >= held))
			*at = here;
	}
	return rc;
}

/* Run @sql, in which %s stands for the name of a table, with ?1 and ?2. */
static int run_of(struct merging *g, const char *sql, const char *table, int64_t first, int64_t second)
{
	char text[256];

	snprintf(text, sizeof(text), sql, table);
	return run(g, text, first, second, table);
}

/* All of row @id; the row itself is @at where that is not 0. */
static int copy_thing(struct merging *g, const struct thing *k, int64_t id, int64_t at)
{
	int rc = 0;

	if (at) {
		rc = run_of(g, "INSERT INTO temp.moved_%s VALUES (?1, ?2)", k->table, id, at);
		if (!rc)
			rc = run(g, k->complete, at, id, k->table);
	}
	for (size_t i = 0; i < N_TABLES && !rc; i++)
		if (tables[i].of & k->of && (tables[i].owner || !at))
			rc = copy_table(g, i, id);
	if (!rc)
		rc = run_of(g, "INSERT INTO temp.same_%1$s SELECT * FROM temp.moved_%1$s", k->table, 0, 0);
	for (size_t i = 0; i < N_TABLES && !rc; i++)
		if (tables[i].of & k->of && tables[i].id)
			rc = run_of(g, "DELETE FROM temp.moved_%s", tables[i].name, 0, 0);
	return rc;
}

static int merge_one(struct merging *g, const struct thing *k, size_t *added, int64_t id)
{
	int64_t at = 0;
	bool less = false;
	int rc = find_here(g, k, id, &at, &less);

	if (!rc && at && !less) {
		g->m->known++;
		return run_of(g, "INSERT INTO temp.same_%s VALUES (?1, ?2)", k->table, id, at);
	}
	if (!rc && k->verify)
		rc = k->verify(g->from, id, g->err);
	if (!rc)
		rc = copy_thing(g, k, id, at);
	if (!rc)
		++*(less ? &g->m->completed : added);
	return rc;
}

static int merge_things(struct merging *g, const struct thing *k, size_t *added)
{
	struct assay_binder b = assay_store_ask(g->to, g->err, k->list, NULL, "");
	int64_t *ids = NULL;
	size_t n = 0;
	int rc = assay_store_collect_ids(g->to, &b, k->table, &ids, &n, g->err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = merge_one(g, k, added, ids[i]);
	free(ids);
	return rc;
}

/* ---- baselines -------------------------------------------------------------------------------------------------- */

static int note(struct merging *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int note(struct merging *g, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return assay_strings_add(&g->m->notes, text, g->err);
}

static const struct assay_baseline_info *find_baseline(const struct assay_baseline_info *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return &v[i];
	return NULL;
}

/* The run @id of the other database here; 0 where it is not. */
static int run_here(struct merging *g, int64_t id, int64_t *at)
{
	struct assay_binder b =
		assay_store_ask(g->to, g->err, "SELECT new FROM temp.same_run WHERE old = ?", NULL, "i", id);

	return assay_store_read_number(g->to, &b, "'run'", at, g->err);
}

static int merge_baseline(struct merging *g, const struct assay_baseline_info *b,
			  const struct assay_baseline_info *here)
{
	size_t added = 0;
	int rc = 0;

	if (here && (strcmp(here->suite, b->suite) || strcmp(here->machine_id, b->machine_id)))
		return note(g,
			    "baseline '%s' of '%.120s' was left out: here that name is of suite '%s' on %s; "
			    "save it under another name there",
			    b->name, g->from->path, here->suite, here->machine_label);
	for (size_t i = 0; i < b->n_runs && !rc; i++) {
		int64_t at = 0;
		bool has = false;

		rc = run_here(g, b->runs[i], &at);
		for (size_t k = 0; here && k < here->n_runs; k++)
			has |= here->runs[k] == at;
		if (!rc && at && !has) {
			rc = assay_store_baseline_save(
				g->to, b->name, at, here && here->saved_ns > b->saved_ns ? here->saved_ns : b->saved_ns,
				g->err);
			added++;
		}
	}
	if (rc || !added)
		return rc;
	g->m->baselines++;
	return here ? note(g, "baseline '%s' got %zu run%s of '%.160s'", b->name, added, added == 1 ? "" : "s",
			   g->from->path)
		    : 0;
}

static int merge_baselines(struct merging *g)
{
	struct assay_baseline_info *theirs = NULL, *ours = NULL;
	size_t n = 0, n_ours = 0;
	int rc = assay_store_baselines(g->from, NULL, NULL, &theirs, &n, g->err);

	if (!rc)
		rc = assay_store_baselines(g->to, NULL, NULL, &ours, &n_ours, g->err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = merge_baseline(g, &theirs[i], find_baseline(ours, n_ours, theirs[i].name));
	assay_baseline_infos_release(theirs, n);
	assay_baseline_infos_release(ours, n_ours);
	return rc;
}

void assay_store_merged_release(struct assay_store_merged *m)
{
	assay_strings_release(&m->notes);
	*m = (struct assay_store_merged){ 0 };
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* The later answer to a question about a change stays. */
#define CHANGES                                                                                                        \
	"INSERT INTO main.change_answer (bench_case, machine, from_commit, to_commit, slower, confirmed, decided, "    \
	"reason, budget_ns, asked_ns, comparison) SELECT (SELECT new FROM temp.same_bench_case WHERE old = "           \
	"t.bench_case), machine, from_commit, to_commit, slower, confirmed, decided, reason, budget_ns, asked_ns, "    \
	"(SELECT new FROM temp.same_comparison WHERE old = t.comparison) FROM other.change_answer t WHERE true ON "    \
	"CONFLICT (bench_case, machine, from_commit, to_commit, slower) DO UPDATE SET (confirmed, decided, reason, "   \
	"budget_ns, asked_ns, comparison) = (excluded.confirmed, excluded.decided, excluded.reason, "                  \
	"excluded.budget_ns, excluded.asked_ns, excluded.comparison) WHERE excluded.asked_ns > asked_ns"

static int merge(struct merging *g)
{
	size_t *const added[N_THINGS] = { &g->m->runs, &g->m->comparisons, &g->m->counts, &g->m->profiles };
	int rc = check_cases(g);

	for (size_t i = 0; i < N_TABLES && !rc; i++)
		if (tables[i].id)
			rc = run_of(g,
				    "CREATE TEMP TABLE IF NOT EXISTS moved_%1$s (old PRIMARY KEY, new) WITHOUT ROWID;"
				    " CREATE TEMP TABLE IF NOT EXISTS same_%1$s (old PRIMARY KEY, new) WITHOUT ROWID",
				    tables[i].name, 0, 0);
	if (!rc)
		rc = copy_shared(g);
	for (size_t i = 0; i < N_THINGS && !rc; i++)
		rc = merge_things(g, &things[i], added[i]);
	if (!rc)
		rc = merge_baselines(g);
	if (!rc)
		rc = run(g, CHANGES, 0, 0, "change_answer");
	for (size_t i = 0; i < N_TABLES; i++) {
		sqlite3_finalize(g->st[i].number);
		sqlite3_finalize(g->st[i].insert);
	}
	free(g->names);
	for (size_t i = 0; i < N_TABLES && !rc; i++)
		if (tables[i].id)
			rc = run_of(g, "DROP TABLE IF EXISTS temp.moved_%1$s; DROP TABLE IF EXISTS temp.same_%1$s",
				    tables[i].name, 0, 0);
	return rc;
}

int assay_store_merge(struct assay_store *to, struct assay_store *from, struct assay_store_merged *m,
		      struct assay_err *err)
{
	struct merging g = { .to = to, .from = from, .m = m, .err = err };
	int rc = assay_store_attach(to, from, err);

	if (rc)
		return rc;
	if (sqlite3_create_function(to->db, "renumber", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &g, renumber, NULL, NULL))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc)
		rc = assay_store_bulk_begin(to, err);
	if (!rc) {
		/* loaders of the other database would begin a transaction each */
		rc = assay_store_begin_read(from, err);
		from->bulk = true;
		assay_store_heed(to, true);
		if (!rc)
			rc = merge(&g);
		assay_store_heed(to, false);
		rc = assay_store_bulk_end(to, rc, err);
		from->bulk = false;
		assay_store_finish(from, rc, err);
	}
	assay_store_detach(to);
	return rc;
}

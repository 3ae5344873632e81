/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is copied by the names that its columns have in the database, so that this file knows how tables belong to one
 * another, and not what is in them. Columns of one name refer to one table everywhere.
 */
#include "store/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/blobs.h"

#define PART(name, its_table, its_owner, has_id, ...)                                                                  \
	static const struct assay_store_tree name = { its_table, its_owner, has_id, __VA_ARGS__ }
#define PARTS(...)                                                                                                     \
	(const struct assay_store_tree *const[])                                                                       \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

PART(axes, "case_axis", "bench_case", false, NULL);
PART(cases, "bench_case", NULL, true, PARTS(&axes));
PART(facts, "environment", "run", false, NULL);
PART(samples, "result_samples", "result", false, NULL);
PART(numbers, "result_numbers", "result", false, NULL);
PART(results, "result", "run", true, PARTS(&samples, &numbers));
PART(functions, "exact_function", "exact_case", false, NULL);
PART(exact_cases, "exact_case", "exact_run", true, PARTS(&functions));
PART(exact_of_run, "exact_run", "run", true, PARTS(&exact_cases));
PART(exact_of_comparison, "exact_run", "comparison", true, PARTS(&exact_cases));
PART(pair_metrics, "pair_metric", "pair_side", false, NULL);
PART(pair_counters, "pair_counter", "pair_side", false, NULL);
PART(pair_missing, "pair_unavailable", "pair_side", false, NULL);
PART(profile_threads, "profile_thread", "profile", false, NULL);
PART(profile_frames, "profile_frame", "profile", false, NULL);
PART(profile_stacks, "profile_stack", "profile", false, NULL);
PART(profile_heaps, "profile_heap", "profile", false, NULL);
PART(profile_sites, "profile_site", "profile", false, NULL);
PART(profile_gpus, "profile_gpu", "profile", false, NULL);
PART(profile_gpu_devices, "profile_gpu_device", "profile", false, NULL);
PART(profile_gpu_works, "profile_gpu_work", "profile", false, NULL);
PART(profile_waits, "profile_wait", "profile", false, NULL);
PART(sides, "pair_side", "pair", true, PARTS(&pair_metrics, &pair_counters, &pair_missing));
PART(pairs, "pair", "comparison_case", true, PARTS(&sides));
PART(because, "because", "comparison_case", false, NULL);
PART(because_pairs, "because_pair", "comparison_case", false, NULL);
PART(because_functions, "because_function", "comparison_case", false, NULL);
PART(compared_cases, "comparison_case", "comparison", true,
     PARTS(&pairs, &because, &because_pairs, &because_functions));

const struct assay_store_tree assay_store_run_tree = { "run", NULL, true, PARTS(&facts, &results, &exact_of_run) };
const struct assay_store_tree assay_store_comparison_tree = { "comparison", NULL, true,
							      PARTS(&compared_cases, &exact_of_comparison) };
const struct assay_store_tree assay_store_exact_tree = { "exact_run", NULL, true, PARTS(&exact_cases) };
const struct assay_store_tree assay_store_profile_tree = {
	"profile", NULL, true,
	PARTS(&profile_threads, &profile_frames, &profile_stacks, &profile_heaps, &profile_sites, &profile_gpus,
	      &profile_gpu_devices, &profile_gpu_works, &profile_waits)
};
const struct assay_store_tree assay_store_certify_tree = { "certify", NULL, true, NULL };

#define MAX_TREES 40

/* The statements of a table. */
struct statements {
	const struct assay_store_tree *tree;
	bool root; /* selected by its own id */
	sqlite3_stmt *select, *insert;
};

struct assay_store_copier {
	struct assay_store *to, *from;
	struct assay_name_index case_ids, series_ids, name_ids; /* of the other database to this one's */
	struct statements v[MAX_TREES];
	size_t n, n_results;
};

int assay_store_copier_new(struct assay_store_copier **out, struct assay_store *to, struct assay_store *from,
			   struct assay_err *err)
{
	struct assay_store_copier *c = calloc(1, sizeof(*c));

	if (!c)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	c->to = to;
	c->from = from;
	*out = c;
	return 0;
}

void assay_store_copier_free(struct assay_store_copier *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		sqlite3_finalize(c->v[i].select);
		sqlite3_finalize(c->v[i].insert);
	}
	assay_name_index_release(&c->case_ids);
	assay_name_index_release(&c->series_ids);
	assay_name_index_release(&c->name_ids);
	free(c);
}

size_t assay_store_copied_results(const struct assay_store_copier *c)
{
	return c->n_results;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static int prepare(struct assay_store *s, struct assay_text *sql, sqlite3_stmt **st, struct assay_err *err)
{
	int rc = sql->failed ? SQLITE_NOMEM : sqlite3_prepare_v2(s->db, sql->s, -1, st, NULL);

	assay_text_release(sql);
	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "cannot copy tables");
}

/* An INSERT of all columns that @select gives, without the id of a numbered table. */
static int prepare_insert(struct assay_store_copier *c, struct statements *v, struct assay_err *err)
{
	struct assay_text sql = { 0 }, values = { 0 };

	assay_text_addf(&sql, "INSERT INTO %s (", v->tree->table);
	for (int i = v->tree->numbered; i < sqlite3_column_count(v->select); i++) {
		assay_text_addf(&sql, "%s%s", i > v->tree->numbered ? ", " : "", sqlite3_column_name(v->select, i));
		assay_text_add(&values, i > v->tree->numbered ? ", ?" : "?");
	}
	assay_text_addf(&sql, ") VALUES (%s)", values.s ? values.s : "");
	sql.failed |= values.failed;
	assay_text_release(&values);
	return prepare(c->to, &sql, &v->insert, err);
}

static int statements_of(struct assay_store_copier *c, const struct assay_store_tree *tree, bool root,
			 struct statements **out, struct assay_err *err)
{
	struct assay_text sql = { 0 };
	struct statements *v;
	int rc;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].tree == tree && c->v[i].root == root) {
			*out = &c->v[i];
			return 0;
		}
	if (c->n == MAX_TREES)
		return assay_err_set(err, ASSAY_EINTERNAL, "too many tables to copy");
	v = *out = &c->v[c->n++];
	*v = (struct statements){ .tree = tree, .root = root };
	assay_text_addf(&sql, "SELECT * FROM %s WHERE %s = ?%s", tree->table, root ? "id" : tree->owner,
			tree->numbered && !root ? " ORDER BY id" : "");
	rc = prepare(c->from, &sql, &v->select, err);
	return rc ? rc : prepare_insert(c, v, err);
}

/* ---- what rows refer to ----------------------------------------------------------------------------------------- */

/* The number that @id became, by @find, which makes it where there is none. */
typedef int (*find_fn)(struct assay_store_copier *c, int64_t id, int64_t *out, struct assay_err *err);

static int map(struct assay_store_copier *c, struct assay_name_index *ids, int64_t id, find_fn find, int64_t *out,
	       struct assay_err *err)
{
	char text[24];
	size_t at;
	int rc;

	snprintf(text, sizeof(text), "%lld", (long long)id);
	if (assay_name_index_find(ids, text, &at)) {
		*out = (int64_t)at;
		return 0;
	}
	*out = 0;
	rc = find(c, id, out, err);
	if (!rc && !*out)
		rc = assay_store_damaged(c->from, "what others refer to", err);
	return rc ? rc : assay_name_index_put(ids, text, (size_t)*out, &at, NULL, err);
}

/* All that a key stands for as one text, malloc'ed; NULL where there is no such case. */
static int read_meaning(struct assay_store *s, const char *sql, int64_t id, const char *key, char **meaning,
			int64_t *found, char name[ASSAY_KEY_MAX], struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement(s, sql, err);
	int rc = 0;

	if (key)
		assay_store_bind_text(&b, key);
	else
		assay_store_bind_int(&b, id);
	while (assay_store_next(s, &b, &row, "'bench_case'", &rc, err)) {
		*found = assay_store_row_int(&row);
		assay_store_row_text(&row, name, ASSAY_KEY_MAX);
		free(*meaning);
		*meaning = strdup((const char *)sqlite3_column_text(row.st, row.column));
		row.no_memory |= !*meaning;
	}
	return rc;
}

#define MEANING                                                                                                        \
	"SELECT id, key, op || ' ' || variant || ' ' || threads || ' ' || cache || coalesce((SELECT group_concat(a)"   \
	" FROM (SELECT ' ' || name || '=' || text || ':' || value AS a FROM case_axis WHERE bench_case = c.id"         \
	" ORDER BY place)), '') FROM bench_case c "

static int find_case(struct assay_store_copier *c, int64_t id, int64_t *out, struct assay_err *err)
{
	char *there = NULL, *here = NULL, key[ASSAY_KEY_MAX] = "", same[ASSAY_KEY_MAX];
	int64_t from = 0;
	int rc = read_meaning(c->from, MEANING "WHERE id = ?", id, NULL, &there, &from, key, err);

	if (!rc && from)
		rc = read_meaning(c->to, MEANING "WHERE key = ?", 0, key, &here, out, same, err);
	if (!rc && here && strcmp(here, there))
		rc = assay_err_set(
			err, ASSAY_ESTORE,
			"'%.160s' stands for another case in '%.120s' than in '%.120s': they cannot be merged", key,
			c->from->path, c->to->path);
	if (!rc && from && !here)
		rc = assay_store_copy(c, &cases, id, out, err);
	free(there);
	free(here);
	return rc;
}

static int find_series(struct assay_store_copier *c, int64_t id, int64_t *out, struct assay_err *err)
{
	static const char put[] = "INSERT INTO series (bench_case, machine) VALUES (?, ?)"
				  " ON CONFLICT (bench_case, machine) DO UPDATE SET machine = machine RETURNING id";
	char machine[ASSAY_DIGEST_LEN + 1] = "";
	struct assay_row row = { 0 };
	struct assay_binder b =
		assay_store_statement(c->from, "SELECT bench_case, machine FROM series WHERE id = ?", err);
	int64_t bench_case = 0;
	int rc = 0;

	assay_store_bind_int(&b, id);
	while (assay_store_next(c->from, &b, &row, "'series'", &rc, err)) {
		bench_case = assay_store_row_int(&row);
		assay_store_row_text(&row, machine, sizeof(machine));
	}
	if (rc || !bench_case)
		return rc;
	rc = map(c, &c->case_ids, bench_case, find_case, &bench_case, err);
	if (rc)
		return rc;
	row = (struct assay_row){ 0 };
	b = assay_store_statement(c->to, put, err);
	assay_store_bind_int(&b, bench_case);
	assay_store_bind_text(&b, machine);
	while (assay_store_next(c->to, &b, &row, "'series'", &rc, err))
		*out = assay_store_row_int(&row);
	return rc;
}

static int find_name(struct assay_store_copier *c, int64_t id, int64_t *out, struct assay_err *err)
{
#define COLUMNS "kind, name, source, unit, better, estimated, how, per_iteration"
	static const char get[] = "SELECT " COLUMNS " FROM number_name WHERE id = ?";
	static const char put[] = "INSERT INTO number_name (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
				  " ON CONFLICT (kind, name, source, unit, better, estimated, how, per_iteration)"
				  " DO UPDATE SET kind = kind RETURNING id";
#undef COLUMNS
	struct assay_row row = { 0 };
	struct assay_binder from = assay_store_statement(c->from, get, err),
			    to = assay_store_statement(c->to, put, err);
	int rc = 0;

	assay_store_bind_int(&from, id);
	while (assay_store_next(c->from, &from, &row, "'number_name'", &rc, err))
		for (int i = 0; i < sqlite3_column_count(from.st) && !to.rc; i++)
			to.rc = sqlite3_bind_value(to.st, i + 1, sqlite3_column_value(from.st, i));
	row = (struct assay_row){ 0 };
	while (assay_store_next(c->to, &to, &row, "'number_name'", &rc, err))
		*out = assay_store_row_int(&row);
	return rc;
}

/* A row whose id is a digest or the like, with those of @part that name it in the column @table. */
static int copy_named(struct assay_store_copier *c, const char *table, const char *part, const char *id,
		      struct assay_err *err)
{
	const struct assay_store_tree row = { .table = table }, rows = { .table = part, .owner = table };
	const struct assay_store_tree *const trees[] = { &row, part ? &rows : NULL };
	bool added = true;
	int rc = 0;

	for (size_t i = 0; i < 2 && trees[i] && added && !rc; i++) {
		struct statements v = { .tree = trees[i] };
		struct assay_text sql = { 0 };
		int step = SQLITE_DONE;

		assay_text_addf(&sql, "SELECT * FROM %s WHERE %s = ?", trees[i]->table, i ? table : "id");
		rc = prepare(c->from, &sql, &v.select, err);
		if (!rc)
			rc = prepare_insert(c, &v, err);
		if (!rc)
			sqlite3_bind_text(v.select, 1, id, -1, SQLITE_STATIC);
		while (!rc && (step = sqlite3_step(v.select)) == SQLITE_ROW) {
			for (int k = 0; k < sqlite3_column_count(v.select); k++)
				sqlite3_bind_value(v.insert, k + 1, sqlite3_column_value(v.select, k));
			step = sqlite3_step(v.insert);
			/* it is there */
			added = (step & 0xff) != SQLITE_CONSTRAINT;
			if (added && step != SQLITE_DONE)
				rc = assay_store_fail(c->to, step, err, "cannot copy '%s'", trees[i]->table);
			sqlite3_reset(v.insert);
		}
		if (!rc && step != SQLITE_DONE && (step & 0xff) != SQLITE_CONSTRAINT)
			rc = assay_store_fail(c->from, step, err, "cannot read '%s'", trees[i]->table);
		sqlite3_finalize(v.select);
		sqlite3_finalize(v.insert);
	}
	return rc;
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

/* Names of numbers are others in the other database. */
static int bind_numbers(struct assay_store_copier *c, sqlite3_stmt *to, int at, const void *blob, size_t len,
			struct assay_err *err)
{
	struct assay_stored_number *v = NULL;
	unsigned char *again = NULL;
	size_t n = 0;
	int rc = assay_number_blob_decode(blob, len, &v, &n, err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = map(c, &c->name_ids, v[i].name, find_name, &v[i].name, err);
	if (!rc)
		rc = assay_number_blob_encode(v, n, &again, &len, err);
	free(v);
	if (!rc && sqlite3_bind_blob64(to, at, again, len, free) != SQLITE_OK)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return rc;
}

static bool is_name_of(const char *column, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(column, names[i]))
			return true;
	return false;
}

static int bind_column(struct assay_store_copier *c, const struct statements *v, int column, int64_t owner,
		       struct assay_err *err)
{
	static const char *const builds[] = { "build", "base_build", "head_build", NULL };
	const char *name = sqlite3_column_name(v->select, column);
	const int at = column + 1 - v->tree->numbered;
	int64_t id = sqlite3_column_int64(v->select, column);
	int rc = 0;

	if (v->tree->owner && !strcmp(name, v->tree->owner)) {
		id = owner;
	} else if (!strcmp(name, "bench_case")) {
		rc = map(c, &c->case_ids, id, find_case, &id, err);
	} else if (!strcmp(name, "series")) {
		rc = map(c, &c->series_ids, id, find_series, &id, err);
	} else if (!strcmp(v->tree->table, "result_numbers") && !strcmp(name, "encoded")) {
		return bind_numbers(c, v->insert, at, sqlite3_column_blob(v->select, column),
				    (size_t)sqlite3_column_bytes(v->select, column), err);
	} else {
		if (!strcmp(name, "machine"))
			rc = copy_named(c, "machine", "machine_fact",
					(const char *)sqlite3_column_text(v->select, column), err);
		else if (is_name_of(name, builds))
			rc = copy_named(c, "build", NULL, (const char *)sqlite3_column_text(v->select, column), err);
		if (!rc && sqlite3_bind_value(v->insert, at, sqlite3_column_value(v->select, column)) != SQLITE_OK)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		return rc;
	}
	if (!rc && sqlite3_bind_int64(v->insert, at, id) != SQLITE_OK)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return rc;
}

static int copy_parts(struct assay_store_copier *c, const struct assay_store_tree *tree, int64_t id, int64_t new_id,
		      struct assay_err *err);

/* The row at which v->select stands, unless *new_id says that it is there, and what belongs to it. */
static int copy_row(struct assay_store_copier *c, const struct statements *v, int64_t owner, int64_t *new_id,
		    struct assay_err *err)
{
	const int64_t id = v->tree->numbered ? sqlite3_column_int64(v->select, 0) : 0;
	int step, rc = 0;

	if (!*new_id) {
		for (int i = v->tree->numbered; i < sqlite3_column_count(v->select) && !rc; i++)
			rc = bind_column(c, v, i, owner, err);
		if (rc)
			return rc;
		step = sqlite3_step(v->insert);
		sqlite3_reset(v->insert);
		sqlite3_clear_bindings(v->insert);
		if (step != SQLITE_DONE)
			return assay_store_fail(c->to, step, err, "cannot copy a row of '%s'", v->tree->table);
		*new_id = sqlite3_last_insert_rowid(c->to->db);
		c->n_results += v->tree == &results;
	}
	return v->tree->numbered ? copy_parts(c, v->tree, id, *new_id, err) : 0;
}

/* Rows of @tree that belong to @owner; of a root the row of that number, which may be there as *new_id. */
static int copy_rows(struct assay_store_copier *c, const struct assay_store_tree *tree, int64_t owner,
		     int64_t new_owner, int64_t *new_id, struct assay_err *err)
{
	struct statements *v = NULL;
	int step = SQLITE_DONE, rc = statements_of(c, tree, new_id != NULL, &v, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(v->select, 1, owner);
	while (!rc && (step = sqlite3_step(v->select)) == SQLITE_ROW) {
		int64_t added = 0;

		rc = copy_row(c, v, new_owner, new_id ? new_id : &added, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = assay_store_fail(c->from, step, err, "cannot read '%s'", tree->table);
	sqlite3_reset(v->select);
	return rc;
}

static int copy_parts(struct assay_store_copier *c, const struct assay_store_tree *tree, int64_t id, int64_t new_id,
		      struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; tree->parts && tree->parts[i] && !rc; i++)
		rc = copy_rows(c, tree->parts[i], id, new_id, NULL, err);
	return rc;
}

int assay_store_copy(struct assay_store_copier *c, const struct assay_store_tree *tree, int64_t id, int64_t *new_id,
		     struct assay_err *err)
{
	return copy_rows(c, tree, id, 0, new_id, err);
}

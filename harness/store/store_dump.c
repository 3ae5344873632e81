/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of tables and columns are what the schema says. Those of a file are looked for in it before they become a
 * part of a statement.
 */
#include "store/store_dump.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_db.h"

#define MAX_COLUMNS 128

unsigned assay_store_version(void)
{
	return (unsigned)assay_store_n_migrations;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

typedef int (*each_fn)(void *arg, const struct assay_dumped_row *row, struct assay_err *err);

static struct assay_cell cell_of(sqlite3_stmt *st, int i)
{
	struct assay_cell c = { .column = sqlite3_column_name(st, i) };

	switch (sqlite3_column_type(st, i)) {
	case SQLITE_INTEGER:
		c.kind = ASSAY_CELL_INT;
		c.whole = sqlite3_column_int64(st, i);
		break;
	case SQLITE_FLOAT:
		c.kind = ASSAY_CELL_REAL;
		c.real = sqlite3_column_double(st, i);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		c.kind = sqlite3_column_type(st, i) == SQLITE_TEXT ? ASSAY_CELL_TEXT : ASSAY_CELL_BLOB;
		c.bytes = sqlite3_column_blob(st, i);
		c.len = (size_t)sqlite3_column_bytes(st, i);
		break;
	default:
		c.kind = ASSAY_CELL_NULL;
	}
	return c;
}

static int dump_table(struct assay_store *s, const char *table, each_fn each, void *arg, struct assay_err *err)
{
	struct assay_cell cells[MAX_COLUMNS];
	struct assay_dumped_row row = { .table = table, .cells = cells };
	sqlite3_stmt *st = NULL;
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	int rc, step = sql ? sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	rc = step == SQLITE_OK ? 0 : assay_store_fail(s, step, err, "cannot read '%s'", table);
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		row.n = (size_t)sqlite3_column_count(st);
		if (row.n > MAX_COLUMNS)
			rc = assay_err_set(err, ASSAY_EINTERNAL, "'%s' has too many columns", table);
		for (size_t i = 0; i < row.n && !rc; i++)
			cells[i] = cell_of(st, (int)i);
		if (!rc)
			rc = each(arg, &row, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = assay_store_fail(s, step, err, "cannot read '%s'", table);
	sqlite3_finalize(st);
	return rc;
}

int assay_store_dump(struct assay_store *s, each_fn each, void *arg, struct assay_err *err)
{
	/* tables are listed in the order in which they were made, and refer to such as were there */
	static const char sql[] = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
				  " ORDER BY rowid";
	struct assay_strings tables = { 0 };
	struct assay_row row = { 0 };
	struct assay_binder b;
	int rc = assay_store_begin_read(s, err);

	if (rc)
		return rc;
	b = assay_store_statement(s, sql, err);
	while (assay_store_next(s, &b, &row, "the list of tables", &rc, err))
		rc = assay_strings_add(&tables, (const char *)sqlite3_column_text(row.st, 0), err);
	for (size_t i = 0; i < tables.n && !rc; i++)
		rc = dump_table(s, tables.v[i], each, arg, err);
	assay_strings_release(&tables);
	return assay_store_finish(s, rc, err);
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

int assay_store_refill_begin(struct assay_store **s, const char *path, unsigned version, struct assay_err *err)
{
	const struct assay_store_options o = { .migrations = assay_store_migrations, .n_migrations = version };
	int rc;

	if (!version || version > assay_store_n_migrations)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"it comes from a database of version %u, this assay knows 1 to %zu: use a newer assay", version,
			assay_store_n_migrations);
	rc = assay_store_open_with(s, path, ASSAY_STORE_WRITE, &o, err);
	if (rc)
		return rc;
	/* rows come in any order, also those of runs that ended; nobody needs the file if this is interrupted */
	rc = assay_store_exec(*s, "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF", err);
	if (!rc)
		rc = assay_store_copy_begin(*s, err);
	if (rc)
		assay_store_close(*s);
	return rc;
}

/* A name from a file, quoted. */
static void add_name(struct assay_text *sql, const char *name)
{
	char *quoted = sqlite3_mprintf("\"%w\"", name);

	assay_text_add(sql, quoted ? quoted : "");
	sql->failed |= !quoted;
	sqlite3_free(quoted);
}

static int prepare_row(struct assay_store *s, const struct assay_dumped_row *row, sqlite3_stmt **st,
		       struct assay_err *err)
{
	struct assay_text sql = { 0 };
	int rc;

	assay_text_add(&sql, "INSERT INTO ");
	add_name(&sql, row->table);
	for (size_t i = 0; i < row->n; i++) {
		assay_text_add(&sql, i ? ", " : " (");
		add_name(&sql, row->cells[i].column);
	}
	for (size_t i = 0; i < row->n; i++)
		assay_text_add(&sql, i ? ", ?" : ") VALUES (?");
	assay_text_add(&sql, ")");
	rc = sql.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(s->db, sql.s, -1, st, NULL);
	assay_text_release(&sql);
	if (rc == SQLITE_ERROR)
		return assay_err_set(err, ASSAY_EUSAGE, "databases of its version have none such: %.200s",
				     sqlite3_errmsg(s->db));
	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "cannot store a row of '%.64s'", row->table);
}

static void forget_row(struct assay_store *s)
{
	sqlite3_finalize(s->row_insert);
	s->row_insert = NULL;
	free(s->row_names);
	s->row_names = NULL;
}

/* The statement for such a row in s->row_insert. A file has the rows of a table one behind the other. */
static int find_insert(struct assay_store *s, const struct assay_dumped_row *row, struct assay_err *err)
{
	struct assay_text names = { 0 };
	int rc;

	assay_text_add(&names, row->table);
	for (size_t i = 0; i < row->n; i++) {
		assay_text_add(&names, "\x1f");
		assay_text_add(&names, row->cells[i].column);
	}
	if (names.failed) {
		assay_text_release(&names);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	if (s->row_names && !strcmp(s->row_names, names.s)) {
		assay_text_release(&names);
		return 0;
	}
	forget_row(s);
	rc = prepare_row(s, row, &s->row_insert, err);
	if (!rc)
		s->row_names = assay_text_take(&names);
	assay_text_release(&names);
	return rc;
}

static int bind(sqlite3_stmt *st, int at, const struct assay_cell *c)
{
	switch (c->kind) {
	case ASSAY_CELL_INT:
		return sqlite3_bind_int64(st, at, c->whole);
	case ASSAY_CELL_REAL:
		return sqlite3_bind_double(st, at, c->real);
	case ASSAY_CELL_TEXT:
		return sqlite3_bind_text64(st, at, c->bytes, c->len, SQLITE_STATIC, SQLITE_UTF8);
	case ASSAY_CELL_BLOB:
		return sqlite3_bind_blob64(st, at, c->bytes, c->len, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(st, at);
	}
}

int assay_store_refill(struct assay_store *s, const struct assay_dumped_row *row, struct assay_err *err)
{
	int step = SQLITE_OK, rc;

	if (!row->n || row->n > MAX_COLUMNS)
		return assay_err_set(err, ASSAY_EUSAGE, "a row of '%.64s' has %zu columns", row->table, row->n);
	rc = find_insert(s, row, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < row->n && step == SQLITE_OK; i++)
		step = bind(s->row_insert, (int)i + 1, &row->cells[i]);
	if (step == SQLITE_OK)
		step = sqlite3_step(s->row_insert);
	if ((step & 0xff) == SQLITE_CONSTRAINT || (step & 0xff) == SQLITE_MISMATCH)
		rc = assay_err_set(err, ASSAY_EUSAGE, "it makes no sense: %.200s", sqlite3_errmsg(s->db));
	else if (step != SQLITE_DONE)
		rc = assay_store_fail(s, step, err, "cannot store a row of '%.64s'", row->table);
	sqlite3_reset(s->row_insert);
	return rc;
}

static int check_references(struct assay_store *s, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b =
		assay_store_statement(s, "SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 1", err);
	char table[ASSAY_NAME_MAX] = "", parent[ASSAY_NAME_MAX] = "";
	int rc = 0;

	while (assay_store_next(s, &b, &row, "references", &rc, err)) {
		assay_store_row_text(&row, table, sizeof(table));
		assay_store_row_text(&row, parent, sizeof(parent));
	}
	return rc || !table[0]
		       ? rc
		       : assay_err_set(err, ASSAY_EUSAGE,
				       "it is not complete: a row of '%s' refers to one of '%s' that is not there",
				       table, parent);
}

int assay_store_refill_end(struct assay_store *s, int rc, struct assay_err *err)
{
	forget_row(s);
	if (!rc)
		rc = check_references(s, err);
	rc = assay_store_bulk_end(s, rc, err);
	assay_store_close(s);
	return rc;
}

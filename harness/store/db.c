/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, transactions, values and errors of SQLite, in the terms of the rest of the program. Knows no table. */
#include "store/db.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

/* Messages quote the path with room left for what to do. */
#define SHOWN_PATH "%.160s"

#define STEPS_BETWEEN_LOOKS 10000 /* of SQLite's machine: below a millisecond */

static int primary(int rc)
{
	return rc & 0xff;
}

/*
 * What the system said. SQLite hands it on for a statement that fails, but not for a COMMIT: there it is asked of the
 * database file and of its WAL.
 */
static int system_errno(const struct assay_store *s)
{
	sqlite3_file *wal = NULL;
	int e = s->db ? sqlite3_system_errno(s->db) : 0;

	if (s->db && !e)
		sqlite3_file_control(s->db, "main", SQLITE_FCNTL_LAST_ERRNO, &e);
	if (s->db && !e && sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == SQLITE_OK &&
	    wal && wal->pMethods)
		wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &e);
	return e;
}

static bool is_disk_full(int rc, int os)
{
	if (primary(rc) == SQLITE_FULL)
		return true;
	return primary(rc) == SQLITE_IOERR && assay_error_of_errno(os, 0);
}

/*
 * What is read-only as a whole SQLite tries to read once more, so that the system's last word is of a file that is not
 * there.
 */
static bool is_read_only(const struct assay_store *s, int rc, int os)
{
	if (primary(rc) == SQLITE_READONLY)
		return true;
	if (primary(rc) == SQLITE_CANTOPEN && os == ENOENT && access(s->path, W_OK) && errno == EROFS)
		return true;
	return (primary(rc) == SQLITE_CANTOPEN || primary(rc) == SQLITE_IOERR || primary(rc) == SQLITE_PERM) &&
	       (os == EROFS || os == EACCES || os == EPERM);
}

/* The rest of the line: why, and what to do. */
static void explain(const struct assay_store *s, int rc, int os, char *buf, size_t size)
{
	if (is_disk_full(rc, os))
		snprintf(buf, size, "the disk is full; free some space; what is stored is intact");
	else if (primary(rc) == SQLITE_IOERR && os == EFBIG)
		snprintf(buf, size,
			 "no file may grow that large here; raise the limit (ulimit -f); what is stored is intact");
	else if (is_read_only(s, rc, os))
		snprintf(buf, size, "the file or its folder is read-only; make it writable or use another --db");
	else if (primary(rc) == SQLITE_BUSY || primary(rc) == SQLITE_LOCKED)
		snprintf(buf, size,
			 "another program has it locked for over %g s; wait until it ends or use another --db",
			 s->o.busy_timeout_ms / 1000.0);
	else if (primary(rc) == SQLITE_NOTADB)
		snprintf(buf, size, "it is not a database; use another --db");
	else if (primary(rc) == SQLITE_CORRUPT || rc == SQLITE_IOERR_SHORT_READ)
		snprintf(buf, size,
			 "the file is damaged; restore a copy, or save what is left with \"sqlite3 FILE .recover\"");
	else if (primary(rc) == SQLITE_TOOBIG)
		snprintf(buf, size, "a number is above the largest that can be stored");
	else if (primary(rc) == SQLITE_CANTOPEN && os)
		snprintf(buf, size, "%s; use another --db", strerror(os));
	else if (primary(rc) == SQLITE_IOERR && os)
		snprintf(buf, size, "%s (%s)", sqlite3_errstr(rc), strerror(os));
	else
		snprintf(buf, size, "%s", s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
}

int assay_store_fail(const struct assay_store *s, int rc, struct assay_err *err, const char *what, ...)
{
	char why[256], head[ASSAY_KEY_MAX + 64];
	const int os = system_errno(s);
	va_list ap;

	if (rc < 0)
		return rc;
	if (primary(rc) == SQLITE_INTERRUPT)
		return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
	if (primary(rc) == SQLITE_NOMEM)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory in the database '" SHOWN_PATH "'", s->path);
	explain(s, rc, os, why, sizeof(why));
	va_start(ap, what);
	vsnprintf(head, sizeof(head), what, ap);
	va_end(ap);
	return assay_err_set(err, is_disk_full(rc, os) ? ASSAY_ENOSPACE : ASSAY_ESTORE,
			     "%.*s in database '" SHOWN_PATH "': %s", (int)sizeof(head), head, s->path, why);
}

sqlite3_stmt *assay_store_prepared(struct assay_store *s, const void *key)
{
	for (size_t i = 0; i < s->n_statements; i++) {
		sqlite3_stmt *st = s->statements[i].st;

		if (s->statements[i].key != key)
			continue;
		sqlite3_reset(st);
		sqlite3_clear_bindings(st);
		return st;
	}
	return NULL;
}

int assay_store_prepare_as(struct assay_store *s, const void *key, const char *text, sqlite3_stmt **st,
			   struct assay_err *err)
{
	int rc;

	if (s->n_statements == ASSAY_STORE_MAX_STATEMENTS)
		return assay_err_set(err, ASSAY_EINTERNAL, "too many prepared statements");
	rc = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
	if (rc != SQLITE_OK)
		return assay_store_fail(s, rc, err, "cannot query tables");
	s->statements[s->n_statements].key = key;
	s->statements[s->n_statements++].st = *st;
	return 0;
}

int assay_store_exec(struct assay_store *s, const char *sql, struct assay_err *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "cannot prepare tables");
}

/* Of the whole program; NULL: nothing interrupts. */
static const volatile sig_atomic_t *interrupted;

void assay_store_interrupted_by(const volatile sig_atomic_t *flag)
{
	interrupted = flag;
}

static int is_interrupted(void *unused)
{
	(void)unused;
	return interrupted && *interrupted;
}

void assay_store_heed(struct assay_store *s, bool on)
{
	sqlite3_progress_handler(s->db, STEPS_BETWEEN_LOOKS, on ? is_interrupted : NULL, NULL);
}

static int begin(struct assay_store *s, const char *sql, const char *what, struct assay_err *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "%s", what);
}

static void forget(struct assay_store *s, void (*what)(struct assay_store *s))
{
	if (what)
		what(s);
}

int assay_store_begin(struct assay_store *s, struct assay_err *err)
{
	if (s->bulk)
		return 0;
	forget(s, s->forget_cases);
	s->writing = true;
	return begin(s, "BEGIN IMMEDIATE", "cannot write", err);
}

int assay_store_begin_read(struct assay_store *s, struct assay_err *err)
{
	if (s->bulk)
		return 0;
	s->writing = false;
	return begin(s, "BEGIN", "cannot read", err);
}

bool assay_store_in_place(const struct assay_store *s)
{
	int moved = 0;

	return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || !moved;
}

/* Data written to a file that was removed or replaced would reach nobody. */
static int check_in_place(const struct assay_store *s, struct assay_err *err)
{
	if (assay_store_in_place(s))
		return 0;
	return assay_err_set(
		err, ASSAY_ESTORE,
		"cannot write '%.200s': it was removed or replaced by something else; what it held is lost", s->path);
}

int assay_store_finish(struct assay_store *s, int rc, struct assay_err *err)
{
	if (s->bulk)
		return rc;
	/* a statement left in the middle of its rows would keep the transaction open */
	for (size_t i = 0; i < s->n_statements; i++)
		sqlite3_reset(s->statements[i].st);
	if (!rc) {
		int sqlite_rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);

		if (sqlite_rc != SQLITE_OK)
			rc = assay_store_fail(s, sqlite_rc, err, "cannot commit");
		else if (s->writing)
			rc = check_in_place(s, err);
	}
	/* some errors have rolled back already */
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	/* rows that were looked up may be gone with it */
	if (rc && s->writing)
		forget(s, s->forget_names);
	return rc;
}

int assay_store_bulk_begin(struct assay_store *s, struct assay_err *err)
{
	int rc = assay_store_begin(s, err);

	s->bulk = !rc;
	return rc;
}

int assay_store_bulk_end(struct assay_store *s, int rc, struct assay_err *err)
{
	s->bulk = false;
	return assay_store_finish(s, rc, err);
}

void assay_store_bind_int(struct assay_binder *b, int64_t v)
{
	if (!b->rc)
		b->rc = sqlite3_bind_int64(b->st, ++b->column, v);
}

void assay_store_bind_size(struct assay_binder *b, uint64_t v)
{
	if (v > INT64_MAX && !b->rc)
		b->rc = SQLITE_TOOBIG;
	assay_store_bind_int(b, (int64_t)v);
}

void assay_store_bind_real(struct assay_binder *b, double v)
{
	if (!b->rc)
		b->rc = sqlite3_bind_double(b->st, ++b->column, v);
}

void assay_store_bind_text(struct assay_binder *b, const char *v)
{
	if (!b->rc)
		b->rc = sqlite3_bind_text(b->st, ++b->column, v, -1, SQLITE_TRANSIENT);
}

void assay_store_bind_lasting(struct assay_binder *b, const char *v)
{
	if (!b->rc)
		b->rc = sqlite3_bind_text(b->st, ++b->column, v, -1, SQLITE_STATIC);
}

void assay_store_bind_blob(struct assay_binder *b, const void *v, size_t len)
{
	if (!b->rc)
		b->rc = sqlite3_bind_blob64(b->st, ++b->column, v, len, SQLITE_STATIC);
}

void assay_store_bind_null(struct assay_binder *b)
{
	if (!b->rc)
		b->rc = sqlite3_bind_null(b->st, ++b->column);
}

int assay_store_step(struct assay_binder *b)
{
	return b->rc ? b->rc : sqlite3_step(b->st);
}

int assay_store_step_once(struct assay_binder *b)
{
	int rc = assay_store_step(b);

	if (b->st) {
		sqlite3_reset(b->st);
		sqlite3_clear_bindings(b->st);
	}
	return rc;
}

int assay_store_done(struct assay_store *s, int sqlite_rc, struct assay_err *err, const char *what, const char *name)
{
	return sqlite_rc == SQLITE_DONE ? 0
					: assay_store_fail(s, sqlite_rc, err, "cannot store %s '%.100s'", what, name);
}

struct assay_row assay_store_row(sqlite3_stmt *st)
{
	return (struct assay_row){ .st = st };
}

int assay_store_damaged(const struct assay_store *s, const char *what, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ESTORE,
			     "database '%.200s' is damaged: a row of %s makes no sense; restore a copy", s->path, what);
}

bool assay_store_next(struct assay_store *s, struct assay_binder *b, struct assay_row *row, const char *what, int *rc,
		      struct assay_err *err)
{
	int sqlite_rc = SQLITE_DONE;

	if (!*rc && row->no_memory)
		*rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!*rc && row->bad)
		*rc = assay_store_damaged(s, what, err);
	if (!*rc)
		sqlite_rc = assay_store_step(b);
	if (sqlite_rc == SQLITE_ROW) {
		*row = assay_store_row(b->st);
		return true;
	}
	if (sqlite_rc != SQLITE_DONE)
		*rc = assay_store_fail(s, sqlite_rc, err, "cannot read %s", what);
	sqlite3_reset(b->st);
	return false;
}

int assay_store_read_number(struct assay_store *s, struct assay_binder *b, const char *what, int64_t *out,
			    struct assay_err *err)
{
	struct assay_row row = { 0 };
	int rc = 0;

	while (assay_store_next(s, b, &row, what, &rc, err))
		*out = assay_store_row_int(&row);
	return rc;
}

int64_t assay_store_row_int(struct assay_row *r)
{
	return sqlite3_column_int64(r->st, r->column++);
}

bool assay_store_row_bool(struct assay_row *r)
{
	return assay_store_row_int(r) != 0;
}

double assay_store_row_real(struct assay_row *r)
{
	int column = r->column++;

	return sqlite3_column_type(r->st, column) == SQLITE_NULL ? -1.0 : sqlite3_column_double(r->st, column);
}

void assay_store_row_text(struct assay_row *r, char *buf, size_t size)
{
	const unsigned char *text = sqlite3_column_text(r->st, r->column);
	size_t len = text ? (size_t)sqlite3_column_bytes(r->st, r->column) : 0;

	r->column++;
	if (len >= size) {
		r->bad = true;
		len = 0;
	}
	if (len)
		memcpy(buf, text, len);
	buf[len] = '\0';
}

const void *assay_store_row_blob(struct assay_row *r, size_t *len)
{
	const void *p = sqlite3_column_blob(r->st, r->column);

	*len = p ? (size_t)sqlite3_column_bytes(r->st, r->column) : 0;
	r->column++;
	return p;
}

int assay_store_grow(void *v, size_t n, size_t size, struct assay_err *err)
{
	return assay_grow(v, n, size) ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu rows", n + 1) : 0;
}

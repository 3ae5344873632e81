/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the store: the handle, statements, transactions, migrations. For harness/store and its tests only. */
#ifndef ASSAY_STORE_DB_H
#define ASSAY_STORE_DB_H

#include <sqlite3.h>

#include "store/store.h"

#if SQLITE_VERSION_NUMBER < 3037000
#error "SQLite 3.37 or newer is needed (STRICT tables)"
#endif

/* Marks a file as ours: "ASSA". Before version 1.0.0 it was "ASSY". */
#define ASSAY_STORE_APPLICATION_ID 0x41535341
#define ASSAY_STORE_EARLY_ID       0x41535359

/* The step from version i to i + 1, at index i of the list. */
struct assay_migration {
	const char *name; /* file name, for messages */
	const char *sql;
};

/* Those of harness/store/schema, embedded at build time. */
extern const struct assay_migration assay_store_migrations[];
extern const size_t assay_store_n_migrations;

/* All-zero is the default. */
struct assay_store_options {
	unsigned busy_timeout_ms;                 /* 0: 10 s */
	const struct assay_migration *migrations; /* NULL: the embedded ones */
	size_t n_migrations;
	unsigned max_pages; /* 0: no limit but the disk's */
};

#define ASSAY_STORE_MAX_STATEMENTS 128

struct assay_store {
	sqlite3 *db;
	char *path;
	enum assay_store_mode mode;
	struct assay_store_options o;
	bool writing; /* the transaction at hand is to write */
	bool bulk;    /* it is that of assay_store_bulk_begin() */
	/* Caches: names hold until a transaction is undone, cases until the next begins. Each is NULL, or comes with
	 * the function that drops it. */
	struct assay_store_names *names;
	struct assay_store_cases *cases;
	void (*forget_names)(struct assay_store *s);
	void (*forget_cases)(struct assay_store *s);
	int identify_rc; /* what SQLite said when the file was last identified */
	/* prepared once, found again by the address of their text */
	struct {
		const void *key;
		sqlite3_stmt *st;
	} statements[ASSAY_STORE_MAX_STATEMENTS];
	size_t n_statements;
};

/* assay_store_open with what tests inject. */
int assay_store_open_with(struct assay_store **s, const char *path, enum assay_store_mode mode,
			  const struct assay_store_options *o, struct assay_err *err);

/*
 * Bring the database to the last of s->o.migrations, each step in one transaction with its user_version. A database of
 * another program or a newer version is refused before anything is written. *version is what was found (may be NULL).
 */
int assay_store_migrate(struct assay_store *s, struct assay_err *err);
/*
 * What the file says it is: ASSAY_ESTORE unless it is empty, or ours, of a version that s->o.migrations reaches, with
 * the tables and indexes that these make and no others.
 */
int assay_store_identify(struct assay_store *s, int *version, struct assay_err *err);

/*
 * Attach the file of @other to @s under the name `other`, for reading. It must stay open until it was detached, and is
 * data here as well: triggers and views are off, and its schema was looked at when it was opened.
 */
int assay_store_attach(struct assay_store *s, const struct assay_store *other, struct assay_err *err);
void assay_store_detach(struct assay_store *s);

/*
 * Turn what SQLite last said on this handle, or @rc of opening, into one line that starts with @what ("cannot store the
 * result of 'k'") and ends with what to do. Returns the code it set.
 */
int assay_store_fail(const struct assay_store *s, int rc, struct assay_err *err, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The statement that is known by the address @key of something that lives for ever, reset and unbound; the store owns
 * it. NULL until the second function has prepared it, as @text.
 */
sqlite3_stmt *assay_store_prepared(struct assay_store *s, const void *key);
int assay_store_prepare_as(struct assay_store *s, const void *key, const char *text, sqlite3_stmt **st,
			   struct assay_err *err);
/* While @on, what reads or writes by this handle ends with ASSAY_EINTERRUPTED where the program is interrupted. */
void assay_store_heed(struct assay_store *s, bool on);
/* Statements without values and results. */
int assay_store_exec(struct assay_store *s, const char *sql, struct assay_err *err);

/* A transaction that writes (waits for other writers here, so that it cannot fail half-way for them), or reads one
 * state. */
int assay_store_begin(struct assay_store *s, struct assay_err *err);
int assay_store_begin_read(struct assay_store *s, struct assay_err *err);
/* Commits when @rc is 0, rolls back and returns @rc otherwise. */
int assay_store_finish(struct assay_store *s, int rc, struct assay_err *err);

/*
 * A statement and its values, bound from left to right. The first failure sticks, and every function here takes it: a
 * step returns it, assay_store_fail() and assay_store_done() make an error of it.
 */
struct assay_binder {
	sqlite3_stmt *st; /* NULL where it could not be prepared */
	int column;
	int rc; /* of SQLite; below 0: enum assay_error, and the error is told */
};
void assay_store_bind_int(struct assay_binder *b, int64_t v);
/* SQLITE_TOOBIG above INT64_MAX. */
void assay_store_bind_size(struct assay_binder *b, uint64_t v);
void assay_store_bind_real(struct assay_binder *b, double v);
/* Copied; NULL binds NULL. */
void assay_store_bind_text(struct assay_binder *b, const char *v);
/* Not copied, as a blob. */
void assay_store_bind_lasting(struct assay_binder *b, const char *v);
/* Not copied: must live until the statement is reset. */
void assay_store_bind_blob(struct assay_binder *b, const void *v, size_t len);
void assay_store_bind_null(struct assay_binder *b);

/* The next row: SQLITE_ROW, SQLITE_DONE, or what went wrong, here or in binding. */
int assay_store_step(struct assay_binder *b);
/* Step a statement that gives no rows, and reset it. A result code of SQLite: SQLITE_DONE when it went well. */
int assay_store_step_once(struct assay_binder *b);

/* The result of a statement that adds a row: 0, or "cannot store @what '@name' …". */
int assay_store_done(struct assay_store *s, int sqlite_rc, struct assay_err *err, const char *what, const char *name);

/* Columns of a row, read from left to right; a value that makes no sense, such as a text too long, sets @bad. */
struct assay_row {
	sqlite3_stmt *st;
	int column;
	bool bad, no_memory;
};
struct assay_row assay_store_row(sqlite3_stmt *st);
int64_t assay_store_row_int(struct assay_row *r);
bool assay_store_row_bool(struct assay_row *r);
double assay_store_row_real(struct assay_row *r); /* NULL: -1 */
void assay_store_row_text(struct assay_row *r, char *buf, size_t size);
/* Points into the row. */
const void *assay_store_row_blob(struct assay_row *r, size_t *len);

/* "database … is damaged: a row of @what makes no sense; restore a copy": ASSAY_ESTORE. */
int assay_store_damaged(const struct assay_store *s, const char *what, struct assay_err *err);
/*
 * The next row of @b into @row, which begins all-zero: true while there is one, *rc is 0 and the row before was read
 * well. After the last, or with what went wrong in *rc and @err, the statement is reset. @what names the rows: "'run'",
 * "the history".
 */
bool assay_store_next(struct assay_store *s, struct assay_binder *b, struct assay_row *row, const char *what, int *rc,
		      struct assay_err *err);

/* The number in the first column of the last row of @b into *out, which stays as it is where there is no row. */
int assay_store_read_number(struct assay_store *s, struct assay_binder *b, const char *what, int64_t *out,
			    struct assay_err *err);

/* Grow the array *@v of elements of @size so that one more than @n fits; amortised. ASSAY_ENOMEM. */
int assay_store_grow(void *v, size_t n, size_t size, struct assay_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing a database file. Nothing is written before the file has shown that it is empty or ours.
 *
 * WAL, so that a reader never waits for a run. synchronous=FULL: a finished case survives a power failure as well, and
 * its disk traffic happens between two cases, where NORMAL leaves it to the kernel to write back while the next one is
 * timed.
 */
#include "base/file.h"
#include "base/monotonic.h"
#include "store/rows.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS   10000u
#define BUSY_RETRY_MS     10
#define WRITE_CACHE_KIB   "-65536"  /* so that a large transaction writes a page once; 64 MiB where one needs them */
#define QUICK_CHECK_BYTES (4 << 20) /* what can be checked in passing: harness/store/README.md */

/* Is there a file to open, or a folder to create it in? */
static int check_path(const char *path, enum assay_store_mode mode, struct assay_err *err)
{
	struct stat st;
	char *copy, *folder;
	int rc = 0;

	if (!*path)
		return assay_err_set(err, ASSAY_EUSAGE, "empty name of a database; name a file with --db");
	if (!stat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			return assay_err_set(
				err, ASSAY_ESTORE,
				"cannot open database '%.200s': it is not a regular file; use another --db", path);
		return 0;
	}
	if (errno != ENOENT)
		return assay_err_set(err, ASSAY_ESTORE, "cannot open database '%.200s': %s; use another --db", path,
				     strerror(errno));
	if (mode != ASSAY_STORE_WRITE)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no database '%.200s'; run 'assay run' first, or name another with --db", path);

	copy = strdup(path);
	if (!copy)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	folder = dirname(copy);
	if (stat(folder, &st))
		rc = assay_err_set(err, ASSAY_ESTORE,
				   "cannot create database '%.160s': no folder '%.160s'; create it or use another --db",
				   path, folder);
	else if (access(folder, W_OK | X_OK)) /* SQLite would only say that there is no such file */
		rc = assay_err_set(err, ASSAY_ESTORE,
				   "cannot create database '%.160s': its folder is read-only; make it writable or use "
				   "another --db",
				   path);
	free(copy);
	return rc;
}

/* A URI that means exactly the file @path, and nothing else that SQLite may take it for; malloc'ed. */
static char *uri_of(const char *path, const char *options)
{
	struct assay_text t = { 0 };

	assay_text_add(&t, *path == '/' ? "file://" : "file:./");
	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		if (isalnum(*p) || *p == '/')
			assay_text_addn(&t, (const char *)p, 1);
		else
			assay_text_addf(&t, "%%%02X", *p);
	}
	assay_text_add(&t, options);
	return assay_text_take(&t);
}

static bool has_wal(const char *path)
{
	struct assay_text wal = { 0 };
	struct stat st;
	bool found;

	assay_text_addf(&wal, "%s-wal", path);
	found = !wal.s || (!stat(wal.s, &st) && st.st_size > 0);
	assay_text_release(&wal);
	return found;
}

/*
 * SQLite is set up for the whole process before it is used first, and later calls change nothing. No statistics of
 * memory, which nobody reads. No stock of pages for each cache: the CHECKs of a table open a cache of one page for each
 * row that is added, and a stock of twenty went to the system and back every time.
 */
static void configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

/* A connection to @file, with @options of a URI, and nothing read from it yet. */
static int connect_file(struct assay_store *s, const char *file, const char *options, struct assay_err *err)
{
	char *uri = uri_of(file, options);
	int rc;

	if (!uri)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	configure();
	rc = sqlite3_open_v2(uri, &s->db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
				     SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE,
			     NULL);
	free(uri);
	if (rc != SQLITE_OK)
		return assay_store_fail(s, rc, err, "cannot open tables");

	sqlite3_busy_timeout(s->db, (int)s->o.busy_timeout_ms);
	/* the file may come from somebody else: its schema gets no more rights than ours needs */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
	if (s->mode != ASSAY_STORE_WRITE)
		assay_store_heed(s, true);
	return assay_store_exec(s, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", err);
}

static void disconnect(struct assay_store *s)
{
	assay_store_names_forget(s);
	assay_store_cases_forget(s);
	for (size_t i = 0; i < s->n_statements; i++)
		sqlite3_finalize(s->statements[i].st);
	s->n_statements = 0;
	sqlite3_close(s->db);
	s->db = NULL;
}

/*
 * The switch to WAL needs the file for itself and SQLite gives up on it at once when two programs create it together.
 * Where the file system cannot do WAL, SQLite stays with a rollback journal, which is as safe.
 */
static int use_wal(struct assay_store *s, struct assay_err *err)
{
	const uint64_t deadline_ns = assay_monotonic_ns() + s->o.busy_timeout_ms * UINT64_C(1000000);
	int rc;

	for (;;) {
		rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY || assay_monotonic_ns() >= deadline_ns)
			break;
		sqlite3_sleep(BUSY_RETRY_MS);
	}
	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "cannot write");
}

/* A damaged file is neither a baseline nor added to. */
static int quick_check(struct assay_store *s, const char *what, struct assay_err *err)
{
	sqlite3_stmt *st = NULL;
	struct stat file;
	int rc;

	if (stat(s->path, &file) || file.st_size > QUICK_CHECK_BYTES)
		return 0;
	rc = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		rc = strcmp((const char *)sqlite3_column_text(st, 0), "ok") == 0 ? SQLITE_OK : SQLITE_CORRUPT;
	sqlite3_finalize(st);
	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "%s", what);
}

/* Prepare a connection for writing. @version is that of the file. */
static int make_writable(struct assay_store *s, int version, struct assay_err *err)
{
	int rc;

	if (s->o.max_pages) {
		char limit[64]; /* a PRAGMA takes no parameters */

		snprintf(limit, sizeof(limit), "PRAGMA max_page_count = %u", s->o.max_pages);
		rc = assay_store_exec(s, limit, err);
		if (rc)
			return rc;
	}
	rc = use_wal(s, err);
	if (!rc)
		rc = assay_store_exec(
			s, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = " WRITE_CACHE_KIB,
			err);
	if (!rc && version < (int)s->o.n_migrations)
		rc = assay_store_migrate(s, err);
	return rc;
}

/*
 * Give @file the name @path; EEXIST where that exists. Not every file system knows the first way, nor the second. By
 * the third a database that another program made in this moment is replaced, which that program notices when it writes.
 */
static int name_file(const char *file, const char *path)
{
	if (!renameat2(AT_FDCWD, file, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!link(file, path))
		return 0;
	if (errno == EEXIST)
		return -1;
	return assay_file_exists(path) ? 0 : rename(file, path);
}

static int cannot_create(const struct assay_store *s, struct assay_err *err)
{
	return assay_err_set(err, assay_error_of_errno(errno, ASSAY_ESTORE),
			     "cannot create database '%.200s': %s; use another --db", s->path, strerror(errno));
}

static int create(struct assay_store *s, struct assay_err *err)
{
	char file[PATH_MAX];
	int fd = assay_file_open_temporary(s->path, file, sizeof(file)), rc;
	static const char *const beside[] = { "", "-wal", "-shm", "-journal" };

	if (fd < 0)
		return cannot_create(s, err);
	close(fd);
	rc = connect_file(s, file, "?mode=rw", err);
	if (!rc)
		rc = make_writable(s, 0, err);
	/* the -wal is removed below, and whether all of it is in the file is not told when it is closed */
	if (!rc) {
		const int why = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

		rc = why == SQLITE_OK ? 0 : assay_store_fail(s, why, err, "cannot write");
	}
	disconnect(s);
	if (!rc && name_file(file, s->path) && errno != EEXIST)
		rc = cannot_create(s, err);
	/* Remove file and what SQLite keeps beside it. */
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		struct assay_text name = { 0 };

		assay_text_addf(&name, "%s%s", file, beside[i]);
		if (name.s)
			unlink(name.s);
		assay_text_release(&name);
	}
	return rc;
}

/*
 * Make the database where nothing is at its path. It gets its name when it is whole: a full disk leaves nothing, and
 * nobody finds it half made. Where another program was faster, that one's stays.
 */
static int create_missing(struct assay_store *s, struct assay_err *err)
{
	struct stat st;
	sigset_t old;
	int rc;

	if (!lstat(s->path, &st) || errno != ENOENT)
		return 0;
	assay_file_hold_interrupts(&old);
	rc = create(s, err);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static int open_write(struct assay_store *s, struct assay_err *err)
{
	int version, rc = create_missing(s, err);

	if (!rc)
		rc = connect_file(s, s->path, "", err);
	if (rc)
		return rc;
	rc = assay_store_identify(s, &version, err);
	if (rc)
		return rc;
	if (sqlite3_db_readonly(s->db, "main"))
		return assay_store_fail(s, SQLITE_READONLY, err, "cannot write");
	if (version) {
		rc = quick_check(s, "cannot add to tables", err);
		if (rc)
			return rc;
	}
	return make_writable(s, version, err);
}

/*
 * A reader opens the file for writing where it may, with every change forbidden, because only such a connection can
 * tidy up after a program that was killed and leaves no -wal and -shm behind. In a folder where these cannot be
 * created, a file that has no -wal is complete by itself and is read as immutable.
 */
static int open_read(struct assay_store *s, int *version, struct assay_err *err)
{
	int rc, why;

	rc = connect_file(s, s->path, "?mode=rw", err);
	if (!rc)
		rc = assay_store_identify(s, version, err);
	if (rc) {
		why = s->identify_rc & 0xff;
		if (why != SQLITE_CANTOPEN && why != SQLITE_READONLY && why != SQLITE_IOERR && why != SQLITE_FULL)
			return rc;
		if (has_wal(s->path) && why != SQLITE_IOERR && why != SQLITE_FULL)
			return assay_err_set(err, ASSAY_ESTORE,
					     "cannot read database '%.160s': it has a '-wal' file and its folder is "
					     "read-only; copy both to a writable folder",
					     s->path);
		disconnect(s);
		rc = connect_file(s, s->path, "?immutable=1", err);
		if (!rc)
			rc = assay_store_identify(s, version, err);
	}
	if (rc)
		return rc;
	if (!*version)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "database '%.200s' is empty; run 'assay run' first, or name another with --db",
				     s->path);
	return assay_store_exec(s, "PRAGMA query_only = ON", err);
}

/* Queries are written for the last version only: an older file is brought there by opening it for writing once. */
static int open_read_latest(struct assay_store *s, struct assay_err *err)
{
	int rc, version = 0;

	rc = open_read(s, &version, err);
	if (!rc && version == (int)s->o.n_migrations)
		return s->mode == ASSAY_STORE_NAMES ? 0 : quick_check(s, "cannot read tables", err);
	if (rc)
		return rc;
	disconnect(s);
	rc = open_write(s, err);
	disconnect(s);
	if (rc)
		return assay_err_prefix(err, "database has version %d, this assay needs %zu", version,
					s->o.n_migrations);
	return open_read(s, &version, err);
}

/*
 * While it is open itself, a file needs no more than to be read: what SQLite keeps beside it is there. Statements that
 * copy many rows keep pages to undo them, which takes longer than the copying where they go to a file.
 */
int assay_store_attach(struct assay_store *s, const struct assay_store *other, struct assay_err *err)
{
	const bool immutable = sqlite3_uri_boolean(sqlite3_db_filename(other->db, "main"), "immutable", 0);
	char *uri = uri_of(other->path, immutable ? "?immutable=1" : "?mode=ro");
	sqlite3_stmt *st = NULL;
	int rc = uri ? sqlite3_exec(s->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) : SQLITE_NOMEM;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(s->db, "ATTACH ? AS other", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(st, 1, uri, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK && sqlite3_step(st) != SQLITE_DONE)
		rc = sqlite3_extended_errcode(s->db);
	sqlite3_finalize(st);
	free(uri);
	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "cannot attach '%.160s'", other->path);
}

void assay_store_detach(struct assay_store *s)
{
	sqlite3_exec(s->db, "DETACH other", NULL, NULL, NULL);
}

static int make(struct assay_store **out, const char *path, enum assay_store_mode mode,
		const struct assay_store_options *o, struct assay_err *err)
{
	struct assay_store *s;
	int rc = check_path(path, mode, err);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	s->mode = mode;
	s->o = *o;
	if (!s->o.busy_timeout_ms)
		s->o.busy_timeout_ms = BUSY_TIMEOUT_MS;
	if (!s->o.migrations) {
		s->o.migrations = assay_store_migrations;
		s->o.n_migrations = assay_store_n_migrations;
	}
	*out = s;
	return 0;
}

int assay_store_open_with(struct assay_store **out, const char *path, enum assay_store_mode mode,
			  const struct assay_store_options *o, struct assay_err *err)
{
	struct assay_store *s = NULL;
	int rc = make(&s, path, mode, o, err);

	if (rc)
		return rc;
	rc = mode == ASSAY_STORE_WRITE ? open_write(s, err) : open_read_latest(s, err);
	if (rc) {
		assay_store_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

int assay_store_open(struct assay_store **s, const char *path, enum assay_store_mode mode, struct assay_err *err)
{
	return assay_store_open_with(s, path, mode, &(struct assay_store_options){ 0 }, err);
}

void assay_store_close(struct assay_store *s)
{
	if (!s)
		return;
	disconnect(s);
	free(s->path);
	free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whose database a file is, and the steps that bring an older one to the version this program knows. */
#include "store/db.h"

#include <stdio.h>
#include <string.h>

const struct assay_migration assay_store_migrations[] = {
#include "store_schema.h"
};
const size_t assay_store_n_migrations = sizeof(assay_store_migrations) / sizeof(assay_store_migrations[0]);

static int read_int(struct assay_store *s, const char *sql, int64_t *out, struct assay_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		*out = sqlite3_column_int64(st, 0);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(st);
	return rc == SQLITE_OK ? 0 : assay_store_fail(s, rc, err, "cannot read the version");
}

/* Make the schema of version @version in memory. */
static int make_model(struct assay_store *s, size_t version, sqlite3 **model)
{
	int rc = sqlite3_open(":memory:", model);

	for (size_t i = 0; i < version && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(*model, s->o.migrations[i].sql, NULL, NULL, NULL);
	return rc;
}

/* Of two rows in the order of their names the first is the one that the other side lacks. NULL: no more rows. */
static void name_difference(sqlite3_stmt *want, sqlite3_stmt *have, char *which, size_t size)
{
	const char *a = want ? (const char *)sqlite3_column_text(want, 1) : NULL;
	const char *b = have ? (const char *)sqlite3_column_text(have, 1) : NULL;

	if (a || b)
		snprintf(which, size, "%s", a && (!b || strcmp(a, b) < 0) ? a : b);
}

/* Whoever gives a schema of his own gives meanings of his own to what is read. @which: what differs. */
static int compare_schemas(sqlite3 *model, sqlite3 *db, char *which, size_t size)
{
	static const char sql[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite@_%' "
				  "ESCAPE '@' ORDER BY"
				  " name, type";
	sqlite3_stmt *want = NULL, *have = NULL;
	int rc = sqlite3_prepare_v2(model, sql, -1, &want, NULL), wanted, found;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, sql, -1, &have, NULL);
	for (bool same = rc == SQLITE_OK; same;) {
		wanted = sqlite3_step(want);
		rc = found = sqlite3_step(have);
		same = wanted == SQLITE_ROW && found == SQLITE_ROW;
		for (int i = 0; i < 4 && same; i++) {
			const char *x = (const char *)sqlite3_column_text(want, i),
				   *y = (const char *)sqlite3_column_text(have, i);

			same = x && y ? !strcmp(x, y) : x == y;
		}
		if (!same)
			name_difference(wanted == SQLITE_ROW ? want : NULL, found == SQLITE_ROW ? have : NULL, which,
					size);
	}
	sqlite3_finalize(want);
	sqlite3_finalize(have);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int check_schema(struct assay_store *s, size_t version, struct assay_err *err)
{
	sqlite3 *model = NULL;
	char which[64] = "";
	int rc = make_model(s, version, &model);

	if (rc == SQLITE_OK)
		rc = compare_schemas(model, s->db, which, sizeof(which));
	sqlite3_close(model);
	if (rc != SQLITE_OK)
		return assay_store_fail(s, rc, err, "cannot read tables");
	return which[0] ? assay_err_set(err, ASSAY_ESTORE,
					"'%.200s' has other tables than assay makes (see '%s'); use another --db",
					s->path, which)
			: 0;
}

static int identify(struct assay_store *s, int *version, struct assay_err *err)
{
	int64_t application, found, objects;
	int rc;

	/* the count comes first: reading the schema makes SQLite check the header and open the WAL */
	rc = read_int(s, "SELECT count(*) FROM sqlite_schema", &objects, err);
	if (!rc)
		rc = read_int(s, "PRAGMA application_id", &application, err);
	if (!rc)
		rc = read_int(s, "PRAGMA user_version", &found, err);
	s->identify_rc = rc ? sqlite3_errcode(s->db) : SQLITE_OK;
	if (rc)
		return rc;

	if (application == ASSAY_STORE_EARLY_ID)
		return assay_err_set(err, ASSAY_ESTORE,
				     "database '%.200s' is of an assay before 1.0, which this one cannot read; use "
				     "another --db",
				     s->path);
	if (application != ASSAY_STORE_APPLICATION_ID && (application || found || objects))
		return assay_err_set(
			err, ASSAY_ESTORE,
			"'%.200s' is a database of another program (application id %lld); use another --db", s->path,
			(long long)application);
	if (found > (int64_t)s->o.n_migrations)
		return assay_err_set(err, ASSAY_ESTORE,
				     "database '%.200s' has version %lld, this assay knows up to %zu; use a newer "
				     "assay or another --db",
				     s->path, (long long)found, s->o.n_migrations);
	if (found < 0 || (!found && objects))
		return assay_err_set(err, ASSAY_ESTORE, "database '%.200s' is damaged (version %lld); use another --db",
				     s->path, (long long)found);
	if (version)
		*version = (int)found;
	return found ? check_schema(s, (size_t)found, err) : 0;
}

int assay_store_identify(struct assay_store *s, int *version, struct assay_err *err)
{
	int rc;

	if (!sqlite3_get_autocommit(s->db))
		return identify(s, version, err);
	/* one transaction: the three numbers must be of one moment, another program may be making the database */
	rc = assay_store_begin_read(s, err);
	return rc ? rc : assay_store_finish(s, identify(s, version, err), err);
}

/* A step may leave rows that point nowhere only until its end. */
static int check_references(struct assay_store *s, const struct assay_migration *m, struct assay_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, "PRAGMA foreign_key_check", -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		assay_err_set(err, ASSAY_ESTORE,
			      "cannot bring database '%.200s' up to date: '%s' leaves rows of '%s' that refer to none",
			      s->path, m->name, sqlite3_column_text(st, 0));
		sqlite3_finalize(st);
		return ASSAY_ESTORE;
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot check the tables");
}

/* One step in the transaction that is open. */
static int apply(struct assay_store *s, int version, struct assay_err *err)
{
	const struct assay_migration *m = &s->o.migrations[version];
	char mark[96]; /* a PRAGMA takes no parameters; both numbers are ours */
	int rc = sqlite3_exec(s->db, m->sql, NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		return assay_store_fail(s, rc, err, "cannot apply '%s'", m->name);
	rc = check_references(s, m, err);
	if (rc)
		return rc;
	snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = %d", ASSAY_STORE_APPLICATION_ID,
		 version + 1);
	return assay_store_exec(s, mark, err);
}

int assay_store_migrate(struct assay_store *s, struct assay_err *err)
{
	int rc, version = 0;

	/* steps may rebuild tables that others refer to; has no effect inside a transaction */
	rc = assay_store_exec(s, "PRAGMA foreign_keys = OFF", err);
	while (!rc && version < (int)s->o.n_migrations) {
		rc = assay_store_begin(s, err);
		if (rc)
			break;
		/* asked again under the lock: another program may have been here in the meantime */
		rc = assay_store_identify(s, &version, err);
		if (!rc && version < (int)s->o.n_migrations)
			rc = apply(s, version++, err);
		rc = assay_store_finish(s, rc, err);
	}
	if (!rc)
		rc = assay_store_exec(s, "PRAGMA foreign_keys = ON", err);
	return rc;
}

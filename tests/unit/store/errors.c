/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no database of ours, newer, or damaged: a clear line, and nothing stored is harmed. */
#include "store_fixture.h"

static const enum assay_store_mode modes[] = { ASSAY_STORE_READ, ASSAY_STORE_WRITE };

static void write_all(struct fixture *f, const void *data, size_t len)
{
	assert_ok(f, assay_file_write(f->db, data, len, &f->err));
}

STORE_TEST(test_paths_that_cannot_be)
{
	struct fixture *f = *state;
	struct assay_store *s = NULL;
	char path[160];

	assert_error(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err), ASSAY_ENOTFOUND,
		     "run 'assay run' first");
	assert_false(assay_file_exists(f->db));
	assert_error(f, assay_store_open(&s, "", ASSAY_STORE_WRITE, &f->err), ASSAY_EUSAGE, "--db");
	assert_error(f, assay_store_open(&s, f->folder, ASSAY_STORE_WRITE, &f->err), ASSAY_ESTORE,
		     "not a regular file");
	assert_error(f, assay_store_open(&s, "/dev/null", ASSAY_STORE_READ, &f->err), ASSAY_ESTORE,
		     "not a regular file");
	snprintf(path, sizeof(path), "%s/no/such/x.db", f->folder);
	assert_error(f, assay_store_open(&s, path, ASSAY_STORE_WRITE, &f->err), ASSAY_ESTORE,
		     "/no/such'; create it or use another --db");
	assert_error(f, assay_store_open(&s, "/proc/assay.db", ASSAY_STORE_WRITE, &f->err), ASSAY_ESTORE,
		     "use another --db");
	write_all(f, "", 0);
	assert_error(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err), ASSAY_ENOTFOUND, "is empty");
	snprintf(path, sizeof(path), "%s/x.db", f->db);
	assert_error(f, assay_store_open(&s, path, ASSAY_STORE_WRITE, &f->err), ASSAY_ESTORE, "Not a directory");
	assert_null(s);
}

/* Names that mean something else to SQLite, and characters that mean something in a URI. */
STORE_TEST(test_odd_names_are_files)
{
	static const char *const names[] = { ":memory:", "file:x?mode=memory", "a b%20#?c.db" };
	struct fixture *f = *state;
	char cwd[512];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(f->folder), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct assay_store *s;

		assert_ok(f, assay_store_open(&s, names[i], ASSAY_STORE_WRITE, &f->err));
		assay_store_close(s);
		assert_true(assay_file_exists(names[i]));
		assert_ok(f, assay_store_open(&s, names[i], ASSAY_STORE_READ, &f->err));
		assay_store_close(s);
	}
	assert_int_equal(chdir(cwd), 0);
}

STORE_TEST(test_files_that_are_no_database)
{
	static char zeros[8192], text[8192] = "SQLite format 3, but not really\n";
	static const struct {
		const void *data;
		size_t len;
	} cases[] = { { "hello\n", 6 }, { text, sizeof(text) }, { zeros, sizeof(zeros) }, { text, 100 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		for (unsigned m = 0; m < 2; m++) {
			struct assay_store *s = NULL;
			struct bytes before = { (char *)cases[i].data, cases[i].len };

			write_all(f, cases[i].data, cases[i].len);
			assert_error(f, assay_store_open(&s, f->db, modes[m], &f->err), ASSAY_ESTORE,
				     "it is not a database; use another --db");
			assert_unchanged(f, &before);
		}
	}
}

STORE_TEST(test_databases_of_others)
{
	static const struct {
		const char *sql;
		const char *part;
	} cases[] = {
		{ "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)", "another program (application id 0)" },
		{ "PRAGMA application_id = 7", "another program (application id 7)" },
		{ "PRAGMA user_version = 1", "another program (application id 0)" },
		{ "PRAGMA application_id = 1095979865; PRAGMA user_version = 25", "is of an assay before 1.0" },
		{ "PRAGMA application_id = 1095979841; PRAGMA user_version = -3", "is damaged (version -3)" },
		{ "PRAGMA application_id = 1095979841; CREATE TABLE run (x)", "is damaged (version 0)" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		for (unsigned m = 0; m < 2; m++) {
			struct assay_store *s = NULL;
			struct bytes before;

			unlink(f->db);
			run_sql(f->db, cases[i].sql);
			before = read_all(f);
			assert_error(f, assay_store_open(&s, f->db, modes[m], &f->err), ASSAY_ESTORE, cases[i].part);
			assert_unchanged(f, &before);
			free(before.s);
		}
	}
}

/* Tables that are not what the version promises, and what somebody added to ours: nothing of it is asked. */
STORE_TEST(test_another_schema)
{
	static const struct {
		const char *sql, *part;
	} cases[] = {
		{ "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM result; END", "(see 't')" },
		{ "CREATE VIEW everything AS SELECT 1", "(see 'everything')" },
		{ "CREATE TABLE more (x)", "(see 'more')" },
		{ "DROP INDEX run_by_time", "(see 'run_by_time')" },
		{ "ALTER TABLE run ADD COLUMN x INT", "(see 'run')" },
		{ "ALTER TABLE result RENAME TO results; CREATE VIEW result AS SELECT * FROM results", "other tables" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		unlink(f->db);
		make_database(f);
		run_sql(f->db, cases[i].sql);
		for (unsigned m = 0; m < 2; m++) {
			struct assay_store *s = NULL;
			struct bytes before = read_all(f);

			assert_error(f, assay_store_open(&s, f->db, modes[m], &f->err), ASSAY_ESTORE,
				     "has other tables than assay makes");
			assert_non_null(strstr(f->err.text, cases[i].part));
			assert_unchanged(f, &before);
			free(before.s);
		}
	}
}

STORE_TEST(test_newer_version)
{
	struct fixture *f = *state;
	struct bytes before;

	make_database(f);
	run_sql(f->db, "PRAGMA user_version = 42");
	before = read_all(f);
	for (unsigned m = 0; m < 2; m++) {
		struct assay_store *s = NULL;

		assert_error(f, assay_store_open(&s, f->db, modes[m], &f->err), ASSAY_ESTORE,
			     "has version 42, this assay knows up to " VERSION_TEXT
			     "; use a newer assay or another --db");
		assert_unchanged(f, &before);
	}
	free(before.s);
	run_sql(f->db, "PRAGMA user_version = " VERSION_TEXT);
	assert_intact(f);
}

/* A damaged file takes no further results; a reader gets an error or what is whole, never something else. */
STORE_TEST(test_damaged_pages)
{
	struct fixture *f = *state;
	struct bytes good;
	unsigned read_errors = 0, offered = 0;

	make_database(f);
	good = read_all(f);
	for (size_t page = 0; page < good.len / 4096; page++) {
		struct assay_store *s = NULL;
		struct bytes bad = { malloc(good.len), good.len };
		struct assay_run run;
		int rc;

		assert_non_null(bad.s);
		memcpy(bad.s, good.s, good.len);
		/* of the first page only what follows the header, which says what the file is */
		memset(bad.s + page * 4096 + (page ? 0 : 100), 0xa5, 300);
		write_all(f, bad.s, bad.len);
		assert_error(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err), ASSAY_ESTORE, "damaged");
		assert_unchanged(f, &bad);

		memset(&f->err, 0, sizeof(f->err));
		rc = assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err);
		if (!rc) {
			rc = assay_store_run_load(s, 1, &run, &f->err);
			assay_store_close(s);
		}
		if (!rc) {
			assert_int_equal(run.n_results, 5);
			assay_run_release(&run);
		} else {
			assert_int_equal(rc, ASSAY_ESTORE);
			assert_non_null(strstr(f->err.text, "damaged"));
			read_errors++;
		}
		/* names are offered from what can be read */
		if (!assay_store_open(&s, f->db, ASSAY_STORE_NAMES, &f->err)) {
			assay_store_close(s);
			offered++;
		}
		free(bad.s);
	}
	assert_true(read_errors >= 5);
	assert_true(offered >= 5);
	write_all(f, good.s, good.len);
	assert_intact(f);
	free(good.s);
}

STORE_TEST(test_truncated_file)
{
	struct fixture *f = *state;
	struct bytes good;

	make_database(f);
	good = read_all(f);
	for (size_t cut = 4096; cut < good.len; cut += 5 * 4096) {
		for (unsigned m = 0; m < 2; m++) {
			struct assay_store *s = NULL;
			struct bytes bad = { good.s, cut + m };

			write_all(f, bad.s, bad.len);
			assert_error(f, assay_store_open(&s, f->db, modes[m], &f->err), ASSAY_ESTORE,
				     "the file is damaged; restore a copy");
			assert_unchanged(f, &bad);
		}
	}
	write_all(f, good.s, good.len);
	assert_intact(f);
	free(good.s);
}

/* Samples changed behind SQLite's back. */
STORE_TEST(test_damaged_samples)
{
	struct fixture *f = *state;
	struct assay_store *s;
	struct assay_run run;

	make_database(f);
	run_sql(f->db, "UPDATE result_samples SET encoded = CAST(substr(encoded, 1, 40) || X'7F' || substr(encoded, "
		       "42) AS BLOB)"
		       " WHERE result = 3");
	s = open_store(f, ASSAY_STORE_READ);
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE,
		     "result of 'matmul.ternary/avx2/m=2,level=dram/t=2/cold' in database");
	assert_non_null(strstr(f->err.text, "sample data are damaged (check sum differs)"));
	assay_store_close(s);
	run_sql(f->db, "DELETE FROM result_samples WHERE result = 3");
	s = open_store(f, ASSAY_STORE_READ);
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE,
		     "a row of 'result_samples' in run 1 makes no sense");
	assay_store_close(s);
	/* and a list that is none */
	run_sql(f->db, "UPDATE result SET cpus = '1;2'");
	s = open_store(f, ASSAY_STORE_READ);
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE, "a row of 'result' in run 1 makes");
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)

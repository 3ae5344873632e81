/* SPDX-License-Identifier: Apache-2.0 */
/* Several programs at once, programs that are killed, and databases of older versions: what was stored stays. */
#include "store_fixture.h"

#include <signal.h>

#define WRITERS    2
#define PER_WRITER 50

/* A writer of its own: opens (creating and migrating it, or not, as it comes), adds, ends. Never returns. */
static void be_writer(struct fixture *f, unsigned k)
{
	struct assay_store *s;
	struct assay_run run;

	if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
		goto bad;
	make_run(&run, k ? "full" : "quick", "m1");
	if (assay_store_run_begin(s, &run, &f->err))
		goto bad;
	for (unsigned i = 0; i < PER_WRITER; i++) {
		struct assay_result r;

		make_result(&r, i, 200);
		if (assay_store_result_add(s, run.id, &r, &f->err))
			goto bad;
		assay_result_release(&r);
	}
	if (assay_store_run_end(s, run.id, 99, &f->err))
		goto bad;
	assay_store_close(s);
	_exit(0);
bad:
	fprintf(stderr, "writer %u: %s\n", k, f->err.text);
	_exit(1);
}

STORE_TEST(test_two_programs_write_at_once)
{
	struct fixture *f = *state;
	struct assay_store *s;
	pid_t pids[WRITERS];
	int status;

	for (unsigned k = 0; k < WRITERS; k++) {
		pids[k] = fork();
		assert_true(pids[k] >= 0);
		if (!pids[k])
			be_writer(f, k);
	}
	for (unsigned k = 0; k < WRITERS; k++) {
		assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	s = open_store(f, ASSAY_STORE_READ);
	for (int64_t id = 1; id <= WRITERS; id++) {
		struct assay_run run;

		assert_ok(f, assay_store_run_load(s, id, &run, &f->err));
		assert_int_equal(run.n_results, PER_WRITER);
		assert_true(run.ended_ns == 99);
		for (unsigned i = 0; i < PER_WRITER; i++) {
			struct assay_result want;

			make_result(&want, i, 200);
			assert_same_result(&run.results[i], &want);
			assay_result_release(&want);
		}
		assay_run_release(&run);
	}
	assay_store_close(s);
}

static size_t run_count(struct fixture *f)
{
	struct assay_store *s = open_store(f, ASSAY_STORE_READ);
	struct assay_run_info *v;
	size_t n;

	assert_ok(f, assay_store_runs(s, NULL, 0, &v, &n, &f->err));
	free(v);
	assay_store_close(s);
	return n;
}

/* Nobody is turned away because others make the same database at the same moment, and nobody's run is lost. */
STORE_TEST(test_many_programs_create_at_once)
{
	struct fixture *f = *state;

	for (unsigned round = 0; round < 20; round++) {
		pid_t pids[6];
		int gate[2], status;
		char c;

		snprintf(f->db, sizeof(f->db), "%s/%u.db", f->folder, round);
		assert_int_equal(pipe(gate), 0);
		for (unsigned k = 0; k < 6; k++) {
			pids[k] = fork();
			assert_true(pids[k] >= 0);
			if (!pids[k]) {
				struct assay_store *s;
				struct assay_run run;
				ssize_t n;

				close(gate[1]);
				make_run(&run, "quick", "m1");
				n = read(gate[0], &c, 1); /* ends when the parent lets go */
				if (n || assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err) ||
				    assay_store_run_begin(s, &run, &f->err)) {
					fprintf(stderr, "%s\n", f->err.text);
					_exit(1);
				}
				assay_store_close(s);
				_exit(0);
			}
		}
		close(gate[0]);
		close(gate[1]);
		for (unsigned k = 0; k < 6; k++) {
			assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
			assert_int_equal(status, 0);
		}
		assert_int_equal(run_count(f), 6);
		assert_int_equal(files_in(f), round + 1);
	}
}

/* Killed at any statement of a result's transaction: those before it are there, it is not, the run is unfinished. */
STORE_TEST(test_a_kill_loses_the_case_in_flight_only)
{
	static const char *const places[] = { "result", "result_samples", "bench_case", "commit" };
	struct fixture *f = *state;
	struct assay_result extra;
	struct assay_store *s;

	make_database(f);
	for (size_t k = 0; k < N_OF(places); k++) {
		struct assay_run run;
		int status;
		pid_t pid;

		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
				_exit(1);
			run.id = add_run(f, s, "quick", "m1", 0, 3, false);
			if (k < 3)
				sqlite3_update_hook(s->db, die_at, (void *)places[k]);
			else
				sqlite3_commit_hook(s->db, die_at_commit, NULL);
			make_result(&extra, 1000, 500);
			assay_store_result_add(s, run.id, &extra, &f->err);
			_exit(2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

		s = open_store(f, ASSAY_STORE_READ);
		assert_ok(f, assay_store_run_load(s, 0, &run, &f->err));
		assert_int_equal(run.id, 2 + k);
		assert_true(run.ended_ns == 0);
		assert_int_equal(run.n_results, 3);
		assay_run_release(&run);
		assay_store_close(s);
	}
	assert_intact(f);
	/* and the database goes on */
	s = open_store(f, ASSAY_STORE_WRITE);
	make_result(&extra, 1000, 500);
	assert_ok(f, assay_store_result_add(s, 3, &extra, &f->err));
	assay_result_release(&extra);
	assay_store_close(s);
}

/* Versions of a small database; the third rebuilds a table that another refers to. */
static const struct assay_migration small[] = {
	{ "001_first.sql", "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT NOT NULL) STRICT;"
			   "CREATE TABLE b (a INTEGER NOT NULL REFERENCES a (id) ON DELETE CASCADE) STRICT;"
			   "INSERT INTO a VALUES (1, 'one'), (2, 'two'); INSERT INTO b VALUES (1), (2), (2);" },
	{ "002_second.sql", "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7;" },
	{ "003_third.sql",
	  "CREATE TABLE a_next (id INTEGER PRIMARY KEY, z TEXT NOT NULL, y INTEGER NOT NULL) STRICT;"
	  "INSERT INTO a_next SELECT id, upper(x), y FROM a; DROP TABLE a; ALTER TABLE a_next RENAME TO a;" },
};

static int open_small(struct fixture *f, const struct assay_migration *m, size_t n, enum assay_store_mode mode)
{
	const struct assay_store_options o = { .migrations = m, .n_migrations = n };
	struct assay_store *s;
	int rc;

	memset(&f->err, 0, sizeof(f->err));
	rc = assay_store_open_with(&s, f->db, mode, &o, &f->err);
	if (!rc)
		assay_store_close(s);
	return rc;
}

STORE_TEST(test_migrations)
{
	struct fixture *f = *state;

	assert_ok(f, open_small(f, small, 1, ASSAY_STORE_WRITE));
	assert_int_equal(ask(f->db, "PRAGMA user_version"), 1);
	assert_ok(f, open_small(f, small, 1, ASSAY_STORE_WRITE)); /* again: nothing to do */
	assert_int_equal(ask(f->db, "SELECT count(*) FROM a"), 2);
	assert_ok(f, open_small(f, small, 3, ASSAY_STORE_WRITE)); /* two steps */
	assert_int_equal(ask(f->db, "PRAGMA user_version"), 3);
	assert_int_equal(ask(f->db, "PRAGMA application_id"), ASSAY_STORE_APPLICATION_ID);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM a JOIN b ON b.a = a.id WHERE y = 7 AND z IN ('ONE', 'TWO')"),
			 3);
	assert_error(f, open_small(f, small, 2, ASSAY_STORE_WRITE), ASSAY_ESTORE,
		     "has version 3, this assay knows up to 2");
}

/* A reader brings an older database up to date too. */
STORE_TEST(test_reading_an_older_version)
{
	struct fixture *f = *state;

	assert_ok(f, open_small(f, small, 1, ASSAY_STORE_WRITE));
	assert_ok(f, open_small(f, small, 3, ASSAY_STORE_READ));
	assert_int_equal(ask(f->db, "PRAGMA user_version"), 3);
}

/* A step that fails leaves the version before it, whole. */
STORE_TEST(test_a_step_that_fails)
{
	static const struct {
		struct assay_migration step;
		const char *part;
	} cases[] = {
		{ { "003_typo.sql", "CREATE TABLE c (x); DELETE FROM b; CREATE TABEL d (x);" },
		  "cannot apply '003_typo.sql'" },
		{ { "003_null.sql", "DELETE FROM b; INSERT INTO a (id, x) VALUES (9, NULL);" },
		  "cannot apply '003_null.sql'" },
		{ { "003_orphans.sql", "DELETE FROM a WHERE id = 2;" },
		  "'003_orphans.sql' leaves rows of 'b' that refer to none" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_migration m[3] = { small[0], small[1], cases[i].step };

		unlink(f->db);
		assert_ok(f, open_small(f, small, 1, ASSAY_STORE_WRITE));
		assert_error(f, open_small(f, m, 3, ASSAY_STORE_WRITE), ASSAY_ESTORE, cases[i].part);
		assert_int_equal(ask(f->db, "PRAGMA user_version"), 2);
		assert_int_equal(ask(f->db, "SELECT count(*) FROM a JOIN b ON b.a = a.id WHERE y = 7"), 3);
		assert_int_equal(ask(f->db, "SELECT count(*) FROM sqlite_schema"), 2);
		assert_error(f, open_small(f, m, 3, ASSAY_STORE_READ), ASSAY_ESTORE,
			     "database has version 2, this assay needs 3: ");
		assert_ok(f, open_small(f, small, 3, ASSAY_STORE_WRITE));
	}
}

/* Several programs find the same old database: one brings it up to date, the others wait and go on. */
STORE_TEST(test_migrating_at_once)
{
	struct fixture *f = *state;
	pid_t pids[4];
	int status;

	assert_ok(f, open_small(f, small, 1, ASSAY_STORE_WRITE));
	for (unsigned k = 0; k < 4; k++) {
		pids[k] = fork();
		assert_true(pids[k] >= 0);
		if (!pids[k])
			_exit(open_small(f, small, 3, k % 2 ? ASSAY_STORE_READ : ASSAY_STORE_WRITE) ? 1 : 0);
	}
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(ask(f->db, "PRAGMA user_version"), 3);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM a WHERE y = 7"), 2);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* The store when something is wrong with the file, the disk or its neighbours: a clear line, and nothing stored is
 * harmed. */
#include "store_fixture.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

static const enum assay_store_mode modes[] = { ASSAY_STORE_READ, ASSAY_STORE_WRITE };

struct bytes {
	char *s;
	size_t len;
};

static struct bytes read_all(struct fixture *f)
{
	struct bytes b;

	assert_ok(f, assay_file_read(f->db, &b.s, &b.len, &f->err));
	return b;
}

static void assert_unchanged(struct fixture *f, struct bytes *before)
{
	struct bytes after = read_all(f);

	assert_int_equal(after.len, before->len);
	assert_memory_equal(after.s, before->s, before->len);
	free(after.s);
}

static void write_all(struct fixture *f, const void *data, size_t len)
{
	assert_ok(f, assay_file_write(f->db, data, len, &f->err));
}

static void test_paths_that_cannot_be(void **state)
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
static void test_odd_names_are_files(void **state)
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

static void test_files_that_are_no_database(void **state)
{
	static char zeros[8192], text[8192] = "SQLite format 3, but not really\n";
	static const struct {
		const void *data;
		size_t len;
	} cases[] = { { "hello\n", 6 }, { text, sizeof(text) }, { zeros, sizeof(zeros) }, { text, 100 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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

static void test_databases_of_others(void **state)
{
	static const struct {
		const char *sql;
		const char *part;
	} cases[] = {
		{ "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)", "another program (application id 0)" },
		{ "PRAGMA application_id = 7", "another program (application id 7)" },
		{ "PRAGMA user_version = 1", "another program (application id 0)" },
		{ "PRAGMA application_id = 1095979865; PRAGMA user_version = -3", "is damaged (version -3)" },
		{ "PRAGMA application_id = 1095979865; CREATE TABLE run (x)", "is damaged (version 0)" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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

/* Tables that are not what the version promises: an error of the query, not a crash. */
static void test_database_without_our_tables(void **state)
{
	struct fixture *f = *state;
	struct assay_run_info *v = NULL;
	struct assay_store *s;
	struct assay_run run;
	size_t n;

	run_sql(f->db, "PRAGMA application_id = 1095979865; PRAGMA user_version = " VERSION_TEXT ";"
		       " CREATE TABLE run (id INTEGER "
		       "PRIMARY KEY)");
	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
	assert_error(f, assay_store_runs(s, NULL, 0, &v, &n, &f->err), ASSAY_ESTORE, "no such");
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE, "no such");
	assay_store_close(s);
}

static void test_newer_version(void **state)
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
static void test_damaged_pages(void **state)
{
	struct fixture *f = *state;
	struct bytes good;
	unsigned read_errors = 0;

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
		free(bad.s);
	}
	assert_true(read_errors >= 5);
	write_all(f, good.s, good.len);
	assert_intact(f);
	free(good.s);
}

static void test_truncated_file(void **state)
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
static void test_damaged_samples(void **state)
{
	struct fixture *f = *state;
	struct assay_store *s;
	struct assay_run run;

	make_database(f);
	run_sql(f->db, "UPDATE result_samples SET encoded = CAST(substr(encoded, 1, 40) || X'7F' || substr(encoded, "
		       "42) AS BLOB)"
		       " WHERE result = 3");
	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE,
		     "result of 'matmul.ternary/avx2/m=2,level=dram/t=2/cold' in database");
	assert_non_null(strstr(f->err.text, "sample data are damaged (check sum differs)"));
	assay_store_close(s);
	run_sql(f->db, "DELETE FROM result_samples WHERE result = 3");
	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE,
		     "a row of 'result_samples' in run 1 makes no sense");
	assay_store_close(s);
}

/* Add results until one fails; how many went in. */
static unsigned fill(struct assay_store *s, int64_t run, struct assay_err *err, int *rc)
{
	for (unsigned i = 100;; i++) {
		struct assay_result r;

		make_result(&r, i, 2000);
		*rc = assay_store_result_add(s, run, &r, err);
		assay_result_release(&r);
		if (*rc || i == 10000)
			return i - 100;
	}
}

static void assert_filled(struct fixture *f, unsigned added)
{
	struct assay_store *s;
	struct assay_run run;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
	assert_ok(f, assay_store_run_load(s, 2, &run, &f->err));
	assert_int_equal(run.n_results, added);
	assert_true(run.ended_ns == 0);
	assay_run_release(&run);
	assay_store_close(s);
	assert_intact(f);
}

static void test_database_is_full(void **state)
{
	struct fixture *f = *state;
	struct assay_store *s;
	struct assay_run run;
	unsigned added;
	int rc;

	make_database(f);
	assert_ok(f, assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE,
					   &(struct assay_store_options){ .max_pages = 80 }, &f->err));
	make_run(&run, "quick", "m1");
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	added = fill(s, run.id, &f->err, &rc);
	assert_int_equal(rc, ASSAY_ESTORE);
	assert_non_null(strstr(f->err.text, "the disk is full; free some space; what is stored is intact"));
	assert_true(added > 3 && added < 50);
	/* the handle is not stuck in the transaction that failed */
	assert_int_equal(sqlite3_get_autocommit(s->db), 1);
	assay_store_close(s);
	assert_filled(f, added);
}

struct shared {
	int rc;
	unsigned added;
	struct assay_err err;
};

static struct shared *map_shared(void)
{
	struct shared *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The system itself refuses to let the files grow. */
static void test_files_may_not_grow(void **state)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();
	pid_t pid;

	make_database(f);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit limit = { 400000, 400000 };
		struct assay_store *s;
		struct assay_run run;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		make_run(&run, "quick", "m1");
		shared->rc = assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &shared->err);
		if (!shared->rc)
			shared->rc = assay_store_run_begin(s, &run, &shared->err);
		if (!shared->rc)
			shared->added = fill(s, run.id, &shared->err, &shared->rc);
		_exit(0);
	}
	wait_for(pid);
	assert_int_equal(shared->rc, ASSAY_ESTORE);
	if (!strstr(shared->err.text, "no file may grow that large here; raise the limit (ulimit -f)"))
		fail_msg("'%s'", shared->err.text);
	assert_true(shared->added > 3 && shared->added < 200);
	assert_filled(f, shared->added);
	munmap(shared, sizeof(*shared));
}

static void assert_told(const struct shared *shared, const char *part)
{
	assert_int_equal(shared->rc, ASSAY_ESTORE);
	if (!strstr(shared->err.text, part))
		fail_msg("'%s' lacks '%s'", shared->err.text, part);
}

/* A reader needs room too, for its -shm. */
static void test_files_may_not_grow_for_a_reader(void **state)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();
	struct bytes before;
	pid_t pid;

	make_database(f);
	before = read_all(f);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit limit = { 0, 0 };
		struct assay_store *s;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		shared->rc = assay_store_open(&s, f->db, ASSAY_STORE_READ, &shared->err);
		_exit(0);
	}
	wait_for(pid);
	assert_told(shared, "no file may grow that large here; raise the limit (ulimit -f); what is stored is intact");
	assert_unchanged(f, &before);
	free(before.s);
	munmap(shared, sizeof(*shared));
	assert_intact(f);
}

/* Open in @mode, and load run 1, as a user who may not write; root is not stopped by modes. */
static void as_nobody(struct fixture *f, enum assay_store_mode mode, struct shared *shared)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct assay_store *s;
		struct assay_run run;

		if (!geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(1);
		shared->rc = assay_store_open(&s, f->db, mode, &shared->err);
		if (!shared->rc) {
			shared->rc = assay_store_run_load(s, 1, &run, &shared->err);
			if (!shared->rc)
				shared->added = (unsigned)run.n_results;
			assay_store_close(s);
		}
		_exit(0);
	}
	wait_for(pid);
}

static void test_read_only(void **state)
{
	static const char advice[] = "is read-only; make it writable or use another --db";
	struct fixture *f = *state;
	struct shared *shared = map_shared();
	struct bytes before;
	char none[128];

	/* characters that mean something else in the URI that such a file is opened by */
	snprintf(f->db, sizeof(f->db), "%s/a b%%41#?mode=rw&.db", f->folder);
	make_database(f);
	before = read_all(f);

	assert_int_equal(chmod(f->db, 0444), 0);
	assert_int_equal(chmod(f->folder, 0555), 0);
	as_nobody(f, ASSAY_STORE_READ, shared);
	if (shared->rc)
		fail_msg("%s", shared->err.text);
	assert_int_equal(shared->added, 5);
	as_nobody(f, ASSAY_STORE_WRITE, shared);
	assert_told(shared, advice);

	/* only the folder is */
	assert_int_equal(chmod(f->db, 0666), 0);
	as_nobody(f, ASSAY_STORE_READ, shared);
	assert_int_equal(shared->rc, 0);
	assert_int_equal(shared->added, 5);
	as_nobody(f, ASSAY_STORE_WRITE, shared);
	assert_told(shared, advice);
	assert_unchanged(f, &before);

	/* no file yet */
	strcpy(none, f->db);
	strcat(f->db, ".none");
	as_nobody(f, ASSAY_STORE_WRITE, shared);
	assert_told(shared, advice);
	strcpy(f->db, none);

	/* only the file is */
	assert_int_equal(chmod(f->folder, 0777), 0);
	assert_int_equal(chmod(f->db, 0444), 0);
	as_nobody(f, ASSAY_STORE_WRITE, shared);
	assert_told(shared, advice);
	as_nobody(f, ASSAY_STORE_READ, shared);
	assert_int_equal(shared->rc, 0);
	assert_int_equal(shared->added, 5);
	assert_unchanged(f, &before);
	free(before.s);
	munmap(shared, sizeof(*shared));
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_intact(f);
}

#define CANNOT_MOUNT 1

/* Nobody can write, not even root, and the system names another cause for what SQLite tries last. */
static void test_read_only_file_system(void **state)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();
	struct bytes before;
	pid_t pid;
	int status;

	make_database(f);
	before = read_all(f);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct assay_store *s;

		/* a view of the folders that only this process has */
		if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(f->folder, f->folder, NULL, MS_BIND, NULL) ||
		    mount(NULL, f->folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL))
			_exit(CANNOT_MOUNT);
		shared->rc = assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &shared->err);
		if (assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err))
			_exit(2);
		assay_store_close(s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT_MOUNT) {
		free(before.s);
		munmap(shared, sizeof(*shared));
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_told(shared, "the file or its folder is read-only; make it writable or use another --db");
	assert_unchanged(f, &before);
	free(before.s);
	munmap(shared, sizeof(*shared));
}

/* Results that are still in the -wal of a killed program must not be passed over in silence. */
static void test_read_only_with_a_wal(void **state)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();
	char path[128];
	pid_t pid;

	make_database(f);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct assay_store *s;

		if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
			_exit(1);
		add_run(f, s, "quick", "m1", 0, 1, false);
		_exit(0); /* as if killed: the database is not closed */
	}
	wait_for(pid);
	snprintf(path, sizeof(path), "%s-shm", f->db);
	assert_true(assay_file_exists(path));
	unlink(path);
	assert_int_equal(chmod(f->folder, 0555), 0);
	as_nobody(f, ASSAY_STORE_READ, shared);
	assert_told(shared, "has a '-wal' file and its folder is read-only; copy both to a writable folder");
	assert_int_equal(chmod(f->folder, 0755), 0);
	munmap(shared, sizeof(*shared));
	assert_filled(f, 1);
}

static void test_locked(void **state)
{
	static const struct assay_store_options hasty = { .busy_timeout_ms = 50 };
	struct fixture *f = *state;
	struct assay_store *s, *reader;
	struct assay_run run;
	struct assay_err err;
	char path[128];
	sqlite3 *other;

	make_database(f);
	assert_ok(f, assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE, &hasty, &f->err));
	assert_int_equal(sqlite3_open(f->db, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	make_run(&run, "quick", "m1");
	assert_error(f, assay_store_run_begin(s, &run, &f->err), ASSAY_ESTORE,
		     "another program has it locked for over 0.05 s; wait until it ends or use another --db");
	assert_int_equal(run.id, 0);
	assert_error(f, assay_store_baseline_drop(s, "x", &f->err), ASSAY_ESTORE, "locked for over 0.05 s");
	/* who reads does not wait */
	assert_ok(f, assay_store_open_with(&reader, f->db, ASSAY_STORE_READ, &hasty, &f->err));
	assert_ok(f, assay_store_run_load(reader, 0, &run, &f->err));
	assay_run_release(&run);
	assay_store_close(reader);
	sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(other);
	assert_ok(f, assay_store_baseline_save(s, "x", 1, 5, &f->err));
	assay_store_close(s);

	/* a file that another program is about to make into a database */
	snprintf(path, sizeof(path), "%s/fresh.db", f->folder);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	memset(&err, 0, sizeof(err));
	assert_int_equal(assay_store_open_with(&s, path, ASSAY_STORE_WRITE, &hasty, &err), ASSAY_ESTORE);
	assert_non_null(strstr(err.text, "locked for over 0.05 s"));
	sqlite3_close(other);
	assert_intact(f);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_paths_that_cannot_be),
		TEST(test_odd_names_are_files),
		TEST(test_files_that_are_no_database),
		TEST(test_databases_of_others),
		TEST(test_database_without_our_tables),
		TEST(test_newer_version),
		TEST(test_damaged_pages),
		TEST(test_truncated_file),
		TEST(test_damaged_samples),
		TEST(test_database_is_full),
		TEST(test_files_may_not_grow),
		TEST(test_files_may_not_grow_for_a_reader),
		TEST(test_read_only),
		TEST(test_read_only_file_system),
		TEST(test_read_only_with_a_wal),
		TEST(test_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

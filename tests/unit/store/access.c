/* SPDX-License-Identifier: Apache-2.0 */
/* Full disks, files that may not grow, read-only places and locks: a clear line, and nothing stored is harmed. */
#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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

	s = open_store(f, ASSAY_STORE_READ);
	assert_ok(f, assay_store_run_load(s, 2, &run, &f->err));
	assert_int_equal(run.n_results, added);
	assert_true(run.ended_ns == 0);
	assay_run_release(&run);
	assay_store_close(s);
	assert_intact(f);
}

STORE_TEST(test_database_is_full)
{
	struct fixture *f = *state;
	struct assay_store *s;
	struct assay_run run;
	unsigned added;
	int rc;

	make_database(f);
	assert_ok(f, assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE,
					   &(struct assay_store_options){ .max_pages = 112 }, &f->err));
	make_run(&run, "quick", "m1");
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	added = fill(s, run.id, &f->err, &rc);
	assert_int_equal(rc, ASSAY_ENOSPACE);
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
	bool unfiltered; /* the system takes no filter of calls, as qemu-user */
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

static void assert_told(const struct shared *shared, const char *part)
{
	assert_int_equal(shared->rc, ASSAY_ESTORE);
	if (!strstr(shared->err.text, part))
		fail_msg("'%s' lacks '%s'", shared->err.text, part);
}

/* Wherever the room ends, what is begun is taken away again. */
STORE_TEST(test_a_database_is_made_whole_or_not_at_all)
{
	struct fixture *f = *state;
	struct assay_store *s;
	unsigned pages = 1;
	int rc;

	do {
		memset(&f->err, 0, sizeof(f->err));
		rc = assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE,
					   &(struct assay_store_options){ .max_pages = pages }, &f->err);
		if (rc) {
			assert_int_equal(rc, ASSAY_ENOSPACE);
			assert_non_null(strstr(f->err.text, "the disk is full; free some space"));
			assert_non_null(strstr(f->err.text, f->db));
			assert_int_equal(files_in(f), 0);
			pages++;
		}
	} while (rc);
	assert_true(pages > 50);
	assay_store_close(s);
	assert_int_equal(files_in(f), 1);
}

/* From here on the system refuses @n calls, as file systems do that lack them. */
static bool refuse(const int *calls, size_t n, int why)
{
	struct sock_filter code[8] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog filter = { .len = (unsigned short)(n + 3), .filter = code };

	for (size_t i = 0; i < n; i++)
		code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
							   (unsigned char)(n - i), 0);
	code[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)why);
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Where a file system cannot rename without replacing, nor link, a database is made all the same. */
STORE_TEST(test_a_database_is_made_on_any_file_system)
{
	static const int calls[] = { SYS_renameat2, SYS_linkat,
#ifdef SYS_link
				     SYS_link
#endif
	};
	struct fixture *f = *state;
	struct shared *shared = map_shared();

	for (size_t n = 1; n <= N_OF(calls); n += N_OF(calls) - 1) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			struct assay_store *s;

			shared->unfiltered = !refuse(calls, n, ENOSYS);
			if (shared->unfiltered)
				_exit(0);
			shared->rc = assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &shared->err);
			if (!shared->rc)
				assay_store_close(s);
			_exit(0);
		}
		wait_for(pid);
		if (shared->unfiltered)
			skip();
		if (shared->rc)
			fail_msg("%s", shared->err.text);
		assert_int_equal(files_in(f), 1);
		assert_int_equal(unlink(f->db), 0);
	}
	munmap(shared, sizeof(*shared));
}

/* A reader needs room too, for its -shm. */
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

STORE_TEST(test_read_only)
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
STORE_TEST(test_read_only_file_system)
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

STORE_TEST(test_locked)
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

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons in older and newer databases, in programs that are killed or write at the same time, and in damaged ones.
 */
#include "store_comparison_fixture.h"

#include <signal.h>

/* ---- versions ---- */

STORE_TEST(test_version_1_is_brought_up_to_date)
{
	const struct assay_store_options first = { .migrations = assay_store_migrations, .n_migrations = 1 };
	struct fixture *f = *state;
	struct assay_comparison got;
	struct assay_store *s;
	int64_t case_id;
	size_t len;
	char *sql;

	assert_ok(f, assay_file_read("tests/fixtures/store/version_1.sql", &sql, &len, &f->err));
	run_sql(f->db, sql);
	free(sql);
	run_sql(f->db,
		"INSERT INTO baseline VALUES (1, 'main', 'quick', 'm1', 7); INSERT INTO baseline_run VALUES (1, 1)");
	assert_int_equal(ask(f->db, "PRAGMA user_version"), 1);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'comparison'"), 0);

	s = open_store(f, ASSAY_STORE_WRITE);
	assert_int_equal(ask(f->db, "PRAGMA user_version"), assay_store_n_migrations);
	begin(f, s, "m1", &case_id);
	assert_ok(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err));
	/* what version 1 stored of the machine is not stored again */
	assert_string_equal(got.machine.facts[0].value, "It's a \"CPU\"; DROP TABLE run; --");
	assay_comparison_release(&got);
	assay_store_close(s);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM bench_case"), 5);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM baseline_run WHERE run = 1"), 1);
	/* what one word said is a rung and what it was read with */
	assert_int_equal(ask(f->db, "SELECT count(*) FROM number_name WHERE source = 'os' AND how = 'getrusage'"), 1);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM number_name WHERE source = 'op' AND how = ''"), 1);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM result_numbers"), 5);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM result r JOIN series s ON s.id = r.series"), 5);
	assert_intact(f);

	/* a version 1 that knows nothing of comparisons leaves them alone */
	assert_error(f, assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE, &first, &f->err), ASSAY_ESTORE,
		     "has version " VERSION_TEXT ", this assay knows up to 1");
}

/* A comparison that was stored before rules had versions has none. */
STORE_TEST(test_version_5_has_no_rule)
{
	const struct assay_store_options before = { .migrations = assay_store_migrations, .n_migrations = 5 };
	struct fixture *f = *state;
	struct assay_comparison got;
	struct assay_store *s;

	assert_ok(f, assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE, &before, &f->err));
	assay_store_close(s);
	run_sql(f->db,
		"INSERT INTO machine (id, label) VALUES ('m1', 'a machine');"
		"INSERT INTO build (id, commit_hash, dirty, compiler, flags, plugins) VALUES ('b', '', 0, '', '', '');"
		"INSERT INTO comparison (base, head, suite, seed, started_ns, machine, base_build, head_build, alpha,"
		" budget_ns, max_pairs, family, policy) VALUES ('v1', 'v2', 'quick', 1, 1, 'm1', 'b', 'b', 0.01, 1, 1, "
		"1, '')");
	s = open_store(f, ASSAY_STORE_WRITE);
	assert_ok(f, assay_store_comparison_load(s, 1, &got, NULL, NULL, &f->err));
	assert_int_equal(got.rule, 0);
	assay_comparison_release(&got);
	assay_store_close(s);
}

STORE_TEST(test_next_version_is_refused)
{
	static const enum assay_store_mode modes[] = { ASSAY_STORE_READ, ASSAY_STORE_WRITE };
	struct fixture *f = *state;
	char *before, *after;
	size_t n, m;

	make_database(f);
	run_sql(f->db, "PRAGMA user_version = " NEXT_VERSION_TEXT);
	assert_ok(f, assay_file_read(f->db, &before, &n, &f->err));
	for (unsigned i = 0; i < 2; i++) {
		struct assay_store *s = NULL;

		assert_error(f, assay_store_open(&s, f->db, modes[i], &f->err), ASSAY_ESTORE,
			     "has version " NEXT_VERSION_TEXT ", this assay knows up to " VERSION_TEXT);
		assert_null(s);
		assert_ok(f, assay_file_read(f->db, &after, &m, &f->err));
		assert_int_equal(n, m);
		assert_memory_equal(before, after, n);
		free(after);
	}
	free(before);
}

/* ---- kills, several writers, damage ---- */

/* Begins, adds 3 pairs, and is killed in the fourth. */
static void be_killed(struct fixture *f, const char *place)
{
	struct assay_store *s;
	struct assay_pair p;
	int64_t case_id;

	if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
		_exit(1);
	begin(f, s, "m1", &case_id);
	for (unsigned i = 0; i < 4; i++) {
		if (i == 3 && strcmp(place, "commit"))
			sqlite3_update_hook(s->db, die_at, (void *)place);
		else if (i == 3)
			sqlite3_commit_hook(s->db, die_at_commit, NULL);
		make_pair(&p, i);
		if (assay_store_pair_add(s, case_id, &p, &f->err))
			_exit(1);
		assay_pair_release(&p);
	}
	_exit(2);
}

/* Killed at any statement of a pair's transaction: the pairs before it are there, whole, and it is not. */
STORE_TEST(test_a_kill_loses_the_pair_in_flight_only)
{
	static const char *const places[] = { "pair", "pair_side", "commit" };
	struct fixture *f = *state;
	struct assay_store *s;

	make_database(f);
	for (unsigned k = 0; k < N_OF(places); k++) {
		struct assay_comparison got;
		struct assay_pair want;
		int status, exit_code;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			be_killed(f, places[k]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

		s = open_store(f, ASSAY_STORE_READ);
		assert_ok(f, assay_store_comparison_load(s, 0, &got, NULL, &exit_code, &f->err));
		assert_int_equal(got.id, 1 + k);
		assert_true(got.ended_ns == 0);
		assert_int_equal(exit_code, -1);
		assert_int_equal(got.cases[0].n_pairs, 3);
		for (unsigned i = 0; i < 3; i++) {
			make_pair(&want, i);
			same_pair(&got.cases[0].pairs[i], &want);
			assay_pair_release(&want);
		}
		assay_comparison_release(&got);
		assay_store_close(s);
		/* and another program can go on with it */
		s = open_store(f, ASSAY_STORE_WRITE);
		make_pair(&want, 3);
		assert_ok(f, assay_store_pair_add(s, 1 + k, &want, &f->err));
		assay_pair_release(&want);
		assay_store_close(s);
	}
	assert_int_equal(ask(f->db, "SELECT count(*) FROM pair"), 12);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM pair_side"), 24);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM pair_metric"), 36);
	assert_intact(f);
}

#define PER_WRITER 40

static void be_writer(struct fixture *f, const char *machine)
{
	struct assay_store *s;
	struct assay_pair p;
	int64_t case_id, id;

	if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
		_exit(1);
	id = begin(f, s, machine, &case_id);
	for (unsigned i = 0; i < PER_WRITER; i++) {
		make_pair(&p, i);
		if (assay_store_pair_add(s, case_id, &p, &f->err))
			_exit(1);
		assay_pair_release(&p);
	}
	if (assay_store_comparison_end(s, id, 99, "PASS", 0, &f->err))
		_exit(1);
	assay_store_close(s);
	_exit(0);
}

STORE_TEST(test_two_programs_write_at_once)
{
	static const char *const machines[] = { "m1", "m2" };
	struct fixture *f = *state;
	struct assay_store *s;
	pid_t pids[2];
	int status;

	for (unsigned k = 0; k < 2; k++) {
		pids[k] = fork();
		assert_true(pids[k] >= 0);
		if (!pids[k])
			be_writer(f, machines[k]);
	}
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	s = open_store(f, ASSAY_STORE_READ);
	for (int64_t id = 1; id <= 2; id++) {
		struct assay_comparison got;

		assert_ok(f, assay_store_comparison_load(s, id, &got, NULL, NULL, &f->err));
		assert_true(got.ended_ns == 99);
		assert_int_equal(got.cases[0].n_pairs, PER_WRITER);
		for (unsigned i = 0; i < PER_WRITER; i++) {
			struct assay_pair want;

			make_pair(&want, i);
			same_pair(&got.cases[0].pairs[i], &want);
			assay_pair_release(&want);
		}
		assay_comparison_release(&got);
	}
	assay_store_close(s);
	assert_int_equal(ask(f->db, "SELECT count(DISTINCT machine) FROM comparison"), 2);
}

/* Rows that contradict each other are said to be damaged: a verdict must not be recomputed from them. */
STORE_TEST(test_damaged_rows)
{
	static const struct {
		const char *sql;
		const char *part;
	} cases[] = {
		{ "UPDATE pair SET n_blocks = n_blocks + 1", "a row of 'pair_side' in comparison 1 makes no sense" },
		{ "UPDATE pair_side SET samples = NULL WHERE side = 'head'", "a row of 'pair_side'" },
		{ "DELETE FROM pair_side WHERE side = 'base'", "a row of 'pair' in" },
		{ "UPDATE pair_side SET samples = substr(samples, 1, 20)",
		  "pair 1 of 'matmul.ternary/avx2/m=0,level=dram/t=2/cold' in database" },
		{ "UPDATE comparison SET base = printf('%.300c', 'x')", "a row of 'comparison'" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE comparison_case SET control = 'odd'",
		  "a row of 'comparison_case'" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE pair_side SET side = 'left' WHERE side = 'base'",
		  "a row of 'pair_side'" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE pair_side SET status = 'fine'",
		  "a row of 'pair_side'" },
		{ "UPDATE pair_metric SET unit = printf('%.99c', 'x')", "a row of 'pair_metric'" },
		{ "DROP TABLE pair_metric", "no such table" },
		{ "UPDATE pair_counter SET name = printf('%.99c', 'x')", "a row of 'pair_counter'" },
		{ "UPDATE pair_unavailable SET reason = printf('%.999c', 'x')", "a row of 'pair_unavailable'" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_comparison got = { .id = 77 };
		struct assay_store *s;
		struct assay_pair p;
		int64_t case_id;

		unlink(f->db);
		s = open_store(f, ASSAY_STORE_WRITE);
		begin(f, s, "m1", &case_id);
		make_pair(&p, 0);
		assert_ok(f, assay_store_pair_add(s, case_id, &p, &f->err));
		assay_pair_release(&p);
		assay_store_close(s);
		run_sql(f->db, cases[i].sql);
		s = open_store(f, ASSAY_STORE_READ);
		assert_error(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err), ASSAY_ESTORE,
			     cases[i].part);
		assert_int_equal(got.id, 77);
		assay_store_close(s);
	}
}

UNIT_MAIN(NULL, NULL)

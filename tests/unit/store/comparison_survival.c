/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of programs that are killed, and in damaged databases. */
#include "store_comparison_fixture.h"

#include <signal.h>

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
		  "the file is damaged" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE pair_side SET side = 'left' WHERE side = 'base'",
		  "the file is damaged" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE pair_side SET status = 'fine'", "the file is damaged" },
		{ "UPDATE pair_metric SET unit = printf('%.99c', 'x')", "a row of 'pair_metric'" },
		{ "UPDATE pair_counter SET name = printf('%.99c', 'x')", "a row of 'pair_counter'" },
		{ "UPDATE pair_unavailable SET reason = printf('%.999c', 'x')", "a row of 'pair_unavailable'" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_comparison got = { .id = 77 };
		struct assay_store *s;
		struct assay_pair p;
		int64_t case_id;
		int rc;

		unlink(f->db);
		s = open_store(f, ASSAY_STORE_WRITE);
		begin(f, s, "m1", &case_id);
		make_pair(&p, 0);
		assert_ok(f, assay_store_pair_add(s, case_id, &p, &f->err));
		assay_pair_release(&p);
		assay_store_close(s);
		run_sql(f->db, cases[i].sql);
		s = NULL;
		rc = assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err);
		if (!rc)
			rc = assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err);
		assert_int_equal(rc, ASSAY_ESTORE);
		if (!strstr(f->err.text, cases[i].part))
			fail_msg("'%s' lacks '%s'", f->err.text, cases[i].part);
		assert_int_equal(got.id, 77);
		assay_store_close(s);
	}
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* Databases merged and pruned: nothing twice, nothing lost. */
#include "merge_fixture.h"

STORE_TEST(test_twice_is_once)
{
	struct fixture *f = *state;
	struct assay_store_merged m;
	struct assay_store *v[2];
	struct assay_strings once, twice;
	struct assay_run run;

	make_two(f, v);
	m = merge(f, v[0], v[1]);
	assert_int_equal(m.runs, 2);
	assert_int_equal(m.results, 6);
	assert_int_equal(m.comparisons, 1);
	assert_int_equal(m.counts, 1);
	assert_int_equal(m.profiles, 3);
	assert_int_equal(m.baselines, 1);
	assert_int_equal(m.known, 0);
	assert_int_equal(m.notes.n, 0);
	assay_store_merged_release(&m);
	/* the name has another number here than where it came from */
	assert_ok(f, assay_store_run_load(v[0], 4, &run, &f->err));
	assert_string_equal(run.machine.id, "m2");
	assert_non_null(assay_result_metric(&run.results[0], "m2"));
	assay_run_release(&run);
	once = lines_of(f, v[0]);

	m = merge(f, v[0], v[1]);
	assert_int_equal(m.runs + m.results + m.comparisons + m.counts + m.profiles + m.baselines, 0);
	assert_int_equal(m.known, 7);
	assay_store_merged_release(&m);
	twice = lines_of(f, v[0]);
	assert_int_equal(once.n, twice.n);
	assay_strings_release(&once);
	assay_strings_release(&twice);
	assay_store_close(v[0]);
	assay_store_close(v[1]);
}

STORE_TEST(test_both_ways_are_one_set)
{
	struct fixture *f = *state;
	struct assay_store *v[2], *into;
	struct assay_store_merged m;

	make_two(f, v);
	into = open_named(f, "c");
	m = merge(f, into, v[1]);
	assay_store_merged_release(&m);
	m = merge(f, into, v[0]);
	assay_store_merged_release(&m);
	m = merge(f, v[0], v[1]);
	assay_store_merged_release(&m);
	assert_same_contents(f, into, v[0]);
	assay_store_close(v[0]);
	assay_store_close(v[1]);
	assay_store_close(into);
}

/* A copy that was made while a run and a comparison were measured becomes whole, and never the other way round. */
STORE_TEST(test_an_unfinished_copy_is_completed)
{
	struct fixture *f = *state;
	struct assay_store *part = open_named(f, "part"), *whole = open_named(f, "whole");
	struct assay_store_merged m;
	struct assay_run run;

	fill(f, whole, "m1", 1, 1000, 0);
	add_comparison(f, whole, 3000, 3, true);
	add_comparison(f, part, 3000, 2, false);
	make_run(&run, "quick", "m1");
	run.started_ns = 1000;
	assert_ok(f, assay_store_run_begin(part, &run, &f->err));
	m = merge(f, whole, part);
	assert_int_equal(m.known, 2);
	assert_int_equal(m.completed, 0);
	assay_store_merged_release(&m);
	m = merge(f, part, whole);
	assert_int_equal(m.completed, 2);
	assert_int_equal(m.runs + m.comparisons, 0);
	assay_store_merged_release(&m);
	assert_same_contents(f, part, whole);
	assay_store_close(part);
	assay_store_close(whole);
}

STORE_TEST(test_baselines_of_one_name)
{
	struct fixture *f = *state;
	struct assay_store *a = open_named(f, "a"), *b = open_named(f, "b"), *c = open_named(f, "c");
	struct assay_baseline_info *v = NULL;
	struct assay_store_merged m;
	size_t n = 0;

	fill(f, a, "m1", 2, 1000, 0);
	fill(f, b, "m1", 2, 2000, 0);
	fill(f, c, "m2", 1, 3000, 0);
	assert_ok(f, assay_store_baseline_save(a, "main", 1, 7, &f->err));
	assert_ok(f, assay_store_baseline_save(b, "main", 2, 9, &f->err));
	assert_ok(f, assay_store_baseline_save(c, "main", 1, 9, &f->err));
	m = merge(f, a, b);
	assert_int_equal(m.notes.n, 1);
	assert_non_null(strstr(m.notes.v[0], "baseline 'main' got 1 run of"));
	assay_store_merged_release(&m);
	m = merge(f, a, c);
	assert_int_equal(m.notes.n, 1);
	assert_non_null(strstr(m.notes.v[0], "was left out"));
	assay_store_merged_release(&m);
	assert_ok(f, assay_store_baselines(a, NULL, NULL, &v, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(v[0].n_runs, 2);
	assert_string_equal(v[0].machine_id, "m1");
	assay_baseline_infos_release(v, n);
	assay_store_close(a);
	assay_store_close(b);
	assay_store_close(c);
}

STORE_TEST(test_a_key_with_two_meanings)
{
	struct fixture *f = *state;
	struct assay_store_merged m = { 0 };
	struct assay_store *v[2];
	char path[96];

	make_two(f, v);
	path_of(f, "a", path);
	run_sql(path, "UPDATE case_axis SET value = 77 WHERE place = 0");
	assert_error(f, assay_store_merge(v[0], v[1], &m, &f->err), ASSAY_ESTORE, "stands for another case");
	assay_store_merged_release(&m);
	assay_store_close(v[0]);
	assay_store_close(v[1]);
}

/* Killed at any row, or at the end: the database is as it was, and whoever comes next merges all of it. */
STORE_TEST(test_a_kill_leaves_the_database_whole)
{
	static const char *const places[] = { "result", "result_numbers", "pair_side", "baseline", "commit" };
	struct fixture *f = *state;
	struct assay_store *v[2], *kept;
	struct assay_store_merged m;

	make_two(f, v);
	assay_store_close(v[0]);
	assay_store_close(v[1]);
	for (size_t i = 0; i < N_OF(places); i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (!pid) {
			v[0] = open_store(f, ASSAY_STORE_WRITE);
			v[1] = open_named(f, "b");
			if (i + 1 < N_OF(places))
				sqlite3_update_hook(v[0]->db, die_at, (void *)places[i]);
			else
				sqlite3_commit_hook(v[0]->db, die_at_commit, NULL);
			merge(f, v[0], v[1]);
			_exit(1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		kept = open_store(f, ASSAY_STORE_WRITE);
		assert_faultless(kept);
		assert_int_equal(ask(kept->path, "SELECT count(*) FROM run"), 3);
		assay_store_close(kept);
	}
	v[0] = open_store(f, ASSAY_STORE_WRITE);
	v[1] = open_named(f, "b");
	m = merge(f, v[0], v[1]);
	assert_int_equal(m.runs, 2);
	assay_store_merged_release(&m);
	assay_store_close(v[0]);
	assay_store_close(v[1]);
}

STORE_TEST(test_prune)
{
	static const int64_t two[] = { 1, 2 }, held[] = { 2, 3 };
	static const struct assay_store_prune_rule of_two = { .ids = two, .n = 2, .older_ns = 4000 },
						   dry = { .ids = two, .n = 2, .older_ns = 4000, .dry = true },
						   of_held = { .ids = held, .n = 2, .older_ns = 4000 };
	struct fixture *f = *state;
	struct assay_store_pruned p;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	pid_t pid;
	int status;

	fill(f, s, "m1", 4, 1000, 0);
	add_comparison(f, s, 3000, 1, true);
	add_comparison(f, s, 3001, 1, false);
	assert_ok(f, assay_store_baseline_save(s, "main", 3, 7, &f->err));
	assert_error(f, assay_store_prune(s, &of_held, &p, &f->err), ASSAY_ESTORE, "run 3: a baseline");
	assert_int_equal(ask(s->path, "SELECT count(*) FROM run"), 4);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM comparison"), 2);
	assert_ok(f, assay_store_prune(s, &dry, &p, &f->err));
	assert_int_equal(p.runs, 2);
	assert_int_equal(p.results, 6);
	assert_int_equal(p.comparisons, 1);
	assert_true(p.after_bytes < p.before_bytes);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM run"), 4);
	assay_store_close(s);

	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		s = open_store(f, ASSAY_STORE_WRITE);
		sqlite3_commit_hook(s->db, die_at_commit, NULL);
		assay_store_prune(s, &of_two, &p, &f->err);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	s = open_store(f, ASSAY_STORE_WRITE);
	assert_faultless(s);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM result"), 12);
	assert_ok(f, assay_store_prune(s, &of_two, &p, &f->err));
	assert_faultless(s);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM result_samples"), 6);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM comparison WHERE ended_ns IS NOT NULL"), 1);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM comparison"), 1);
	assay_store_close(s);
}

/* A table that merging does not know would be lost with every merge. */
STORE_TEST(test_all_tables_are_known)
{
	struct fixture *f = *state;
	struct assay_store *s = open_named(f, "a");

	assert_int_equal(
		ask(s->path,
		    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
		    " AND name NOT IN ('machine', 'machine_fact', 'build', 'run', 'environment',"
		    " 'bench_case', 'case_axis', 'series', 'number_name', 'result', 'result_samples',"
		    " 'result_numbers', 'profile', 'because', 'because_pair', 'because_function', 'profile_thread',"
		    " 'profile_frame', 'profile_stack', 'profile_heap', 'profile_site', 'profile_gpu', "
		    "'profile_gpu_device',"
		    " 'profile_gpu_work', 'profile_wait', 'exact_run', 'exact_case', 'exact_function', 'comparison',"
		    " 'comparison_case', 'pair', 'pair_side', 'pair_metric', 'pair_counter',"
		    " 'pair_unavailable', 'baseline', 'baseline_run',"
		    " 'change_answer')"),
		0);
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)

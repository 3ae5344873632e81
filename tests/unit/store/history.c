/* SPDX-License-Identifier: Apache-2.0 */
/* Questions across runs: lists, the run to compare with, the history of a case, baselines. */
#include <math.h>

#include "store_fixture.h"

/* A failed result is a gap, and so is a run of the suite without one, unless it measured much less. */
STORE_TEST(test_gaps_of_a_trend)
{
	struct fixture *f = *state;
	struct assay_trend_gap *v = NULL;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_result r;
	int64_t id;
	size_t n = 9;

	make_result(&r, 0, 10);
	add_run(f, s, "quick", "m1", 1, 4, true); /* before the first run with the case */
	add_run(f, s, "quick", "m1", 0, 4, true);
	add_run(f, s, "quick", "m1", 1, 3, true); /* without it */
	add_run(f, s, "quick", "m1", 1, 2, true); /* a part of the suite */
	add_run(f, s, "other", "m1", 1, 4, true);
	add_run(f, s, "quick", "m2", 1, 4, true);
	id = add_run(f, s, "quick", "m1", 1, 2, false);
	r.status = ASSAY_STATUS_CRASHED;
	strcpy(r.reason, "killed");
	assert_ok(f, assay_store_result_add(s, id, &r, &f->err));
	assert_ok(f, assay_store_trend_gaps(s, r.c.key, "m1", &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_true(v[0].run.run_id == 3 && v[0].missing);
	assert_true(v[1].run.run_id == id && !v[1].missing && v[1].status == ASSAY_STATUS_CRASHED);
	assert_string_equal(v[0].run.commit, "0123456789abcdef0123456789abcdef01234567");
	free(v);
	assert_ok(f, assay_store_trend_gaps(s, "none", "m1", &v, &n, &f->err));
	assert_int_equal(n, 0);
	free(v);
	assay_result_release(&r);
	assay_store_close(s);
}

STORE_TEST(test_comparable_run)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run run;
	int64_t id = 0;

	make_run(&run, "quick", "m1");
	assert_error(f, assay_store_comparable(s, &run, &id, &f->err), ASSAY_ENOTFOUND, "0 on other machines");
	add_run(f, s, "quick", "m1", 0, 1, true);  /* 1 */
	add_run(f, s, "quick", "m1", 0, 1, true);  /* 2: the one */
	add_run(f, s, "full", "m1", 0, 1, true);   /* other suite */
	add_run(f, s, "quick", "m2", 0, 1, true);  /* other machine */
	add_run(f, s, "quick", "m1", 0, 1, false); /* unfinished */
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	assert_int_equal(run.id, 6);
	assert_ok(f, assay_store_comparable(s, &run, &id, &f->err));
	assert_int_equal(id, 2);
	run.id = 2;
	assert_ok(f, assay_store_comparable(s, &run, &id, &f->err));
	assert_int_equal(id, 1);
	run.id = 0; /* not stored: all are before it */
	assert_ok(f, assay_store_comparable(s, &run, &id, &f->err));
	assert_int_equal(id, 2);

	strcpy(run.machine.id, "m3");
	assert_error(f, assay_store_comparable(s, &run, &id, &f->err), ASSAY_ENOTFOUND,
		     "(3 on other machines, 0 with other seeds)");
	strcpy(run.machine.id, "m1");
	run.seed++;
	assert_error(f, assay_store_comparable(s, &run, &id, &f->err), ASSAY_ENOTFOUND,
		     "(0 on other machines, 2 with other seeds)");
	assay_store_close(s);
}

/* A run of some cases between two of all of them is no measure of the second. */
STORE_TEST(test_comparable_has_the_cases)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run run;
	int64_t id = 0;

	make_run(&run, "quick", "m1");
	add_run(f, s, "quick", "m1", 0, 4, true);          /* 1 */
	add_run(f, s, "quick", "m1", 2, 3, true);          /* 2: one of them */
	run.id = add_run(f, s, "quick", "m1", 0, 4, true); /* 3 */
	assert_ok(f, assay_store_comparable(s, &run, &id, &f->err));
	assert_int_equal(id, 1);
	run.id = add_run(f, s, "quick", "m1", 2, 3, true); /* 4: of that one the newest with it */
	assert_ok(f, assay_store_comparable(s, &run, &id, &f->err));
	assert_int_equal(id, 3);
	assay_store_close(s);
}

STORE_TEST(test_trend_and_cases)
{
	struct fixture *f = *state;
	struct assay_trend_point *v = NULL;
	struct assay_case *cases = NULL;
	struct assay_result r;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run run;
	char unit[ASSAY_METRIC_UNIT_MAX];
	double median_ns, lo_ns;
	size_t n = 0;

	make_result(&r, 4, 10);
	r.rounds = 2;
	median_ns = r.median_ns;
	lo_ns = r.ci95_lo_ns;
	assert_error(f, assay_store_trend(s, r.c.key, NULL, &v, &n, &f->err), ASSAY_ENOTFOUND,
		     "no case 'matmul.ternary/avx2/m=4");

	make_run(&run, "quick", "m1");
	run.started_ns = 2000;
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
	/* stored later, measured earlier */
	make_run(&run, "full", "m2");
	run.started_ns = 1000;
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	r.median_ns = r.ci95_hi_ns = 4444;
	r.rounds = 1; /* which tells nothing of others */
	assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
	/* not ok: no point */
	make_run(&run, "full", "m2");
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	r.status = ASSAY_STATUS_FAILED;
	strcpy(r.reason, "memory limit");
	assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
	strcpy(r.c.key, "a/b/-/t=1/warm");
	assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
	r.status = ASSAY_STATUS_OK;
	strcpy(r.c.key, "A/b/-/t=1/warm");
	assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
	assay_result_release(&r);

	assert_ok(f, assay_store_trend(s, "matmul.ternary/avx2/m=4,level=dram/t=2/cold", NULL, &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(v[0].run_id, 2);
	assert_true(v[0].median_ns == 4444 && v[0].started_ns == 1000);
	assert_true(isnan(v[0].ci95_lo_ns) && isnan(v[0].ci95_hi_ns));
	assert_string_equal(v[0].machine_id, "m2");
	assert_string_equal(v[1].commit, "0123456789abcdef0123456789abcdef01234567");
	assert_true(v[1].dirty && v[1].median_ns == median_ns && v[1].ci95_lo_ns == lo_ns);
	free(v);
	assert_ok(f, assay_store_trend(s, "matmul.ternary/avx2/m=4,level=dram/t=2/cold", "m1", &v, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(v[0].run_id, 1);
	free(v);
	assert_ok(f, assay_store_trend(s, "a/b/-/t=1/warm", NULL, &v, &n, &f->err));
	assert_int_equal(n, 0);
	free(v);

	assert_ok(f, assay_store_trend_of(s, "matmul.ternary/avx2/m=4,level=dram/t=2/cold", NULL, "ops_per_s", &v, &n,
					  unit, &f->err));
	assert_int_equal(n, 2);
	assert_true(v[0].run_id == 2 && v[1].run_id == 1 && v[0].value == 1.0 / 3.0 && v[1].value == 1.0 / 3.0);
	assert_string_equal(v[1].plugin.hash, "8899aabbccddeeff8899aabbccddeeff00112233");
	assert_true(v[1].plugin.dirty);
	assert_string_equal(unit, "op/s");
	free(v);
	assert_error(f,
		     assay_store_trend_of(s, "matmul.ternary/avx2/m=4,level=dram/t=2/cold", NULL, "no_such", &v, &n,
					  unit, &f->err),
		     ASSAY_ENOTFOUND, "has 'no_such'");
	assert_error(f,
		     assay_store_trend_of(s, "matmul.ternary/avx2/m=4,level=dram/t=2/cold", NULL, "exact_branches", &v,
					  &n, unit, &f->err),
		     ASSAY_ENOTFOUND, "--evidence exact' takes them");

	assert_ok(f, assay_store_cases(s, NULL, &cases, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(cases[0].key, "A/b/-/t=1/warm");
	assert_string_equal(cases[1].key, "matmul.ternary/avx2/m=4,level=dram/t=2/cold");
	assert_string_equal(cases[1].op, "matmul.ternary");
	assert_int_equal(cases[1].n_axes, 2);
	assert_string_equal(cases[1].axes[1].text, "dram");
	assert_int_equal(cases[1].threads, 2);
	assert_int_equal(cases[1].cache, ASSAY_CACHE_COLD);
	assert_true(cases[1].all_threads);
	free(cases);
	assert_ok(f, assay_store_cases(s, "m1", &cases, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(cases[0].key, "matmul.ternary/avx2/m=4,level=dram/t=2/cold");
	free(cases);
	assay_store_close(s);
}

/* A case that no run could measure is stored all the same, with what became of it. */
STORE_TEST(test_cases_without_a_time)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_failed_series failed;
	struct assay_case *cases = NULL;
	struct assay_result r;
	struct assay_run run;
	size_t n = 0;

	for (unsigned k = 0; k < 3; k++) {
		make_run(&run, "quick", "m1");
		run.started_ns = 1000 + k;
		assert_ok(f, assay_store_run_begin(s, &run, &f->err));
		for (unsigned i = 0; i < 2; i++) {
			make_result(&r, i, 10);
			r.status = i && k ? ASSAY_STATUS_SKIPPED : i ? ASSAY_STATUS_CRASHED : ASSAY_STATUS_OK;
			strcpy(r.reason, !i ? "" : k == 2 ? "no device" : "of old");
			assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
			assay_result_release(&r);
		}
	}
	assert_ok(f, assay_store_cases_failed(s, "m1", &cases, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(cases[0].key, "matmul.ternary/avx2/m=1,level=dram/t=2/cold");
	assert_int_equal(cases[0].n_axes, 2);
	assert_ok(f, assay_store_failed_series(s, cases[0].key, "m1", &failed, &f->err));
	assert_int_equal(failed.n_runs, 3);
	assert_int_equal(failed.status, ASSAY_STATUS_SKIPPED);
	assert_string_equal(failed.reason, "no device");
	free(cases);
	assert_ok(f, assay_store_cases_failed(s, "m2", &cases, &n, &f->err));
	assert_int_equal(n, 0);
	free(cases);
	assay_store_close(s);
}

STORE_TEST(test_recent_times)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_case_point *v = NULL;
	struct assay_result bad;
	struct assay_run run;
	size_t n = 0;

	/* runs 1 to 4 of two cases each, a time apart; then one of another suite and one of another machine */
	for (uint64_t k = 0; k < 6; k++) {
		make_run(&run, k == 4 ? "full" : "quick", k == 5 ? "m2" : "m1");
		run.started_ns = 1000 + k;
		assert_ok(f, assay_store_run_begin(s, &run, &f->err));
		for (unsigned i = 0; i < 2; i++) {
			make_result(&bad, i, 10);
			bad.status = k == 2 && i ? ASSAY_STATUS_FAILED : ASSAY_STATUS_OK;
			strcpy(bad.reason, k == 2 && i ? "memory limit" : "");
			assert_ok(f, assay_store_result_add(s, run.id, &bad, &f->err));
			assay_result_release(&bad);
		}
	}
	assert_ok(f, assay_store_recent(s, "quick", "m1", 1003, 3, &v, &n, &f->err));
	assert_int_equal(n, 5);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(v[i].key, "matmul.ternary/avx2/m=0,level=dram/t=2/cold");
		assert_int_equal(v[i].point.run_id, 2 + i);
	}
	assert_true(v[0].point.median_ns > 0 && v[0].point.started_ns == 1001 && v[0].point.dirty);
	/* the run in which it failed is left out */
	assert_string_equal(v[3].key, "matmul.ternary/avx2/m=1,level=dram/t=2/cold");
	assert_int_equal(v[3].point.run_id, 2);
	assert_int_equal(v[4].point.run_id, 4);
	free(v);
	assert_ok(f, assay_store_recent(s, "quick", "m1", 1000, 3, &v, &n, &f->err));
	assert_int_equal(n, 2);
	free(v);
	assert_ok(f, assay_store_recent(s, "none", "m1", 2000, 3, &v, &n, &f->err));
	assert_int_equal(n, 0);
	free(v);
	assay_store_close(s);
}

STORE_TEST(test_newest_results)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	/* run 1 has both cases, run 2 of another suite fails the second, run 3 skips both, 4 is of another machine */
	static const struct {
		const char *suite, *machine;
		enum assay_status status[2];
	} runs[] = {
		{ "quick", "m1", { ASSAY_STATUS_OK, ASSAY_STATUS_OK } },
		{ "full", "m1", { ASSAY_STATUS_SKIPPED, ASSAY_STATUS_FAILED } },
		{ "quick", "m1", { ASSAY_STATUS_SKIPPED, ASSAY_STATUS_SKIPPED } },
		{ "quick", "m2", { ASSAY_STATUS_OK, ASSAY_STATUS_OK } },
	};
	struct assay_newest_result *v = NULL;
	size_t n = 0;

	for (size_t k = 0; k < sizeof(runs) / sizeof(runs[0]); k++) {
		struct assay_run run;

		make_run(&run, runs[k].suite, runs[k].machine);
		run.started_ns = 1000 + k;
		assert_ok(f, assay_store_run_begin(s, &run, &f->err));
		for (unsigned i = 0; i < 2; i++) {
			struct assay_result r;

			make_result(&r, i, 10);
			r.c.all_threads = k == 0;
			r.status = runs[k].status[i];
			strcpy(r.reason, r.status == ASSAY_STATUS_OK ? "" : "memory limit");
			assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
			assay_result_release(&r);
		}
	}
	assert_ok(f, assay_store_newest_results(s, "m1", &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(v[0].key, "matmul.ternary/avx2/m=0,level=dram/t=2/cold");
	assert_int_equal(v[0].run_id, 1);
	assert_int_equal(v[0].status, ASSAY_STATUS_OK);
	assert_true(v[0].median_ns > 0 && v[0].revision.hash[0]);
	assert_int_equal(v[1].run_id, 2);
	assert_string_equal(v[1].suite, "full");
	assert_int_equal(v[1].status, ASSAY_STATUS_FAILED);
	free(v);
	assert_ok(f, assay_store_newest_results(s, "m3", &v, &n, &f->err));
	assert_int_equal(n, 0);
	free(v);
	assay_store_close(s);
}

STORE_TEST(test_baselines)
{
	struct fixture *f = *state;
	struct assay_baseline_info *v = NULL;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	size_t n = 0;

	add_run(f, s, "quick", "m1", 0, 1, true);  /* 1 */
	add_run(f, s, "quick", "m1", 0, 1, true);  /* 2 */
	add_run(f, s, "full", "m1", 0, 1, true);   /* 3 */
	add_run(f, s, "quick", "m2", 0, 1, true);  /* 4 */
	add_run(f, s, "quick", "m1", 0, 1, false); /* 5 */
	assert_ok(f, assay_store_baseline_save(s, "main", 2, 100, &f->err));
	assert_ok(f, assay_store_baseline_save(s, "main", 1, 200, &f->err));
	assert_ok(f, assay_store_baseline_save(s, "main", 1, 300, &f->err));
	assert_ok(f, assay_store_baseline_save(s, "big", 3, 400, &f->err));
	assert_ok(f, assay_store_baseline_save(s, "other", 4, 500, &f->err));
	assert_error(f, assay_store_baseline_save(s, "main", 3, 1, &f->err), ASSAY_EUSAGE,
		     "is of suite 'quick', run 3 is of 'full'");
	assert_error(f, assay_store_baseline_save(s, "main", 4, 1, &f->err), ASSAY_EUSAGE,
		     "another machine (label of m1)");
	assert_error(f, assay_store_baseline_save(s, "main", 5, 1, &f->err), ASSAY_EUSAGE, "run 5 did not finish");
	assert_error(f, assay_store_baseline_save(s, "main", 6, 1, &f->err), ASSAY_ENOTFOUND, "no run 6");
	assert_error(f, assay_store_baseline_save(s, "", 1, 1, &f->err), ASSAY_EUSAGE, "bad name");

	assert_ok(f, assay_store_baselines(s, NULL, NULL, &v, &n, &f->err));
	assert_int_equal(n, 3);
	assert_string_equal(v[0].name, "big");
	assert_string_equal(v[1].name, "main");
	assert_string_equal(v[1].suite, "quick");
	assert_string_equal(v[1].machine_id, "m1");
	assert_string_equal(v[1].machine_label, "label of m1");
	assert_true(v[1].saved_ns == 300);
	assert_int_equal(v[1].n_runs, 2);
	assert_int_equal(v[1].runs[0], 1);
	assert_int_equal(v[1].runs[1], 2);
	assay_baseline_infos_release(v, n);

	assert_ok(f, assay_store_baselines(s, "quick", "m2", &v, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(v[0].name, "other");
	assay_baseline_infos_release(v, n);

	assert_ok(f, assay_store_baseline_drop(s, "main", &f->err));
	assert_error(f, assay_store_baseline_drop(s, "main", &f->err), ASSAY_ENOTFOUND, "no baseline 'main'");
	assert_ok(f, assay_store_baselines(s, "quick", "m1", &v, &n, &f->err));
	assert_int_equal(n, 0);
	assay_baseline_infos_release(v, n);
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)

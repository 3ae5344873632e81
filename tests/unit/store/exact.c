/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts in the store, beside a timed run and alone. */
#include "exact_fixture.h"
#include "store/comparison.h"
#include "store/exact.h"
#include "store/merge.h"
#include "store_fixture.h"
#include "store_profile_fixture.h"

static void assert_same(const struct assay_exact_run *a, const struct assay_exact_run *b)
{
	assert_string_equal(a->suite, b->suite);
	assert_int_equal(a->seed, b->seed);
	assert_int_equal(a->started_ns, b->started_ns);
	assert_int_equal(a->run_id, b->run_id);
	assert_string_equal(a->build.compiler, b->build.compiler);
	assert_string_equal(a->build.flags, b->build.flags);
	assert_memory_equal(&a->setting, &b->setting, sizeof(a->setting));
	assert_int_equal(a->n_cases, b->n_cases);
	for (size_t i = 0; i < a->n_cases; i++) {
		const struct assay_exact_case *x = &a->cases[i], *y = &b->cases[i];

		assert_string_equal(x->key, y->key);
		assert_int_equal(x->status, y->status);
		assert_string_equal(x->reason, y->reason);
		assert_same_log(x->log, y->log);
		assert_string_equal(x->digest, y->digest);
		assert_int_equal(x->all_threads, y->all_threads);
		assert_int_equal(x->how, y->how);
		assert_int_equal(x->skip, y->skip);
		assert_string_equal(x->detail ? x->detail : "", y->detail ? y->detail : "");
		assert_memory_equal(&x->total, &y->total, sizeof(x->total));
		assert_int_equal(x->n_functions, y->n_functions);
		for (size_t k = 0; k < x->n_functions; k++) {
			assert_string_equal(x->functions[k].name, y->functions[k].name);
			assert_string_equal(x->functions[k].object, y->functions[k].object);
			assert_memory_equal(&x->functions[k].counts, &y->functions[k].counts,
					    sizeof(x->functions[k].counts));
		}
	}
}

STORE_TEST(counts_alone)
{
	struct fixture *f = *state;
	struct assay_exact_run run = exact_run(), got = { 0 };
	struct assay_trend_point *v = NULL;
	char unit[ASSAY_METRIC_UNIT_MAX];
	struct assay_store *s;
	size_t n = 0;

	add_exact_case(&run, "op.c/avx512/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f")->all_threads = true;
	run.cases[0].log = strdup("words while it was counted\n");
	run.cases[0].how = ASSAY_EXACT_STEPPED;
	run.cases[0].detail = strdup("thread\t1 2 3 4 5 6 7 8\n");
	run.cases[1].skip = ASSAY_EXACT_SKIP_SMALLER;
	run.cases[2].skip = ASSAY_EXACT_SKIP_UNABLE;
	s = open_store(f, ASSAY_STORE_WRITE);
	assert_error(f, assay_store_exact_newest(s, "quick", &got, &f->err), ASSAY_ENOTFOUND,
		     "no exact counts of suite 'quick'");
	assert_ok(f, assay_store_exact_add(s, &run, &f->err));
	assert_int_equal(run.id, 1);
	run.seed = 43;
	assert_ok(f, assay_store_exact_add(s, &run, &f->err));
	assert_ok(f, assay_store_exact_newest(s, "quick", &got, &f->err));
	assert_int_equal(got.id, 2);
	assert_same(&run, &got);
	assay_exact_run_release(&got);
	assert_error(f, assay_store_exact_newest(s, "other", &got, &f->err), ASSAY_ENOTFOUND, "'other'");
	/* their trend, though no time of the case is stored */
	assert_ok(f, assay_store_trend_of(s, KEY_A, "m1", "exact_instructions", &v, &n, unit, &f->err));
	assert_int_equal(n, 2);
	assert_true(v[0].value == 41985 && v[1].value == 41985 && v[1].started_ns == run.started_ns);
	assert_string_equal(unit, "1");
	free(v);
	assert_error(f,
		     assay_store_trend_of(s, "op.c/avx512/t=1/warm", NULL, "exact_instructions", &v, &n, unit, &f->err),
		     ASSAY_ENOTFOUND, "no exact counts of 'op.c/avx512/t=1/warm' are stored");
	assay_store_close(s);
	assay_exact_run_release(&run);
}

STORE_TEST(counts_beside_a_run)
{
	struct fixture *f = *state;
	struct assay_exact_run run = exact_run(), got = { 0 };
	struct assay_run timed = {
		.suite = "quick", .seed = 42, .started_ns = 1, .build = { .id = "b1" }, .machine = { .id = "m1" }
	};
	struct assay_run loaded = { 0 };
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);

	assert_ok(f, assay_store_run_begin(s, &timed, &f->err));
	assert_ok(f, assay_store_run_load(s, timed.id, &loaded, &f->err));
	assert_null(loaded.exact);
	assay_run_release(&loaded);
	assert_error(f, assay_store_exact_of_run(s, timed.id, &got, &f->err), ASSAY_ENOTFOUND,
		     "run 1 has no exact counts");
	run.run_id = timed.id;
	run.build = timed.build;
	assert_ok(f, assay_store_exact_add(s, &run, &f->err));
	assert_error(f, assay_store_exact_add(s, &run, &f->err), ASSAY_ESTORE, "exact counts");
	assert_ok(f, assay_store_run_load(s, timed.id, &loaded, &f->err));
	assert_non_null(loaded.exact);
	assert_same(&run, loaded.exact);
	assay_run_release(&loaded);
	assay_store_close(s);
	assay_exact_run_release(&run);
}

/* Counts of both sides are part of a comparison, and of nothing else. */
STORE_TEST(counts_of_a_comparison)
{
	struct fixture *f = *state;
	struct assay_comparison cmp = { .base = "old",
					.head = "new",
					.suite = "quick",
					.started_ns = 1,
					.machine = { .id = "m1" },
					.build = { { .id = "b1" }, { .id = "b2" } },
					.alpha = 0.01,
					.max_pairs = 1,
					.family = 1 };
	struct assay_comparison got;
	struct assay_comparison_info *list;
	struct assay_exact_run newest;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	size_t n;

	assert_ok(f, assay_store_comparison_begin(s, &cmp, &f->err));
	assert_ok(f, assay_store_comparison_load(s, cmp.id, &got, NULL, NULL, &f->err));
	assert_int_equal(got.exact[ASSAY_HEAD].n_cases, 0);
	assay_comparison_release(&got);
	for (int i = 0; i < 2; i++) {
		cmp.exact[i] = exact_run();
		cmp.exact[i].build = cmp.build[i];
		cmp.exact[i].comparison_id = cmp.id;
	}
	strcpy(cmp.exact[ASSAY_HEAD].cases[1].digest, "00112233445566778899aabbccddeeff");
	add_exact_case(&cmp.exact[ASSAY_HEAD], "op.c/avx512/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
	assert_ok(f, assay_store_exact_add_sides(s, cmp.exact, &f->err));
	assert_ok(f, assay_store_comparison_load(s, cmp.id, &got, NULL, NULL, &f->err));
	for (int i = 0; i < 2; i++) {
		assert_same(&cmp.exact[i], &got.exact[i]);
		assert_int_equal(got.exact[i].id, cmp.exact[i].id);
		assert_int_equal(got.exact[i].comparison_id, cmp.id);
		assert_string_equal(got.exact[i].build.id, cmp.build[i].id);
	}
	assay_comparison_release(&got);
	assert_ok(f, assay_store_comparisons(s, NULL, 0, &list, &n, &f->err));
	assert_int_equal(list[0].n_counted, 2);
	assert_int_equal(list[0].n_cases, 0);
	free(list);
	/* what a gate judges is never the base of a comparison */
	assert_error(f, assay_store_exact_newest(s, "quick", &newest, &f->err), ASSAY_ENOTFOUND, "no exact counts");
	assert_error(f, assay_store_exact_add_sides(s, cmp.exact, &f->err), ASSAY_ESTORE, "exact counts");
	assert_ok(f, assay_store_comparison_end(s, cmp.id, 2, "PASS", 0, &f->err));
	cmp.id = 0;
	assert_ok(f, assay_store_comparison_begin(s, &cmp, &f->err));
	assert_ok(f, assay_store_comparison_end(s, cmp.id, 2, "PASS", 0, &f->err));
	cmp.exact[ASSAY_BASE].comparison_id = cmp.exact[ASSAY_HEAD].comparison_id = cmp.id;
	assert_error(f, assay_store_exact_add_sides(s, cmp.exact, &f->err), ASSAY_ESTORE, "the comparison has ended");
	assay_store_close(s);
	assay_comparison_release(&cmp);
}

/* Nothing of what contradicts itself is kept. */
STORE_TEST(contradictions_are_refused)
{
	struct fixture *f = *state;
	struct assay_exact_run run = exact_run(), got = { 0 };
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);

	add_exact_case(&run, "op.c/ref/t=1/warm", ASSAY_STATUS_CRASHED, "");
	assert_error(f, assay_store_exact_add(s, &run, &f->err), ASSAY_ESTORE, "op.c/ref");
	strcpy(run.cases[2].key, KEY_A);
	strcpy(run.cases[2].reason, "twice");
	assert_error(f, assay_store_exact_add(s, &run, &f->err), ASSAY_ESTORE, KEY_A);
	assert_int_equal(run.id, 0);
	assert_error(f, assay_store_exact_newest(s, "quick", &got, &f->err), ASSAY_ENOTFOUND, "no exact counts");
	assay_store_close(s);
	assay_exact_run_release(&run);
}

/* ---- profile ---- */

/* Profiles in and out of the store, damaged ones, and which of them are pruned. */

STORE_TEST(test_a_profile_comes_back)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_profile p = { 0 };
	const struct assay_frame *leaf;

	add_profile(f, s, "before", 4000);
	assert_ok(f, assay_store_profile_load(s, 1, &p, &f->err));
	assert_string_equal(p.name, "before");
	assert_string_equal(p.machine.label, "machine five");
	assert_string_equal(p.build.commit, "1a2b");
	assert_true(p.is_case && p.lost == 3 && p.timed_weight == 200 && p.seconds == 2.5 && p.iteration_ns == 12.5);
	assert_true(isnan(p.overhead_frac));
	assert_int_equal(p.threads[0].weight, 500);
	assert_int_equal(p.stacks.n_stacks, 3);
	assert_int_equal(p.stacks.weight, 500);
	leaf = &p.stacks.frames[p.stacks.order[p.stacks.stacks[0].first + 1]];
	assert_string_equal(leaf->name, "hot");
	assert_true(leaf->offset == UINT64_MAX && leaf->line == 7);
	assay_profile_release(&p);
	assert_error(f, assay_store_profile_load(s, 2, &p, &f->err), ASSAY_ENOTFOUND, "no profile 2");
	/* a frame that is not there */
	run_sql(s->path, "UPDATE profile_stack SET frames = x'0107' WHERE place = 0");
	assert_error(f, assay_store_profile_load(s, 1, &p, &f->err), ASSAY_ESTORE, "'profile_stack' in profile 1");
	assay_store_close(s);
}

STORE_TEST(test_profiles_with_numbers_come_back)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_profile p = { 0 };

	add_numbers_profile(f, s, true, 1000);
	add_numbers_profile(f, s, false, 2000);
	assert_ok(f, assay_store_profile_load(s, 1, &p, &f->err));
	assert_true(p.heap.processes == 2 && p.heap.sample_bytes == 512 && p.heap.peak_clock == 7.5);
	assert_true(p.heap.all.bytes == 100.25 && p.heap.all.largest_bytes == 80);
	assert_true(p.stacks.n_stacks == 2 && p.stacks.weight == 100 && p.stacks.stacks[1].weight == 100);
	assert_true(p.heap.sites[0].blocks == 1 && p.heap.sites[0].samples == 1 && p.heap.sites[1].live_bytes == 20);
	assay_profile_release(&p);
	assert_ok(f, assay_store_profile_load(s, 2, &p, &f->err));
	assert_true(p.gpu.n_devices == 1 && p.gpu.devices[0].index == 3 && p.gpu.devices[0].busy_frac == 0);
	assert_true(p.gpu.devices[0].mean_watts == 5 && isnan(p.gpu.devices[0].joules));
	assert_true(p.gpu.work[0].calls == 2 && p.gpu.work[0].occupancy_frac == 0.5 && p.gpu.work[0].blocks == 9);
	assert_true(p.gpu.work[1].bytes == 9 && isnan(p.gpu.work[1].occupancy_frac));
	assert_true(p.stacks.weight == 40 && p.stacks.stacks[0].weight == 40 && p.stacks.stacks[1].weight == 0);
	assay_profile_release(&p);
	run_sql(s->path, "UPDATE profile_gpu_work SET frames = (SELECT frames FROM profile_gpu_work WHERE place = 1)");
	assert_error(f, assay_store_profile_load(s, 2, &p, &f->err), ASSAY_ESTORE, "'profile_gpu_work' in profile 2");
	assay_store_close(s);
}

/* Of the build of a named baseline the newest profile of a name and case stays, however old it is. */
STORE_TEST(test_profiles_that_a_baseline_needs_stay)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run run;
	size_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		add_profile(f, s, "nightly", 1000 + 1000 * i);
	make_run(&run, "quick", "m5");
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	assert_ok(f, assay_store_run_end(s, run.id, run.started_ns + 1000, &f->err));
	assert_ok(f, assay_store_baseline_save(s, "main", run.id, 7, &f->err));
	/* the oldest two are of the baseline's build, of which the newer one stays */
	run_sql(s->path, "UPDATE profile SET build = (SELECT build FROM run) WHERE id <= 2");
	assert_ok(f, assay_store_profiles_prune(s, &(struct assay_store_profile_rule){ .keep = 1 }, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM profile WHERE id IN (2, 4)"), 2);
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)

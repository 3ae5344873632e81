/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in and out of the store, damaged ones, and which of them are pruned. */
#include "store_profile_fixture.h"

#include "store/merge.h"

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

STORE_TEST(test_profiles_are_pruned_but_for_the_newest_of_a_name)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_store_profile_rule rule = { .older_ns = 4500, .dry = true };
	struct assay_profile_info *v = NULL;
	size_t n = 0;

	add_profile(f, s, "baseline", 1000);
	for (unsigned i = 0; i < 4; i++)
		add_profile(f, s, "hourly", 3000 + 1000 * i);
	assert_ok(f, assay_store_profiles_prune(s, &rule, &n, &f->err));
	assert_int_equal(n, 2);
	rule.dry = false;
	assert_ok(f, assay_store_profiles_prune(s, &rule, &n, &f->err));
	assert_int_equal(n, 2);
	assert_ok(f,
		  assay_store_profiles_prune(s, &(struct assay_store_profile_rule){ .name = "baseline" }, &n, &f->err));
	assert_int_equal(n, 0);
	assert_ok(f, assay_store_profiles_prune(s, &(struct assay_store_profile_rule){ .keep = 1 }, &n, &f->err));
	assert_int_equal(n, 1);
	assert_ok(f, assay_store_profiles(s, &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(v[0].name, "hourly");
	assert_int_equal(v[0].started_ns, 6000);
	assert_string_equal(v[1].name, "baseline");
	free(v);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM profile_frame"), 4);
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)

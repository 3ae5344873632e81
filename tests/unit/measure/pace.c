/* SPDX-License-Identifier: Apache-2.0 */
/* What a case tells and learns of the pace of its cores. */
#include "measure_world.h"

#include "measure/case_metrics.h"

static void keep_sampled(void *arg, enum assay_stage stage, double done_frac)
{
	if (arg && stage == ASSAY_STAGE_SAMPLE)
		*(double *)arg = done_frac;
}

static struct assay_result measure_paced(struct world *w, const struct assay_clock *clock,
					 struct assay_core_paces *paces, double *sampled)
{
	struct assay_case c = make_case("doubled", 1000, 1, ASSAY_CACHE_WARM);
	struct assay_measure_options o = {
		.plugins = &w->plugins,
		.topology = w->topology,
		.host = &w->host,
		.clock = clock,
		.paces = paces,
		.seed = 42,
		.progress = keep_sampled,
		.progress_arg = sampled,
	};
	struct assay_case_facts facts;
	struct assay_err err = { 0 };
	struct assay_result r;

	assert_int_equal(0, assay_inventory_describe(w->inv, &c, 1, &facts, &err));
	if (assay_measure_case(&c, assay_inventory_catalog(w->inv), &facts, &o, &r, &err))
		fail_msg("%s", err.text);
	if (r.status != ASSAY_STATUS_OK)
		fail_msg("%s", r.reason);
	assert_true(r.n_samples > 0 && r.cpus[0] >= 0 && r.cpus[0] < ASSAY_PACE_CPUS);
	return r;
}

/*
 * A table that knows the cores to be far faster than they are: all samples were slow then, and are taken to the
 * budget's end.
 */
TEST(slow_cores_are_told)
{
	struct assay_core_paces paces = { 0 };
	struct assay_core_pace *known = assay_core_paces_of(&paces, "doubled", 1);
	const struct assay_count *slow;
	struct world *w = *state;
	struct assay_clock fine = w->clock;
	struct assay_result r;
	double sampled = 0;

	fine.resolution_ns = 1; /* it is tried on any machine */
	for (int i = 0; i < ASSAY_PACE_CPUS; i++)
		known->least[i] = 1;
	r = measure_paced(w, &fine, &paces, &sampled);
	slow = assay_counters_find(&r.counters, "slow_core_samples");
	assert_true(slow && slow->value == (double)r.n_samples);
	assert_true(r.slow_core && r.slow_core_frac == 1);
	assert_true(sampled >= 1);
	assert_int_equal(1, known->least[r.cpus[0]]);
	assay_result_release(&r);
	assay_core_paces_release(&paces);
}

/* A case adds to the table of its variant and threads, for its own CPU. */
TEST(the_pace_is_learnt)
{
	struct assay_core_paces paces = { 0 };
	struct world *w = *state;
	struct assay_clock fine = w->clock;
	struct assay_core_pace *learnt;
	struct assay_result r;

	fine.resolution_ns = 1;
	r = measure_paced(w, &fine, &paces, NULL);
	assert_int_equal(1, paces.n);
	learnt = assay_core_paces_of(&paces, "doubled", 1);
	assert_int_equal(1, paces.n);
	assert_true(learnt->least[r.cpus[0]] > 1);
	learnt->least[r.cpus[0]] = 0;
	for (int i = 0; i < ASSAY_PACE_CPUS; i++)
		assert_int_equal(0, learnt->least[i]);
	assay_result_release(&r);
	assay_core_paces_release(&paces);
}

/* Where the loop would tell nothing, no sample is slow, nothing is learnt, and the result says why. */
TEST(the_pace_is_not_tried_in_vain)
{
	struct assay_core_paces paces = { 0 };
	struct assay_core_pace *known = assay_core_paces_of(&paces, "doubled", 1);
	struct world *w = *state;
	struct assay_clock coarse = w->clock;
	const struct assay_unavailable *why;
	struct assay_result r;

	coarse.resolution_ns = 280;
	for (int i = 0; i < ASSAY_PACE_CPUS; i++)
		known->least[i] = 1000000000;
	r = measure_paced(w, &coarse, &paces, NULL);
	why = assay_counters_find_missing(&r.counters, "slow_core_samples");
	assert_non_null(why);
	assert_string_equal("the steps of the clock are too coarse", why->reason);
	assert_false(assay_result_pace_tried(&r));
	assert_true(!r.slow_core && r.slow_core_frac == 0);
	assert_int_equal(1000000000, known->least[r.cpus[0]]);
	/* nor does a further round find what the first did not look for */
	assert_int_equal(0, assay_disturbance_counts(&r, NULL));
	assert_false(assay_result_pace_tried(&r));
	assay_result_release(&r);
	assay_core_paces_release(&paces);
}

MEASURE_GROUP

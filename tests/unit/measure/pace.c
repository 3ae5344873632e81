/* SPDX-License-Identifier: Apache-2.0 */
/* A case reports and learns the pace of its cores. */
#include "counters/preloaded.h"
#include "measure/case_metrics.h"
#include "measure/measure.h"
#include "measure_world.h"
#include "worker/time_limits.h"

static void keep_sampled(void *arg, enum assay_stage stage, double done_frac, const struct assay_result *so_far)
{
	(void)so_far;
	if (arg && stage == ASSAY_STAGE_SAMPLE)
		*(double *)arg = done_frac;
}

static struct assay_result measure_paced(struct world *w, const struct assay_clock *clock,
					 struct assay_core_paces *paces, double *sampled)
{
	struct assay_case c = make_case("doubled", 1000, 1, ASSAY_CACHE_WARM);
	struct assay_measure_options o = {
		.worker = setup_of(w, &w->plugins),
		.paces = paces,
		.progress = keep_sampled,
		.progress_arg = sampled,
	};
	struct assay_case_facts facts;
	struct assay_err err = { 0 };
	struct assay_result r;

	o.worker.clock = clock;
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

/* ---- timeouts ---- */

/* When a worker counts as hanging, by numbers alone, and that plugins which hang are told with where and how long. */

#define S UINT64_C(1000000000)

static const struct assay_worker_args none;

static uint64_t most(const struct assay_timeout_history *p, enum assay_command cmd, const struct assay_worker_args *a)
{
	return assay_timeout_limit(p, cmd, a, NULL, 120 * S).most_ns;
}

/* Of what was never done, a share of the timeout, or what so much work can take. */
TEST(a_first_time_has_a_share_of_the_timeout)
{
	struct assay_case_facts f = { .cost = { .ops = 1e6, .bytes_read = 1e6 }, .copies = 1, .bytes = 1000000 };
	struct assay_timeout_history p = { 0 };
	struct assay_timeout_limit l = assay_timeout_limit(&p, ASSAY_CMD_PREPARE, &none, &f, 120 * S);

	assert_int_equal(l.expected_ns, 0);
	assert_true(l.most_ns == 30 * S);
	f.cost.ops = 1e9;
	f.copies = 2;
	l = assay_timeout_limit(&p, ASSAY_CMD_VERIFY, &none, &f, 120 * S);
	assert_true(l.most_ns > 100 * S && l.most_ns < 101 * S);
	p.first_ns = 40 * S;
	assert_true(most(&p, ASSAY_CMD_PREPARE, &none) == 40 * S);
	p.first_ns = 0;
	/* short timeouts are no reason for haste */
	assert_true(assay_timeout_limit(&p, ASSAY_CMD_VERIFY, &none, NULL, 20 * S).most_ns == 10 * S);
}

TEST(later_times_have_a_multiple_of_what_it_took)
{
	static const struct {
		enum assay_command cmd;
		struct assay_worker_args args;
		double most_s;
	} cases[] = {
		{ ASSAY_CMD_PREPARE, { 0 }, 60 },
		{ ASSAY_CMD_VERIFY, { 0 }, 40 },
		/* nothing was sampled yet: a call, and that of the hand-over, take as long as to check it */
		{ ASSAY_CMD_SAMPLE, { .iterations = 1, .count = 1 }, 80 },
		{ ASSAY_CMD_SAMPLE, { .iterations = 2, .count = 2 }, 200 },
		{ ASSAY_CMD_RECHECK, { 0 }, 80 },
		{ ASSAY_CMD_OUTPUT, { 0 }, 40 },
		{ ASSAY_CMD_REPORT, { 0 }, 100 },
		{ ASSAY_CMD_FINISH, { 0 }, 100 },
		{ ASSAY_CMD_COUNT, { 0 }, 400 },
	};
	struct assay_timeout_history p = { 0 };

	assay_timeout_history_learn(&p, ASSAY_CMD_PREPARE, &none, 3 * S);
	assay_timeout_history_learn(&p, ASSAY_CMD_VERIFY, &none, 2 * S);
	assay_timeout_history_learn(&p, ASSAY_CMD_VERIFY, &none, 1 * S); /* it can take longer */
	for (size_t i = 0; i < N_OF(cases); i++) {
		double is = (double)most(&p, cases[i].cmd, &cases[i].args) * 1e-9;

		if (is < cases[i].most_s - 0.1 || is > cases[i].most_s + 0.1)
			fail_msg("%zu: %g s, not %g s", i, is, cases[i].most_s);
	}
	p = (struct assay_timeout_history){ 0 };
	assay_timeout_history_learn(&p, ASSAY_CMD_VERIFY, &none, 1000);
	assert_true(most(&p, ASSAY_CMD_VERIFY, &none) == 10 * S);
}

/* The command with most calls tells what one takes: in a short one the hand-over is most of it. */
TEST(samples_tell_what_a_call_takes)
{
	const struct assay_worker_args one = { .iterations = 1, .count = 1 },
				       many = { .iterations = 999, .count = 1000 },
				       pair = { .iterations = 499999, .count = 1 };
	struct assay_timeout_history p = { 0 };

	assay_timeout_history_learn(&p, ASSAY_CMD_VERIFY, &none, S);
	assay_timeout_history_learn(&p, ASSAY_CMD_SAMPLE, &one, S / 10);
	assert_true(most(&p, ASSAY_CMD_SAMPLE, &many) > 900000 * S);
	assay_timeout_history_learn(&p, ASSAY_CMD_SAMPLE, &many, S);
	assert_true(most(&p, ASSAY_CMD_SAMPLE, &many) == 20 * S);
	assay_timeout_history_learn(&p, ASSAY_CMD_SAMPLE, &one, S);
	assert_true(most(&p, ASSAY_CMD_SAMPLE, &many) == 20 * S);
	/* two samples of a side, and an untimed call before each */
	assert_true(most(&p, ASSAY_CMD_PAIR, &pair) >= 20 * S && most(&p, ASSAY_CMD_PAIR, &pair) < 21 * S);
	/* all that a sample does, once more, besides the check */
	assay_timeout_history_learn(&p, ASSAY_CMD_SAMPLE, &many, S);
	assert_true(most(&p, ASSAY_CMD_RECHECK, &none) >= 40 * S && most(&p, ASSAY_CMD_RECHECK, &none) < 41 * S);
}

TEST(hangs_are_told_with_where_and_how_long)
{
	static const struct {
		const char *variant;
		int64_t n;
		const char *reason;
	} cases[] = {
		{ "ref", 7, "(while making inputs, expected within 2 s)" },
		{ "prepare", 8, "(while preparing, expected within 2 s)" },
		{ "late", 8, "(while running, expected to take " },
		/* long enough that what an audit adds to its calls, which is more under sanitizers, does not count */
		{ "release", 4096, "(while releasing, expected to take " },
	};
	struct world *w = *state;
	struct assay_strings plugins = { 0 };
	struct assay_inventory *inv;
	struct assay_err err = { 0 };

	add_plugin(&plugins, w->dir, "hangs");
	assert_int_equal(assay_inventory_open(&inv, &plugins, NULL, &w->host, &err), 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_timeout_history timeouts = { .floor_ns = S };
		const struct assay_measure_options o = { .worker = setup_of(w, &plugins), .timeouts = &timeouts };
		struct assay_case c = make_case(cases[i].variant, cases[i].n, 1, ASSAY_CACHE_WARM);
		struct assay_case_facts facts;
		struct assay_result r;

		snprintf(c.op, sizeof(c.op), "hang.copy");
		assert_int_equal(assay_case_make_key(&c, NULL), 0);
		c.timeout_ns = 8 * S;
		assert_int_equal(assay_inventory_describe(inv, &c, 1, &facts, &err), 0);
		assert_int_equal(assay_measure_case(&c, assay_inventory_catalog(inv), &facts, &o, &r, &err), 0);
		if (r.status != ASSAY_STATUS_TIMEOUT || !strstr(r.reason, cases[i].reason) ||
		    strncmp(r.reason, "no result after ", 16))
			fail_msg("%s: %s: %s", c.key, assay_status_name(r.status), r.reason);
		assay_result_release(&r);
	}
	assay_inventory_close(inv);
	assay_strings_release(&plugins);
}

/* A pair of these, of which one does not come back; each has @floor_ns for what it never did, a fifth for samples. */
static void measure_hanging(struct world *w, const char *const names[2], uint64_t floor_ns, struct assay_pair *p)
{
	struct assay_strings plugins[2] = { { 0 }, { 0 } };
	struct assay_pair_options po = { .plugins = { &plugins[0], &plugins[1] }, .sampling_ns = floor_ns / 5 };
	struct assay_measure_options o = { .worker = setup_of(w, &plugins[1]) };
	struct assay_case c = make_case("work", 1024, 1, ASSAY_CACHE_WARM);
	struct assay_pair_calibration calibration = { 0 };
	struct assay_case_facts facts;
	struct assay_inventory *inv;
	char difference[ASSAY_DIFFERENCE_MAX];

	snprintf(c.op, sizeof(c.op), "lenient.triple");
	c.timeout_ns = 5 * floor_ns;
	assert_int_equal(assay_case_make_key(&c, NULL), 0);
	for (int i = 0; i < 2; i++) {
		add_plugin(&plugins[i], w->dir, "compare_op");
		add_plugin(&plugins[i], w->dir, names[i]);
		calibration.timeouts[i].floor_ns = floor_ns;
	}
	assert_int_equal(assay_inventory_open(&inv, &plugins[1], NULL, &w->host, NULL), 0);
	assert_int_equal(assay_inventory_describe(inv, &c, 1, &facts, NULL), 0);
	assert_int_equal(assay_measure_pair(&c, assay_inventory_catalog(inv), &facts, &o, &po, &calibration, p,
					    difference, NULL),
			 0);
	assay_inventory_close(inv);
	for (int i = 0; i < 2; i++)
		assay_strings_release(&plugins[i]);
}

/*
 * The side that hangs is named, and the one that waits for its turn says that it waited for the other.
 */
TEST(a_side_that_hangs_is_told_from_the_one_that_waits)
{
	static const char *const sides[2][2] = { { "compare_base", "compare_hangs" },
						 { "compare_hangs", "compare_base" } };

	if (ASSAY_SANITIZED_HEAP) /* too few calls fit into a pair */
		skip();

	for (int hanging = 0; hanging < 2; hanging++) {
		struct assay_pair p = { 0 };

		measure_hanging(*state, sides[!hanging], 4 * S, &p);
		assert_int_equal(p.side[hanging].status, ASSAY_STATUS_TIMEOUT);
		if (strncmp(p.side[hanging].reason, "no result after ", 16))
			fail_msg("%s", p.side[hanging].reason);
		/*
		 * On a busy machine the other one may get no processor in that time, and then hangs as well; or it
		 * does not wait yet, because calibrating took more calls.
		 */
		if (p.side[!hanging].status == ASSAY_STATUS_OK) {
			assert_int_equal(p.side[!hanging].n_samples, 0);
		} else if (p.side[!hanging].status != ASSAY_STATUS_TIMEOUT) {
			assert_int_equal(p.side[!hanging].status, ASSAY_STATUS_FAILED);
			assert_non_null(strstr(p.side[!hanging].reason,
					       "the other side of the pair timeout: no result after "));
		}
		assay_pair_release(&p);
	}
}

MEASURE_GROUP

/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, metrics and their ranges, results, verdicts and exit codes, and the catalog's look-up. */
#include <float.h>
#include <math.h>

#include "model/catalog.h"
#include "model/gate_report.h"
#include "model/result.h"
#include "model/summary.h"
#include "model/verdict.h"
#include "unit.h"

TEST(makes_keys)
{
	static const struct {
		struct assay_case c;
		const char *key, *portable;
	} cases[] = {
		{ { .op = "matmul.ternary",
		    .variant = "avx512vnni",
		    .threads = 1,
		    .n_axes = 3,
		    .axes = { { "m", "4096", 4096 }, { "k", "4096", 4096 }, { "n", "1", 1 } } },
		  "matmul.ternary/avx512vnni/m=4096,k=4096,n=1/t=1/warm",
		  NULL },
		{ { .op = "stream.copy",
		    .variant = "avx2",
		    .threads = 64,
		    .all_threads = true,
		    .n_axes = 1,
		    .axes = { { "level", "dram", 3 } },
		    .cache = ASSAY_CACHE_COLD },
		  "stream.copy/avx2/level=dram/t=64/cold",
		  "stream.copy/avx2/level=dram/t=all/cold" },
		{ { .op = "peak.f32_fma", .variant = "ref", .threads = 2 }, "peak.f32_fma/ref/-/t=2/warm", NULL },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_case c = cases[i].c;
		char portable[ASSAY_KEY_MAX];

		assert_int_equal(assay_case_make_key(&c, NULL), 0);
		assert_string_equal(c.key, cases[i].key);
		assay_case_portable_key(&c, portable);
		assert_string_equal(portable, cases[i].portable ? cases[i].portable : cases[i].key);
	}
}

TEST(the_op_of_a_key_may_have_slashes)
{
	static const struct {
		const char *key, *op;
	} cases[] = {
		{ "matmul.f32/avx2/m=4,k=4/t=4/warm", "matmul.f32" },
		{ "lz/lz4/level=1/t=1/-", "lz" },
		{ "./lz4 -b1 a/b/program/-", "./lz4 -b1 a/b" },
		{ "./lz4 -b1/program/n=1", "./lz4 -b1" },
		{ "BM_copy/4096/google-benchmark/-/t=2", "BM_copy/4096" },
		{ "BM_copy/4096/google-benchmark/-", "BM_copy/4096" },
		{ "op/ref", "op" },
		{ "op", "op" },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(assay_key_op_length(cases[i].key), strlen(cases[i].op));
}

/* A case with the longest op, three full axes, and one whose value has @last_len bytes. */
static struct assay_case long_case(size_t last_len)
{
	struct assay_case c = { .variant = "v", .threads = 1, .n_axes = 4 };

	memset(c.op, 'o', ASSAY_OP_MAX - 1);
	for (unsigned i = 0; i < 4; i++) {
		c.axes[i].name[0] = 'a';
		memset(c.axes[i].text, 'x', i < 3 ? ASSAY_NAME_MAX - 1 : last_len);
	}
	return c;
}

TEST(refuses_keys_that_do_not_fit)
{
	/* "o…o/v/" + 3 × "a=x…x," + "a=" + "/t=1/warm" */
	const size_t rest = ASSAY_OP_MAX - 1 + 3 + 3 * (2 + (ASSAY_NAME_MAX - 1) + 1) + 2 + 9;
	struct assay_case c = long_case(ASSAY_KEY_MAX - 1 - rest);
	struct assay_err err = { 0 };

	assert_int_equal(assay_case_make_key(&c, &err), 0);
	assert_int_equal(strlen(c.key), ASSAY_KEY_MAX - 1);

	/* t=all is two bytes longer and has to fit as well. */
	c.all_threads = true;
	assert_int_equal(assay_case_make_key(&c, &err), ASSAY_ELIMIT);
	assert_non_null(strstr(err.text, "o/v' is longer than 767 bytes, use shorter names"));
	assert_string_equal(c.key, "");

	c = long_case(ASSAY_KEY_MAX - rest);
	assert_int_equal(assay_case_make_key(&c, &err), ASSAY_ELIMIT);
}

TEST(knows_its_metrics)
{
	static const struct {
		const char *tag, *unit;
		int better;
	} want[] = {
		{ "time_s", "s", -1 },
		{ "ops_per_s", "op/s", 1 },
		{ "bytes_per_s", "B/s", 1 },
		{ "items_per_s", "1/s", 1 },
		{ "tokens_per_ms", "tok/ms", 1 },
		{ "roof_frac", "1", 1 },
		{ "parallel_efficiency", "1", 1 },
		{ "rss_peak_bytes", "B", -1 },
		{ "op_bytes", "B", 0 },
		{ "rotated_bytes", "B", 0 },
		{ "prepare_s", "s", -1 },
		{ "prepare_bytes", "B", -1 },
		{ "arith_intensity", "op/B", 0 },
		{ "machine_used_bytes", "B", 0 },
		{ "machine_total_bytes", "B", 0 },
		{ "machine_busy_frac", "1", 0 },
		{ "device_total_bytes", "B", 0 },
		{ "device_used_before_bytes", "B", 0 },
		{ "device_used_bytes", "B", 0 },
		{ "device_used_after_bytes", "B", 0 },
		{ "device_made_bytes", "B", 0 },
		{ "device_peak_bytes", "B", -1 },
		{ "device_leaked_bytes", "B", -1 },
		{ "device_launch_s", "s", -1 },
		{ "device_clock_hz", "Hz", 0 },
		{ "device_in_bytes", "B", 0 },
		{ "device_out_bytes", "B", 0 },
		{ "device_in_bytes_per_s", "B/s", 1 },
		{ "device_out_bytes_per_s", "B/s", 1 },
		{ "device_in_pinned_bytes_per_s", "B/s", 1 },
		{ "device_out_pinned_bytes_per_s", "B/s", 1 },
		{ "device_end_to_end_s", "s", -1 },
		{ "exact_instructions", "1", -1 },
		{ "exact_data_reads", "1", -1 },
		{ "exact_data_writes", "1", -1 },
		{ "exact_i1_misses", "1", -1 },
		{ "exact_d1_misses", "1", -1 },
		{ "exact_ll_misses", "1", -1 },
		{ "exact_branches", "1", -1 },
		{ "exact_mispredictions", "1", -1 },
		{ "exact_d1_hit_rate", "1", 1 },
		{ "exact_ll_hit_rate", "1", 1 },
		{ "exact_branch_hit_rate", "1", 1 },
		{ "exact_imbalance", "1", -1 },
	};

	assert_int_equal(assay_n_metrics, N_OF(want));
	for (size_t i = 0; i < N_OF(want); i++) {
		const struct assay_metric_info *m = assay_metric_find(want[i].tag);

		assert_non_null(m);
		assert_string_equal(m->unit, want[i].unit);
		assert_int_equal(m->better, want[i].better);
		assert_true(strlen(m->tag) < ASSAY_METRIC_TAG_MAX && strlen(m->unit) < ASSAY_METRIC_UNIT_MAX);
		assert_true(m->lo < m->hi && m->help[0]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(want[j].tag, want[i].tag);
	}
	assert_null(assay_metric_find("time"));
	assert_int_not_equal(assay_metric_check("time_s", 0, assay_metric_find("time_s")->lo, INFINITY, NULL), 0);
	assert_int_equal(assay_metric_check("prepare_s", 0, assay_metric_find("prepare_s")->lo, INFINITY, NULL), 0);
}

TEST(checks_ranges)
{
	static const struct {
		double value, lo, hi;
		const char *text; /* NULL: allowed */
	} cases[] = {
		{ 0, 0, 1, NULL },
		{ 1, 0, 1, NULL },
		{ 1e300, 0, INFINITY, NULL },
		{ -3, -INFINITY, INFINITY, NULL },
		{ 1.2, 0, 1, "metric 'x' is 1.2, allowed 0 to 1" },
		{ 1.00000001, 0, 1, "metric 'x' is 1.00000001, allowed 0 to 1" },
		{ -DBL_MIN, 0, INFINITY, "metric 'x' is -2.22507385851e-308, allowed 0 or more" },
		{ 3, -INFINITY, 2, "metric 'x' is 3, allowed 2 or less" },
		{ NAN, 0, 1, "metric 'x' is nan, allowed 0 to 1" },
		{ -NAN, -INFINITY, INFINITY, "metric 'x' is nan, allowed any finite number" },
		{ INFINITY, 0, INFINITY, "metric 'x' is inf, allowed 0 or more" },
		{ -INFINITY, -INFINITY, INFINITY, "metric 'x' is -inf, allowed any finite number" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };
		int rc = assay_metric_check("x", cases[i].value, cases[i].lo, cases[i].hi, &err);

		assert_int_equal(rc, cases[i].text ? ASSAY_ELIMIT : 0);
		assert_string_equal(err.text, cases[i].text ? cases[i].text : "");
	}
}

TEST(verdicts_have_exits)
{
	static const struct {
		enum assay_verdict v;
		const char *name;
		int lax, strict;
	} cases[] = {
		{ ASSAY_PASS, "PASS", 0, 0 },
		{ ASSAY_IMPROVED, "IMPROVED", 0, 0 },
		{ ASSAY_REGRESSED, "REGRESSED", 1, 1 },
		{ ASSAY_INCONCLUSIVE, "INCONCLUSIVE", 0, 6 },
		{ ASSAY_NOT_MEASURED, "NOT_MEASURED", 4, 4 },
		{ ASSAY_INCOMPARABLE, "INCOMPARABLE", 5, 5 },
		{ ASSAY_WRONG_RESULT, "WRONG_RESULT", 3, 3 },
	};

	assert_int_equal(N_OF(cases), ASSAY_N_VERDICTS);
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_string_equal(assay_verdict_name(cases[i].v), cases[i].name);
		assert_int_equal(assay_verdict_exit(cases[i].v, false), cases[i].lax);
		assert_int_equal(assay_verdict_exit(cases[i].v, true), cases[i].strict);
	}
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_EXACT), "exact");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_PMU), "pmu");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_PAIRED), "paired");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_STORED), "stored");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_NONE), "none");
}

/* Every pair, so that a wrong order cannot hide. */
TEST(the_graver_wins)
{
	static const enum assay_exit exits[] = { 70, 2, 3, 4, 1, 5, 6, 0 };
	static const enum assay_verdict verdicts[] = {
		ASSAY_WRONG_RESULT, ASSAY_NOT_MEASURED, ASSAY_REGRESSED, ASSAY_INCOMPARABLE,
		ASSAY_INCONCLUSIVE, ASSAY_PASS,         ASSAY_IMPROVED,
	};

	for (size_t i = 0; i < N_OF(exits); i++)
		for (size_t j = 0; j < N_OF(exits); j++)
			assert_int_equal(assay_exit_worse(exits[i], exits[j]), exits[i < j ? i : j]);
	for (size_t i = 0; i < N_OF(verdicts); i++)
		for (size_t j = 0; j < N_OF(verdicts); j++)
			assert_int_equal(assay_verdict_worse(verdicts[i], verdicts[j]), verdicts[i < j ? i : j]);
	assert_int_equal(assay_exit_worse(ASSAY_EXIT_USAGE, (enum assay_exit)99), 99);
}

/* Counts of a case's own samples are known by their names, and not every name that ends alike is one. */
TEST(counts_of_disturbed_samples)
{
	static const enum assay_disturb kinds[] = { ASSAY_DISTURB_MIGRATION, ASSAY_DISTURB_STEAL,
						    ASSAY_DISTURB_THROTTLE,  ASSAY_DISTURB_FREQUENCY,
						    ASSAY_DISTURB_PRESSURE,  ASSAY_DISTURB_SLOW,
						    ASSAY_DISTURB_DEVICE };

	for (size_t i = 0; i < N_OF(kinds); i++)
		assert_true(assay_disturb_is_count(assay_disturb_count_name(kinds[i])));
	assert_string_equal(assay_disturb_count_name(ASSAY_DISTURB_STEAL), "steal_samples");
	assert_null(assay_disturb_count_name(ASSAY_DISTURB_SWITCH));
	assert_false(assay_disturb_is_count("kv_samples"));
	assert_false(assay_disturb_is_count("samples"));
}

/* ---- call time ---- */

/* The time of others is no part of a call that runs beside them. */

#define N 100

/* Of @n samples every @each-th waited 2000 ns for its CPU. */
static size_t times(size_t n, size_t each, double out[N])
{
	struct assay_sample s[N];

	for (size_t i = 0; i < n; i++)
		s[i] = (struct assay_sample){ .iterations = 10,
					      .ns = 1000 + (i % each ? 0 : 2000),
					      .flags = ASSAY_SAMPLE_WAIT_TOLD,
					      .waited_ns = i % each ? 0 : 2000 };
	return assay_call_times(s, n, out);
}

TEST(clean_calls_alone_count_where_there_are_enough)
{
	double ns[N];
	size_t n = times(N, 2, ns);

	assert_int_equal(n, N / 2);
	for (size_t i = 0; i < n; i++)
		assert_float_equal(ns[i], 100, 1e-9);
}

TEST(what_others_took_is_left_out)
{
	double ns[N];
	size_t n = times(N, 1, ns);

	assert_int_equal(n, N);
	for (size_t i = 0; i < n; i++)
		assert_float_equal(ns[i], 100, 1e-9);
}

TEST(parts_of_a_call_are_one)
{
	const struct assay_sample s[] = {
		{ .iterations = 2, .ns = 600, .flags = ASSAY_SAMPLE_WAIT_TOLD | ASSAY_SAMPLE_CONTINUES },
		{ .iterations = 2, .ns = 400, .flags = ASSAY_SAMPLE_WAIT_TOLD },
		{ .iterations = 2, .ns = 1000, .flags = ASSAY_SAMPLE_WAIT_TOLD },
	};
	double ns[3];

	assert_int_equal(assay_call_times(s, 3, ns), 2);
	assert_float_equal(ns[0], 500, 1e-9);
	assert_float_equal(ns[1], 500, 1e-9);
}

/* ---- summary ---- */

/* Statistics of a result: the median, its interval, and which samples are left out. */

TEST(clean_samples)
{
	/* ns of 2 iterations each; per call 10 … 19 */
	struct assay_sample s[10];
	struct assay_result r = { .samples = s, .n_samples = 10 };

	for (unsigned i = 0; i < 10; i++)
		s[i] = (struct assay_sample){ .iterations = 2, .ns = 2 * (10 + (i * 7) % 10) };
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_int_equal(2, r.iterations);
	assert_true(r.median_ns == 14.5);
	assert_true(r.min_ns == 10);
	assert_true(r.mad_ns == 2.5);
	/* ranks 2 and 9 of 10 cover the median with 1 - 2 * (1 + 10) / 1024 = 97.9 % */
	assert_true(r.ci95_lo_ns == 11 && r.ci95_hi_ns == 18);
	/* which is of one process alone, and so nothing to show */
	assert_false(r.ci95_reached);
	assert_true(isnan(assay_summary_interval_ns(&r).lo) && isnan(assay_summary_interval_ns(&r).hi));
	assert_true(r.dropped_frac == 0);
	assert_true(fabs(assay_summary_half_width_frac(&r) - 3.5 / 14.5) < 1e-12);
}

TEST(disturbed_samples_are_left_out)
{
	static const struct {
		const char *name;
		unsigned disturbed; /* of 10 */
		struct assay_sample how;
		double median, dropped;
	} cases[] = {
		{ "none", 0, { .switches = 1 }, 100, 0 },
		{ "a few switches", 3, { .switches = 1 }, 100, 0.3 },
		{ "half stolen", 5, { .steal_ticks = 1 }, 100, 0.5 },
		{ "most: then it is the normal state", 6, { .steal_ticks = 1 }, 900, 0 },
		{ "migrated", 2, { .flags = ASSAY_DISTURB_MIGRATION }, 100, 0.2 },
		{ "throttled", 2, { .flags = ASSAY_DISTURB_THROTTLE }, 100, 0.2 },
		{ "a throttled device", 4, { .flags = ASSAY_DISTURB_DEVICE }, 100, 0.4 },
		{ "always throttled", 10, { .flags = ASSAY_DISTURB_DEVICE }, 900, 0 },
		{ "faults are the kernel's own doing", 3, { .flags = ASSAY_DISTURB_FAULT, .faults = 9 }, 100, 0 },
		{ "a slow core", 5, { .flags = ASSAY_DISTURB_SLOW }, 100, 0.5 },
		{ "mostly slow cores", 6, { .flags = ASSAY_DISTURB_SLOW }, 900, 0 },
		{ "recorded only", 3, { .flags = ASSAY_DISTURB_PRESSURE | ASSAY_DISTURB_FREQUENCY }, 100, 0 },
	};

	for (size_t c = 0; c < N_OF(cases); c++) {
		struct assay_sample s[10];
		struct assay_result r = { .samples = s, .n_samples = 10 };

		for (unsigned i = 0; i < 10; i++) {
			s[i] = i < cases[c].disturbed ? cases[c].how : (struct assay_sample){ 0 };
			s[i].iterations = 1;
			s[i].ns = i < cases[c].disturbed ? 900 : 100;
		}
		assert_int_equal(0, assay_summary_fill(&r, NULL));
		if (r.median_ns != cases[c].median || fabs(r.dropped_frac - cases[c].dropped) > 1e-12)
			fail_msg("%s: median %g, dropped %g", cases[c].name, r.median_ns, r.dropped_frac);
		assert_true(r.slow_core_frac ==
			    (cases[c].how.flags & ASSAY_DISTURB_SLOW ? cases[c].disturbed / 10.0 : 0));
		assert_int_equal(r.slow_core, r.slow_core_frac > 0.5);
		assert_int_equal(r.disturbed, r.disturbed_frac > 0.5);
	}
}

/* Whether slow cores are left out is decided among the samples that nothing else disturbed. */
TEST(slow_cores_among_the_clean)
{
	static const struct {
		unsigned migrated, slow; /* of the ten; the migrated come first, and were at their own pace */
		double median, dropped;
		bool disturbed, slow_core;
	} rows[] = {
		{ 4, 3, 100, 0.7, false, false },
		{ 4, 4, 500, 0.4, false, true },
		{ 6, 4, 900, 0.4, true,
		  false }, /* too much is disturbed: all of that counts, slow cores still do not */
		{ 6, 0, 900, 0, true, false },
	};

	for (size_t c = 0; c < N_OF(rows); c++) {
		struct assay_sample s[10];
		struct assay_result r = { .samples = s, .n_samples = 10 };

		for (unsigned i = 0; i < 10; i++) {
			bool migrated = i < rows[c].migrated, slow = !migrated && i < rows[c].migrated + rows[c].slow;

			s[i] = (struct assay_sample){ .iterations = 1,
						      .ns = migrated ? 900
							    : slow   ? 500
								     : 100,
						      .flags = migrated ? ASSAY_DISTURB_MIGRATION
							       : slow   ? ASSAY_DISTURB_SLOW
									: 0 };
		}
		assert_int_equal(0, assay_summary_fill(&r, NULL));
		if (r.median_ns != rows[c].median || fabs(r.dropped_frac - rows[c].dropped) > 1e-12 ||
		    r.slow_core != rows[c].slow_core || r.disturbed != rows[c].disturbed)
			fail_msg("row %zu: median %g, dropped %g, disturbed %d, slow core %d", c, r.median_ns,
				 r.dropped_frac, r.disturbed, r.slow_core);
	}
}

/* One switch is 2 % of 50 ms: a shorter sample cannot bear it, a longer one can. */
TEST(long_samples_bear_a_switch)
{
	const struct assay_sample shorter = { .iterations = 1, .ns = 49000000, .switches = 1 };
	const struct assay_sample longer = { .iterations = 1, .ns = 51000000, .switches = 1 };
	const struct assay_sample both[2] = { { .iterations = 1, .ns = 26000000, .switches = 1 },
					      { .iterations = 1, .ns = 26000000 } };

	assert_int_equal(ASSAY_DISTURB_SWITCH, assay_samples_disturbed(&shorter, 1));
	assert_int_equal(0, assay_samples_disturbed(&longer, 1));
	assert_int_equal(0, assay_samples_disturbed(both, 2));
	assert_int_equal(ASSAY_DISTURB_SWITCH, assay_samples_disturbed(both, 1));
}

/* A sample is left out for what happened to it, never for how long it took. */
TEST(slow_samples_count)
{
	struct assay_sample s[9];
	struct assay_result r = { .samples = s, .n_samples = 9 };

	for (unsigned i = 0; i < 9; i++)
		s[i] = (struct assay_sample){ .iterations = 1, .ns = i < 5 ? 1000000 : 1 };
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_true(r.median_ns == 1000000 && r.dropped_frac == 0);
}

TEST(no_samples_no_numbers)
{
	struct assay_result r = { .median_ns = 5, .n_samples = 0 };

	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_true(r.median_ns == 0 && r.ci95_hi_ns == 0);
	assert_true(assay_summary_half_width_frac(&r) == 1);
}

/* Each round counts the same, however many samples it has; the interval is that of the medians. */
TEST(rounds_count_alike)
{
	static const struct {
		uint64_t ns;
		size_t n;
	} rounds[] = { { 104, 40 }, { 100, 3 }, { 102, 7 } };
	struct assay_sample s[50];
	struct assay_result r = { .samples = s };

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < rounds[k].n; i++)
			s[r.n_samples++] = (struct assay_sample){ .iterations = 1,
								  .ns = rounds[k].ns,
								  .flags = k && !i ? ASSAY_SAMPLE_NEW_ROUND : 0 };
	assert_int_equal(40, assay_samples_of_round(s, 50));
	assert_int_equal(3, assay_samples_of_round(s + 40, 10));
	assert_int_equal(0, assay_samples_of_round(s, 0));
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_int_equal(3, r.rounds);
	assert_true(r.median_ns == 102 && r.min_ns == 100);
	assert_true(fabs(r.ci95_lo_ns - 97.13764818113196) < 1e-6 && fabs(r.ci95_hi_ns - 107.07828897642622) < 1e-6);
	assert_true(r.ci95_reached && assay_summary_interval_ns(&r).lo == r.ci95_lo_ns);
	/* two processes that differ by half give an interval that says nothing */
	for (size_t i = 0; i < 40; i++)
		s[i].ns = 50;
	r.n_samples = 43;
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_int_equal(2, r.rounds);
	assert_false(r.ci95_reached);
	assert_true(isnan(assay_summary_interval_ns(&r).hi));
	r.n_samples = 50;
	/* a mark in the first sample makes no round more */
	s[0].flags = ASSAY_SAMPLE_NEW_ROUND;
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_int_equal(3, r.rounds);
}

/* Of a skewed dozen of processes, the 3rd and the 10th; the slow ones do not move the lower end to the median. */
TEST(many_rounds_have_an_interval_of_ranks)
{
	static const uint64_t ns[12] = { 101, 100, 103, 102, 105, 104, 107, 106, 109, 108, 9000, 10000 };
	struct assay_sample s[12];
	struct assay_result r = { .samples = s, .n_samples = 12 };

	for (unsigned i = 0; i < 12; i++)
		s[i] = (struct assay_sample){ .iterations = 1, .ns = ns[i], .flags = i ? ASSAY_SAMPLE_NEW_ROUND : 0 };
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_int_equal(12, r.rounds);
	assert_true(r.median_ns == 105.5 && r.ci95_lo_ns == 102 && r.ci95_hi_ns == 109);
}

/* A disturbance of one round does not decide which samples of another are left out. */
TEST(rounds_are_cleaned_alone)
{
	struct assay_sample s[20];
	struct assay_result r = { .samples = s, .n_samples = 20 };

	for (unsigned i = 0; i < 20; i++)
		s[i] = (struct assay_sample){ .iterations = 1, .ns = 100 + i / 10 };
	s[10].flags = ASSAY_SAMPLE_NEW_ROUND;
	for (unsigned i = 0; i < 8; i++) /* most of the first: its normal state */
		s[i].flags = ASSAY_DISTURB_MIGRATION;
	for (unsigned i = 11; i < 14; i++) /* few of the second */
		s[i] = (struct assay_sample){ .iterations = 1, .ns = 900, .flags = ASSAY_DISTURB_MIGRATION };
	assert_int_equal(0, assay_summary_fill(&r, NULL));
	assert_int_equal(2, r.rounds);
	assert_true(r.median_ns == 100.5);
	assert_true(fabs(r.dropped_frac - 3.0 / 20) < 1e-12 && fabs(r.disturbed_frac - 11.0 / 20) < 1e-12);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a result: the median, its interval, and which samples are left out. */
#include <math.h>

#include "unit.h"
#include "model/summary.h"

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

/* What disturbed one round does not decide what is left out of another. */
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

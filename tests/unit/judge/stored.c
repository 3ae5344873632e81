/* SPDX-License-Identifier: Apache-2.0 */
/* The interval on stored runs, against values computed with Python's math, and what follows from it. */
#include "judge_fixture.h"

#include <math.h>

#include "judge/stored.h"

static const struct {
	struct assay_stored_point head;
	struct assay_stored_point base[4];
	size_t n;
	double error, margin;
	struct assay_stored_compare want;
} intervals[] = {
	{ { 100, 99, 101, 50, 1 },
	  { { 100, 99, 101, 50, 1 } },
	  1,
	  0.01,
	  0.1,
	  { 1, 0.983353558198, 1.01692823671, 0.11862106038, 0 } },
	{ { 120, 118, 123, 50, 1 },
	  { { 100, 99, 101, 40, 1 } },
	  1,
	  0.001,
	  0.1,
	  { 1.2, 1.16360891878, 1.25151543784, 0.134401755348, 0 } },
	/* Few samples: ranges, stretched. */
	{ { 100, 98, 103, 3, 1 },
	  { { 100, 99, 101, 5, 1 } },
	  1,
	  0.01,
	  0.05,
	  { 1, 0.958194999764, 1.06298421835, 0.0958103520255, 0 } },
	/* Intervals over five processes and over three: Student's, with their six degrees of freedom together. */
	{ { 100, 99, 101, 50, 5 },
	  { { 100, 99, 101, 50, 3 } },
	  1,
	  0.01,
	  0.1,
	  { 1, 0.986591308557, 1.01353466744, 0.114950020803, 0 } },
	/* Two runs and more: their spread counts, and their median is the base. */
	{ { 110, 109, 111, 100, 1 },
	  { { 100, 99.5, 100.5, 60, 1 }, { 104, 103, 105, 60, 1 } },
	  2,
	  0.005,
	  0.1,
	  { 1.07863874326, 0.965763392994, 1.20469723318, 0.228564497467, 0.0347584520319 } },
	{ { 90, 89, 91, 100, 1 },
	  { { 140, 139, 142, 60, 1 }, { 100, 99.5, 100.5, 60, 1 }, { 104, 103, 105, 60, 1 } },
	  3,
	  0.005,
	  0.1,
	  { 0.865384615385, 0.44713312644, 1.67480899377, 1.12894778005, 0.207608631834 } },
	{ { 90, 90, 90, 100, 1 },
	  { { 100, 100, 100, 60, 1 }, { 102, 102, 102, 60, 1 }, { 101, 101, 101, 60, 1 }, { 99, 99, 99, 60, 1 } },
	  4,
	  0.005,
	  0.1,
	  { 0.895533471189, 0.858368097933, 0.93430802001, 0.147627481357, 0.0139438457142 } },
};

static bool compare(const struct assay_stored_point *head, size_t n_head, const struct assay_stored_point *base,
		    size_t n_base, double error, double margin, struct assay_stored_compare *out)
{
	return assay_stored_compare((struct assay_stored_points){ head, n_head },
				    (struct assay_stored_points){ base, n_base }, error, margin, out);
}

TEST(test_intervals)
{
	for (size_t i = 0; i < N_OF(intervals); i++) {
		struct assay_stored_compare got;

		assert_true(compare(&intervals[i].head, 1, intervals[i].base, intervals[i].n, intervals[i].error,
				    intervals[i].margin, &got));
		assert_true(fabs(got.ratio - intervals[i].want.ratio) < 1e-9);
		assert_true(fabs(got.lo - intervals[i].want.lo) < 1e-9);
		assert_true(fabs(got.hi - intervals[i].want.hi) < 1e-9);
		assert_true(fabs(got.detectable_frac - intervals[i].want.detectable_frac) < 1e-9);
		assert_true(fabs(got.between_sd - intervals[i].want.between_sd) < 1e-9);
	}
}

TEST(test_no_interval)
{
	static const struct assay_stored_point good = { 100, 99, 101, 50, 1 };
	static const struct assay_stored_point bad[] = {
		{ 100, 99, 101, 1, 1 },   { 100, 99, 101, 0, 1 },   { 0, 0, 0, 10, 1 },
		{ 100, 0, 101, 10, 1 },   { 100, 101, 102, 10, 1 }, { 100, 99, INFINITY, 10, 1 },
		{ NAN, NAN, NAN, 10, 1 },
	};
	struct assay_stored_compare got;

	for (size_t i = 0; i < N_OF(bad); i++) {
		assert_false(compare(&bad[i], 1, &good, 1, 0.01, 0.1, &got));
		assert_false(compare(&good, 1, &bad[i], 1, 0.01, 0.1, &got));
	}
	assert_false(compare(&good, 1, &good, 0, 0.01, 0.1, &got));
}

static const struct {
	const char *name;
	double lo, hi, margin;
	enum assay_verdict want;
} decisions[] = {
	{ "unchanged, tight", 0.999, 1.001, 0.005, ASSAY_PASS },
	{ "slower, within the margin", 1.001, 1.004, 0.005, ASSAY_PASS },
	{ "just within the margin", 0.9, 1.5, 0.5, ASSAY_PASS },
	{ "slower, beyond it", 1.008, 1.012, 0.005, ASSAY_REGRESSED },
	{ "touches the margin from above", 1.5, 1.6, 0.5, ASSAY_INCONCLUSIVE },
	{ "straddles the margin", 1.002, 1.009, 0.005, ASSAY_INCONCLUSIVE },
	{ "wide", 0.5, 2.0, 0.1, ASSAY_INCONCLUSIVE },
	{ "faster, within the margin", 0.996, 0.998, 0.005, ASSAY_PASS },
	{ "faster, perhaps beyond it", 0.98, 0.996, 0.005, ASSAY_PASS },
	{ "faster, beyond it", 0.97, 0.994, 0.005, ASSAY_IMPROVED },
	{ "no numbers", NAN, NAN, 0.005, ASSAY_INCONCLUSIVE },
};

TEST(test_decisions)
{
	for (size_t i = 0; i < N_OF(decisions); i++)
		if (assay_stored_verdict(decisions[i].lo, decisions[i].hi, decisions[i].margin) != decisions[i].want)
			fail_msg("%s", decisions[i].name);
}

UNIT_GROUP(NULL, NULL)

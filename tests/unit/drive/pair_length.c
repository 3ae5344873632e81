/* SPDX-License-Identifier: Apache-2.0 */
/* How long the pairs of a case sample, from what they have shown. */
#include "drive/compare/pair_loop.h"
#include "unit.h"

#include <math.h>

#define MS     1e6
#define MARGIN 0.01
#define BUDGET (10e3 * MS)
#define MOST   (BUDGET / 16)

/* A block of @block_ns: two samples of each side. */
static double least(double block_ns, bool slices)
{
	struct assay_sample s[2] = { { .ns = (uint64_t)(block_ns / 4) }, { .ns = (uint64_t)(block_ns / 4) } };
	const struct assay_pair p = { .n_blocks = 1, .side = { { .samples = s }, { .samples = s } } };

	return assay_pair_length_least_ns(&p, slices);
}

static double learnt_as(double own, double rest_ns, double block_ns, bool slices)
{
	const struct assay_pair_shown first = { .own = own, .rest_ns = rest_ns, .least_ns = least(block_ns, slices) };

	return assay_pair_length_learnt(80 * MS, &first, MARGIN, BUDGET);
}

static double learnt(double own, double rest_ns, double block_ns)
{
	return learnt_as(own, rest_ns, block_ns, false);
}

TEST(first_pair_tells)
{
	/* noise of 0.35 margins needs no more time; twice of that four times as much, and more is not believed */
	assert_float_equal(learnt(0.35 * MARGIN, 0, MS) / MS, 80, 1e-3);
	assert_float_equal(learnt(0.7 * MARGIN, 0, MS) / MS, 320, 1e-3);
	assert_float_equal(learnt(3 * MARGIN, 0, MS) / MS, 320, 1e-3);
	/* never below 30 ms, twelve blocks and a quarter of the rest, nor beyond a 16th of the budget */
	assert_float_equal(learnt(0, 0, MS) / MS, 30, 1e-3);
	assert_float_equal(learnt(0, 0, 10 * MS) / MS, 120, 1e-3);
	assert_float_equal(learnt(0, 800 * MS, MS) / MS, 200, 1e-3);
	assert_float_equal(learnt(0, 0, 100 * MS) / MS, MOST / MS, 1e-3);
	assert_float_equal(learnt(0, 1e4 * MS, MS) / MS, MOST / MS, 1e-3);
	/* in slices, eight blocks are enough, also where nothing is known of their noise */
	assert_float_equal(learnt_as(0, 0, 10 * MS, true) / MS, 80, 1e-3);
	assert_float_equal(assay_pair_length_divided(MS, true, BUDGET) / MS, 80, 1e-3);
	assert_float_equal(assay_pair_length_divided(5 * MS, true, BUDGET) / MS, 160, 1e-3);
	assert_float_equal(assay_pair_length_divided(5 * MS, false, BUDGET) / MS, 240, 1e-3);
	assert_float_equal(assay_pair_length_divided(1e3 * MS, true, BUDGET) / MS, MOST / MS, 1e-3);
}

TEST(first_pair_counts_if_it_is_quiet)
{
	assert_true(assay_pair_length_first_counts(0.3 * MARGIN, MARGIN));
	assert_false(assay_pair_length_first_counts(0.4 * MARGIN, MARGIN));
	assert_false(assay_pair_length_first_counts(0, MARGIN)); /* it has too few blocks to tell */
}

TEST(later_pairs_follow_the_spread)
{
	static const struct {
		const char *what;
		struct assay_pair_shown s;
		double now_ms, want_ms;
	} rows[] = {
		{ "two pairs tell nothing", { 2, 0.02, 0.001, 20 * MS, 12 * MS }, 100, 100 },
		{ "close enough", { 5, 0.004, 0.004, 20 * MS, 12 * MS }, 400, 400 },
		{ "closer than that: half", { 5, 0.002, 0.002, 20 * MS, 12 * MS }, 400, 200 },
		{ "but not below 100 ms", { 5, 0.002, 0.002, 20 * MS, 12 * MS }, 120, 100 },
		{ "where it is shorter already, it stays", { 5, 0.002, 0.002, 20 * MS, 12 * MS }, 60, 60 },
		/* the root of 100 ms · 100 ms · 0.8² / (1² − 0.8²) */
		{ "Kalibera and Jones", { 5, 0.01, 0.008, 100 * MS, 12 * MS }, 100, 133.33 },
		{ "noise within: at most twice", { 5, 0.02, 0.0199, 400 * MS, 12 * MS }, 100, 200 },
		{ "none within: at least half", { 5, 0.02, 0.0001, 10 * MS, 12 * MS }, 100, 50 },
		{ "at least the rest", { 5, 0.02, 0.0001, 90 * MS, 12 * MS }, 100, 90 },
		{ "at least twelve blocks", { 5, 0.02, 0.0001, 10 * MS, 96 * MS }, 100, 96 },
		{ "at most a 16th of the budget", { 5, 0.02, 0.0199, 900 * MS, 12 * MS }, 500, MOST / MS },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const double got = assay_pair_length_next(rows[i].now_ms * MS, &rows[i].s, MARGIN, BUDGET);

		if (fabs(got - rows[i].want_ms * MS) > 0.1 * MS)
			fail_msg("%s: %.1f ms, want %.1f", rows[i].what, got / MS, rows[i].want_ms);
	}
}

TEST(a_pair_is_samples_and_the_rest)
{
	struct assay_sample s[4] = { { .ns = 10 }, { .ns = 20 }, { .ns = 30 }, { .ns = 40 } };
	struct assay_pair p = { .n_blocks = 2, .wall_ns = 500 };

	assert_float_equal(assay_pair_length_block_ns(&(struct assay_pair){ 0 }), 0, 0);
	p.side[0].samples = p.side[1].samples = s;
	assert_float_equal(assay_pair_length_block_ns(&p), 100, 1e-9);
	assert_float_equal(assay_pair_length_rest_ns(&p, 100), 300, 1e-9);
	assert_float_equal(assay_pair_length_rest_ns(&p, 400), 100, 1e-9);
	assert_float_equal(assay_pair_length_rest_ns(&p, 600), 0, 1e-9);
}

UNIT_GROUP(NULL, NULL)

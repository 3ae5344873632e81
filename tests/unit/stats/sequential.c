/* SPDX-License-Identifier: Apache-2.0 */
/* Looks and their price, and the interval at a look against numbers worked out by hand with R's qt. */

#include <math.h>

#include "unit.h"
#include "stats/sequential.h"

static void close_to(double got, double want, double rel)
{
	if (!(fabs(got - want) <= rel * fabs(want)))
		fail_msg("got %.17g, want %.17g", got, want);
}

static const struct {
	const char *name;
	double alpha;
	size_t max_pairs;
	const char *looks; /* up to max_pairs */
} schedules[] = {
	{ "coarse error", 0.1, 24, "5 6 7 8 10 12 14 16 20 24" },
	{ "1/16 needs 5", 1.0 / 16, 16, "5 6 7 8 10 12 14 16" },
	{ "just under 1/16 needs 6", 0.062, 16, "6 7 8 10 12 14 16" },
	{ "a pass", 0.025, 24, "7 8 10 12 14 16 20 24" },
	{ "1 %", 0.01, 24, "8 10 12 14 16 20 24" },
	{ "1 % over 20 cases: 12", 0.01 / 20, 24, "12 14 16 20 24" },
	{ "1 % over 40 cases: 13 are enough, 14 is the next on the grid", 0.01 / 40, 24, "14 16 20 24" },
	{ "the last pair is a look", 0.025, 22, "7 8 10 12 14 16 20 22" },
	{ "steps go on doubling", 0.1, 70, "5 6 7 8 10 12 14 16 20 24 28 32 40 48 56 64 70" },
	{ "too few for the error: one look, at the end", 0.01 / 60, 10, "10" },
	{ "five at least", 0.025, 5, "5" },
	{ "fewer than five are none", 0.5, 4, "" },
};

/* Whoever waits for the first look gets one: agreement of n pairs by chance must be rare, and n on the grid. */
TEST(the_first_look_is_a_look)
{
	for (double alpha = 0.4; alpha > 1e-7; alpha /= 1.7) {
		size_t n = assay_sequential_first_look(alpha, 64);

		assert_true(assay_sequential_is_look(n, false, alpha, 64));
		for (size_t k = 1; k < n; k++)
			assert_false(assay_sequential_is_look(k, false, alpha, 64));
	}
	assert_int_equal(assay_sequential_first_look(0.01 / 129, 64), 16);
	assert_int_equal(assay_sequential_first_look(0.025, 64), 7);
}

TEST(looks)
{
	for (size_t i = 0; i < N_OF(schedules); i++) {
		char got[256] = "";
		unsigned n_looks = 0;

		for (size_t n = 0; n <= 2 * schedules[i].max_pairs; n++)
			if (assay_sequential_is_look(n, false, schedules[i].alpha, schedules[i].max_pairs)) {
				snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%zu", n_looks ? " " : "", n);
				n_looks++;
			}
		if (strcmp(got, schedules[i].looks))
			fail_msg("%s: looks '%s'", schedules[i].name, got);
		/* the price is the number of looks, and one where there is none */
		assert_int_equal(assay_sequential_looks(schedules[i].alpha, schedules[i].max_pairs),
				 n_looks ? n_looks : 1);
	}
}

/* Whatever number of pairs turns out unusable, there are never more looks than were paid for. */
TEST(a_look_at_the_end_is_paid_for)
{
	static const double alphas[] = { 0.1, 0.025, 0.01, 1e-3, 1e-5 };

	for (size_t a = 0; a < N_OF(alphas); a++)
		for (size_t max = 1; max <= 130; max++)
			for (size_t usable = 0; usable <= max; usable++) {
				unsigned n_looks = 0;

				for (size_t n = 1; n < usable; n++)
					n_looks += assay_sequential_is_look(n, false, alphas[a], max);
				n_looks += assay_sequential_is_look(usable, true, alphas[a], max);
				assert_true(n_looks <= assay_sequential_looks(alphas[a], max));
			}
	assert_true(assay_sequential_is_look(9, true, 0.025, 24));
	assert_false(assay_sequential_is_look(9, false, 0.025, 24));
	assert_false(assay_sequential_is_look(6, true, 0.025, 24));
}

TEST(interval)
{
	static const double x[] = { 0.001, 0.002, 0.003, 0.004, 0.005, 0.003 };
	/* sd = sqrt(1e-5 / 5); qt(1 - 0.01/7, 5) and qt(1 - 0.025/8, 5) */
	const double se = sqrt(1e-5 / 5) / sqrt(6), t_lower = 5.4363740599782008, t_upper = 4.5257162586536348;
	/*
	 * The first look at a slowdown comes after 8 pairs: qt(1 - 0.01/7, 7), and noncentral t, 26.7.10 of Abramowitz
	 * & Stegun: t (1 - 1/28) + qnorm(0.95) sqrt(1 + t^2 / 14)
	 */
	const double t_first = 4.482658879349774;
	const double shift = t_first * 27 / 28 + 1.6448536269514722 * sqrt(1 + t_first * t_first / 14);
	const struct assay_sequential_rule rule = { 0.01, 0.025, 24, 0.0005 };
	const struct assay_sequential_rule floored = { 0.01, 0.025, 24, 0.01 };
	struct assay_interval ci = assay_sequential_interval(x, N_OF(x), &rule);

	close_to(ci.lo, 0.003 - t_lower * se, 1e-11);
	close_to(ci.hi, 0.003 + t_upper * se, 1e-11);
	close_to(assay_sequential_detectable(x, N_OF(x), &rule, 0.005, 0.95), 0.005 + shift * sqrt(1e-5 / 5) / sqrt(8),
		 1e-11);

	ci = assay_sequential_interval(x, N_OF(x), &floored);
	close_to(ci.lo, 0.003 - t_lower * 0.01 / sqrt(6), 1e-11);
	close_to(ci.hi, 0.003 + t_upper * 0.01 / sqrt(6), 1e-11);
	close_to(assay_sequential_detectable(x, N_OF(x), &floored, 0.005, 0.95), 0.005 + shift * 0.01 / sqrt(8), 1e-11);
}

/* A longer series is dearer at every look, and an equal error on both sides gives a symmetrical interval. */
TEST(price)
{
	static const double x[] = { -0.001, 0.002, 0, 0.001, -0.002, 0.0005, -0.0005 };
	double last = 0;

	for (size_t max = 7; max <= 100; max += 3) {
		const struct assay_sequential_rule rule = { 0.01, 0.01, max, 0 };
		struct assay_interval ci = assay_sequential_interval(x, N_OF(x), &rule);

		close_to(ci.hi, -ci.lo, 1e-9);
		assert_true(ci.hi >= last);
		last = ci.hi;
	}
}

UNIT_GROUP(NULL, NULL)

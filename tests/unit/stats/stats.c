/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics against values of R, of exact integer arithmetic, and of seeded simulation. */

#include <float.h>
#include <math.h>

#include "unit.h"
#include "stats/distributions.h"
#include "stats/stats.h"

/* mtcars$mpg of R's data sets */
static const double mpg[] = { 21,   21,   22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8,
			      16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5,
			      15.2, 13.3, 19.2, 27.3, 26,   30.4, 15.8, 19.7, 15,   21.4 };

static void close_to(double got, double want, double rel)
{
	if (!(fabs(got - want) <= rel * fabs(want) + DBL_MIN))
		fail_msg("got %.17g, want %.17g", got, want);
}

/* SplitMix64 (Steele et al. 2014): the tests must not depend on the generator they might be testing. */
static uint64_t next_random(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static double uniform(uint64_t *s)
{
	return (double)(next_random(s) >> 11) * 0x1p-53;
}

TEST(sorts)
{
	uint64_t seed = 1;
	double x[257], sum, sorted_sum;

	for (size_t n = 0; n <= N_OF(x); n++) {
		sum = sorted_sum = 0;
		for (size_t i = 0; i < n; i++) {
			x[i] = (double)(next_random(&seed) % (n + 1)); /* with ties */
			sum += x[i];
		}
		assay_stats_sort(x, n);
		for (size_t i = 0; i < n; i++) {
			assert_true(i == 0 || x[i - 1] <= x[i]);
			sorted_sum += x[i];
		}
		assert_true(sum == sorted_sum);
	}
}

TEST(matches_r)
{
	/* quantile(mtcars$mpg, p, type = 7) */
	static const struct {
		double p, want;
	} quantiles[] = {
		{ 0, 10.4 },    { 0.1, 14.34 }, { 0.25, 15.425 }, { 0.3, 15.98 }, { 0.5, 19.2 },
		{ 0.75, 22.8 }, { 0.9, 30.09 }, { 1, 33.9 },      { -1, 10.4 },   { 2, 33.9 },
	};
	double x[N_OF(mpg)], tmp[N_OF(mpg)];

	memcpy(x, mpg, sizeof(x));
	assay_stats_sort(x, N_OF(x));
	for (size_t i = 0; i < N_OF(quantiles); i++)
		close_to(assay_stats_quantile(x, N_OF(x), quantiles[i].p), quantiles[i].want, 1e-14);
	close_to(assay_stats_median(x, N_OF(x)), 19.2, 1e-15);
	close_to(assay_stats_mad(x, N_OF(x), tmp), 3.65, 1e-14); /* mad(mtcars$mpg, constant = 1) */
	close_to(assay_stats_mean(mpg, N_OF(mpg)), 20.090625, 1e-15);
	close_to(assay_stats_sd(mpg, N_OF(mpg)), 6.026948052089104, 1e-14);
}

TEST(small_and_extreme)
{
	static const double one[] = { 7 }, two[] = { 1, 2 }, huge[] = { DBL_MAX, DBL_MAX };
	static const double offset[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };
	double tmp[4], tenths[10];

	for (size_t i = 0; i < N_OF(tenths); i++)
		tenths[i] = 0.1; /* their plain sum is 0.9999999999999999 */
	assert_true(assay_stats_mean(tenths, N_OF(tenths)) == 0.1);
	assert_true(assay_stats_median(one, 1) == 7 && assay_stats_quantile(one, 1, 0.9) == 7);
	assert_true(assay_stats_mad(one, 1, tmp) == 0 && assay_stats_sd(one, 1) == 0 && assay_stats_mean(one, 0) == 0);
	assert_true(assay_stats_median(two, 2) == 1.5 && assay_stats_quantile(two, 2, 0.5) == 1.5);
	assert_true(assay_stats_median(huge, 2) == DBL_MAX);
	/* Variance 30 however far from zero. */
	assert_true(assay_stats_mean(offset, 4) == 1e9 + 10);
	close_to(assay_stats_sd(offset, 4), sqrt(30), 1e-15);
}

/* Ranks by exact integer arithmetic: the largest k with 2 P(Binomial(n, 1/2) <= k-1) <= 1 - level. */
/* A value with 16 or 17 interruptions, as in 2 of 5, takes 16.4 interruptions; one value of 9 s is an outlier. */
TEST(medians_of_means_know_no_steps)
{
	double x[105], few[] = { 1, 2, 6 };

	for (size_t i = 0; i < N_OF(x); i++)
		x[i] = 16 + (i % 5 == 1 || i % 5 == 3);
	x[7] = 9e9;
	close_to(assay_stats_median_of_means(x, N_OF(x), 10), 16.4, 1e-12);
	assert_true(assay_stats_median_of_means(few, 3, 4) == 3);
}

TEST(median_interval_ranks)
{
	static const struct {
		size_t n, k95, k99;
	} cases[] = {
		{ 1, 0, 0 },        { 5, 0, 0 },        { 6, 1, 0 },          { 8, 1, 1 },
		{ 9, 2, 1 },        { 10, 2, 1 },       { 20, 6, 4 },         { 25, 8, 6 },
		{ 30, 10, 8 },      { 100, 40, 37 },    { 999, 469, 459 },    { 1000, 469, 459 },
		{ 1001, 470, 460 }, { 1002, 470, 460 }, { 5000, 2431, 2409 }, { 20000, 9861, 9818 },
	};
	static double x[20000];
	bool reached;

	for (size_t i = 0; i < N_OF(x); i++)
		x[i] = (double)(i + 1); /* the value is its rank */
	for (size_t i = 0; i < N_OF(cases); i++) {
		size_t n = cases[i].n, k[2] = { cases[i].k95, cases[i].k99 };

		for (int j = 0; j < 2; j++) {
			struct assay_interval ci = assay_stats_median_ci(x, n, j ? 0.99 : 0.95, &reached);
			size_t want = k[j] ? k[j] : 1;

			if (ci.lo != (double)want || ci.hi != (double)(n + 1 - want))
				fail_msg("n %zu: %g to %g, want rank %zu", n, ci.lo, ci.hi, want);
			assert_int_equal(reached, k[j] > 0);
		}
	}
	assert_true(isnan(assay_stats_median_ci(x, 0, 0.95, NULL).lo));
	/* 2 P(B <= 0) = 1/2 for n = 2: exactly the level still counts. A level of 1 cannot be reached. */
	assay_stats_median_ci(x, 2, 0.5, &reached);
	assert_true(reached);
	assay_stats_median_ci(x, 1000, 1, &reached);
	assert_false(reached);
	/* Here the normal approximation is one rank too far inside. */
	assert_true(assay_stats_median_ci(x, 2541, 0.5, NULL).lo == 1253);
}

/* R: exp(t.test(log(x))$conf.int) */
TEST(interval_over_groups)
{
	static const double three[] = { 100, 102, 104 }, five[] = { 10, 11, 13, 9, 10.5 }, same[] = { 7, 7, 7 };
	struct assay_interval ci = assay_stats_groups_ci(three, 3, 0.95);

	assert_true(fabs(ci.lo - 97.13764818113196) < 1e-6 && fabs(ci.hi - 107.07828897642622) < 1e-6);
	ci = assay_stats_groups_ci(five, 5, 0.95);
	assert_true(fabs(ci.lo - 8.977838514651836) < 1e-6 && fabs(ci.hi - 12.564214695607594) < 1e-6);
	ci = assay_stats_groups_ci(same, 3, 0.95);
	assert_true(fabs(ci.lo - 7) < 1e-12 && fabs(ci.hi - 7) < 1e-12);
	ci = assay_stats_groups_ci(three, 1, 0.95);
	assert_true(fabs(ci.lo - 100) < 1e-12 && fabs(ci.hi - 100) < 1e-12);
}

TEST(median_interval_covers)
{
	/* Exact coverage: 1 - 2 P(B <= k-1). The counts are those of the seed and stand within 3 sigma of it. */
	static const struct {
		size_t n;
		double exact;
		int want;
	} cases[] = {
		{ 6, 0.968750, 1932 },
		{ 25, 0.956715, 1921 },
		{ 100, 0.964800, 1937 },
		{ 1001, 0.950015, 1905 },
	};
	const int runs = 2000;
	static double x[1001];

	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t seed = 20 + i;
		int covered = 0;

		for (int r = 0; r < runs; r++) {
			struct assay_interval ci;

			for (size_t j = 0; j < cases[i].n; j++) {
				double u = uniform(&seed);

				x[j] = u * u * u; /* skewed; median 1/8 */
			}
			assay_stats_sort(x, cases[i].n);
			ci = assay_stats_median_ci(x, cases[i].n, 0.95, NULL);
			covered += ci.lo <= 0.125 && 0.125 <= ci.hi;
		}
		assert_true(fabs(covered - runs * cases[i].exact) <=
			    3 * sqrt(runs * cases[i].exact * (1 - cases[i].exact)));
		assert_int_equal(covered, cases[i].want);
	}
}

TEST(trend_score)
{
	static const double up[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, ties[] = { 1, 2, 2, 3 },
			    flat[] = { 4, 4, 4, 4, 4 };
	static const double down[] = { 5, 4, 4, 4, 3, 3, 1 };

	close_to(assay_stats_trend_z(up, 10), 44 / sqrt(125), 1e-15);              /* S = 45, var = 125 */
	close_to(assay_stats_trend_z(ties, 4), 4 / sqrt(138. / 18), 1e-15);        /* S = 5 */
	close_to(assay_stats_trend_z(down, 7), -16 / sqrt(714. / 18), 1e-15);      /* S = -17 */
	close_to(assay_stats_trend_z(mpg, N_OF(mpg)), -0.2597023919731827, 1e-14); /* S = -17, var = 3795.67 */
	assert_true(assay_stats_trend_z(flat, 5) == 0);
	assert_true(assay_stats_trend_z(up, 2) == 0);
}

TEST(settles)
{
	double warming[40], steady[40], step[40], drift[40], flat[40];
	uint64_t seed = 9;

	for (size_t i = 0; i < 40; i++) {
		double noise = 1 + 0.002 * (uniform(&seed) - 0.5);

		steady[i] = 100 * noise;
		warming[i] = (100 + 60 * exp(-(double)i / 12)) * noise;
		step[i] = (i < 30 ? 100 : 103) * noise;
		drift[i] = 100 * noise * (1 + 0.0005 * (double)i);
		flat[i] = 100;
	}
	assert_true(assay_stats_steady(steady, 40, 10, 0.01));
	assert_true(assay_stats_steady(flat, 40, 10, 0));
	assert_false(assay_stats_steady(warming, 40, 10, 0.01));
	assert_false(assay_stats_steady(step, 40, 10, 0.01));  /* no trend in the last ten, but another level */
	assert_true(assay_stats_steady(step, 30, 10, 0.01));   /* before the step */
	assert_true(assay_stats_steady(step, 40, 10, 0.05));   /* 3 % is within the tolerance */
	assert_false(assay_stats_steady(drift, 40, 10, 0.05)); /* within the tolerance, but still moving */
	assert_false(assay_stats_steady(steady, 19, 10, 0.01));
	assert_true(assay_stats_steady(flat, 20, 10, 0.01));
	assert_false(assay_stats_steady(steady, 40, 0, 1));
}

TEST(normal_distribution)
{
	/* qnorm() and pnorm() of R */
	static const struct {
		double p, z;
	} cases[] = {
		{ 0.975, 1.959963984540054 },  { 0.995, 2.575829303548901 },  { 0.3, -0.5244005127080407 },
		{ 1e-10, -6.361340902404056 }, { 1e-20, -9.262340089798408 }, { 1e-300, -37.0471 },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		close_to(assay_stats_normal_quantile(cases[i].p), cases[i].z, cases[i].p < 1e-200 ? 1e-6 : 1e-14);
	assert_true(fabs(assay_stats_normal_quantile(0.5)) < 1e-15);
	assert_true(isinf(assay_stats_normal_quantile(0)) && assay_stats_normal_quantile(0) < 0);
	assert_true(isinf(assay_stats_normal_quantile(1)) && assay_stats_normal_quantile(1) > 0);
	assert_true(isnan(assay_stats_normal_quantile(NAN)));

	close_to(assay_stats_normal_cdf(1.96), 0.9750021048517795, 1e-15);
	close_to(assay_stats_normal_cdf(-1), 0.15865525393145705, 1e-15);
	close_to(assay_stats_normal_cdf(-10), 7.619853024160527e-24, 1e-14);
	for (double p = 1e-9; p < 1; p += 0.00123)
		close_to(assay_stats_normal_cdf(assay_stats_normal_quantile(p)), p, 1e-13);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Student's t, beta and binomial intervals against R's pt, qt, pbeta, qbeta and binom.test. The numbers were computed
 * with 40 digits from the definition by the incomplete beta function (mpmath 1.3).
 */

#include <math.h>

#include "unit.h"
#include "stats/distributions.h"

static void close_to(double got, double want, double rel)
{
	if (!(fabs(got - want) <= rel * fabs(want)))
		fail_msg("got %.17g, want %.17g", got, want);
}

TEST(t_cdf)
{
	static const struct {
		double t, df, want;
	} v[] = {
		{ -2, 3, 0.069662984279421588 },      { 0, 7, 0.5 },
		{ 1.5, 1, 0.81283295818900118 },      { -4.25, 9, 0.0010712357125135002 },
		{ 2.0796, 21, 0.97499930427301796 },  { -12, 4, 0.00013821427425148648 },
		{ -30, 2.5, 0.00014553235457869771 },
	};

	for (size_t i = 0; i < N_OF(v); i++) {
		close_to(assay_stats_t_cdf(v[i].t, v[i].df), v[i].want, 1e-12);
		close_to(assay_stats_t_cdf(-v[i].t, v[i].df), 1 - v[i].want, 1e-12);
	}
}

TEST(t_quantile)
{
	static const struct {
		double p, df, want;
	} v[] = {
		{ 0.975, 1, 12.706204736174705 },     { 0.975, 4, 2.7764451051977944 },
		{ 0.95, 10, 1.8124611228116764 },     { 0.995, 23, 2.807335683769999 },
		{ 0.001, 6, -5.2076262387253637 },    { 0.0000416666666666666667, 13, -5.6204445838731332 },
		{ 0.9999, 2, 70.700071074964278 },    { 0.3, 5, -0.55942964446936075 },
		{ 1e-12, 3, -10331.108244292486 },    { 0.975, 1e6, 1.959966356814107 },
		{ 0.0025, 0.5, -16455.858491946145 },
	};

	assert_true(assay_stats_t_quantile(0.5, 3) == 0);
	for (size_t i = 0; i < N_OF(v); i++) {
		/* a million degrees of freedom cost digits in the gamma function */
		close_to(assay_stats_t_quantile(v[i].p, v[i].df), v[i].want, v[i].df > 1e5 ? 1e-9 : 1e-11);
		if (v[i].p > 0.01)
			close_to(assay_stats_t_quantile(1 - v[i].p, v[i].df), -v[i].want,
				 1e-11 + 1e-9 * (v[i].df > 1e5));
	}
}

TEST(t_quantile_inverts_t_cdf)
{
	for (unsigned df = 1; df <= 60; df++)
		for (double p = 1e-9; p < 0.5; p *= 2.7)
			close_to(assay_stats_t_cdf(assay_stats_t_quantile(p, df), df), p, 1e-11);
}

/* Against the noncentral t distribution, integrated: 1 - pt(t, df, shift) = 0.95. */
TEST(t_shift)
{
	static const struct {
		double t, df, want;
	} v[] = {
		{ 4.1151701175956905, 6, 6.529155953694499 },  { 4.4826588793497732, 7, 6.9204702737897605 },
		{ 3.8171603064495667, 11, 5.86246984448735 },  { 3.3378685519031862, 23, 5.13714379616431 },
		{ 4.7664085777864383, 23, 6.731502446709783 }, { 5.6204445838731332, 13, 7.982783723182365 },
	};

	for (size_t i = 0; i < N_OF(v); i++)
		close_to(assay_stats_t_shift(v[i].t, v[i].df, 0.95), v[i].want, 0.005);
	close_to(assay_stats_t_shift(2, 1e9, 0.975), 2 + 1.959963984540054, 1e-7);
}

TEST(beta_cdf)
{
	static const struct {
		double x, a, b, want;
	} v[] = {
		{ 0.5, 2, 3, 0.6875 },
		{ 0.1, 0.5, 0.5, 0.20483276469913345 },
		{ 0.99, 10, 1, 0.90438207500880449 },
		{ 0.3, 5, 20, 0.88892477673907773 },
		{ 0.001, 1, 1000, 0.63230457522903596 },
		{ 0.7, 300, 150, 0.93520928529442519 },
		{ 0, 2, 3, 0 },
		{ -1, 2, 3, 0 },
		{ 1, 2, 3, 1 },
		{ 2, 2, 3, 1 },
	};

	for (size_t i = 0; i < N_OF(v); i++) {
		close_to(assay_stats_beta_cdf(v[i].x, v[i].a, v[i].b), v[i].want, 1e-12);
		assert_true(fabs(assay_stats_beta_cdf(1 - v[i].x, v[i].b, v[i].a) - (1 - v[i].want)) < 1e-12);
	}
}

TEST(beta_quantile)
{
	static const struct {
		double p, a, b, want;
	} v[] = {
		{ 0.025, 5, 6, 0.18708602844739853 },
		{ 0.975, 6, 5, 0.81291397155260147 },
		{ 0.5, 0.5, 0.5, 0.5 },
		{ 0.01, 1, 100, 0.0001004983082416679 },
		{ 0.995, 12, 990, 0.022622783408200758 },
		{ 0.9, 2.5, 1.5, 0.89846267445249065 },
		{ 1e-6, 3, 4, 0.0036942652994059087 },
	};

	for (size_t i = 0; i < N_OF(v); i++)
		close_to(assay_stats_beta_quantile(v[i].p, v[i].a, v[i].b), v[i].want, 1e-11);
}

TEST(binomial_interval)
{
	static const struct {
		uint64_t k, n;
		double level, lo, hi;
	} v[] = {
		{ 0, 10, 0.95, 0, 0.30849710781876082 },
		{ 10, 10, 0.95, 0.69150289218123918, 1 },
		{ 5, 10, 0.95, 0.18708602844739853, 0.81291397155260147 },
		{ 3, 1000, 0.95, 0.00061909993164957126, 0.0087420232384783036 },
		{ 10, 1000, 0.99, 0.0037267829242526817, 0.021276058753616503 },
		{ 95, 100, 0.95, 0.88716508889453723, 0.98356812081794784 },
		{ 682, 925, 0.95, 0.70766826407903902, 0.76540655824152525 }, /* the example of R's binom.test */
		{ 1, 2, 0.9, 0.025320565519103609, 0.97467943448089639 },
		{ 0, 0, 0.95, 0, 1 },
	};

	for (size_t i = 0; i < N_OF(v); i++) {
		struct assay_interval ci = assay_stats_binomial_ci(v[i].k, v[i].n, v[i].level);

		close_to(ci.lo, v[i].lo, 1e-10);
		close_to(ci.hi, v[i].hi, 1e-10);
	}
}

TEST(difference_of_intervals)
{
	const struct assay_interval a = { 0.4, 0.6 }, b = { 0.2, 0.45 };
	const struct assay_interval ci = assay_stats_difference_ci(0.5, a, 0.3, b);

	close_to(ci.lo, 0.2 - sqrt(0.1 * 0.1 + 0.15 * 0.15), 1e-15);
	close_to(ci.hi, 0.2 + sqrt(0.1 * 0.1 + 0.1 * 0.1), 1e-15);
}

UNIT_GROUP(NULL, NULL)

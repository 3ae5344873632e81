/* SPDX-License-Identifier: Apache-2.0 */
/* Certifications of one question add up as if they had been one. */
#include <math.h>

#include "drive/compare/certify.h"
#include "unit.h"

static struct assay_certify_report report(unsigned gates, unsigned failed, double sd, double df, double judged)
{
	struct assay_certify_report r = { .gates = gates, .inconclusive = 1, .sd = sd, .df = df, .n_judged = judged };

	r.false_alarms = (struct assay_rate){ .k = failed, .of = gates };
	r.passed = (struct assay_rate){ .k = gates - failed - 1, .of = gates };
	r.n_slowdowns = 2;
	r.power[0].slowdown_frac = 0.01;
	r.power[0].detected = (struct assay_rate){ .k = 9, .of = 10 };
	r.power[1].slowdown_frac = 0.05;
	r.power[1].detected = (struct assay_rate){ .k = 3, .of = 3 };
	r.pairs_per_case = 7;
	r.seconds_per_case = 2;
	return r;
}

TEST(counts_add_and_means_weigh)
{
	struct assay_certify_report a = report(10, 1, 0.003, 60, 20), b = report(30, 0, 0.001, 20, 60);

	b.power[0].slowdown_frac = 0.05; /* another order, and one that is not asked for */
	b.power[1].slowdown_frac = 0.02;
	b.pairs_per_case = 11;
	b.resumed = 1;
	assay_certify_add(&a, &b);
	assert_int_equal(a.gates, 40);
	assert_int_equal(a.false_alarms.k, 1);
	assert_int_equal(a.false_alarms.of, 40);
	assert_int_equal(a.passed.k, 37);
	assert_int_equal(a.inconclusive, 2);
	assert_int_equal(a.power[0].detected.of, 10);
	assert_int_equal(a.power[1].detected.k, 12);
	assert_int_equal(a.power[1].detected.of, 13);
	assert_float_equal(a.pairs_per_case, 10, 1e-12); /* (7 * 20 + 11 * 60) / 80 */
	assert_float_equal(a.sd, sqrt((60 * 9e-6 + 20 * 1e-6) / 80), 1e-12);
	assert_float_equal(a.df, 80, 1e-12);
	assert_float_equal(a.n_judged, 80, 1e-12);
	assert_int_equal(a.resumed, 1);
}

TEST(what_has_no_spread_leaves_that_of_others)
{
	struct assay_certify_report a = report(2, 0, NAN, 0, 2), b = report(2, 0, 0.002, 8, 2);

	assay_certify_add(&a, &b);
	assert_float_equal(a.sd, 0.002, 1e-12);
	a = report(2, 0, NAN, 0, 2);
	b = a;
	assay_certify_add(&a, &b);
	assert_true(isnan(a.sd));
}

UNIT_GROUP(NULL, NULL)

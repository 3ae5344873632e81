/* SPDX-License-Identifier: Apache-2.0 */
/* How many pairs a promise takes, against numbers worked out by hand, and whether the promise is kept in simulation. */
#include "unit.h"
#include "assay/random.h"
#include "judge/planning.h"
#include "paired_fixture.h"

static const struct assay_plan_goal usual = {
	.detect_frac = 0.01, .alpha = 0.01, .alpha_pass = 0.025, .max_pairs = 24
};

static struct assay_planned known(double sd, double pair_s)
{
	return (struct assay_planned){ .squares = sd * sd * 10, .df = 10, .wall_s = 11 * pair_s, .n_pairs = 11 };
}

TEST(learns)
{
	struct assay_planned p = { 0 };
	struct assay_comparison_case c;
	struct assay_err err;

	assert_true(assay_planned_sd(&p) == ASSAY_PAIRED_SD_FLOOR && assay_planned_pair_s(&p) == 0);
	assert_true(assay_planned_case_s(&p) == 0);

	paired_make(&c, "op/variant", 3, 2); /* half a second each */
	paired_set(&c, 0, 0.010);
	paired_set(&c, 1, 0.014);
	paired_set(&c, 2, 0.012);
	assert_int_equal(assay_planned_learn(&p, &c, &err), 0);
	assert_true(fabs(assay_planned_sd(&p) - 0.002) < 1e-8 && assay_planned_pair_s(&p) == 0.5);
	/* another comparison of the same case: its mean is another, its spread is put together with the first */
	paired_set(&c, 0, -0.05);
	paired_set(&c, 1, -0.05);
	paired_set(&c, 2, -0.05);
	assert_int_equal(assay_planned_learn(&p, &c, &err), 0);
	assert_true(fabs(assay_planned_sd(&p) - 0.002 / sqrt(2)) < 1e-8);
	assert_int_equal(p.n_pairs, 6);
	assert_true(assay_planned_case_s(&p) == 1.5);
	/* a pair that is of no use cost its time all the same; a single one says nothing */
	for (size_t s = 0; s < 4; s++)
		c.pairs[2].side[ASSAY_HEAD].samples[s].flags = ASSAY_DISTURB_MIGRATION;
	assert_int_equal(assay_planned_learn(&p, &c, &err), 0);
	assert_true(assay_planned_pair_s(&p) == 4.5 / 8);
	c.n_pairs = 1;
	assert_int_equal(assay_planned_learn(&p, &c, &err), 0);
	assert_int_equal(p.n_pairs, 8);
	assert_true(assay_planned_case_s(&p) == 1.5);
	c.n_pairs = 3;
	paired_release(&c);
}

/* By hand with R's qt: shift(max(t_find, t_pass)) sd / sqrt(n) <= ln(1.01) / 2 = 0.004975. */
TEST(pairs_needed)
{
	static const struct {
		double sd, detect;
		size_t family;
		unsigned want;
	} rows[] = {
		{ 0.0001, 0.01, 1, 8 },  /* the floor, 0.05 %: the first look of a slowdown is enough */
		{ 0.002, 0.01, 1, 8 },   /* t = 4.483, shift 6.889; 6.889 x 0.002 / sqrt(8) = 0.00487 */
		{ 0.0025, 0.01, 1, 10 }, /* 8: 0.00609; 10: 6.219 x 0.0025 / sqrt(10) = 0.00492 */
		{ 0.002, 0.01, 60, 14 }, /* 7.960 x 0.002 / sqrt(14) = 0.00425 */
		{ 0.002, 0.002, 1, 0 },  /* filled below: far more */
		{ 0.02, 0.0001, 1, 0 },  /* more than 4096 */
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_planned cases[60];
		struct assay_plan_goal g = usual;
		struct assay_promise p;

		for (size_t k = 0; k < rows[i].family; k++)
			cases[k] = known(rows[i].sd, 0.5);
		g.detect_frac = rows[i].detect;
		p = assay_plan_promise(cases, rows[i].family, &g);
		if (rows[i].detect == 0.002) {
			/*
			 * four times the pairs halve the width, roughly: 5 times narrower than the second row's 0.0045
			 */
			assert_in_range(cases[0].need_pairs, 100, 220);
			assert_true(p.possible);
		} else {
			if (cases[0].need_pairs != rows[i].want)
				fail_msg("row %zu: %u pairs", i, cases[0].need_pairs);
			assert_true(p.possible == (rows[i].want > 0));
			assert_true(rows[i].want ? fabs(p.needed_s - 0.5 * rows[i].want * (double)rows[i].family) < 1e-9
						 : isinf(p.needed_s));
		}
	}
}

TEST(within_a_limit)
{
	struct assay_planned cases[2] = { known(0.002, 0.5), known(0.004, 1) };
	struct assay_plan_goal g = usual;
	struct assay_promise p = assay_plan_promise(cases, 2, &g), exact, less;

	assert_true(p.possible && isinf(p.detectable_frac)); /* without a limit there is no best */
	g.within_s = p.needed_s;
	exact = assay_plan_promise(cases, 2, &g);
	assert_true(exact.possible && exact.needed_s == p.needed_s);
	assert_true(exact.detectable_frac <= 0.01);
	g.within_s = p.needed_s * 0.6;
	less = assay_plan_promise(cases, 2, &g);
	assert_false(less.possible);
	assert_true(less.detectable_frac > 0.01 && less.detectable_frac < 0.03);
	/* what is said to be possible is possible, and no more */
	g.detect_frac = less.detectable_frac;
	assert_true(assay_plan_promise(cases, 2, &g).possible);
	g.detect_frac = less.detectable_frac * 0.999;
	assert_false(assay_plan_promise(cases, 2, &g).possible);
	/* not even the first look */
	g.within_s = 1;
	p = assay_plan_promise(cases, 2, &g);
	assert_false(p.possible);
	assert_true(isinf(p.detectable_frac));
}

/* With as many pairs as planned and the margin halfway, both are found in at least 95 % of trials. */
TEST(promise_is_kept)
{
	struct assay_planned planned = known(0.003, 0.5);
	struct assay_comparison_case c;
	struct assay_err err;
	unsigned right[2] = { 0 };

	assert_true(assay_plan_promise(&planned, 1, &usual).possible);
	assert_int_equal(planned.need_pairs, 14);
	paired_make(&c, "op/variant", planned.need_pairs, 1);
	for (unsigned k = 0; k < 2000; k++) {
		double truth = k & 1 ? log1p(0.01) : 0;
		const struct assay_paired_rule rule =
			assay_paired_rule_of(0.01, 0.025, 1, expm1(log1p(0.01) / 2), 0.3, 24);
		struct assay_gate_case g;
		bool final;

		for (size_t i = 0; i < c.n_pairs; i++)
			paired_set(&c, i, truth + 0.003 * assay_normal_f32(assay_random4(5, k, i).v[0]));
		assert_int_equal(assay_paired_judge(&c, &rule, &g, &final, &err), 0);
		right[k & 1] += g.verdict == (k & 1 ? ASSAY_REGRESSED : ASSAY_PASS);
	}
	paired_release(&c);
	assert_int_equal(right[0], 998); /* PASS */
	assert_int_equal(right[1], 985); /* REGRESSED */
}

UNIT_MAIN(NULL, NULL)

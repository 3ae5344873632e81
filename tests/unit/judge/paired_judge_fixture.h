/* SPDX-License-Identifier: Apache-2.0 */
/* Constructed pairs and the usual rule, for the tests of the paired judge. */
#ifndef ASSAY_TESTS_PAIRED_JUDGE_FIXTURE_H
#define ASSAY_TESTS_PAIRED_JUDGE_FIXTURE_H

#include "unit.h"
#include "assay/random.h"
#include "judge/paired.h"
#include "paired_fixture.h"

#define MAX_PAIRS 24
#define BLOCKS    10

/* Deviations of pairs, in units of a spread; any first eight have a mean of 0 and a standard deviation of about 1. */
static const double deviation[8] = { 1.2, -1.2, 0.6, -0.6, 1.3, -1.3, 0.4, -0.4 };

static inline void set_all(struct assay_comparison_case *c, double slowdown_frac, double spread)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		paired_set(c, i, log1p(slowdown_frac) + spread * deviation[i % 8]);
}

static inline struct assay_gate_case judge(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
					   bool *final)
{
	struct assay_gate_case out;
	struct assay_err err;

	assert_int_equal(assay_paired_judge(c, rule, &out, final, &err), 0);
	assert_string_equal(out.key, c->c.key);
	assert_string_equal(out.metric, "time_s");
	return out;
}

static inline struct assay_paired_rule usual_rule(void)
{
	return assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, MAX_PAIRS);
}

#endif

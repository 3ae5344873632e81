/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of programs: each is judged by itself, more may be better, and what is counted is compared exactly. */
#include <math.h>

#include "unit.h"

#include "judge/comparison_judge.h"
#include "judge/stopping.h"

#define MOST_PAIRS 16

/* Deviations whose first eight have a mean of 0. */
static const double noise[8] = { 1.2, -1.2, 0.6, -0.6, 1.3, -1.3, 0.4, -0.4 };

static struct assay_pair pairs[MOST_PAIRS];
static struct assay_sample samples[2];

static struct assay_comparison_case case_of(size_t n_pairs, const char *judged)
{
	struct assay_comparison_case c = { .in_base = true, .in_head = true, .pairs = pairs, .n_pairs = n_pairs };

	snprintf(c.c.key, sizeof(c.c.key), "b/p/-/t=1/-");
	snprintf(c.c.op, sizeof(c.c.op), "b");
	c.c.cache = ASSAY_CACHE_NONE;
	snprintf(c.judged, sizeof(c.judged), "%s", judged);
	memset(pairs, 0, sizeof(pairs));
	for (size_t i = 0; i < n_pairs; i++) {
		pairs[i].n_blocks = 1;
		pairs[i].wall_ns = 1;
		for (int side = 0; side < 2; side++) {
			pairs[i].side[side].samples = samples;
			pairs[i].side[side].n_samples = 2;
		}
	}
	samples[0] = samples[1] = (struct assay_sample){ .iterations = 1, .ns = 1000000 };
	return c;
}

/* The values of the metric in pair @i. */
static void set(size_t i, const char *tag, const char *unit, int better, double base, double head)
{
	assert_int_equal(assay_result_set_metric(&pairs[i].side[ASSAY_BASE], tag, unit, better, base), 0);
	assert_int_equal(assay_result_set_metric(&pairs[i].side[ASSAY_HEAD], tag, unit, better, head), 0);
}

static void forget(void)
{
	for (size_t i = 0; i < MOST_PAIRS; i++)
		for (int side = 0; side < 2; side++)
			free(pairs[i].side[side].metrics);
}

static struct assay_gate_case judge(const struct assay_comparison_case *c, const char *metric, bool *final)
{
	struct assay_paired_rule rule = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 64);
	struct assay_gate_case out;

	snprintf(rule.metric, sizeof(rule.metric), "%s", metric);
	assert_int_equal(assay_paired_judge(c, &rule, &out, final, NULL), 0);
	return out;
}

TEST(more_is_worse_or_better_as_the_metric_says)
{
	static const struct {
		int better;
		double change; /* of the head's value */
		enum assay_verdict want;
		const char *why;
	} rows[] = {
		{ 1, -0.03, ASSAY_REGRESSED, "worse, shown to be more than 0.5 %" },
		{ 1, 0.03, ASSAY_IMPROVED, "better, shown to be more than 0.5 %" },
		{ -1, 0.03, ASSAY_REGRESSED, "3.00 % worse" },
		{ -1, -0.03, ASSAY_IMPROVED, "3.00 % better" },
		{ 1, 0, ASSAY_PASS, "shown to be at most" },
	};

	for (size_t k = 0; k < N_OF(rows); k++) {
		struct assay_comparison_case c = case_of(8, "m");
		struct assay_gate_case g;
		bool final;

		for (size_t i = 0; i < 8; i++)
			set(i, "m", "B/s", rows[k].better, 700, 700 * (1 + rows[k].change) * (1 + 0.001 * noise[i]));
		g = judge(&c, "m", &final);
		assert_string_equal(g.metric, "m");
		assert_int_equal(g.verdict, rows[k].want);
		assert_int_equal(g.evidence, ASSAY_EVIDENCE_PAIRED);
		assert_non_null(strstr(g.reason, rows[k].why));
		assert_true(rows[k].want != ASSAY_REGRESSED || (g.ratio > 1.02 && g.ci_lo > 1.005 && final));
		/* its processes took as long */
		assert_int_equal(judge(&c, "", &final).verdict, ASSAY_PASS);
		forget();
	}
}

TEST(what_is_counted_is_equal_or_not)
{
	static const struct {
		size_t n;
		double base, head;
		int better;
		enum assay_verdict want;
		bool final;
		const char *why;
	} rows[] = {
		{ 1, 1000, 1000, -1, ASSAY_PASS, true, "the same on both sides in every run: 1000 B" },
		{ 1, 1000, 1010, -1, ASSAY_INCONCLUSIVE, false, "in too few runs" },
		{ 3, 1000, 1010, -1, ASSAY_REGRESSED, true, "1010 in every run, the base has 1000 B" },
		{ 3, 1000, 1004, -1, ASSAY_PASS, true, "1004 in every run" }, /* within the margin */
		{ 3, 1000, 990, -1, ASSAY_IMPROVED, true, "990 in every run" },
		{ 3, 1000, 990, 1, ASSAY_REGRESSED, true, "990 in every run" },
		{ 3, 0, 1, -1, ASSAY_REGRESSED, true, "1 in every run, the base has 0 B" },
		{ 3, 1, 0, -1, ASSAY_IMPROVED, true, "0 in every run, the base has 1 B" },
		{ 3, 0, 0, 1, ASSAY_PASS, true, "the same" },
	};

	for (size_t k = 0; k < N_OF(rows); k++) {
		struct assay_comparison_case c = case_of(rows[k].n, "m");
		struct assay_gate_case g;
		bool final;

		for (size_t i = 0; i < rows[k].n; i++)
			set(i, "m", "B", rows[k].better, rows[k].base, rows[k].head);
		g = judge(&c, "m", &final);
		assert_int_equal(g.verdict, rows[k].want);
		assert_int_equal(final, rows[k].final);
		assert_int_equal(g.evidence, ASSAY_EVIDENCE_EXACT);
		assert_non_null(strstr(g.reason, rows[k].why));
		forget();
	}
}

TEST(what_is_counted_and_varies_is_a_matter_of_statistics)
{
	struct assay_comparison_case c = case_of(8, "m");
	struct assay_gate_case g;
	bool final;

	for (size_t i = 0; i < 8; i++)
		set(i, "m", "1", -1, 1000 + (i == 5), 1030);
	g = judge(&c, "m", &final);
	assert_int_equal(g.evidence, ASSAY_EVIDENCE_PAIRED);
	assert_int_equal(g.verdict, ASSAY_REGRESSED);
	/* and so is what has no whole numbers, even if it is always the same */
	for (size_t i = 0; i < 8; i++)
		set(i, "n", "s", -1, 1, 1);
	assert_int_equal(judge(&c, "n", &final).evidence, ASSAY_EVIDENCE_PAIRED);
	forget();
}

TEST(what_is_not_there_or_has_no_ratio_says_so)
{
	struct assay_comparison_case c = case_of(8, "m");
	struct assay_gate_case g;
	bool final;

	g = judge(&c, "m", &final);
	assert_int_equal(g.verdict, ASSAY_NOT_MEASURED);
	assert_string_equal(g.reason, "the base does not tell it");
	for (size_t i = 0; i < 8; i++)
		set(i, "m", "s", -1, 0.001 * (double)(i % 2), 1);
	g = judge(&c, "m", &final);
	assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
	assert_string_equal(g.reason, "it is 0 or below in 50 % of the runs, which have no ratio");
	forget();
}

/* Two metrics are two tests; the case goes on until both are decided. */
TEST(each_metric_has_a_row)
{
	struct assay_comparison_case c = case_of(8, "speed,size");
	struct assay_comparison cmp = {
		.alpha = 0.01, .max_pairs = 64, .family = 2, .budget_ns = 1000, .n_cases = 1, .cases = &c
	};
	const struct assay_policy policy = assay_policy_default();
	const struct assay_comparison_judging how = { .strict = false };
	struct assay_gate_report r;
	bool stop;

	assert_int_equal(assay_comparison_n_judged(&c), 2);
	for (size_t i = 0; i < 8; i++) {
		set(i, "speed", "B/s", 1, 700, 700 * (1 + 0.02 * noise[i]));
		set(i, "size", "B", -1, 10, 20);
	}
	/* the size is decided, the speed is not, and has time */
	assert_int_equal(assay_stopping_ask(&cmp, &c, &policy, 8, &stop, NULL), 0);
	assert_false(stop);
	assert_int_equal(assay_comparison_judge(&cmp, &policy, &how, &r, NULL), 0);
	assert_int_equal(r.n_cases, 2);
	assert_string_equal(r.cases[0].metric, "speed");
	assert_int_equal(r.cases[0].verdict, ASSAY_INCONCLUSIVE);
	assert_string_equal(r.cases[1].metric, "size");
	assert_int_equal(r.cases[1].verdict, ASSAY_REGRESSED);
	assert_int_equal(r.exit, ASSAY_EXIT_REGRESSED);
	assay_gate_report_release(&r);

	/* what is wrong with a process is said once */
	pairs[0].side[ASSAY_HEAD].status = ASSAY_STATUS_TIMEOUT;
	snprintf(pairs[0].side[ASSAY_HEAD].reason, sizeof(pairs[0].side[0].reason), "'p': it ran for more than 1 s");
	assert_int_equal(assay_comparison_judge(&cmp, &policy, &how, &r, NULL), 0);
	assert_int_equal(r.n_cases, 1);
	assert_int_equal(r.cases[0].verdict, ASSAY_NOT_MEASURED);
	assay_gate_report_release(&r);
	forget();
}

UNIT_GROUP(NULL, NULL)

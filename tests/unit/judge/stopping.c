/* SPDX-License-Identifier: Apache-2.0 */
/* When a comparison stops measuring a case, and what a replay under another rule is told. */

#include "judge/paired.h"
#include "judge/stopping.h"
#include "judge_fixture.h"
#include "paired_fixture.h"

#define BUDGET_NS 1000u

TEST(which_cases_are_measured)
{
	static const struct {
		bool in_base, in_head;
		const char *reason;
		bool want;
	} rows[] = {
		{ true, true, "", true },        { false, true, "", true }, /* new */
		{ true, false, "", false },      { true, true, "the head refuses it", false },
		{ false, true, "ABI 2", false },
	};
	const struct assay_policy policy = assay_policy_default();
	const struct assay_comparison cmp = {
		.alpha = 0.01, .family = 1, .max_pairs = 64, .rule = ASSAY_JUDGE_RULE, .budget_ns = BUDGET_NS
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison_case c = { .in_base = rows[i].in_base, .in_head = rows[i].in_head };
		bool stop;

		snprintf(c.reason, sizeof(c.reason), "%s", rows[i].reason);
		assert_int_equal(assay_stopping_wants_pairs(&c), rows[i].want);
		assert_int_equal(assay_stopping_ask(&cmp, &c, &policy, 0, &stop, NULL), 0);
		assert_int_equal(stop, !rows[i].want);
	}
}

/*
 * With one test at 1 % the first look at a slowdown is after eight pairs. The next pair takes as long as those that
 * were kept took on average; what others took is spent, and tells nothing of it.
 */
TEST(time_ends_a_case)
{
	static const struct {
		size_t n_pairs;
		uint64_t pair_ns, spent_ns;
		bool want, suspect;
		unsigned budgets;
	} rows[] = {
		{ 1, 2000, 2000, false, false, 1 },
		{ 1, 2001, 2001, true, false, 1 },
		{ 4, 800, 3200, false, false, 1 },
		{ 4, 801, 3204, true, false, 1 },
		{ 7, 500, 3500, false, false, 1 },
		{ 7, 501, 3507, true, false, 1 },
		/* one that took 3000 was not kept */
		{ 1, 500, 3500, false, false, 1 },
		{ 1, 501, 3501, true, false, 1 },
		/* from there on one budget */
		{ 8, 111, 888, false, false, 1 },
		{ 8, 112, 896, true, false, 1 },
		{ 8, 375, 3000, true, false, 1 },
		{ 63, 15, 945, false, false, 1 },
		{ 63, 16, 1008, true, false, 1 },
		{ 8, 50, 950, false, false, 1 },
		{ 8, 50, 951, true, false, 1 },
		/* what is likely slower has two, once it may be seen */
		{ 1, 2000, 2000, false, true, 1 },
		{ 1, 2001, 2001, true, true, 1 },
		{ 8, 50, 951, false, true, 1 },
		{ 8, 50, 1950, false, true, 1 },
		{ 8, 50, 1951, true, true, 1 },
		/* controls have eight, before and after */
		{ 1, 4000, 4000, false, false, 8 },
		{ 1, 4001, 4001, true, false, 8 },
		{ 8, 50, 7950, false, false, 8 },
		{ 8, 50, 7951, true, false, 8 },
		{ 8, 50, 7951, true, true, 8 },
	};
	const struct assay_paired_rule usual = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 64);

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_paired_rule rule = usual;
		struct assay_comparison_case c;

		rule.budgets = rows[i].budgets;
		paired_make(&c, "op/variant", rows[i].n_pairs, 1);
		for (size_t k = 0; k < c.n_pairs; k++)
			c.pairs[k].wall_ns = rows[i].pair_ns;
		if (assay_stopping_out_of_time(&c, &rule, rows[i].suspect, rows[i].spent_ns, BUDGET_NS) != rows[i].want)
			fail_msg("%zu: %zu pairs of %llu ns in %llu ns", i, rows[i].n_pairs,
				 (unsigned long long)rows[i].pair_ns, (unsigned long long)rows[i].spent_ns);
		paired_release(&c);
	}
}

/* Four budgets a case, eight a control, and none for what is not measured. */
TEST(the_longest_that_all_may_take)
{
	struct assay_comparison_case cases[] = {
		{ .in_base = true, .in_head = true },
		{ .in_base = true, .in_head = true, .control = ASSAY_CONTROL_AA },
		{ .in_base = true, .in_head = false },
		{ .in_base = true, .in_head = true, .reason = "the head refuses it" },
	};
	const struct assay_comparison cmp = { .budget_ns = BUDGET_NS, .cases = cases, .n_cases = N_OF(cases) };

	assert_int_equal(assay_stopping_most_ns(&cmp), 12 * BUDGET_NS);
}

TEST(what_ends_a_case)
{
	static const struct {
		const char *name;
		size_t n_pairs;
		double slowdown;
		uint64_t spent_ns;
		bool added, crashed, same_code, want;
		bool times_of_same_code; /* are asked for */
		uint64_t pair_ns;        /* 0: all pairs were kept, and took spent_ns together */
	} rows[] = {
		{ "too few pairs to pass", 6, 0, 1, false, false, false, false, false, 0 },
		{ "shown to be no slower", 7, 0, 1, false, false, false, true, false, 0 },
		{ "too few pairs to fail", 7, 0.1, 1, false, false, false, false, false, 0 },
		{ "shown to be slower", 8, 0.1, 1, false, false, false, true, false, 0 },
		{ "undecided", 8, 0.0054, 1, false, false, false, false, false, 0 },
		{ "undecided, and four more would not help", 12, 0.005, 1, false, false, false, true, false, 0 },
		{ "undecided, out of time", 8, 0.0048, BUDGET_NS, false, false, false, true, false, 0 },
		{ "undecided, after a long pair that was not kept", 8, 0.0054, 760, false, false, false, false, false,
		  20 },
		{ "likely slower, out of one budget", 8, 0.0056, BUDGET_NS, false, false, false, false, false, 20 },
		{ "likely slower, out of two", 8, 0.0056, 2 * BUDGET_NS, false, false, false, true, false, 20 },
		{ "undecided, all pairs", 16, 0.005, 1, false, false, false, true, false, 0 },
		{ "same code", 1, 0.1, 1, false, false, true, true, false, 0 },
		{ "same code, whose time is wanted", 4, 0.1, 1, false, false, true, false, true, 0 },
		{ "same code, seen often enough", 5, 0.1, 1, false, false, true, true, true, 0 },
		{ "new: one pair is enough", 1, 0, 1, true, false, false, true, false, 0 },
		{ "crashed", 1, 0, 1, false, true, false, true, false, 0 },
	};
	const struct assay_policy policy = assay_policy_default();
	struct assay_comparison cmp = {
		.alpha = 0.01, .family = 1, .max_pairs = 16, .rule = ASSAY_JUDGE_RULE, .budget_ns = BUDGET_NS
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		static const double deviation[4] = { 1, -1, 0.5, -0.5 };
		struct assay_comparison_case c;
		bool stop;

		paired_make(&c, "op/variant", rows[i].n_pairs, 2);
		for (size_t k = 0; k < c.n_pairs; k++)
			paired_set(&c, k, log1p(rows[i].slowdown) + 0.0005 * deviation[k % 4]);
		for (size_t k = 0; k < c.n_pairs; k++)
			c.pairs[k].wall_ns = rows[i].pair_ns ? rows[i].pair_ns : rows[i].spent_ns / c.n_pairs;
		c.in_base = !rows[i].added;
		cmp.same_code = rows[i].times_of_same_code;
		if (rows[i].crashed)
			c.pairs[0].side[ASSAY_HEAD].status = ASSAY_STATUS_CRASHED;
		if (rows[i].same_code)
			strcpy(c.pairs[0].side[ASSAY_HEAD].code_hash, c.pairs[0].side[ASSAY_BASE].code_hash);
		assert_int_equal(assay_stopping_ask(&cmp, &c, &policy, rows[i].spent_ns, &stop, NULL), 0);
		if (stop != rows[i].want)
			fail_msg("%s: %s", rows[i].name, stop ? "stopped" : "goes on");
		paired_release(&c);
	}
}

/* Ten pairs, at a look, that a pass was just not shown by; then some that lie in their middle. */
static void make_close(struct assay_comparison_case *c, size_t n_pairs, double deviation)
{
	paired_make(c, "op/variant", n_pairs, 2);
	for (size_t k = 0; k < n_pairs; k++) {
		paired_set(c, k, k >= 10 ? 0 : k & 1 ? -deviation : deviation);
		c->pairs[k].wall_ns = BUDGET_NS / 11;
	}
}

/* The interval counts at looks alone, so a look that is near is waited for, but no longer than it can be away. */
TEST(a_look_that_is_near_is_waited_for)
{
	const struct assay_policy policy = assay_policy_default();
	const struct assay_comparison cmp = {
		.alpha = 0.01, .family = 1, .max_pairs = 64, .rule = ASSAY_JUDGE_RULE, .budget_ns = BUDGET_NS
	};
	const struct assay_paired_rule rule = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 64);
	static const struct {
		size_t n_pairs;
		uint64_t spent_ns;
		bool stop;
	} rows[] = {
		{ 10, BUDGET_NS, true },             /* it shows nothing */
		{ 11, BUDGET_NS, false },            /* it would pass, at twelve */
		{ 11, BUDGET_NS * 5 / 4 + 1, true }, /* but not at any price */
		{ 12, BUDGET_NS, true },             /* it passes */
	};
	struct assay_comparison_case c;
	struct assay_gate_case g;
	double deviation = 0.0005;
	bool final, stop;

	do {
		deviation *= 1.01;
		make_close(&c, 10, deviation);
		assert_int_equal(assay_paired_judge(&c, &rule, &g, &final, NULL), 0);
		paired_release(&c);
	} while (g.verdict == ASSAY_PASS && deviation < 0.1);
	for (size_t i = 0; i < N_OF(rows); i++) {
		make_close(&c, rows[i].n_pairs, deviation);
		assert_int_equal(assay_stopping_ask(&cmp, &c, &policy, rows[i].spent_ns, &stop, NULL), 0);
		assert_int_equal(assay_paired_judge(&c, &rule, &g, &final, NULL), 0);
		assert_int_equal(g.verdict, rows[i].n_pairs < 12 ? ASSAY_INCONCLUSIVE : ASSAY_PASS);
		assert_int_equal(strstr(g.reason, ", which counts at the next look;") != NULL, rows[i].n_pairs == 11);
		if (stop != rows[i].stop)
			fail_msg("row %zu: %s", i, stop ? "stopped" : "goes on");
		paired_release(&c);
	}
}

TEST(other_rules_are_told)
{
	static const struct {
		unsigned rule;
		const char *verdict, *want;
	} rows[] = {
		{ ASSAY_JUDGE_RULE, "PASS", "" },
		{ ASSAY_JUDGE_RULE, "", "" },
		{ 8, "PASS",
		  "comparison 7 was measured and judged by rule 8 (PASS), this is rule 9: the verdict may differ" },
		{ 0, "PASS",
		  "comparison 7 was measured and judged by a rule without a version (PASS), this is rule 9: the "
		  "verdict may differ" },
		{ 99, "REGRESSED",
		  "comparison 7 was measured and judged by rule 99 (REGRESSED), this is rule 9: the verdict may "
		  "differ" },
		{ 99, "",
		  "comparison 7 was measured and judged by rule 99 (it did not finish), this is rule 9: the verdict "
		  "may differ" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_comparison cmp = { .id = 7, .rule = rows[i].rule };
		char note[256];

		assay_comparison_rule_note(&cmp, rows[i].verdict, note, sizeof(note));
		assert_string_equal(note, rows[i].want);
	}
}

/* Given up only when even kinder pairs could not decide, and never before a case could have passed. */
TEST(hopeless_cases)
{
	static const struct {
		const char *name;
		size_t n_pairs, n_more;
		double slowdown, deviation;
		bool want, passes;
	} rows[] = {
		{ "wide, few to come", 12, 4, 0, 0.1, true, false },
		{ "wide, before the first look at a pass", 6, 4, 0, 0.1, false, false },
		{ "narrow enough to pass", 12, 4, 0, 0.004, false, false },
		{ "passes, and cannot be shown to be faster", 12, 4, -0.006, 0.004, true, true },
		{ "passes, and may be shown to be faster", 12, 30, -0.009, 0.004, false, true },
		{ "narrow enough to fail", 12, 4, 0.012, 0.004, false, false },
		{ "narrow enough to be an improvement", 12, 4, -0.012, 0.004, false, false },
		{ "on the margin", 40, 8, 0.005, 0.0006, true, false },
		{ "wide, and many would not help", 12, 52, 0, 0.1, true, false },
		{ "wide, but many to come", 12, 52, 0, 0.012, false, false },
		{ "as wide as it is slow", 12, 52, 0.1, 0.1, false, false },
	};
	const struct assay_paired_rule rule = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 64);

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison_case c;
		bool hopeless;

		paired_make(&c, "op/variant", rows[i].n_pairs, 2);
		for (size_t k = 0; k < c.n_pairs; k++)
			paired_set(&c, k, log1p(rows[i].slowdown) + rows[i].deviation * (k & 1 ? 1 : -1));
		assert_int_equal(assay_stopping_hopeless(&c, &rule, rows[i].passes, rows[i].n_more, &hopeless, NULL),
				 0);
		if (hopeless != rows[i].want)
			fail_msg("%s", rows[i].name);
		paired_release(&c);
	}
}

/* A case that had time left which could not decide it says so, and no other case does. */
TEST(what_is_given_up_is_told)
{
	static const struct {
		const char *name;
		size_t n_pairs;
		bool few; /* are left: of 24 pairs, not of 64 */
		double deviation;
		enum assay_verdict verdict;
		const char *told;
	} rows[] = {
		/* pairs of 1 s in a budget of 30 s */
		{ "wide", 12, false, 0.1, ASSAY_INCONCLUSIVE,
		  "because; stopped after 12 s, since the 18 pairs left in the budget would not decide it" },
		{ "wide, and time for more than there may be", 20, true, 0.1, ASSAY_INCONCLUSIVE,
		  "because; stopped after 20 s, since the 4 pairs left in the budget would not decide it" },
		{ "before the first look", 6, false, 0.1, ASSAY_INCONCLUSIVE, "because" },
		{ "time for one pair", 29, false, 0.1, ASSAY_INCONCLUSIVE, "because" },
		{ "out of time", 30, false, 0.1, ASSAY_INCONCLUSIVE, "because" },
		{ "narrow enough to pass", 12, false, 0.004, ASSAY_INCONCLUSIVE, "because" },
		{ "decided", 12, false, 0.1, ASSAY_PASS, "because" },
		{ "nothing taken", 0, false, 0.1, ASSAY_INCONCLUSIVE, "because" },
	};
	const struct assay_paired_rule few = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 24),
				       many = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 64);
	const struct assay_comparison cmp = { .budget_ns = UINT64_C(30000000000) };

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_case v = { .verdict = rows[i].verdict, .reason = "because", .ci_lo = NAN };
		struct assay_comparison_case c;

		paired_make(&c, "op/variant", rows[i].n_pairs, 2);
		for (size_t k = 0; k < c.n_pairs; k++) {
			paired_set(&c, k, rows[i].deviation * (k & 1 ? 1 : -1));
			c.pairs[k].wall_ns = 1000000000;
		}
		assert_int_equal(assay_stopping_tell(&cmp, &c, rows[i].few ? &few : &many, &v, NULL), 0);
		if (strcmp(v.reason, rows[i].told))
			fail_msg("%s: %s", rows[i].name, v.reason);
		paired_release(&c);
	}
}

UNIT_GROUP(NULL, NULL)

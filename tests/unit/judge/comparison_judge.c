/* SPDX-License-Identifier: Apache-2.0 */
/* A whole comparison: cases, controls that hold or fail, the rule that it was measured by, and the exit code. */

#include "comparison_judge_fixture.h"

static const struct {
	const char *name;
	struct made cases[3];
	struct {
		size_t n; /* cases */
		enum assay_verdict first, whole;
		enum assay_exit exit, strict;
		bool untrusted;
	} of;
} wholes[] = {
	{ "nothing changed", { SAME, AA, SLOWER }, { 3, ASSAY_PASS, ASSAY_PASS, 0, 0, false } },
	{ "faster", { { .slowdown = -0.1 }, AA, SLOWER }, { 3, ASSAY_IMPROVED, ASSAY_IMPROVED, 0, 0, false } },
	{ "slower", { { .slowdown = 0.1 }, SAME, AA }, { 3, ASSAY_REGRESSED, ASSAY_REGRESSED, 1, 1, false } },
	{ "undecided",
	  { { .slowdown = 0.005 }, AA, SLOWER },
	  { 3, ASSAY_INCONCLUSIVE, ASSAY_INCONCLUSIVE, 0, 6, false } },
	{ "slower is graver than undecided",
	  { { .slowdown = 0.005 }, { .slowdown = 0.1 }, AA },
	  { 3, ASSAY_INCONCLUSIVE, ASSAY_REGRESSED, 1, 1, false } },
	{ "crash is graver than slower",
	  { { .slowdown = 0.1 }, { .crashed = true }, AA },
	  { 3, ASSAY_REGRESSED, ASSAY_NOT_MEASURED, 4, 4, false } },
	{ "wrong is graver than a crash",
	  { { .difference = "element 0" }, { .crashed = true }, AA },
	  { 3, ASSAY_WRONG_RESULT, ASSAY_WRONG_RESULT, 3, 3, false } },
	{ "lost", { { .lost = true }, SAME, AA }, { 3, ASSAY_NOT_MEASURED, ASSAY_NOT_MEASURED, 4, 4, false } },
	{ "new", { { .added = true }, SAME, AA }, { 3, ASSAY_PASS, ASSAY_PASS, 0, 0, false } },
	{ "new and crashed",
	  { { .added = true, .crashed = true }, SAME, AA },
	  { 3, ASSAY_NOT_MEASURED, ASSAY_NOT_MEASURED, 4, 4, false } },
	{ "new, ended before it",
	  { { .added = true, .unmeasured = true }, SAME, AA },
	  { 3, ASSAY_NOT_MEASURED, ASSAY_NOT_MEASURED, 4, 4, false } },
	{ "ended before the second case",
	  { SAME, { .unmeasured = true }, AA },
	  { 3, ASSAY_PASS, ASSAY_NOT_MEASURED, 4, 4, false } },
	{ "ended before the controls",
	  { SAME, { .unmeasured = true, .control = ASSAY_CONTROL_AA } },
	  { 2, ASSAY_PASS, ASSAY_PASS, 0, 0, false } },
	/* controls */
	{ "base is not as fast as itself",
	  { SAME, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA }, SLOWER },
	  { 3, ASSAY_INCONCLUSIVE, ASSAY_INCONCLUSIVE, 0, 6, true } },
	{ "nor is the head slower then",
	  { { .slowdown = 0.1 }, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA }, SLOWER },
	  { 3, ASSAY_INCONCLUSIVE, ASSAY_INCONCLUSIVE, 0, 6, true } },
	{ "more work is not seen",
	  { SAME, AA, { .control = ASSAY_CONTROL_SLOWER, .injected = 0.02 } },
	  { 3, ASSAY_INCONCLUSIVE, ASSAY_INCONCLUSIVE, 0, 6, true } },
	{ "more work is faster",
	  { SAME, AA, { .slowdown = -0.1, .control = ASSAY_CONTROL_SLOWER, .injected = 0.02 } },
	  { 3, ASSAY_INCONCLUSIVE, ASSAY_INCONCLUSIVE, 0, 6, true } },
	{ "undecided controls prove nothing",
	  { SAME,
	    { .slowdown = 0.005, .control = ASSAY_CONTROL_AA },
	    { .slowdown = 0.005, .control = ASSAY_CONTROL_SLOWER, .injected = 0.005 } },
	  { 3, ASSAY_PASS, ASSAY_PASS, 0, 0, false } },
	{ "a control that crashed says nothing of the host",
	  { SAME, { .crashed = true, .control = ASSAY_CONTROL_AA } },
	  { 2, ASSAY_PASS, ASSAY_PASS, 0, 0, false } },
	{ "distrust does not excuse what is wrong",
	  { { .difference = "element 0" }, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA } },
	  { 2, ASSAY_WRONG_RESULT, ASSAY_WRONG_RESULT, 3, 3, true } },
};

TEST(whole_comparisons)
{
	for (size_t i = 0; i < N_OF(wholes); i++)
		for (int strict = 0; strict < 2; strict++) {
			struct assay_comparison cmp = make_comparison(wholes[i].cases, wholes[i].of.n);
			struct assay_gate_report r = judge(&cmp, NULL, strict);
			size_t n_controls = 0;

			if (r.cases[0].verdict != wholes[i].of.first || r.verdict != wholes[i].of.whole ||
			    r.exit != (strict ? wholes[i].of.strict : wholes[i].of.exit) ||
			    r.untrusted != wholes[i].of.untrusted)
				fail_msg("%s: first %s (%s), whole %s, exit %d%s", wholes[i].name,
					 assay_verdict_name(r.cases[0].verdict), r.cases[0].reason,
					 assay_verdict_name(r.verdict), (int)r.exit, r.untrusted ? ", untrusted" : "");
			for (size_t k = 0; k < wholes[i].of.n; k++)
				n_controls += wholes[i].cases[k].control != ASSAY_CONTROL_NONE;
			assert_int_equal(r.n_controls, n_controls);
			assert_int_equal(r.n_cases, wholes[i].of.n - n_controls);
			if (r.untrusted && r.cases[0].verdict == ASSAY_INCONCLUSIVE)
				assert_non_null(strstr(r.cases[0].reason, "a self-check failed"));
			release(&cmp, &r);
		}
}

/* A suspect, likely slower than its margin but not shown to be, fails where that is asked for, and no other case. */
TEST(suspects)
{
	static const struct {
		const char *name;
		struct made cases[3];
		bool suspect;
		enum assay_exit exit; /* where suspects fail */
	} rows[] = {
		{ "beyond the margin", { { .slowdown = 0.0053 }, AA, SLOWER }, true, 6 },
		{ "undecided within it", { { .slowdown = 0.0047 }, AA, SLOWER }, false, 0 },
		{ "passed", { SAME, AA, SLOWER }, false, 0 },
		{ "shown to be slower", { { .slowdown = 0.1 }, AA, SLOWER }, false, 1 },
		{ "slower on a host that is not believed",
		  { { .slowdown = 0.1 }, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA }, SLOWER },
		  true,
		  6 },
		{ "a graver failure", { { .slowdown = 0.0053 }, { .crashed = true }, AA }, true, 4 },
	};
	const struct assay_policy policy = assay_policy_default();

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_comparison_judging how = { .suspects_fail = true };
		struct assay_comparison cmp = make_comparison(rows[i].cases, 3);
		struct assay_gate_report r;

		assert_int_equal(assay_comparison_judge(&cmp, &policy, &how, &r, NULL), 0);
		if (r.cases[0].suspect != rows[i].suspect || r.exit != rows[i].exit)
			fail_msg("%s: %s (%s), exit %d", rows[i].name, assay_verdict_name(r.cases[0].verdict),
				 r.cases[0].reason, (int)r.exit);
		assert_int_equal(!strncmp(r.cases[0].reason, "apparently ", 11), rows[i].suspect);
		release(&cmp, &r);
	}
}

TEST(names_and_numbers)
{
	static const struct made cases[] = { SAME, SLOWER };
	struct assay_comparison cmp = make_comparison(cases, N_OF(cases));
	struct assay_gate_report r = judge(&cmp, NULL, false);

	assert_string_equal(r.base, "v1 (aaaa)");
	assert_string_equal(r.head, "v2 (bbbb)");
	assert_true(r.alpha == 0.01 && r.comparison_id == 7 && r.seconds == 2.5 && !r.no_baseline);
	assert_int_equal(r.rule, ASSAY_JUDGE_RULE);
	assert_string_equal(r.controls[0].key, "stream.read/avx2/n=9/t=1/warm");
	assert_int_equal(r.controls[0].kind, ASSAY_CONTROL_SLOWER);
	assert_int_equal(r.controls[0].verdict, ASSAY_REGRESSED);
	assert_true(r.controls[0].injected_frac == 0.02 && r.controls[0].ok);
	assert_true(fabs(r.controls[0].ratio - 1.02) < 1e-6 && r.controls[0].ci_lo > 1.01 &&
		    r.controls[0].ci_hi < 1.03);
	assert_true(r.controls[0].pairs == 8);
	release(&cmp, &r);

	cmp = make_comparison(cases, N_OF(cases));
	cmp.ended_ns = 0;
	/* what was done counts, not what was asked for */
	cmp.cases[1].pairs[0].iterations = 4;
	cmp.cases[1].pairs[0].extra_iterations[ASSAY_HEAD] = 3;
	r = judge(&cmp, NULL, false);
	assert_true(isnan(r.seconds));
	assert_true(r.controls[0].injected_frac == 0.75);
	release(&cmp, &r);
}

TEST(rules)
{
	static const struct made cases[] = { SAME, AA };
	struct assay_margin margins[] = { { .cases = "*", .paired_frac = 0.02 },
					  { .cases = "*/avx2/*", .paired_frac = 0.07 } };
	struct assay_comparison cmp = make_comparison(cases, N_OF(cases));
	struct assay_policy p = assay_policy_default();
	struct assay_gate_report none = { 0 };
	struct assay_paired_rule r;

	p.margins = margins;
	p.n_margins = N_OF(margins);
	p.pass_alpha = 0.03;
	p.max_dropped_frac = 0.4;
	cmp.family = 2;
	r = assay_comparison_rule(&cmp, &cmp.cases[0], &p);
	assert_true(r.alpha_regressed == 0.005 && r.alpha_pass == 0.03 && r.margin_frac == 0.02);
	assert_true(r.max_dropped_frac == 0.4 && r.max_pairs == PAIRS);
	r = assay_comparison_rule(&cmp, &cmp.cases[1], &p); /* a control stands alone */
	assert_true(r.alpha_regressed == 0.01 && r.margin_frac == 0.07);
	/* and has more time than cases, for which those of a certification stand */
	assert_int_equal(r.budgets, ASSAY_PAIRED_CONTROL_BUDGETS);
	cmp.trial = true;
	assert_int_equal(assay_comparison_rule(&cmp, &cmp.cases[1], &p).budgets, 1);
	assert_int_equal(assay_comparison_rule(&cmp, &cmp.cases[0], &p).budgets, 1);
	release(&cmp, &none);
}

TEST(nothing_to_judge)
{
	struct assay_comparison cmp = make_comparison(NULL, 0);
	struct assay_gate_report r = judge(&cmp, NULL, true);

	assert_int_equal(r.n_cases, 0);
	assert_int_equal(r.n_controls, 0);
	assert_int_equal(r.verdict, ASSAY_NOT_MEASURED);
	assert_int_equal(r.exit, ASSAY_EXIT_NOT_MEASURED);
	release(&cmp, &r);
}

/* The program was killed while it stored the cases, or before it stored counts, which are all that was asked for. */
TEST(cases_that_are_not_stored)
{
	static const struct made cases[] = { SAME, AA };

	for (size_t n = 0; n <= N_OF(cases); n += N_OF(cases)) {
		struct assay_comparison cmp = make_comparison(cases, n);
		struct assay_gate_report r;
		char want[80];

		cmp.family = 3;
		r = judge(&cmp, NULL, false);
		assert_int_equal(r.n_cases, n ? 2 : 1);
		assert_int_equal(r.verdict, ASSAY_NOT_MEASURED);
		assert_int_equal(r.exit, ASSAY_EXIT_NOT_MEASURED);
		assert_string_equal(r.cases[r.n_cases - 1].key, "comparison 7");
		snprintf(want, sizeof(want), "only %d of 3 cases are stored: the comparison ended before the rest",
			 n > 0);
		assert_string_equal(r.cases[r.n_cases - 1].reason, want);
		release(&cmp, &r);
	}
}

/* Disturbances of pairs of twelve blocks. */
enum oddity {
	NOTHING,
	TICKS,  /* took 7 % from one sample of the head in seven blocks */
	SLICES, /* and in nine of 24 calls the head was no slower */
	MOVED,  /* a thread, in nine blocks */
	LOST    /* a thread was moved in all blocks of the first pair */
};

static void set_pairs(struct assay_comparison_case *c, size_t n_pairs, double slowdown, enum oddity oddity)
{
	const struct assay_case named = c->c;

	paired_release(c);
	paired_make(c, named.key, n_pairs, 12);
	c->c = named;
	for (size_t i = 0; i < n_pairs; i++) {
		paired_set(c, i, log1p(slowdown));
		for (size_t b = 0; oddity == TICKS && b < 7; b++)
			c->pairs[i].side[ASSAY_HEAD].samples[2 * b + (b & 1)].ns += (uint64_t)(0.07 * PAIRED_NS);
		for (size_t b = 0; oddity == MOVED && b < 9; b++)
			c->pairs[i].side[b & 1].samples[2 * b].flags = ASSAY_DISTURB_MIGRATION;
		for (size_t b = 0; oddity == LOST && !i && b < 12; b++)
			c->pairs[i].side[b & 1].samples[2 * b].flags = ASSAY_DISTURB_MIGRATION;
		for (size_t k = 0; oddity == SLICES && k < 24; k++) {
			c->pairs[i].side[ASSAY_BASE].samples[k].flags = ASSAY_SAMPLE_BESIDE;
			c->pairs[i].side[ASSAY_HEAD].samples[k].flags = ASSAY_SAMPLE_BESIDE;
			if (k < 9)
				c->pairs[i].side[ASSAY_HEAD].samples[k].ns = (uint64_t)PAIRED_NS;
		}
	}
}

TEST(odd_pairs)
{
	static const struct {
		const char *name;
		enum oddity oddity;
		size_t n_pairs;
		double slowdown;
		enum assay_verdict want;
	} rows[] = {
		{ "ticks", TICKS, PAIRS, 0, ASSAY_PASS },
		{ "may be faster, and no pairs are left", NOTHING, 7, -0.006, ASSAY_PASS },
		{ "slower by either", NOTHING, PAIRS, 0.02, ASSAY_REGRESSED },
		{ "disturbed, nine pairs, which are no look", MOVED, 9, 0.05, ASSAY_INCONCLUSIVE },
		{ "nine pairs of ten, which is the end", LOST, 10, 0.05, ASSAY_INCONCLUSIVE },
		{ "slices, of which most are slower", SLICES, PAIRS, 0.006, ASSAY_PASS },
	};
	static const struct made made[] = { SAME };

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison cmp = make_comparison(made, 1);
		struct assay_gate_report r;

		set_pairs(&cmp.cases[0], rows[i].n_pairs, rows[i].slowdown, rows[i].oddity);
		cmp.rule = ASSAY_JUDGE_RULE - 1; /* whatever judged it before */
		cmp.alpha = 0.005;               /* 2^-9 is less than half of it, and nine pairs are no look */
		if (rows[i].oddity == LOST)
			cmp.max_pairs = rows[i].n_pairs;
		r = judge(&cmp, NULL, false);
		assert_int_equal(r.rule, ASSAY_JUDGE_RULE);
		if (r.cases[0].verdict != rows[i].want)
			fail_msg("%s: %s (%s)", rows[i].name, assay_verdict_name(r.cases[0].verdict),
				 r.cases[0].reason);
		release(&cmp, &r);
	}
}

UNIT_GROUP(NULL, NULL)

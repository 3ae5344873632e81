/* SPDX-License-Identifier: Apache-2.0 */
/* A whole comparison: cases, limits, controls that hold or fail, and the exit code. */

#include "exact_fixture.h"
#include "judge/comparison_judge.h"
#include "judge_fixture.h"
#include "paired_fixture.h"

#define PAIRS 24

/* One case of a made-up comparison; all-zero is an unchanged one. */
struct made {
	double slowdown;
	enum assay_control control;
	double injected;
	bool lost, unmeasured, crashed, added;
	const char *difference;
};

static struct assay_comparison make_comparison(const struct made *cases, size_t n)
{
	struct assay_comparison cmp = { .id = 7,
					.rule = ASSAY_JUDGE_RULE,
					.base = "v1 (aaaa)",
					.head = "v2 (bbbb)",
					.alpha = 0.01,
					.max_pairs = PAIRS,
					.started_ns = 1000000000,
					.ended_ns = 3500000000,
					.n_cases = n };

	cmp.cases = calloc(n + 1, sizeof(*cmp.cases));
	for (size_t i = 0; i < n; i++) {
		static const double deviation[4] = { 1, -1, 0.5, -0.5 };
		struct assay_comparison_case *c = &cmp.cases[i];

		paired_make(c, "", cases[i].unmeasured || cases[i].lost ? 0 : cases[i].added ? 1 : PAIRS, 2);
		c->c = make_case("stream.read", i ? "avx2" : "ref", 8 + (int64_t)i, 1, false);
		for (size_t k = 0; k < c->n_pairs; k++)
			paired_set(c, k, log1p(cases[i].slowdown) + 0.0005 * deviation[k % 4]);
		c->control = cases[i].control;
		c->injected_frac = cases[i].injected;
		cmp.family += c->control == ASSAY_CONTROL_NONE;
		c->in_head = !cases[i].lost;
		c->in_base = !cases[i].added;
		if (cases[i].difference)
			snprintf(c->difference, sizeof(c->difference), "%s", cases[i].difference);
		if (cases[i].crashed) {
			c->pairs[0].side[ASSAY_HEAD].status = ASSAY_STATUS_CRASHED;
			snprintf(c->pairs[0].side[ASSAY_HEAD].reason, 512, "signal 11");
		}
	}
	return cmp;
}

static void release(struct assay_comparison *cmp, struct assay_gate_report *r)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		paired_release(&cmp->cases[i]);
	free(cmp->cases);
	assay_gate_report_release(r);
}

static const char *countable_names[] = { "d1_hit_rate", "PAPI_L1_DCM" }, *countable_groups[] = { "cache", "cache" };
static const struct assay_countable countable = { .names = { .v = (char **)countable_names, .n = 2 },
						  .groups = { .v = (char **)countable_groups, .n = 2 } };

static struct assay_gate_report judge(const struct assay_comparison *cmp, const struct assay_policy *p, bool strict)
{
	const struct assay_policy usual = assay_policy_default();
	struct assay_gate_report r;
	struct assay_err err;

	assert_int_equal(
		assay_comparison_judge(cmp, p ? p : &usual,
				       &(struct assay_comparison_judging){ .strict = strict, .countable = &countable },
				       &r, &err),
		0);
	return r;
}

static const struct {
	const char *name;
	struct made cases[3];
	size_t n;
	enum assay_verdict first, whole;
	enum assay_exit exit, strict;
	bool untrusted;
} wholes[] = {
#define SAME                                                                                                           \
	{                                                                                                              \
		.slowdown = 0                                                                                          \
	}
#define AA                                                                                                             \
	{                                                                                                              \
		.control = ASSAY_CONTROL_AA                                                                            \
	}
#define SLOWER                                                                                                         \
	{                                                                                                              \
		.slowdown = 0.02, .control = ASSAY_CONTROL_SLOWER, .injected = 0.02                                    \
	}
	{ "nothing changed", { SAME, AA, SLOWER }, 3, ASSAY_PASS, ASSAY_PASS, 0, 0, false },
	{ "faster", { { .slowdown = -0.1 }, AA, SLOWER }, 3, ASSAY_IMPROVED, ASSAY_IMPROVED, 0, 0, false },
	{ "slower", { { .slowdown = 0.1 }, SAME, AA }, 3, ASSAY_REGRESSED, ASSAY_REGRESSED, 1, 1, false },
	{ "undecided", { { .slowdown = 0.005 }, AA, SLOWER }, 3, ASSAY_INCONCLUSIVE, ASSAY_INCONCLUSIVE, 0, 6, false },
	{ "slower is graver than undecided",
	  { { .slowdown = 0.005 }, { .slowdown = 0.1 }, AA },
	  3,
	  ASSAY_INCONCLUSIVE,
	  ASSAY_REGRESSED,
	  1,
	  1,
	  false },
	{ "crash is graver than slower",
	  { { .slowdown = 0.1 }, { .crashed = true }, AA },
	  3,
	  ASSAY_REGRESSED,
	  ASSAY_NOT_MEASURED,
	  4,
	  4,
	  false },
	{ "wrong is graver than a crash",
	  { { .difference = "element 0" }, { .crashed = true }, AA },
	  3,
	  ASSAY_WRONG_RESULT,
	  ASSAY_WRONG_RESULT,
	  3,
	  3,
	  false },
	{ "lost", { { .lost = true }, SAME, AA }, 3, ASSAY_NOT_MEASURED, ASSAY_NOT_MEASURED, 4, 4, false },
	{ "new", { { .added = true }, SAME, AA }, 3, ASSAY_PASS, ASSAY_PASS, 0, 0, false },
	{ "new and crashed",
	  { { .added = true, .crashed = true }, SAME, AA },
	  3,
	  ASSAY_NOT_MEASURED,
	  ASSAY_NOT_MEASURED,
	  4,
	  4,
	  false },
	{ "new, ended before it",
	  { { .added = true, .unmeasured = true }, SAME, AA },
	  3,
	  ASSAY_NOT_MEASURED,
	  ASSAY_NOT_MEASURED,
	  4,
	  4,
	  false },
	{ "ended before the second case",
	  { SAME, { .unmeasured = true }, AA },
	  3,
	  ASSAY_PASS,
	  ASSAY_NOT_MEASURED,
	  4,
	  4,
	  false },
	{ "ended before the controls",
	  { SAME, { .unmeasured = true, .control = ASSAY_CONTROL_AA } },
	  2,
	  ASSAY_PASS,
	  ASSAY_PASS,
	  0,
	  0,
	  false },
	/* controls */
	{ "base is not as fast as itself",
	  { SAME, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA }, SLOWER },
	  3,
	  ASSAY_INCONCLUSIVE,
	  ASSAY_INCONCLUSIVE,
	  0,
	  6,
	  true },
	{ "nor is the head slower then",
	  { { .slowdown = 0.1 }, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA }, SLOWER },
	  3,
	  ASSAY_INCONCLUSIVE,
	  ASSAY_INCONCLUSIVE,
	  0,
	  6,
	  true },
	{ "more work is not seen",
	  { SAME, AA, { .control = ASSAY_CONTROL_SLOWER, .injected = 0.02 } },
	  3,
	  ASSAY_INCONCLUSIVE,
	  ASSAY_INCONCLUSIVE,
	  0,
	  6,
	  true },
	{ "more work is faster",
	  { SAME, AA, { .slowdown = -0.1, .control = ASSAY_CONTROL_SLOWER, .injected = 0.02 } },
	  3,
	  ASSAY_INCONCLUSIVE,
	  ASSAY_INCONCLUSIVE,
	  0,
	  6,
	  true },
	{ "undecided controls prove nothing",
	  { SAME,
	    { .slowdown = 0.005, .control = ASSAY_CONTROL_AA },
	    { .slowdown = 0.005, .control = ASSAY_CONTROL_SLOWER, .injected = 0.005 } },
	  3,
	  ASSAY_PASS,
	  ASSAY_PASS,
	  0,
	  0,
	  false },
	{ "a control that crashed says nothing of the host",
	  { SAME, { .crashed = true, .control = ASSAY_CONTROL_AA } },
	  2,
	  ASSAY_PASS,
	  ASSAY_PASS,
	  0,
	  0,
	  false },
	{ "distrust does not excuse what is wrong",
	  { { .difference = "element 0" }, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA } },
	  2,
	  ASSAY_WRONG_RESULT,
	  ASSAY_WRONG_RESULT,
	  3,
	  3,
	  true },
};

TEST(whole_comparisons)
{
	for (size_t i = 0; i < N_OF(wholes); i++)
		for (int strict = 0; strict < 2; strict++) {
			struct assay_comparison cmp = make_comparison(wholes[i].cases, wholes[i].n);
			struct assay_gate_report r = judge(&cmp, NULL, strict);
			size_t n_controls = 0;

			if (r.cases[0].verdict != wholes[i].first || r.verdict != wholes[i].whole ||
			    r.exit != (strict ? wholes[i].strict : wholes[i].exit) ||
			    r.untrusted != wholes[i].untrusted)
				fail_msg("%s: first %s (%s), whole %s, exit %d%s", wholes[i].name,
					 assay_verdict_name(r.cases[0].verdict), r.cases[0].reason,
					 assay_verdict_name(r.verdict), (int)r.exit, r.untrusted ? ", untrusted" : "");
			for (size_t k = 0; k < wholes[i].n; k++)
				n_controls += wholes[i].cases[k].control != ASSAY_CONTROL_NONE;
			assert_int_equal(r.n_controls, n_controls);
			assert_int_equal(r.n_cases, wholes[i].n - n_controls);
			if (r.untrusted && r.cases[0].verdict == ASSAY_INCONCLUSIVE)
				assert_non_null(strstr(r.cases[0].reason, "a control failed"));
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
	r = judge(&cmp, NULL, false);
	assert_true(isnan(r.seconds));
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
	release(&cmp, &none);
}

static void add_metric(struct assay_pair_side *s, const char *tag, double value)
{
	s->metrics = calloc(1, sizeof(*s->metrics));
	s->n_metrics = 1;
	snprintf(s->metrics[0].tag, sizeof(s->metrics[0].tag), "%s", tag);
	s->metrics[0].value = value;
}

TEST(limits)
{
	static const struct {
		const char *name, *cases, *metric;
		bool floor, added;
		double limit;
		enum assay_verdict want; /* of the limit */
		enum assay_exit exit, strict;
		const char *reason;
	} rows[] = {
		{ "floor holds", "*", "tokens_per_s", true, false, 50, ASSAY_PASS, 0, 0,
		  "tokens_per_s is 50, floor 50" },
		{ "floor broken", "*", "tokens_per_s", true, false, 50.5, ASSAY_REGRESSED, 1, 1,
		  "tokens_per_s is 50, below the floor of 50.5" },
		{ "ceiling holds", "*", "tokens_per_s", false, false, 50, ASSAY_PASS, 0, 0,
		  "tokens_per_s is 50, ceiling 50" },
		{ "ceiling broken", "*", "tokens_per_s", false, false, 40, ASSAY_REGRESSED, 1, 1,
		  "tokens_per_s is 50, above the ceiling of 40" },
		{ "absent", "*", "kv_cache_hit_rate", true, false, 0.5, ASSAY_NOT_MEASURED, 4, 4,
		  "kv_cache_hit_rate was not measured, floor 0.5" },
		{ "not in pairs of older versions", "*", "prepare_bytes", false, false, 5, ASSAY_NOT_MEASURED, 4, 4,
		  "prepare_bytes was not measured (pairs of that version did not measure it), ceiling 5 B" },
		{ "a count that these lack", "*", "page_faults", false, false, 5, ASSAY_NOT_MEASURED, 4, 4,
		  "page_faults was not measured (pairs of that version did not measure it), ceiling 5" },
		{ "not even in those", "*", "items_per_s", true, false, 5, ASSAY_NOT_MEASURED, 4, 4,
		  "items_per_s was not measured (its op states no items), floor 5 items/s" },
		{ "of a group that was not counted", "*", "d1_hit_rate", true, false, 0.5, ASSAY_NOT_MEASURED, 4, 4,
		  "d1_hit_rate was not measured (group 'cache' was not counted: --counters cache, or counters = "
		  "{\"cache\"} in its "
		  "bench, counts it), floor 0.5" },
		{ "new case, floor holds", "*", "tokens_per_s", true, true, 1, ASSAY_PASS, 0, 0,
		  "tokens_per_s is 1, floor 1" },
		{ "new case, floor broken", "*", "tokens_per_s", true, true, 2, ASSAY_REGRESSED, 1, 1,
		  "tokens_per_s is 1, below the floor of 2" },
		{ "another case's", "generate*", "tokens_per_s", true, false, 50.5, ASSAY_N_VERDICTS, 0, 0, NULL },
	};

	for (size_t i = 0; i < N_OF(rows); i++)
		for (int strict = 0; strict < 2; strict++) {
			const struct made made[2] = { { .added = rows[i].added }, AA };
			struct assay_comparison cmp = make_comparison(made, 2);
			struct assay_policy p = assay_policy_default();
			struct assay_limit limit = { .floor = rows[i].floor, .limit = rows[i].limit };
			struct assay_gate_report r;

			snprintf(limit.cases, sizeof(limit.cases), "%s", rows[i].cases);
			snprintf(limit.metric, sizeof(limit.metric), "%s", rows[i].metric);
			p.limits = &limit;
			p.n_limits = 1;
			/* the median of the head's 24 is 50; the base's and a control's do not count */
			for (size_t k = 0; k < cmp.cases[0].n_pairs; k++) {
				add_metric(&cmp.cases[0].pairs[k].side[ASSAY_HEAD], "tokens_per_s",
					   k < 11   ? 1
					   : k < 13 ? 50
						    : 1000);
				add_metric(&cmp.cases[0].pairs[k].side[ASSAY_BASE], "tokens_per_s", 7);
				add_metric(&cmp.cases[1].pairs[k].side[ASSAY_HEAD], "tokens_per_s", 3);
			}
			r = judge(&cmp, &p, strict);
			assert_int_equal(r.cases[0].verdict, ASSAY_PASS);
			assert_int_equal(r.n_cases, rows[i].want == ASSAY_N_VERDICTS ? 1 : 2);
			if (r.exit != (strict ? rows[i].strict : rows[i].exit) ||
			    (r.n_cases > 1 &&
			     (r.cases[1].verdict != rows[i].want || strcmp(r.cases[1].reason, rows[i].reason))))
				fail_msg("%s: exit %d, %s: %s", rows[i].name, (int)r.exit,
					 assay_verdict_name(r.cases[1].verdict), r.cases[1].reason);
			if (r.n_cases > 1) {
				assert_int_equal(r.cases[1].evidence, ASSAY_EVIDENCE_NONE);
				assert_string_equal(r.cases[1].metric, rows[i].metric);
				assert_true(r.cases[1].limit == rows[i].limit && isnan(r.cases[1].ratio));
			}
			if (!rows[i].added) {
				double median;

				assert_int_equal(assay_comparison_metric(&cmp.cases[0], ASSAY_BASE, "tokens_per_s",
									 &median, NULL),
						 0);
				assert_true(median == 7);
				assert_int_equal(
					assay_comparison_metric(&cmp.cases[0], ASSAY_BASE, "other", &median, NULL), 0);
				assert_true(isnan(median));
			}
			release(&cmp, &r);
		}
}

/* A host that is not trusted still knows what a metric was. */
TEST(limits_outlive_distrust)
{
	static const struct made made[2] = { SAME, { .slowdown = 0.1, .control = ASSAY_CONTROL_AA } };
	struct assay_comparison cmp = make_comparison(made, 2);
	struct assay_policy p = assay_policy_default();
	struct assay_limit limit = { .cases = "*", .metric = "tokens_per_s", .floor = true, .limit = 60 };
	struct assay_gate_report r;

	p.limits = &limit;
	p.n_limits = 1;
	add_metric(&cmp.cases[0].pairs[3].side[ASSAY_HEAD], "tokens_per_s", 50);
	r = judge(&cmp, &p, false);
	assert_true(r.untrusted);
	assert_int_equal(r.cases[0].verdict, ASSAY_INCONCLUSIVE);
	assert_int_equal(r.cases[1].verdict, ASSAY_REGRESSED);
	assert_int_equal(r.exit, 1);
	release(&cmp, &r);
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

/* Counts beside pairs or alone; what both sides skip is the same code, what only the head skips is no count. */
TEST(counts_are_judged_with_the_rest)
{
	static const struct {
		const char *name;
		bool pairs;
		uint64_t instructions; /* of the head; 0: it skips KEY_A and KEY_B */
		bool same;             /* the base skips KEY_A, too */
		enum assay_exit exit;
		size_t rows;
	} cases[] = {
		{ "equal, beside pairs", true, 41985, false, ASSAY_EXIT_OK, 3 },
		{ "more, beside pairs", true, 42000, false, ASSAY_EXIT_REGRESSED, 3 },
		{ "equal, alone", false, 41985, false, ASSAY_EXIT_OK, 2 },
		{ "more, alone", false, 42000, false, ASSAY_EXIT_REGRESSED, 2 },
		{ "nothing was counted", true, 0, false, ASSAY_EXIT_NOT_MEASURED, 3 },
		{ "the same code needs no count", true, 0, true, ASSAY_EXIT_OK, 3 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct made unchanged = { 0 };
		struct assay_comparison cmp = make_comparison(&unchanged, cases[i].pairs);
		struct assay_exact_run *head = &cmp.exact[ASSAY_HEAD], *base = &cmp.exact[ASSAY_BASE];
		struct assay_gate_report r;

		*head = exact_run();
		*base = exact_run();
		head->cases[0].total.v[ASSAY_EXACT_INSTRUCTIONS] = cases[i].instructions;
		for (size_t k = 0; k < 2 && !cases[i].instructions; k++) {
			head->cases[k].status = ASSAY_STATUS_SKIPPED;
			strcpy(head->cases[k].reason, "why");
		}
		if (!cases[i].instructions)
			assay_exact_case_release(&base->cases[--base->n_cases]);
		if (cases[i].same)
			base->cases[0].status = ASSAY_STATUS_SKIPPED;
		else if (!cases[i].instructions)
			assay_exact_case_release(&base->cases[--base->n_cases]);
		r = judge(&cmp, NULL, false);
		if (r.exit != cases[i].exit || r.n_cases != cases[i].rows || isnan(r.alpha) == cases[i].pairs)
			fail_msg("%s: exit %d, %zu rows, alpha %g", cases[i].name, (int)r.exit, r.n_cases, r.alpha);
		assay_exact_run_release(head);
		assay_exact_run_release(base);
		release(&cmp, &r);
	}
}

/* Where counts were taken alone, a demand finds its cases by t=all, too. */
TEST(counted_cases_of_all_threads_owe_demands)
{
	for (int all = 0; all < 2; all++) {
		struct assay_comparison cmp = make_comparison(NULL, 0);
		struct assay_limit demand = { .cases = "op.a/*/t=all/*", .metric = "exact_instructions", .limit = 1 };
		struct assay_policy p = assay_policy_default();
		struct assay_gate_report r;

		p.limits = &demand;
		p.n_limits = 1;
		cmp.exact[ASSAY_HEAD] = exact_run();
		cmp.exact[ASSAY_BASE] = exact_run();
		cmp.exact[ASSAY_HEAD].cases[0].all_threads = all;
		r = judge(&cmp, &p, false);
		assert_int_equal(r.n_cases, 2 + all);
		assert_int_equal(r.exit, all ? ASSAY_EXIT_REGRESSED : ASSAY_EXIT_OK);
		assay_exact_run_release(&cmp.exact[ASSAY_HEAD]);
		assay_exact_run_release(&cmp.exact[ASSAY_BASE]);
		release(&cmp, &r);
	}
}

UNIT_MAIN(NULL, NULL)

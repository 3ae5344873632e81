/* SPDX-License-Identifier: Apache-2.0 */
/* Demands of the policy on a comparison: on metrics, and on counts beside pairs or alone. */

#include "comparison_judge_fixture.h"

static void add_metric(struct assay_result *s, const char *tag, double value)
{
	s->metrics = calloc(1, sizeof(*s->metrics));
	s->n_metrics = 1;
	snprintf(s->metrics[0].tag, sizeof(s->metrics[0].tag), "%s", tag);
	s->metrics[0].value = value;
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

UNIT_GROUP(NULL, NULL)

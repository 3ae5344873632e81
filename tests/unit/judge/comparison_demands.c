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
		  "items_per_s was not measured (its op declares no items), floor 5 items/s" },
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Policies about exact counts: demands, the cases that owe them, and tolerances that cannot be read. */
#include "exact_judge_fixture.h"

#include "model/exact.h"

/* A demand on what cannot be counted is not met, unless it holds only where something is counted. */
TEST(demands_on_what_was_skipped)
{
	static const struct {
		const char *policy, *record;
		size_t rows;
		enum assay_exit exit;
	} cases[] = {
		{ "limit \"op.d*\" { require = {\"exact_d1_hit_rate >= 90%\"} }", "update", 2,
		  ASSAY_EXIT_NOT_MEASURED },
		{ "limit \"op.d*\" { where_counted = {\"exact_d1_hit_rate >= 90%\"} }", "update", 1, ASSAY_EXIT_OK },
		{ "limit \"op.d*\" { require = {\"exact_d1_hit_rate >= 90%\"} }", NULL, 2, ASSAY_EXIT_NOT_MEASURED },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_policy policy = policy_of(cases[i].policy);
		struct assay_exact_run base = { 0 }, head = { 0 };
		struct assay_gate_report r = { 0 };
		const struct assay_exact_judge_input in = { .head = &head,
							    .base = &base,
							    .base_name = "quick.json",
							    .policy = &policy,
							    .limits = true,
							    .record = cases[i].record };

		add_exact_case(&head, "op.d/avx512/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.n_cases, cases[i].rows);
		assert_int_equal(r.exit, cases[i].exit);
		if (r.n_cases > 1)
			assert_string_equal(r.cases[1].reason,
					    "exact_d1_hit_rate was not measured (needs avx512f), floor 90.0 %");
		assay_gate_report_release(&r);
		assay_exact_run_release(&head);
		assay_policy_release(&policy);
	}
}

/* The head has 3.1 % more instructions, which an allowance of 5 % lets pass: what fails is the demand. */
TEST(limits_against_the_base_hold)
{
	static const struct {
		const char *demand, *reason;
		enum assay_verdict verdict;
	} cases[] = {
		{ "exact_instructions <= base + 4%", "(base 41985 + 4 %)", ASSAY_PASS },
		{ "exact_instructions <= base + 2%", "(base 41985 + 2 %)", ASSAY_REGRESSED },
		{ "exact_instructions == base", "must be 41985 as in the base", ASSAY_REGRESSED },
		{ "exact_data_writes == base +- 4%", "as in the base (within 4 %)", ASSAY_PASS },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_gate_case *c;
		struct assay_gate_report r;
		char policy[256];

		snprintf(policy, sizeof(policy),
			 "exact \"*\" { allow = {\"instructions 5%%\", \"data_reads 5%%\", \"data_writes 5%%\", "
			 "\"branches 5%%\"} }\n"
			 "limit \"op.a*\" { require = {\"%s\"} }",
			 cases[i].demand);
		r = judge(42256, 500, policy, true, NULL);
		c = &r.cases[1];
		if (c->verdict != cases[i].verdict || !strstr(c->reason, cases[i].reason) ||
		    c->evidence != ASSAY_EVIDENCE_EXACT)
			fail_msg("%s: %s, %s", cases[i].demand, assay_verdict_name(c->verdict), c->reason);
		assert_int_equal(r.verdict, cases[i].verdict);
		assay_gate_report_release(&r);
	}
}

/* A case of `all` threads is also named by t=all, in demands and in tolerances. */
TEST(policies_select_by_all_threads)
{
	static const struct {
		const char *policy;
		bool all;
		enum assay_verdict verdict;
	} cases[] = {
		{ "limit \"*/t=all/*\" { require = {\"exact_instructions <= 1\"} }", true, ASSAY_REGRESSED },
		{ "limit \"*/t=2/*\" { require = {\"exact_instructions <= 1\"} }", true, ASSAY_REGRESSED },
		{ "limit \"*/t=all/*\" { require = {\"exact_instructions <= 1\"} }", false, ASSAY_PASS },
		{ "limit \"*/t=all/*\" { require = {\"time_s <= 1\"} }", true, ASSAY_NOT_MEASURED },
		{ "exact \"*/t=all/*\" { allow = {\"i1_misses 1\"} }", true, ASSAY_PASS },
		{ "exact \"*/t=all/*\" { allow = {\"i1_misses 1\"} }", false, ASSAY_REGRESSED },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		bool tolerance = cases[i].policy[0] == 'e';
		struct assay_policy policy = policy_of(cases[i].policy);
		struct assay_exact_run base = { 0 }, head = { 0 };
		const struct assay_exact_judge_input in = {
			.head = &head, .base = &base, .base_name = "quick.json", .policy = &policy, .limits = true
		};
		struct assay_gate_report r = { 0 };

		add_function(add_exact_case(&base, "op.a/avx2/n=1/t=2/cold", ASSAY_STATUS_OK, ""), "f", "", 40985, 500);
		add_function(add_exact_case(&head, "op.a/avx2/n=1/t=2/cold", ASSAY_STATUS_OK, ""), "f", "", 40985, 500);
		head.cases[0].all_threads = cases[i].all;
		head.cases[0].total.v[ASSAY_EXACT_I1_MISSES] += tolerance;
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		if (r.verdict != cases[i].verdict)
			fail_msg("%s, %d: %s", cases[i].policy, cases[i].all, assay_verdict_name(r.verdict));
		assay_gate_report_release(&r);
		assay_exact_run_release(&base);
		assay_exact_run_release(&head);
		assay_policy_release(&policy);
	}
}

/* A demand on a case of the suite that was not counted would vanish otherwise. */
TEST(uncounted_cases_of_the_suite_owe_demands)
{
	static struct assay_manifest_entry entries[] = {
		{ "op.a/avx2/n=1/t=all/cold", ASSAY_MANIFEST_REQUIRED, 1 }, /* counted */
		{ "op.a/avx2/n=2/t=all/cold", ASSAY_MANIFEST_REQUIRED, 2 },
		{ "op.a/avx512/n=2/t=1/cold", ASSAY_MANIFEST_MAY_SKIP, 3 },
		{ "op.a/openblas/n=2/t=1/cold", ASSAY_MANIFEST_OPTIONAL, 4 },
		{ "op.b/avx2/n=2/t=1/cold", ASSAY_MANIFEST_REQUIRED, 5 },
	};
	static const char *const policies[] = {
		"limit \"op.a/*\" { require = {\"exact_instructions <= 1e6\"} }",
		"limit \"op.a/*\" { where_counted = {\"exact_instructions <= 1e6\"} }",
	};
	const struct assay_manifest suite = { .entries = entries, .n_entries = N_OF(entries) };

	for (size_t i = 0; i < 2; i++) {
		struct assay_policy policy = policy_of(policies[i]);
		struct assay_exact_run run = { 0 };
		const struct assay_exact_judge_input in = { .head = &run,
							    .base = &run,
							    .base_name = "quick.json",
							    .policy = &policy,
							    .limits = true,
							    .suite = &suite };
		struct assay_gate_report r = { 0 };

		add_function(add_exact_case(&run, "op.a/avx2/n=1/t=2/cold", ASSAY_STATUS_OK, ""), "f", "", 40985, 500);
		run.cases[0].all_threads = true;
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.exit, i ? ASSAY_EXIT_OK : ASSAY_EXIT_NOT_MEASURED);
		assert_int_equal(r.n_cases, i ? 2 : 4);
		for (size_t k = 2; k < r.n_cases; k++) {
			assert_string_equal(r.cases[k].key, entries[k - 1].key);
			assert_int_equal(r.cases[k].verdict, ASSAY_NOT_MEASURED);
			assert_non_null(strstr(r.cases[k].reason, "the suite does not name the case for exact counts"));
		}
		assay_gate_report_release(&r);
		assay_exact_run_release(&run);
		assay_policy_release(&policy);
	}
}

TEST(bad_tolerances_are_refused)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "exact \"*\" { }", "p.conf:1: exact \"*\" allows nothing" },
		{ "exact \"*\" {\n allow = {\"d1_mises 1%\"} }",
		  "p.conf:2: unknown count 'd1_mises', did you mean 'd1_misses'?" },
		{ "exact \"*\" { allow = {\"d1_misses\"} }",
		  "cannot read 'd1_misses', expected a count and what it may differ by" },
		{ "exact \"*\" { allow = {\"d1_misses 0.5\"} }", "cannot read 'd1_misses 0.5'" },
		{ "exact \"*\" { allow = {\"d1_misses 200%\"} }", "cannot read 'd1_misses 200%'" },
		{ "exact \"*\" { allow = {\"d1_misses -1\"} }", "cannot read 'd1_misses -1'" },
		{ "exact \"\" { allow = {\"d1_misses 1\"} }", "bad glob ''" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_policy p;
		struct assay_err err = { 0 };

		assert_int_equal(assay_policy_parse(&p, cases[i].text, "p.conf", &err), ASSAY_EUSAGE);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu says: %s", i, err.text);
	}
}

UNIT_GROUP(NULL, NULL)

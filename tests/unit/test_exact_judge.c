/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of exact counts, and their tolerances. */
#include "exact_fixture.h"

#include "judge/exact_judge.h"

static struct assay_policy policy_of(const char *text)
{
	struct assay_policy p;
	struct assay_err err = { 0 };

	if (assay_policy_parse(&p, text, "p.conf", &err))
		fail_msg("%s", err.text);
	return p;
}

/* Judge counts in which the first function of KEY_A has these instructions and misses against the fixture. */
static struct assay_gate_report judge(uint64_t instructions, uint64_t misses, const char *policy_text, bool base,
				      const char *record)
{
	struct assay_policy policy = policy_of(policy_text);
	struct assay_exact_run recorded = exact_run(), head = exact_run();
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = { .head = &head,
						    .base = base ? &recorded : NULL,
						    .no_base_reason = "nothing recorded",
						    .base_name = "quick.json",
						    .policy = &policy,
						    .limits = true,
						    .record = record };

	assay_exact_case_release(&head.cases[0]);
	add_function(&head.cases[0], "matmul_ternary_avx2", "", 40985, 500);
	head.cases[0].functions[0].counts.v[ASSAY_EXACT_INSTRUCTIONS] = instructions;
	head.cases[0].total.v[ASSAY_EXACT_INSTRUCTIONS] += instructions - 40985;
	head.cases[0].functions[0].counts.v[ASSAY_EXACT_D1_MISSES] = misses;
	head.cases[0].total.v[ASSAY_EXACT_D1_MISSES] += misses - 500;
	add_function(&head.cases[0], "sum", "", 1000, 20);
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assay_exact_run_release(&recorded);
	assay_exact_run_release(&head);
	assay_policy_release(&policy);
	return r;
}

TEST(counts_are_judged)
{
	static const struct {
		const char *name, *policy;
		uint64_t instructions, misses;
		enum assay_verdict verdict;
		enum assay_exit exit;
		const char *metric, *reason; /* of the first row */
	} cases[] = {
		{ "equal", "", 40985, 500, ASSAY_PASS, ASSAY_EXIT_OK, "exact", "counts are those of quick.json" },
		{ "more", "", 42256, 500, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact_instructions",
		  "matmul_ternary_avx2: instructions +3.1 % (40 985 → 42 256)" },
		{ "one more", "", 40986, 500, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact_instructions",
		  "matmul_ternary_avx2: instructions +0.002 % (40 985 → 40 986)" },
		{ "fewer", "", 30000, 500, ASSAY_PASS, ASSAY_EXIT_OK, "exact_instructions",
		  "matmul_ternary_avx2: instructions -26.8 % (40 985 → 30 000)" },
		{ "a share is allowed", "exact \"*\" { allow = {\"instructions 5%\"} }", 42256, 500, ASSAY_PASS,
		  ASSAY_EXIT_OK, "exact", "within the tolerance" },
		{ "of other cases", "exact \"op.b/*\" { allow = {\"instructions 5%\"} }", 42256, 500, ASSAY_REGRESSED,
		  ASSAY_EXIT_REGRESSED, "exact_instructions", "+3.1 %" },
		{ "of another count", "exact \"*\" { allow = {\"branches 5%\"} }", 42256, 500, ASSAY_REGRESSED,
		  ASSAY_EXIT_REGRESSED, "exact_instructions", "+3.1 %" },
		{ "the last match wins", "exact \"*\" { allow = {\"instructions 5%\", \"instructions 1%\"} }", 42256,
		  500, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact_instructions", "+3.1 %" },
		{ "a number is allowed", "exact \"*\" { allow = {\"d1_misses 8\"} }", 40985, 508, ASSAY_PASS,
		  ASSAY_EXIT_OK, "exact", "" },
		{ "and no more", "exact \"*\" { allow = {\"d1_misses 8\"} }", 40985, 509, ASSAY_REGRESSED,
		  ASSAY_EXIT_REGRESSED, "exact_d1_misses", "matmul_ternary_avx2: d1_misses +1.8 % (500 → 509)" },
		{ "both add up", "exact \"*\" { allow = {\"d1_misses 1%\", \"d1_misses 4\"} }", 40985, 509, ASSAY_PASS,
		  ASSAY_EXIT_OK, "exact", "" },
		{ "a floor", "limit \"op.a*\" { require = {\"exact_d1_hit_rate >= 99.9%\"} }", 40985, 500,
		  ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact", "those of" },
		{ "a ceiling that is kept", "limit \"op.a*\" { require = {\"exact_instructions <= 50000\"} }", 40985,
		  500, ASSAY_PASS, ASSAY_EXIT_OK, "exact", "those of" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_gate_report r = judge(cases[i].instructions, cases[i].misses, cases[i].policy, true, NULL);

		if (r.verdict != cases[i].verdict || r.exit != cases[i].exit ||
		    strcmp(r.cases[0].metric, cases[i].metric) || !strstr(r.cases[0].reason, cases[i].reason) ||
		    r.cases[0].evidence != ASSAY_EVIDENCE_EXACT)
			fail_msg("%s: %s, exit %d, %s: %s", cases[i].name, assay_verdict_name(r.verdict), r.exit,
				 r.cases[0].metric, r.cases[0].reason);
		if (strcmp(cases[i].metric, "exact"))
			assert_int_equal(r.cases[0].verdict,
					 cases[i].instructions < 40985 ? ASSAY_IMPROVED : ASSAY_REGRESSED);
		assay_gate_report_release(&r);
	}
}

/* Fewer than recorded is nothing to be proud of yet: the record describes other code, and says how it is replaced. */
TEST(a_record_that_is_out_of_date_fails)
{
	static const struct {
		const char *policy;
		uint64_t instructions;
		enum assay_verdict verdict;
		enum assay_exit exit;
	} cases[] = {
		{ "", 40984, ASSAY_INCOMPARABLE, ASSAY_EXIT_INCOMPARABLE },
		{ "exact \"*\" { allow = {\"instructions 1\"} }", 40984, ASSAY_PASS, ASSAY_EXIT_OK },
		{ "exact \"*\" { allow = {\"instructions 1\"} }", 40983, ASSAY_INCOMPARABLE, ASSAY_EXIT_INCOMPARABLE },
		{ "", 40986, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_gate_report r =
			judge(cases[i].instructions, 500, cases[i].policy, true, "assay baseline update --exact");

		assert_int_equal(r.verdict, cases[i].verdict);
		assert_int_equal(r.exit, cases[i].exit);
		if (r.verdict == ASSAY_INCOMPARABLE) {
			assert_non_null(strstr(r.cases[0].reason,
					       "fewer than in quick.json, which is out of date: 'assay baseline update "
					       "--exact' records these; matmul_ternary_avx2: instructions -0.0"));
			assert_true(r.cases[0].limit <= 41985 && r.cases[0].limit > r.cases[0].value);
		}
		assay_gate_report_release(&r);
	}
}

TEST(without_a_record_nothing_is_comparable)
{
	struct assay_gate_report r = judge(40985, 500, "", false, "assay baseline update --exact");

	assert_int_equal(r.verdict, ASSAY_INCOMPARABLE);
	assert_int_equal(r.exit, ASSAY_EXIT_INCOMPARABLE);
	assert_int_equal(r.n_cases, 2);
	assert_string_equal(r.cases[0].reason, "nothing recorded");
	assay_gate_report_release(&r);
}

/* A case that cannot be counted any more, one that vanished, a new one, and one that was never counted. */
TEST(cases_come_and_go)
{
	static const struct {
		const char *key, *reason;
		enum assay_verdict verdict;
	} want[] = {
		{ KEY_A, "crashed: killed by signal 9", ASSAY_NOT_MEASURED },
		{ "op.new/ref/t=1/warm", "counted, not in quick.json", ASSAY_PASS },
		{ "op.d/avx512/t=1/warm", "skipped: needs avx512f", ASSAY_PASS },
		{ "op.e/ref/t=1/warm", "wrong output", ASSAY_WRONG_RESULT },
		{ KEY_B, "in quick.json, but not counted", ASSAY_NOT_MEASURED },
	};
	struct assay_policy policy = assay_policy_default();
	struct assay_exact_run base = exact_run(), head = { 0 };
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &base, .base_name = "quick.json", .policy = &policy
	};

	add_exact_case(&head, KEY_A, ASSAY_STATUS_CRASHED, "killed by signal 9");
	add_function(add_exact_case(&head, "op.new/ref/t=1/warm", ASSAY_STATUS_OK, ""), "f", "", 10, 0);
	add_exact_case(&head, "op.d/avx512/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
	add_exact_case(&head, "op.e/ref/t=1/warm", ASSAY_STATUS_WRONG, "wrong output");
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.n_cases, N_OF(want));
	for (size_t i = 0; i < r.n_cases; i++) {
		assert_string_equal(r.cases[i].key, want[i].key);
		assert_int_equal(r.cases[i].verdict, want[i].verdict);
		if (!strstr(r.cases[i].reason, want[i].reason))
			fail_msg("%s: %s", r.cases[i].key, r.cases[i].reason);
	}
	assert_int_equal(r.exit, ASSAY_EXIT_WRONG_RESULT);
	assay_gate_report_release(&r);
	assay_exact_run_release(&base);
	assay_exact_run_release(&head);
}

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

/* What only another build can be: not countable itself, or of another output. */
TEST(two_builds_are_compared)
{
	static const struct {
		const char *name, *base_digest, *head_digest;
		enum assay_status base, head;
		bool nothing_counted;
		enum assay_verdict verdict;
		const char *reason;
	} cases[] = {
		{ "equal", "ab", "ab", ASSAY_STATUS_OK, ASSAY_STATUS_OK, false, ASSAY_PASS,
		  "counts are those of main" },
		{ "outputs differ", "ab", "cd", ASSAY_STATUS_OK, ASSAY_STATUS_OK, false, ASSAY_WRONG_RESULT,
		  "digests ab and cd" },
		{ "no digest", "", "cd", ASSAY_STATUS_OK, ASSAY_STATUS_OK, false, ASSAY_PASS,
		  "counts are those of main" },
		{ "base crashed", "", "", ASSAY_STATUS_CRASHED, ASSAY_STATUS_OK, false, ASSAY_INCOMPARABLE,
		  "base crashed: why" },
		{ "base wrong", "", "", ASSAY_STATUS_WRONG, ASSAY_STATUS_OK, false, ASSAY_INCOMPARABLE,
		  "base wrong: why" },
		{ "head wrong", "", "", ASSAY_STATUS_CRASHED, ASSAY_STATUS_WRONG, false, ASSAY_WRONG_RESULT, "why" },
		{ "head skipped", "", "", ASSAY_STATUS_OK, ASSAY_STATUS_SKIPPED, false, ASSAY_NOT_MEASURED,
		  "skipped: why" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_policy policy = assay_policy_default();
		struct assay_exact_run base = exact_run(), head = exact_run();
		struct assay_gate_report r = { 0 };
		const struct assay_exact_judge_input in = {
			.head = &head, .base = &base, .base_name = "main", .policy = &policy
		};

		base.cases[0].status = cases[i].base;
		head.cases[0].status = cases[i].head;
		strcpy(base.cases[0].reason, "why");
		strcpy(head.cases[0].reason, "why");
		strcpy(base.cases[0].digest, cases[i].base_digest);
		strcpy(head.cases[0].digest, cases[i].head_digest);
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		if (r.cases[0].verdict != cases[i].verdict || !strstr(r.cases[0].reason, cases[i].reason))
			fail_msg("%s: %s, %s", cases[i].name, assay_verdict_name(r.cases[0].verdict),
				 r.cases[0].reason);
		assay_gate_report_release(&r);
		assay_exact_run_release(&base);
		assay_exact_run_release(&head);
	}
}

/* Cases that are skipped may be, unless that is all there is. */
TEST(counting_nothing_is_no_pass)
{
	struct assay_policy policy = assay_policy_default();
	struct assay_exact_run base = { 0 }, head = { 0 };

	add_exact_case(&head, KEY_A, ASSAY_STATUS_SKIPPED, "no valgrind");
	for (int nothing = 0; nothing < 2; nothing++) {
		const struct assay_exact_judge_input in = {
			.head = &head, .base = &base, .base_name = "main", .policy = &policy, .nothing_counted = nothing
		};
		struct assay_gate_report r = { 0 };

		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.verdict, nothing ? ASSAY_NOT_MEASURED : ASSAY_PASS);
		assert_string_equal(r.cases[0].reason, "skipped: no valgrind");
		assay_gate_report_release(&r);
	}
	assay_exact_run_release(&head);
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

/* Exact rows never make better what others found. */
TEST(a_graver_verdict_stays)
{
	struct assay_policy policy = assay_policy_default();
	struct assay_exact_run base = exact_run(), head = exact_run();
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &base, .base_name = "quick.json", .policy = &policy
	};
	struct assay_gate_report r = { .verdict = ASSAY_REGRESSED,
				       .exit = ASSAY_EXIT_REGRESSED,
				       .cases = calloc(1, sizeof(*r.cases)),
				       .n_cases = 1 };

	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.verdict, ASSAY_REGRESSED);
	assert_int_equal(r.exit, ASSAY_EXIT_REGRESSED);
	assert_int_equal(r.n_cases, 3);
	assay_gate_report_release(&r);
	assay_exact_run_release(&base);
	assay_exact_run_release(&head);
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

/* One way does not count as the other, even where the numbers are equal. */
TEST(two_ways_to_count_are_not_compared)
{
	struct assay_policy policy = policy_of("limit \"op.a*\" { require = {\"exact_d1_hit_rate >= base - 0.1%\"} }");
	struct assay_exact_run recorded = exact_run(), head = exact_run();
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &recorded, .base_name = "quick.json", .policy = &policy, .record = "x"
	};

	head.cases[0].how = ASSAY_EXACT_STEPPED;
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.cases[0].verdict, ASSAY_INCOMPARABLE);
	assert_non_null(strstr(r.cases[0].reason, "counted by stepping, in quick.json by callgrind"));
	assert_int_equal(r.cases[1].verdict, ASSAY_PASS);
	assert_int_equal(r.exit, ASSAY_EXIT_INCOMPARABLE);
	assay_gate_report_release(&r);
	assay_exact_run_release(&recorded);
	assay_exact_run_release(&head);
	assay_policy_release(&policy);
}

/* A machine without the instructions owes nothing; one that has lost its tool does. */
TEST(what_this_machine_cannot_run_owes_no_count)
{
	static const struct {
		enum assay_exact_skip skip;
		const char *record;
		enum assay_verdict verdict;
	} cases[] = {
		{ ASSAY_EXACT_SKIP_UNABLE, "assay baseline update --exact", ASSAY_PASS },
		{ ASSAY_EXACT_SKIP_OTHER, "assay baseline update --exact", ASSAY_NOT_MEASURED },
		{ ASSAY_EXACT_SKIP_SMALLER, "assay baseline update --exact", ASSAY_NOT_MEASURED },
		{ ASSAY_EXACT_SKIP_UNABLE, NULL, ASSAY_NOT_MEASURED }, /* the other build could */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_policy policy = policy_of("");
		struct assay_exact_run recorded = exact_run(), head = exact_run();
		struct assay_gate_report r = { 0 };
		const struct assay_exact_judge_input in = { .head = &head,
							    .base = &recorded,
							    .base_name = "quick.json",
							    .policy = &policy,
							    .record = cases[i].record };

		assay_exact_case_drop_counts(&head.cases[0]);
		head.cases[0].status = ASSAY_STATUS_SKIPPED;
		head.cases[0].skip = cases[i].skip;
		strcpy(head.cases[0].reason, "needs avx512f");
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.cases[0].verdict, cases[i].verdict);
		assay_gate_report_release(&r);
		assay_exact_run_release(&recorded);
		assay_exact_run_release(&head);
		assay_policy_release(&policy);
	}
}

TEST(the_line_that_grew_is_named)
{
	struct assay_policy policy = policy_of("");
	struct assay_exact_run recorded = exact_run(), head = exact_run();
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &recorded, .base_name = "quick.json", .policy = &policy
	};

	recorded.cases[0].detail = strdup("line\tkernel.c\t12\tsum\t900 0 0 0 0 0 0 0\n");
	head.cases[0].detail = strdup("line\tkernel.c\t12\tsum\t942 0 0 0 0 0 0 0\n");
	for (size_t i = 0; i < head.cases[0].n_functions; i++)
		if (!strcmp(head.cases[0].functions[i].name, "sum"))
			head.cases[0].functions[i].counts.v[ASSAY_EXACT_INSTRUCTIONS] += 42;
	head.cases[0].total.v[ASSAY_EXACT_INSTRUCTIONS] += 42;
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.cases[0].verdict, ASSAY_REGRESSED);
	assert_string_equal(r.cases[0].reason, "sum: instructions +4.2 % (1 000 → 1 042) at kernel.c:12");
	assay_gate_report_release(&r);
	assay_exact_run_release(&recorded);
	assay_exact_run_release(&head);
	assay_policy_release(&policy);
}

UNIT_MAIN(NULL, NULL)

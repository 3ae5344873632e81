/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of exact counts against a record, and against those of another build. */
#include "exact_judge_fixture.h"

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

/* Cases of another build alone: not countable itself, or of another output. */
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

/* One way does not count as the other, even where the numbers are equal: against a record, and against a build. */
TEST(two_ways_to_count_are_not_compared)
{
	static const struct {
		enum assay_exact_how base, head;
		const char *record, *base_name, *reason;
	} cases[] = {
		{ ASSAY_EXACT_CALLGRIND, ASSAY_EXACT_STEPPED, "x", "quick.json",
		  "counted by stepping, in quick.json by callgrind: counts of one are not those of the other" },
		{ ASSAY_EXACT_STEPPED, ASSAY_EXACT_CALLGRIND, NULL, "main",
		  "counted by callgrind, in main by stepping: counts of one are not those of the other" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_policy policy =
			policy_of("limit \"op.a*\" { require = {\"exact_d1_hit_rate >= base - 0.1%\"} }");
		struct assay_exact_run recorded = exact_run(), head = exact_run();
		struct assay_gate_report r = { 0 };
		const struct assay_exact_judge_input in = { .head = &head,
							    .base = &recorded,
							    .base_name = cases[i].base_name,
							    .policy = &policy,
							    .limits = true,
							    .record = cases[i].record };

		recorded.cases[0].how = cases[i].base;
		head.cases[0].how = cases[i].head;
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.cases[0].verdict, ASSAY_INCOMPARABLE);
		assert_string_equal(r.cases[0].reason, cases[i].reason);
		/* a demand against the base has none */
		assert_int_equal(r.cases[1].verdict, ASSAY_INCOMPARABLE);
		assert_string_equal(r.cases[1].metric, "exact_d1_hit_rate");
		assert_int_equal(r.exit, ASSAY_EXIT_INCOMPARABLE);
		assay_gate_report_release(&r);
		assay_exact_run_release(&recorded);
		assay_exact_run_release(&head);
		assay_policy_release(&policy);
	}
}

/* A case that the suite does not name is no finding, unless counts of it are recorded. */
TEST(what_the_suite_does_not_name_has_no_row)
{
	struct assay_policy policy = policy_of("");
	struct assay_exact_run recorded = exact_run(), head = exact_run();
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &recorded, .base_name = "quick.json", .policy = &policy, .record = "x"
	};

	add_exact_case(&head, "op.c/ref/n=1/t=1/warm", ASSAY_STATUS_SKIPPED, ASSAY_EXACT_UNNAMED);
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.n_cases, 2);
	assert_int_equal(r.exit, ASSAY_EXIT_OK);
	assay_gate_report_release(&r);
	r = (struct assay_gate_report){ 0 };
	add_function(add_exact_case(&recorded, "op.c/ref/n=1/t=1/warm", ASSAY_STATUS_OK, ""), "f", "", 10, 0);
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.n_cases, 3);
	assert_int_equal(r.exit, ASSAY_EXIT_NOT_MEASURED);
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

UNIT_GROUP(NULL, NULL)

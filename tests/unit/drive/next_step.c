/* SPDX-License-Identifier: Apache-2.0 */
/* What a verdict tells its reader to type next, and how long a comparison says that it will take. */

#include "drive/compare/duration.h"
#include "drive/next_step.h"
#include "unit.h"

#define CASE(v, e, likely)                                                                                             \
	{                                                                                                              \
		.key = "op/x/n=1/t=1/warm", .verdict = v, .evidence = e, .suspect = likely                             \
	}

TEST(after_a_comparison)
{
	static const struct {
		const char *name;
		enum assay_verdict verdict;
		enum assay_evidence evidence;
		bool variants, revision, untrusted;
		const char *want;
	} rows[] = {
		{ "slower", ASSAY_REGRESSED, ASSAY_EVIDENCE_PAIRED, false, false, false,
		  "why: 'assay compare a.so b.so --suite mine --db my.db --only op/x/n=1/t=1/warm --evidence exact' "
		  "says in "
		  "which functions it does more" },
		{ "a slower variant", ASSAY_REGRESSED, ASSAY_EVIDENCE_PAIRED, true, false, false,
		  "next: 'assay show c3 --db my.db' shows what was measured of both" },
		{ "a broken limit", ASSAY_REGRESSED, ASSAY_EVIDENCE_NONE, false, false, false,
		  "next: 'assay show c3 --db my.db' shows what was measured of both" },
		{ "undecided", ASSAY_INCONCLUSIVE, ASSAY_EVIDENCE_PAIRED, false, true, false,
		  "next: 'assay compare a.so --suite mine --db my.db --only op/x/n=1/t=1/warm --budget 8s' gives "
		  "it more "
		  "time" },
		{ "not believed", ASSAY_INCONCLUSIVE, ASSAY_EVIDENCE_PAIRED, false, false, true,
		  "next: 'assay doctor' says what disturbs this machine" },
		{ "wrong", ASSAY_WRONG_RESULT, ASSAY_EVIDENCE_NONE, false, true, false,
		  "next: 'assay verify --suite mine --only op/x/n=1/t=1/warm' checks it alone" },
		{ "passed", ASSAY_PASS, ASSAY_EVIDENCE_PAIRED, false, false, false,
		  "next: 'assay show c3 --db my.db' shows its pairs" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_request what = { .suite = "mine", .db = "my.db" };
		const struct assay_compare_request q = { .what = &what,
							 .base = "a.so",
							 .head = rows[i].revision ? NULL : "b.so",
							 .variants = rows[i].variants,
							 .budget_ns = 2000000000 };
		struct assay_gate_case cases[] = { CASE(ASSAY_PASS, ASSAY_EVIDENCE_PAIRED, false),
						   CASE(rows[i].verdict, rows[i].evidence, false) };
		const struct assay_gate_report r = {
			.verdict = rows[i].verdict, .cases = cases, .n_cases = 2, .untrusted = rows[i].untrusted
		};
		struct assay_text out = { 0 };

		strcpy(cases[0].key, "op/other/n=1/t=1/warm");
		if (rows[i].verdict == ASSAY_PASS)
			cases[0].verdict = ASSAY_IMPROVED;
		assay_next_of_comparison(&out, &q, &r, 3);
		if (strcmp(out.s, rows[i].want))
			fail_msg("%s: %s", rows[i].name, out.s);
		assay_text_release(&out);
	}
}

/* More time goes to a suspect before any other case, and controls that tell nothing are a matter of the machine. */
TEST(suspects_and_controls)
{
	struct assay_gate_case cases[] = { CASE(ASSAY_INCONCLUSIVE, ASSAY_EVIDENCE_PAIRED, false),
					   CASE(ASSAY_INCONCLUSIVE, ASSAY_EVIDENCE_PAIRED, true) };
	struct assay_gate_control undecided = { .verdict = ASSAY_INCONCLUSIVE, .ok = true };
	struct assay_gate_report r = { .verdict = ASSAY_INCONCLUSIVE, .cases = cases, .n_cases = 2 };
	struct assay_request what = { .db = "assay.db" };
	const struct assay_compare_request q = { .what = &what, .base = "main" };
	const struct assay_compare_request short_budget = { .what = &what, .base = "main", .budget_ns = 300000000 };
	struct assay_text out = { 0 };

	strcpy(cases[0].key, "op/other/n=1/t=1/warm");
	assay_next_of_comparison(&out, &q, &r, 3);
	assert_string_equal(out.s,
			    "next: 'assay compare main --only op/x/n=1/t=1/warm --budget 40s' gives it more time");
	assay_text_release(&out);
	/* the figure is the one that the reason of the case names */
	cases[1].deciding_ns = 12000000000;
	assay_next_of_comparison(&out, &q, &r, 3);
	assert_string_equal(out.s,
			    "next: 'assay compare main --only op/x/n=1/t=1/warm --budget 12s' gives it more time");
	assay_text_release(&out);
	cases[1].deciding_ns = 0;
	assay_next_of_comparison(&out, &short_budget, &r, 3);
	assert_string_equal(out.s,
			    "next: 'assay compare main --only op/x/n=1/t=1/warm --budget 1200ms' gives it more time");
	assay_text_release(&out);
	r = (struct assay_gate_report){ .verdict = ASSAY_PASS, .controls = &undecided, .n_controls = 1 };
	assay_next_of_comparison(&out, &q, &r, 3);
	assert_string_equal(out.s, "next: 'assay doctor' says what disturbs this machine");
	assay_text_release(&out);
}

TEST(after_a_gate)
{
	static const struct {
		enum assay_verdict verdict;
		const char *want;
	} rows[] = {
		{ ASSAY_REGRESSED, "why: 'assay compare HEAD~1 --suite mine --only op/x/n=1/t=1/warm' interleaves it "
				   "with the previous commit, so that the machine is the same for both" },
		{ ASSAY_NOT_MEASURED,
		  "next: 'assay run --suite mine' measures the whole suite again, and says why it leaves something "
		  "out" },
		{ ASSAY_WRONG_RESULT, "next: 'assay verify --suite mine --only op/x/n=1/t=1/warm' checks it alone" },
		{ ASSAY_INCONCLUSIVE, "next: 'assay show last' shows every case of the run" },
		{ ASSAY_PASS, "next: 'assay compare HEAD~1 --suite mine' compares the last change, interleaved" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_case cases[] = { CASE(rows[i].verdict, ASSAY_EVIDENCE_STORED, false) };
		const struct assay_gate_report r = { .verdict = rows[i].verdict, .cases = cases, .n_cases = 1 };
		struct assay_text out = { 0 };

		assay_next_of_gate(&out, &r, "mine", "assay.db");
		assert_string_equal(out.s, rows[i].want);
		assay_text_release(&out);
	}
}

TEST(durations)
{
	static const struct {
		struct assay_duration d;
		const char *want;
	} rows[] = {
		{ { 1, 2, 5.6, 200, false }, "1 case and 2 self-checks: about 6 s, at most 3 min 20 s" },
		{ { 1, 1, 0.2, 60, false }, "1 case and 1 self-check: about 1 s, at most 1 min" },
		{ { 127, 0, 59.6, 7500, false }, "127 cases: about 1 min, at most 2 h 5 min" },
		{ { 2, 2, 61, 7200, false }, "2 cases and 2 self-checks: about 1 min 1 s, at most 2 h" },
		{ { 1, 2, 10, 200, true },
		  "1 case and 2 self-checks: at most 3 min 20 s; about 10 s if the cores were idle" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[160];

		assay_compare_duration_text(&rows[i].d, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
}

UNIT_GROUP(NULL, NULL)

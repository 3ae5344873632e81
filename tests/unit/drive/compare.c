/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons: how long they take, and the step they suggest next. */
#include <math.h>

#include "drive/compare/duration.h"
#include "drive/compare/one_case.h"
#include "drive/compare/pair_loop.h"
#include "drive/next_step.h"
#include "paired_fixture.h"
#include "stats/sequential.h"
#include "store_comparison_fixture.h"
#include "unit.h"

/* ---- compare duration ---- */

/* How long a comparison will take, as told before it begins, by stored pairs. */

/* Of so many comparisons, three usable pairs of half a second each. */
static void remember(struct fixture *f, struct assay_store *s, unsigned comparisons)
{
	for (unsigned k = 0; k < comparisons; k++) {
		struct assay_comparison_case measured;
		struct assay_comparison cmp;
		int64_t id;

		make_cases(&cmp, "m1", 0);
		paired_make(&measured, cmp.cases[0].c.key, 3, 2);
		assert_ok(f, assay_store_comparison_begin_with(s, &cmp, &id, &f->err));
		for (size_t i = 0; i < measured.n_pairs; i++)
			assert_ok(f, assay_store_pair_add(s, id, &measured.pairs[i], &f->err));
		paired_release(&measured);
		assay_comparison_release(&cmp);
	}
}

/* A case with both controls, and @further cases. */
static double expected(struct fixture *f, struct assay_store *s, size_t further)
{
	struct assay_compare_plan plan = { .policy = assay_policy_default() };
	struct assay_duration d;

	make_cases(&plan.cmp, "m1", 2 + further);
	plan.cmp.cases[2].control = ASSAY_CONTROL_SLOWER;
	if (further)
		make_case(&plan.cmp.cases[3], 1, ASSAY_CONTROL_NONE);
	assert_ok(f, assay_compare_duration(&plan, s, &d, &f->err));
	assert_int_equal(d.n_cases, 1 + further);
	assert_int_equal(d.n_controls, 2);
	assert_true(d.most_s > d.about_s);
	assay_comparison_release(&plan.cmp);
	return d.about_s;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

STORE_TEST(test_by_what_cases_took)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	const double slower = (double)assay_sequential_first_look(0.3, 30); /* alpha and pairs of make_comparison */

	assert_true(near(expected(f, s, 0), 0));
	remember(f, s, 1);
	assert_true(near(expected(f, s, 0), 2 * 1.5 + slower * 0.5));
	/* the mean of comparisons, not their sum */
	remember(f, s, 1);
	assert_true(near(expected(f, s, 0), 2 * 1.5 + slower * 0.5));
	/* nothing is announced for cases of which one is not known */
	assert_true(near(expected(f, s, 1), 0));
	assay_store_close(s);
}

/* Beside other work, or of unknown cases, nothing is promised; else what takes half as long again is told. */
TEST(exceeded)
{
	struct assay_duration d = { .n_cases = 1, .n_controls = 2, .about_s = 10, .most_s = 200 };
	char text[256];

	assert_false(assay_compare_duration_exceeded(&d, 15, 2, text, sizeof(text)));
	assert_false(assay_compare_duration_exceeded(&d, 16, 0, text, sizeof(text)));
	assert_true(assay_compare_duration_exceeded(&d, 16, 2, text, sizeof(text)));
	assert_string_equal(text,
			    "this takes longer than the 10 s announced: after 16 s, 2 of 3 cases and controls are "
			    "undecided; at most 3 min 20 s");
	d.shared = true;
	assert_false(assay_compare_duration_exceeded(&d, 100, 2, text, sizeof(text)));
	d = (struct assay_duration){ .n_cases = 1, .n_controls = 2, .most_s = 200 };
	assert_false(assay_compare_duration_exceeded(&d, 100, 2, text, sizeof(text)));
}

/* ---- pair length ---- */

/* How long the pairs of a case sample, from what they have shown. */

#define MS     1e6
#define MARGIN 0.01
#define BUDGET (10e3 * MS)
#define MOST   (BUDGET / 16)

/* A block of @block_ns: two samples of each side. */
static double least(double block_ns, bool slices)
{
	struct assay_sample s[2] = { { .ns = (uint64_t)(block_ns / 4) }, { .ns = (uint64_t)(block_ns / 4) } };
	const struct assay_pair p = { .n_blocks = 1, .side = { { .samples = s }, { .samples = s } } };

	return assay_pair_length_least_ns(&p, slices);
}

static double learnt_as(double own, double rest_ns, double block_ns, bool slices)
{
	const struct assay_pair_shown first = { .own = own, .rest_ns = rest_ns, .least_ns = least(block_ns, slices) };

	return assay_pair_length_learnt(80 * MS, &first, MARGIN, BUDGET);
}

static double learnt(double own, double rest_ns, double block_ns)
{
	return learnt_as(own, rest_ns, block_ns, false);
}

TEST(first_pair_tells)
{
	/* noise of 0.35 margins needs no more time; twice of that four times as much, and more is not believed */
	assert_float_equal(learnt(0.35 * MARGIN, 0, MS) / MS, 80, 1e-3);
	assert_float_equal(learnt(0.7 * MARGIN, 0, MS) / MS, 320, 1e-3);
	assert_float_equal(learnt(3 * MARGIN, 0, MS) / MS, 320, 1e-3);
	/* never below 30 ms, twelve blocks and a quarter of the rest, nor beyond a 16th of the budget */
	assert_float_equal(learnt(0, 0, MS) / MS, 30, 1e-3);
	assert_float_equal(learnt(0, 0, 10 * MS) / MS, 120, 1e-3);
	assert_float_equal(learnt(0, 800 * MS, MS) / MS, 200, 1e-3);
	assert_float_equal(learnt(0, 0, 100 * MS) / MS, MOST / MS, 1e-3);
	assert_float_equal(learnt(0, 1e4 * MS, MS) / MS, MOST / MS, 1e-3);
	/* in slices, eight blocks are enough, also where nothing is known of their noise */
	assert_float_equal(learnt_as(0, 0, 10 * MS, true) / MS, 80, 1e-3);
	assert_float_equal(assay_pair_length_divided(MS, true, BUDGET) / MS, 80, 1e-3);
	assert_float_equal(assay_pair_length_divided(5 * MS, true, BUDGET) / MS, 160, 1e-3);
	assert_float_equal(assay_pair_length_divided(5 * MS, false, BUDGET) / MS, 240, 1e-3);
	assert_float_equal(assay_pair_length_divided(1e3 * MS, true, BUDGET) / MS, MOST / MS, 1e-3);
}

TEST(first_pair_counts_if_it_is_quiet)
{
	assert_true(assay_pair_length_first_counts(0.3 * MARGIN, MARGIN));
	assert_false(assay_pair_length_first_counts(0.4 * MARGIN, MARGIN));
	assert_false(assay_pair_length_first_counts(0, MARGIN)); /* it has too few blocks to tell */
}

TEST(later_pairs_follow_the_spread)
{
	static const struct {
		const char *what;
		struct assay_pair_shown s;
		double now_ms, want_ms;
	} rows[] = {
		{ "two pairs tell nothing", { 2, 0.02, 0.001, 20 * MS, 12 * MS }, 100, 100 },
		{ "close enough", { 5, 0.004, 0.004, 20 * MS, 12 * MS }, 400, 400 },
		{ "closer than that: half", { 5, 0.002, 0.002, 20 * MS, 12 * MS }, 400, 200 },
		{ "but not below 100 ms", { 5, 0.002, 0.002, 20 * MS, 12 * MS }, 120, 100 },
		{ "where it is shorter already, it stays", { 5, 0.002, 0.002, 20 * MS, 12 * MS }, 60, 60 },
		/* the root of 100 ms · 100 ms · 0.8² / (1² − 0.8²) */
		{ "Kalibera and Jones", { 5, 0.01, 0.008, 100 * MS, 12 * MS }, 100, 133.33 },
		{ "noise within: at most twice", { 5, 0.02, 0.0199, 400 * MS, 12 * MS }, 100, 200 },
		{ "none within: at least half", { 5, 0.02, 0.0001, 10 * MS, 12 * MS }, 100, 50 },
		{ "at least the rest", { 5, 0.02, 0.0001, 90 * MS, 12 * MS }, 100, 90 },
		{ "at least twelve blocks", { 5, 0.02, 0.0001, 10 * MS, 96 * MS }, 100, 96 },
		{ "at most a 16th of the budget", { 5, 0.02, 0.0199, 900 * MS, 12 * MS }, 500, MOST / MS },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const double got = assay_pair_length_next(rows[i].now_ms * MS, &rows[i].s, MARGIN, BUDGET);

		if (fabs(got - rows[i].want_ms * MS) > 0.1 * MS)
			fail_msg("%s: %.1f ms, want %.1f", rows[i].what, got / MS, rows[i].want_ms);
	}
}

TEST(a_pair_is_samples_and_the_rest)
{
	struct assay_sample s[4] = { { .ns = 10 }, { .ns = 20 }, { .ns = 30 }, { .ns = 40 } };
	struct assay_pair p = { .n_blocks = 2, .wall_ns = 500 };

	assert_float_equal(assay_pair_length_block_ns(&(struct assay_pair){ 0 }), 0, 0);
	p.side[0].samples = p.side[1].samples = s;
	assert_float_equal(assay_pair_length_block_ns(&p), 100, 1e-9);
	assert_float_equal(assay_pair_length_rest_ns(&p, 100), 300, 1e-9);
	assert_float_equal(assay_pair_length_rest_ns(&p, 400), 100, 1e-9);
	assert_float_equal(assay_pair_length_rest_ns(&p, 600), 0, 1e-9);
}

/* ---- next step ---- */

/* The command that a verdict suggests next, and the announced time of a comparison. */

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
		{ "undecided, and no budget would decide it", ASSAY_INCONCLUSIVE, ASSAY_EVIDENCE_PAIRED, false, true,
		  false, "next: 'assay doctor' says what disturbs this machine" },
		{ "not measured", ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_NONE, false, true, false,
		  "next: 'assay show c3 --db my.db' shows what each side said" },
		{ "not believed", ASSAY_INCONCLUSIVE, ASSAY_EVIDENCE_PAIRED, false, false, true,
		  "next: 'assay doctor' says what disturbs this machine" },
		{ "wrong", ASSAY_WRONG_RESULT, ASSAY_EVIDENCE_NONE, false, true, false,
		  "next: 'assay verify --suite mine --only op/x/n=1/t=1/warm' checks it alone" },
		{ "passed", ASSAY_PASS, ASSAY_EVIDENCE_PAIRED, false, false, false,
		  "next: 'assay show c3 --db my.db' shows its pairs" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_request what = { .plan.suite = "mine", .db = "my.db" };
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
	struct assay_text out = { 0 };

	strcpy(cases[0].key, "op/other/n=1/t=1/warm");
	/* the figure is the one that the reason of the case names */
	cases[1].deciding_ns = 12000000000;
	assay_next_of_comparison(&out, &q, &r, 3);
	assert_string_equal(out.s,
			    "next: 'assay compare main --only op/x/n=1/t=1/warm --budget 12s' gives it more time");
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
		{ ASSAY_NOT_MEASURED, "next: 'assay show last op/x/n=1/t=1/warm' shows what it said last" },
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
		{ { 1, 2, 0, 200, false }, "1 case and 2 self-checks: at most 3 min 20 s" },
		{ { 1, 2, 0, 200, true }, "1 case and 2 self-checks: at most 3 min 20 s" },
		{ { 1, 2, 10, 200, true },
		  "1 case and 2 self-checks: at most 3 min 20 s; about 10 s if the cores were idle" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[160];

		assay_compare_duration_text(&rows[i].d, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
}

/* One pair of a side that was disturbed says nothing of how far its ratio may be off. */
TEST(a_ratio_without_an_interval_is_not_told)
{
	struct assay_case_answer a = { .verdict = ASSAY_PASS, .ratio = 0.99999, .ci_lo = NAN, .ci_hi = NAN };
	char text[128];

	snprintf(a.reason, sizeof(a.reason), "same machine code, so it was not timed");
	assay_case_answer_text(&a, text, sizeof(text));
	assert_string_equal(text, a.reason);
	a.ratio = 1.049;
	a.ci_lo = 1.046;
	a.ci_hi = 1.052;
	assay_case_answer_text(&a, text, sizeof(text));
	assert_string_equal(text, "+4.90 % (+4.60 to +5.20 %)");
}

UNIT_GROUP(NULL, NULL)

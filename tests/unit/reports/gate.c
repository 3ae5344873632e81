/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons on the terminal and as JSON: every verdict, the controls, nothing, and very much. */
#include <jansson.h>
#include <unistd.h>

#include "gate_fixture.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

static char *table(const struct assay_gate_report *r, struct assay_emit_style style)
{
	return emit_gate(r, "text", &style);
}

TEST(test_change)
{
	static const struct {
		double ratio;
		const char *fine, *coarse;
	} cases[] = {
		{ 1.0123, "+1.23 %", "+1.2 %" },
		{ 0.9877, "-1.23 %", "-1.2 %" },
		{ 1.00001, "0.00 %", "0.0 %" },
		{ 0.99999, "0.00 %", "0.0 %" },
		{ 1.0004, "+0.04 %", "0.0 %" },
		{ 1.0996, "+9.96 %", "+10.0 %" },
		{ 1.09999, "+10.0 %", "+10.0 %" },
		{ 3.5, "+250 %", "+250 %" },
		{ 10.994, "+999 %", "+999 %" },
		{ 1e9, "over +999 %", "over +999 %" },
		{ NAN, "", "" },
		{ INFINITY, "", "" },
	};
	char buf[32];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_gate_words_change(cases[i].ratio, true, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].fine);
		assay_gate_words_change(cases[i].ratio, false, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].coarse);
	}
}

/* One more of a million is a change of a count, while a time that little off is none. */
TEST(test_change_of_count)
{
	struct assay_gate_case c = {
		.evidence = ASSAY_EVIDENCE_EXACT, .ratio = 1.00001, .ci_lo = NAN, .ci_hi = NAN, .margin_frac = 0
	};
	struct assay_gate_words w;

	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "+0.001 %");
	c.ratio = 1.031;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "+3.1 %");
	c.ratio = 1;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "0.0 %");
	c.evidence = ASSAY_EVIDENCE_STORED;
	c.ratio = 1.00001;
	c.ci_lo = 0.9999;
	c.ci_hi = 1.0001;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "0.0 %");
	/* nor is a change of a time without an interval, and it is not shown */
	c.ci_lo = c.ci_hi = NAN;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "");
}

TEST(test_table)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	char *s;

	set_controls(&r, good_controls, false);
	s = table(&r, (struct assay_emit_style){ 0 });
	assert_string_equal(
		s, "WRONG_RESULT: 8c1f0aa+ against main (1234567); 1 of 8 verdicts inconclusive\n"
		   "\n"
		   "  verdict       metric         change  interval            margin  pairs  evidence  case\n"
		   "  WRONG_RESULT  digest        quantize.i2_s/wrong/-/t=1/cold\n"
		   "      element 17 is 3, the base has 2\n"
		   "  NOT_MEASURED  status        quantize.i2_s/gone/-/t=1/cold\n"
		   "      killed by SIGSEGV\n"
		   "  REGRESSED     time_s        +1.23 %  +1.10 % to +1.36 %   0.5 %      7  paired    "
		   "matmul.f32/slow/m=1/t=1/warm\n"
		   "      1.23 % slower, shown to be more than 0.5 %\n"
		   "  REGRESSED     tokens_per_s  generate.decode/avx2/size=tiny/t=1/warm\n"
		   "      tokens_per_s is 41, floor 50\n"
		   "  INCOMPARABLE  time_s        matmul.f32/new/m=1/t=1/warm\n"
		   "      base plugin has ABI 2.0, this harness takes 1.0\n"
		   "  INCONCLUSIVE  time_s        +0.40 %  -1.00 % to +2.00 %   0.5 %     12  paired    "
		   "matmul.f32/noisy/m=1/t=1/warm\n"
		   "      host too noisy: 31 % of blocks disturbed, mostly by steal\n"
		   "  IMPROVED      time_s        -8.00 %  -9.00 % to -7.00 %   0.5 %      7  paired    "
		   "matmul.f32/better/m=1/t=1/warm\n"
		   "      8.00 % faster, shown to be more than 0.5 %\n"
		   "  change is the time of the head relative to the base: + is slower\n"
		   "\n"
		   "8 cases: 1 WRONG_RESULT, 1 NOT_MEASURED, 2 REGRESSED, 1 INCOMPARABLE, 1 INCONCLUSIVE, 1 IMPROVED, "
		   "1 PASS in 93 s\n"
		   "self-checks: 2 of 2 passed\n");

	s = table(&r, (struct assay_emit_style){ .verbose = true });
	has(s, "  PASS          time_s        +0.03 %  -0.25 % to +0.31 %   0.5 %      9  paired    matmul.f32/fine");
	has(s, "  ok  PASS       base against base        -0.01 %  9 pairs  matmul.f32/fine/m=1/t=1/warm\n");
	has(s, "  ok  REGRESSED  head with 2 % more work  +2.01 %  5 pairs  matmul.f32/fine/m=1/t=1/warm\n");
}

#define UNDECIDED(name, at, likely)                                                                                    \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_PAIRED, .verdict = ASSAY_INCONCLUSIVE,     \
		.suspect = likely, .pairs = 9, NUMBERS(at, 0.98, 1.3)                                                  \
	}

static const struct assay_gate_control undecided_controls[] = {
	{ .key = "a/b/-/t=1/warm", .kind = ASSAY_CONTROL_AA, .verdict = ASSAY_INCONCLUSIVE, .ratio = NAN, .ok = true },
	{ .key = "a/b/-/t=1/warm",
	  .kind = ASSAY_CONTROL_SLOWER,
	  .verdict = ASSAY_INCONCLUSIVE,
	  .ratio = NAN,
	  .ok = true },
};

#define DECIDED(name, v, at)                                                                                           \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_PAIRED, .verdict = v, .pairs = 9,          \
		NUMBERS(at, at, at)                                                                                    \
	}
#define PASSED DECIDED("a/fine/-/t=1/warm", ASSAY_PASS, 1)
#define SLOW   DECIDED("a/slow/-/t=1/warm", ASSAY_REGRESSED, 1.1)

/* What inconclusive comes before what passed, in the first line of every format. */
/* A case that may be skipped fails nothing, and nobody may take it for one that was measured. */
TEST(test_skipped_are_counted_apart)
{
	struct assay_gate_case cases[] = {
		{ .key = "a/b/-/t=1/warm", .metric = "time_s", .verdict = ASSAY_PASS, NUMBERS(1, 1, 1) },
		{ .key = "a/gpu/-/t=1/warm",
		  .metric = "status",
		  .verdict = ASSAY_PASS,
		  .skipped = true,
		  .reason = "skipped: no device",
		  NUMBERS(NAN, NAN, NAN) },
	};
	struct assay_gate_report r = report_of(cases, 2);

	r.verdict = ASSAY_PASS;
	has(table(&r, (struct assay_emit_style){ 0 }), "2 cases: 1 PASS, 1 skipped");
	has(emit_gate(&r, "markdown", &(struct assay_emit_style){ 0 }), "2 cases: 1 PASS, 1 skipped");
	has(emit_gate(&r, "json", &(struct assay_emit_style){ 0 }), "\"skipped\": true");
	has(emit_gate(&r, "junit", &(struct assay_emit_style){ 0 }), "<skipped message=\"skipped: no device\"/>");
	r.verdict = ASSAY_INCONCLUSIVE;
	cases[0].verdict = ASSAY_INCONCLUSIVE;
	has(table(&r, (struct assay_emit_style){ 0 }), "1 of 2 verdicts inconclusive; 0 passed; ");
}

TEST(test_headlines)
{
	static const struct {
		struct assay_gate_case cases[4];
		size_t n;
		enum assay_verdict verdict;
		const struct assay_gate_control *controls;
		const char *want;
		size_t undecided, suspects;
	} rows[] = {
		{ { PASSED }, 1, ASSAY_PASS, good_controls, "PASS: head against base", 0, 0 },
		{ { PASSED },
		  1,
		  ASSAY_PASS,
		  undecided_controls,
		  "PASS, but 2 of 2 self-checks inconclusive: head against base",
		  0,
		  0 },
		{ { PASSED, UNDECIDED("a/x/-/t=1/warm", 1.001, false) },
		  2,
		  ASSAY_INCONCLUSIVE,
		  good_controls,
		  "INCONCLUSIVE: 1 of 2 verdicts inconclusive; 1 passed; head against base",
		  1,
		  0 },
		{ { PASSED, UNDECIDED("a/x/-/t=1/warm", 1.001, false), UNDECIDED("a/y/-/t=1/warm", 1.12, true) },
		  3,
		  ASSAY_INCONCLUSIVE,
		  good_controls,
		  "INCONCLUSIVE: 2 of 3 verdicts inconclusive, one of them likely 12 % slower; 1 passed; head against "
		  "base",
		  2,
		  1 },
		{ { UNDECIDED("a/x/-/t=1/warm", 1.02, true), UNDECIDED("a/y/-/t=1/warm", 1.0123, true) },
		  2,
		  ASSAY_INCONCLUSIVE,
		  undecided_controls,
		  "INCONCLUSIVE: 2 of 2 verdicts inconclusive, 2 of them likely up to 2.0 % slower; 2 of 2 self-checks "
		  "inconclusive; 0 passed; head against base",
		  2,
		  2 },
		{ { SLOW, UNDECIDED("a/x/-/t=1/warm", 1.02, true) },
		  2,
		  ASSAY_REGRESSED,
		  good_controls,
		  "REGRESSED: head against base; 1 of 2 verdicts inconclusive, likely 2.0 % slower",
		  1,
		  1 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = report_of(rows[i].cases, rows[i].n);
		json_t *o;
		char *s;

		strcpy(r.base, "base");
		strcpy(r.head, "head");
		r.verdict = rows[i].verdict;
		set_controls(&r, rows[i].controls, false);
		s = table(&r, (struct assay_emit_style){ 0 });
		assert_memory_equal(s, rows[i].want, strlen(rows[i].want));
		assert_int_equal(s[strlen(rows[i].want)], '\n');
		o = json_loads(emit_gate(&r, "json", NULL), 0, NULL);
		assert_string_equal(json_string_value(json_object_get(o, "headline")), rows[i].want);
		assert_int_equal(json_integer_value(json_object_get(o, "undecided")), rows[i].undecided);
		assert_int_equal(json_integer_value(json_object_get(o, "suspects")), rows[i].suspects);
		json_decref(o);
		has(emit_gate(&r, "junit", NULL), rows[i].want);
	}
}

/* A suspect stands before what else is undecided, wherever the suite has it. */
TEST(test_suspects_first)
{
	static const struct assay_gate_case cases[] = { UNDECIDED("a/unsure/-/t=1/warm", 1.001, false),
							UNDECIDED("a/likely/-/t=1/warm", 1.12, true) };
	struct assay_gate_report r = report_of(cases, N_OF(cases));
	char *s;

	r.verdict = ASSAY_INCONCLUSIVE;
	s = table(&r, (struct assay_emit_style){ 0 });
	assert_true(strstr(s, "a/likely") < strstr(s, "a/unsure"));
	s = emit_gate(&r, "markdown", NULL);
	assert_true(strstr(s, "a/likely") < strstr(s, "a/unsure"));
	has(s, "## assay: INCONCLUSIVE: 2 of 2 verdicts inconclusive, one of them likely 12 % slower\n");
}

/* Of two variants a row says how many times as fast. */
TEST(test_variants)
{
	static const struct assay_gate_case cases[] = {
		{ .key = "a/fast/n=1/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_PAIRED,
		  .verdict = ASSAY_IMPROVED,
		  .base_variant = "slow",
		  .pairs = 9,
		  NUMBERS(0.5, 0.4, 0.625) },
		{ .key = "a/fast/n=2/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_PAIRED,
		  .verdict = ASSAY_IMPROVED,
		  .base_variant = "slow",
		  .pairs = 9,
		  NUMBERS(0.05, 0.04, 0.08) },
	};
	struct assay_gate_report r = report_of(cases, 1);
	json_t *o, *row;
	char *s;

	strcpy(r.base, "a/slow");
	strcpy(r.head, "a/fast");
	r.verdict = ASSAY_IMPROVED;
	s = table(&r, (struct assay_emit_style){ 0 });
	has(s, "IMPROVED: a/fast against a/slow: 2.00x as fast (1.60x to 2.50x)\n");
	has(s, "  verdict   metric  speed-up  interval");
	has(s, "  IMPROVED  time_s     2.00x  1.60x to 2.50x");
	has(s, "  speed-up is relative to a/slow\n");
	o = json_loads(emit_gate(&r, "json", NULL), 0, NULL);
	row = json_array_get(json_object_get(o, "cases"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "base_variant")), "slow");
	assert_true(json_number_value(json_object_get(row, "speedup")) == 2);
	assert_true(json_number_value(json_array_get(json_object_get(row, "speedup_ci"), 1)) == 2.5);
	json_decref(o);
	r.n_cases = 2;
	has(table(&r, (struct assay_emit_style){ 0 }),
	    "IMPROVED: a/fast against a/slow: 2.00x to 20.0x as fast in 2 cases\n");
}

#define STORED(name, v, at, d)                                                                                         \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_STORED, .verdict = v, .doubt = d,          \
		.reason = "its own reason", .ratio = at, .ci_lo = at, .ci_hi = at, .margin_frac = 0.05,                \
		.dropped_frac = 0.1, .smallest_detectable_frac = at - 1, .value = NAN, .limit = NAN                    \
	}

/* What many cases share is one line, with their number and the furthest; failures are rows whatever else there is. */
TEST(test_doubts)
{
	static const struct assay_gate_case cases[] = {
		STORED("a/same/t=1", ASSAY_INCONCLUSIVE, 1.10, ASSAY_DOUBT_MACHINE),
		STORED("b/same/t=1", ASSAY_INCONCLUSIVE, 0.70, ASSAY_DOUBT_MACHINE),
		STORED("c/same/t=1", ASSAY_INCONCLUSIVE, 1.20, ASSAY_DOUBT_MACHINE),
		STORED("d/moved/t=1", ASSAY_INCONCLUSIVE, 1.30, ASSAY_DOUBT_MOVED),
		STORED("e/noisy/t=1", ASSAY_INCONCLUSIVE, 1.01, ASSAY_DOUBT_NOISE),
		STORED("f/noisy/t=1", ASSAY_INCONCLUSIVE, 1.01, ASSAY_DOUBT_NOISE),
		STORED("g/few/t=1", ASSAY_INCONCLUSIVE, NAN, ASSAY_DOUBT_SAMPLES),
		STORED("h/wide/t=1", ASSAY_INCONCLUSIVE, 1.08, ASSAY_DOUBT_MARGIN),
		STORED("i/wide/t=1", ASSAY_INCONCLUSIVE, 1.25, ASSAY_DOUBT_MARGIN),
		STORED("j/own/t=1", ASSAY_INCONCLUSIVE, 1.01, ASSAY_DOUBT_NONE),
		STORED("k/slow/t=1", ASSAY_REGRESSED, 1.40, ASSAY_DOUBT_NONE),
	};
	struct assay_gate_report r = report_of(cases, N_OF(cases));
	char *s;

	r.verdict = ASSAY_REGRESSED;
	s = table(&r, (struct assay_emit_style){ 0 });
	has(s,
	    "\nmoved     3 cases of unchanged code moved with the machine; the largest change is -30.0 %, b/same/t=1\n"
	    "unsure    1 case of changed code moved, but so did unchanged code, so it may be the machine; the largest "
	    "change is +30.0 %, d/moved/t=1\n"
	    "          2 cases too disturbed by the host to be judged, such as e/noisy/t=1\n"
	    "          1 case with too few samples for an interval, such as g/few/t=1: --budget gives more\n"
	    "          2 cases may or may not be slower than allowed; the least certain would show a slowdown of +25.0 "
	    "% or more, "
	    "i/wide/t=1\n"
	    "next      -v lists these cases; 'assay compare BASE' ");
	assert_int_equal(times(s, "its own reason"), 2);
	has(s, "  INCONCLUSIVE  time_s   +1.0 %");
	has(s, "  REGRESSED     time_s  +40.0 %");
	has(s, "\n11 cases: 1 REGRESSED, 10 INCONCLUSIVE in 93 s\n");

	s = table(&r, (struct assay_emit_style){ .verbose = true });
	assert_int_equal(times(s, "its own reason"), 11);
	assert_null(strstr(s, "\nmoved"));
	assert_null(strstr(s, "\nnext"));

	s = table(&r, (struct assay_emit_style){ .width = 80, .colour = true });
	has_no_wider_line(s, 80);
}

/* Of many improvements the largest are rows. */
TEST(test_improvements)
{
	struct assay_gate_case *many = many_cases(25, ASSAY_IMPROVED);
	struct assay_gate_report r = report_of(many, 25);
	char *s;

	for (size_t i = 0; i < 25; i++)
		many[i].ratio = i % 2 ? 0.9 - 0.01 * (double)i : 0.9;
	s = table(&r, (struct assay_emit_style){ 0 });
	assert_int_equal(times(s, "  IMPROVED  "), 10);
	has(s, "-33.0 %");
	assert_null(strstr(s, "-11.0 %"));
	has(s, "\nimproved  15 more cases by less; -v lists them\n");
	s = table(&r, (struct assay_emit_style){ .verbose = true });
	assert_int_equal(times(s, "  IMPROVED  "), 25);
	assert_null(strstr(s, "\nimproved"));
	/* as many as are shown need no more words */
	r.n_cases = 10;
	s = table(&r, (struct assay_emit_style){ 0 });
	assert_int_equal(times(s, "  IMPROVED  "), 10);
	assert_null(strstr(s, "\nimproved"));
	free(many);
}

TEST(test_untrusted)
{
	struct assay_gate_report r = report_of(one_of_each, 1);
	char *s, *warning;

	r.verdict = ASSAY_INCONCLUSIVE;
	set_controls(&r, bad_controls, true);
	s = table(&r, (struct assay_emit_style){ 0 });
	warning = strstr(s, "WARNING: a self-check failed, so no verdict on time can be trusted on this host today");
	assert_non_null(warning);
	assert_true(warning < strstr(s, "1 case: 1 PASS in 93 s\n"));
	has(s, "self-checks: 0 of 2 passed, 1 inconclusive, 1 failed\n"
	       "  FAILED  REGRESSED  base against base  +3.10 %  5 pairs  matmul.f32/fine/m=1/t=1/warm\n"
	       "      3.10 % slower\n");
	assert_null(strstr(s, "more work"));
}

/* Whatever the terminal: only a word that is longer than a line is. */
TEST(test_narrow)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);

	set_controls(&r, bad_controls, true);
	for (unsigned width = 80; width < 160; width += 13) {
		char *s = table(&r, (struct assay_emit_style){ .width = width, .verbose = true, .colour = true });

		has_no_wider_line(s, width);
	}
}

TEST(test_table_sizes)
{
	struct assay_gate_case *many = many_cases(300, ASSAY_PASS);
	struct assay_gate_report r = report_of(many, 300);
	char *s;

	r.verdict = ASSAY_PASS;
	s = table(&r, (struct assay_emit_style){ 0 });
	assert_string_equal(s, "PASS: 8c1f0aa+ against main (1234567)\n300 cases: 300 PASS in 93 s\n");
	/* several verdicts on one case */
	memcpy(many[1].key, many[0].key, sizeof(many[1].key));
	s = table(&r, (struct assay_emit_style){ 0 });
	has(s, "\n300 verdicts on 299 cases: 300 PASS in 93 s\n");
	/* a smaller shape that was counted in place of a measured one is no case of the run */
	many[2].evidence = ASSAY_EVIDENCE_EXACT;
	s = table(&r, (struct assay_emit_style){ 0 });
	has(s, "\n300 verdicts on 298 cases and on 1 that was counted alone: 300 PASS in 93 s\n");
	many[2].evidence = many[3].evidence;
	s = table(&r, (struct assay_emit_style){ .verbose = true });
	assert_int_equal(times(s, "matmul.ternary/"), 300);
	free(many);

	r = (struct assay_gate_report){ .verdict = ASSAY_NOT_MEASURED, .seconds = NAN };
	s = table(&r, (struct assay_emit_style){ 0 });
	assert_string_equal(s, "NOT_MEASURED: this run against no baseline\nnothing was judged\n");
}

static json_t *json_of(const struct assay_gate_report *r)
{
	char *text = emit_gate(r, "json", NULL);
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	return j;
}

TEST(test_json)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	json_t *j, *c, *items;

	set_controls(&r, bad_controls, true);
	j = json_of(&r);
	assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
	assert_int_equal(json_integer_value(json_object_get(j, "exit")), 3);
	assert_string_equal(json_string_value(json_object_get(j, "verdict")), "WRONG_RESULT");
	assert_string_equal(json_string_value(json_object_get(j, "base")), "main (1234567)");
	assert_string_equal(json_string_value(json_object_get(j, "head")), "8c1f0aa+");
	assert_true(json_real_value(json_object_get(j, "alpha")) == 0.01);
	assert_int_equal(json_integer_value(json_object_get(j, "comparison")), 12);
	assert_int_equal(json_integer_value(json_object_get(j, "rule")), 3);
	assert_true(json_real_value(json_object_get(j, "seconds")) == 93.4);
	assert_int_equal(json_array_size(json_object_get(j, "cases")), N_OF_EACH);

	c = json_array_get(json_object_get(j, "cases"), 4);
	assert_string_equal(json_string_value(json_object_get(c, "key")), "matmul.f32/slow/m=1/t=1/warm");
	assert_string_equal(json_string_value(json_object_get(c, "evidence")), "paired");
	assert_int_equal(json_integer_value(json_object_get(c, "pairs")), 7);
	assert_true(json_real_value(json_object_get(c, "ratio")) == 1.0123);
	assert_true(json_real_value(json_array_get(json_object_get(c, "ci"), 0)) == 1.011);
	assert_true(json_real_value(json_array_get(json_object_get(c, "ci"), 1)) == 1.0136);
	assert_true(json_real_value(json_object_get(c, "margin")) == 0.005);
	assert_true(json_real_value(json_object_get(c, "dropped_frac")) == 0.02);
	assert_true(json_real_value(json_object_get(c, "smallest_detectable")) == 0.004);
	c = json_array_get(json_object_get(j, "cases"), 6);
	for (const char *const *n = (const char *const[]){ "ratio", "ci", "margin", "pairs", "dropped_frac",
							   "smallest_detectable", "value", "limit", NULL };
	     *n; n++)
		assert_true(json_is_null(json_object_get(c, *n)));

	c = json_object_get(j, "controls");
	assert_true(json_is_false(json_object_get(c, "trusted")));
	items = json_object_get(c, "items");
	assert_int_equal(json_array_size(items), 2);
	c = json_array_get(items, 0);
	assert_string_equal(json_string_value(json_object_get(c, "kind")), "aa");
	assert_true(json_number_value(json_object_get(c, "injected")) == 0);
	assert_string_equal(json_string_value(json_object_get(c, "verdict")), "REGRESSED");
	assert_true(json_is_false(json_object_get(c, "ok")));
	assert_true(json_real_value(json_array_get(json_object_get(c, "ci"), 0)) == 1.02);
	c = json_array_get(items, 1);
	assert_string_equal(json_string_value(json_object_get(c, "kind")), "slower");
	assert_true(json_real_value(json_object_get(c, "injected")) == 0.02);
	assert_true(json_is_true(json_object_get(c, "ok")));
	for (const char *const *n = (const char *const[]){ "ratio", "ci", "pairs", "reason", NULL }; *n; n++)
		assert_true(json_is_null(json_object_get(c, *n)));
	json_decref(j);
}

TEST(test_json_sizes)
{
	struct assay_gate_case *many = many_cases(300, ASSAY_PASS);
	struct assay_gate_report r = report_of(many, 300);
	json_t *j;

	set_controls(&r, good_controls, false);
	j = json_of(&r);
	assert_int_equal(json_array_size(json_object_get(j, "cases")), 300);
	assert_true(json_is_true(json_object_get(json_object_get(j, "controls"), "trusted")));
	json_decref(j);
	free(many);

	r = (struct assay_gate_report){ .verdict = ASSAY_NOT_MEASURED,
					.exit = ASSAY_EXIT_NOT_MEASURED,
					.seconds = NAN };
	j = json_of(&r);
	assert_int_equal(json_array_size(json_object_get(j, "cases")), 0);
	assert_true(json_is_object(json_object_get(j, "controls")));
	assert_int_equal(json_object_size(json_object_get(j, "controls")), 0);
	assert_true(json_is_null(json_object_get(j, "comparison")));
	assert_null(json_object_get(j, "rule"));
	assert_true(json_is_null(json_object_get(j, "seconds")));
	json_decref(j);
}

/* ---- gate files ---- */

/* Comparisons as Markdown and JUnit XML: order, escapes, sizes, and whether a schema takes them. */

/* What a careless or spiteful plugin could put into a name and a reason. */
#define NASTY_KEY    "op<&>\"'/v|a`b\\c/x=1/t=1/warm"
#define NASTY_REASON "a|b `c` <img>\n*d* _e_ [f] \\ \x01 \x1b[31m \xff\xfe \xc3\xa9 & \"q\" \xef\xbf\xbf"

static const struct assay_gate_case nasty[] = {
	{ .key = NASTY_KEY, .metric = "time_s", .verdict = ASSAY_REGRESSED, .reason = NASTY_REASON, NO_NUMBERS },
};

#define MARKER "<!-- assay-gate -->"
/* What a comment on GitHub holds. */
#define MARKDOWN_MAX 65536

static char *markdown(const struct assay_gate_report *r)
{
	return emit_gate(r, "markdown", NULL);
}

static char *junit(const struct assay_gate_report *r, struct assay_report_gate how)
{
	how.gate = r;
	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = how }, "junit", NULL);
}

TEST(test_markdown)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	char *s, *fold, *last = NULL;

	set_controls(&r, good_controls, false);
	s = markdown(&r);
	assert_memory_equal(s, MARKER, strlen(MARKER));
	has(s, MARKER "\n## assay: WRONG_RESULT: 1 of 8 verdicts inconclusive\n\n"
		      "quantize.i2\\_s/wrong computes a wrong result.\n");
	has(s, "\n`8c1f0aa+` against `main (1234567)`. 8 cases: 1 WRONG_RESULT, 1 NOT_MEASURED, 2 REGRESSED, "
	       "1 INCOMPARABLE, 1 INCONCLUSIVE, 1 IMPROVED, 1 PASS in 93 s.\n");
	has(s, "\n| **REGRESSED** | `matmul.f32/slow/m=1/t=1/warm` | `time_s` | +1.23 % | +1.10 % to +1.36 % | 0.5 % | "
	       "7 | "
	       "paired | 1.23 % slower, shown to be more than 0.5 % |\n");
	has(s, "\nSelf-checks: 2 of 2 passed.\n");
	has(s, "The false-alarm rate of the whole is 1 %. Comparison 12.\n");
	fold = strstr(s, "\n<details>\n<summary>All 8 verdicts</summary>\n\n| verdict");
	assert_non_null(fold);
	has(fold, "\n\n</details>\n");
	/* above the fold all but what passed, gravest first; below it everything */
	assert_int_equal(times(s, "| PASS |"), 1);
	assert_int_equal(times(fold, "| PASS |"), 1);
	for (const char *const *v = (const char *const[]){ "WRONG_RESULT", "NOT_MEASURED", "REGRESSED", "INCOMPARABLE",
							   "INCONCLUSIVE", "IMPROVED", NULL };
	     *v; v++) {
		char cell[64];

		snprintf(cell, sizeof(cell), "| **%s** |", *v);
		assert_int_equal(times(s, cell), 2 * times(fold, cell));
		assert_true(strstr(s, cell) > last && strstr(s, cell) < fold);
		last = strstr(s, cell);
	}
	assert_null(strstr(s, "nan"));
}

TEST(test_markdown_escapes)
{
	struct assay_gate_report r = report_of(nasty, 1);
	char *s;

	snprintf(r.head, sizeof(r.head), "a`b");
	snprintf(r.base, sizeof(r.base), "b|c");
	s = markdown(&r);
	has(s, "| <code>op&#60;&#38;&#62;\"'/v&#124;a&#96;b&#92;c/x=1/t=1/warm</code> | `time_s` |");
	has(s, "| a&#124;b \\`c\\` \\<img\\> \\*d\\* \\_e\\_ \\[f\\] \\\\   "
	       " \\[31m \xef\xbf\xbd\xef\xbf\xbd \xc3\xa9 \\& \"q\" \xef\xbf\xbf |\n");
	has(s, "<code>a&#96;b</code> against <code>b&#124;c</code>.");
}

TEST(test_markdown_warnings)
{
	static const struct assay_gate_case alone[] = {
		{ .key = "op/v/-/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "no run yet",
		  NO_NUMBERS },
		{ .key = "op/w/-/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "no run yet",
		  NO_NUMBERS },
		/* that nothing was measured before excuses no record of counts */
		{ .key = "op/v/-/t=1/warm",
		  .metric = "exact_instructions",
		  .evidence = ASSAY_EVIDENCE_EXACT,
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "out of date",
		  NO_NUMBERS },
	};
	struct assay_gate_report r = report_of(one_of_each, 1);
	char *s, *fold;

	r.verdict = ASSAY_INCONCLUSIVE;
	set_controls(&r, bad_controls, true);
	s = markdown(&r);
	has(s, "\n> **Warning:** a self-check failed, so no verdict on time can be trusted on this host today");
	has(s, "\nSelf-checks: 0 of 2 passed, 1 inconclusive, 1 failed.\n- **failed:** base against base was "
	       "REGRESSED at +3.10 %, "
	       "`matmul.f32/fine/m=1/t=1/warm`: 3.10 % slower\n");

	r = report_of(alone, 2);
	r.verdict = ASSAY_PASS;
	r.no_baseline = true;
	s = markdown(&r);
	has(s, "## assay: PASS\n\nThere is nothing to compare with, so speed was not judged.\n");
	has(s, "\n> Speed was not judged: no run yet\n");
	fold = strstr(s, "<details>");
	assert_non_null(fold);
	assert_int_equal(times(s, "INCOMPARABLE** |"), times(fold, "INCOMPARABLE** |"));

	r.n_cases = 3;
	r.verdict = ASSAY_INCOMPARABLE;
	s = markdown(&r);
	has(s, " cannot be compared.\n");
	assert_non_null(strstr(s, "exact_instructions"));
	assert_true(strstr(s, "exact_instructions") < strstr(s, "<details>"));

	r = (struct assay_gate_report){ .verdict = ASSAY_NOT_MEASURED, .seconds = NAN, .alpha = NAN };
	s = markdown(&r);
	assert_string_equal(s, MARKER "\n## assay: NOT_MEASURED\n\nNothing was judged.\n\n"
				      "`this run` against `no baseline`. 0 cases.\n\n"
				      "Change is the time of the head relative to the base: + is slower.\n");
}

TEST(test_markdown_size)
{
	static const size_t sizes[] = { 1, 40, 300, 3000 };

	for (size_t i = 0; i < N_OF(sizes); i++)
		for (int bad = 0; bad < 2; bad++) {
			struct assay_gate_case *many = many_cases(sizes[i], bad ? ASSAY_REGRESSED : ASSAY_PASS);
			struct assay_gate_report r = report_of(many, sizes[i]);
			size_t above, below, left = 0;
			char *s, *fold, *note;

			r.verdict = bad ? ASSAY_REGRESSED : ASSAY_PASS;
			for (size_t k = 0; k < sizes[i]; k++)
				memset(many[k].reason, '|', 90);
			s = markdown(&r);
			assert_true(strlen(s) <= MARKDOWN_MAX);
			fold = strstr(s, "<details>");
			assert_non_null(fold);
			has(fold, "\n</details>\n\nChange is");
			below = times(fold, "`time_s`");
			above = times(s, "`time_s`") - below;
			note = strstr(fold, " rows are left out");
			if (note) {
				while (*--note != '\n')
					;
				assert_int_equal(sscanf(note, "%zu", &left), 1);
			}
			assert_int_equal(below + left, sizes[i]);
			assert_true(sizes[i] < 300 ? bad || !left : left > 0);
			/* no row is cut */
			assert_int_equal(times(s, "\n| "), times(s, " |\n"));
			assert_int_equal(above, bad ? (sizes[i] < 40 ? sizes[i] : above) : 0);
			if (bad && above < sizes[i]) {
				char more[64];

				assert_true(above > 20 && above <= 50);
				snprintf(more, sizeof(more), "… and %zu more.\n", sizes[i] - above);
				has(s, more);
			}
			free(many);
		}
}

TEST(test_junit)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	char *s;

	set_controls(&r, bad_controls, true);
	s = junit(&r, (struct assay_report_gate){ 0 });
	has(s, "<testsuites>\n  <testsuite id=\"0\" package=\"assay\" name=\"assay\" tests=\"8\" failures=\"3\" "
	       "errors=\"2\" "
	       "skipped=\"1\" time=\"93.400\" hostname=\"localhost\">\n");
	has(s, "<property name=\"base\" value=\"main (1234567)\"/>");
	has(s, "<property name=\"head\" value=\"8c1f0aa+\"/>");
	has(s, "<property name=\"alpha\" value=\"0.01\"/>");
	has(s, "<property name=\"exit\" value=\"3\"/>");
	has(s, "<property name=\"trusted\" value=\"false\"/>");
	has(s, "    <testcase classname=\"matmul.f32\" name=\"fine/m=1/t=1/warm time_s\" time=\"0\"/>\n");
	has(s, "    <testcase classname=\"matmul.f32\" name=\"better/m=1/t=1/warm time_s\" time=\"0\"/>\n");
	has(s, "name=\"slow/m=1/t=1/warm time_s\" time=\"0\">\n      <failure type=\"REGRESSED\" message=\"REGRESSED: "
	       "1.23 % slower, shown to be more than 0.5 %\">1.23 % slower, shown to be more than 0.5 %\n"
	       "change +1.23 %, interval +1.10 % to +1.36 %, margin 0.5 %, 7 pairs\nevidence paired</failure>\n    "
	       "</testcase>\n");
	has(s, "<failure type=\"WRONG_RESULT\" message=\"WRONG_RESULT: element 17 is 3, the base has 2\">");
	has(s, "<error type=\"NOT_MEASURED\" message=\"NOT_MEASURED: killed by SIGSEGV\">");
	has(s, "<error type=\"INCOMPARABLE\" message=\"INCOMPARABLE: base plugin");
	has(s,
	    "      <skipped message=\"INCONCLUSIVE: host too noisy: 31 % of blocks disturbed, mostly by steal\"/>\n");
	has(s, "<system-err>warning: a self-check failed");
	has(s, "self-check failed: base against base was REGRESSED, matmul.f32/fine/m=1/t=1/warm: 3.10 % "
	       "slower\n</system-err>");

	s = junit(&r, (struct assay_report_gate){ .strict = true, .hostname = "a&b", .unix_ns = 1700000000000000000u });
	has(s, "failures=\"4\" errors=\"2\" skipped=\"0\"");
	has(s, "<failure type=\"INCONCLUSIVE\" message=\"INCONCLUSIVE: host too noisy");
	has(s, "hostname=\"a&amp;b\" timestamp=\"2023-11-14T22:13:20\"");
}

TEST(test_junit_no_baseline)
{
	static const struct assay_gate_case alone[] = {
		{ .key = "op/v/-/t=1/warm",
		  .metric = "time_s",
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "no run yet",
		  NO_NUMBERS },
	};
	static const struct {
		enum assay_exit exit;
		bool no_baseline, broken;
	} cases[] = {
		{ ASSAY_EXIT_OK, true, false },           { ASSAY_EXIT_INCONCLUSIVE, true, false },
		{ ASSAY_EXIT_INCOMPARABLE, true, true },  { ASSAY_EXIT_REGRESSED, true, true },
		{ ASSAY_EXIT_INCOMPARABLE, false, true },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_gate_report r = report_of(alone, 1);
		char *s;

		r.exit = cases[i].exit;
		r.no_baseline = cases[i].no_baseline;
		s = junit(&r, (struct assay_report_gate){ 0 });
		has(s, cases[i].broken ? "errors=\"1\" skipped=\"0\"" : "errors=\"0\" skipped=\"1\"");
		has(s, cases[i].broken ? "<error type=\"INCOMPARABLE\""
				       : "<skipped message=\"INCOMPARABLE: no run yet\"/>");
	}
}

TEST(test_junit_escapes)
{
	struct assay_gate_report r = report_of(nasty, 1);
	char *s;

	s = junit(&r, (struct assay_report_gate){ 0 });
	has(s, "classname=\"op&lt;&amp;&gt;&quot;'\" name=\"v|a`b\\c/x=1/t=1/warm time_s\"");
	has(s, "message=\"REGRESSED: a|b `c` &lt;img&gt;&#10;*d* _e_ [f] \\ \xef\xbf\xbd \xef\xbf\xbd[31m "
	       "\xef\xbf\xbd\xef\xbf\xbd "
	       "\xc3\xa9 &amp; &quot;q&quot; \xef\xbf\xbd\"");
}

/* 0: valid. */
static int validate(const char *xml)
{
	char path[] = "/tmp/assay-junit-XXXXXX", command[256];
	int rc, fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml, strlen(xml)), (ssize_t)strlen(xml));
	close(fd);
	snprintf(command, sizeof(command),
		 "xmllint --noout --nonet --schema tests/fixtures/junit/junit.xsd %s >/dev/null 2>&1", path);
	rc = system(command);
	unlink(path);
	return rc;
}

TEST(test_junit_schema)
{
	static const struct assay_gate_case odd[] = {
		{ .key = "op/v/-/t=1/warm", .metric = "x", NO_NUMBERS },
		{ .key = "op/v/-/t=1/warm", .metric = "x", NO_NUMBERS },
		{ .key = "op/v/-/t=1/warm", .metric = "", NO_NUMBERS },
		{ .key = "no-slash", .metric = "time_s", NO_NUMBERS },
		{ .key = "", .metric = "", .verdict = ASSAY_NOT_MEASURED, NO_NUMBERS },
	};
	struct assay_gate_case *many = many_cases(300, ASSAY_INCONCLUSIVE);
	const struct {
		const struct assay_gate_case *cases;
		size_t n;
	} reports[] = { { one_of_each, N_OF_EACH }, { nasty, 1 }, { odd, 5 }, { NULL, 0 }, { many, 300 } };

	if (system("command -v xmllint >/dev/null"))
		skip();
	for (size_t i = 0; i < N_OF(reports); i++)
		for (int strict = 0; strict < 2; strict++) {
			struct assay_gate_report r = report_of(reports[i].cases, reports[i].n);
			struct assay_report_gate o = { .strict = strict, .unix_ns = strict ? 1700000000000000000u : 0 };
			char *s;

			if (strict)
				r.seconds = r.alpha = NAN;
			set_controls(&r, strict ? bad_controls : good_controls, strict);
			s = junit(&r, o);
			assert_int_equal(times(s, "<testcase "), reports[i].n);
			if (validate(s))
				fail_msg("report %zu is not valid:\n%s", i, s);
		}
	/* a schema that takes everything would prove nothing */
	assert_int_not_equal(validate("<testsuites><testsuite/></testsuites>"), 0);
	free(many);
}

UNIT_GROUP(NULL, NULL)

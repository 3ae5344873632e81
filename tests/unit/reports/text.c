/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities with units, aligned columns, and the tables of runs and gates. */
#include "emit_fixture.h"

#include <math.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/text_parts.h"

TEST(test_quantity)
{
	static const struct {
		double value;
		const char *unit, *utf8, *ascii;
	} cases[] = {
		{ 61.23e-6, "s", "61.2 µs", "61.2 us" },
		{ 0, "s", "0 ns", "0 ns" },
		{ 0.5e-9, "s", "0.50 ns", "0.50 ns" },
		{ 999.4e-9, "s", "999 ns", "999 ns" },
		{ 999.6e-9, "s", "1.00 µs", "1.00 us" },
		{ 9.994e-3, "s", "9.99 ms", "9.99 ms" },
		{ 9.996e-3, "s", "10.0 ms", "10.0 ms" },
		{ 900, "s", "900 s", "900 s" },
		{ 1234, "s", "20.6 min", "20.6 min" },
		{ 90000, "s", "25.0 h", "25.0 h" },
		{ 1, "B", "1 B", "1 B" },
		{ 1023, "B", "1023 B", "1023 B" },
		{ 1024, "B", "1.00 KiB", "1.00 KiB" },
		{ 1.5 * 1024 * 1024, "B", "1.50 MiB", "1.50 MiB" },
		{ 12.34e9, "B/s", "12.3 GB/s", "12.3 GB/s" },
		{ 2.5e12, "op/s", "2.50 TOP/s", "2.50 TOP/s" },
		{ 412, "1/s", "412 /s", "412 /s" },
		{ 0.973, "1", "0.973", "0.973" },
		{ 1, "1", "1", "1" },
		{ -999.6, "1", "-1000", "-1000" },
		{ 45852504900, "1", "45852504900", "45852504900" },
		{ 1.5e17, "1", "1.5e+17", "1.5e+17" },
		{ NAN, "s", "-", "-" },
		{ INFINITY, "B/s", "-", "-" },
	};
	char buf[64];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_quantity_text(cases[i].value, cases[i].unit, true, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].utf8);
		assay_quantity_text(cases[i].value, cases[i].unit, false, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].ascii);
	}
}

/* What a number of unit "1" or "1/s" counts is in its tag. */
TEST(test_metric)
{
	static const struct {
		const char *tag;
		double value;
		const char *unit, *want;
	} cases[] = {
		{ "roof_frac", 0.973, "1", "97.3 %" },
		{ "kv_cache_hit_rate", 1, "1", "100 %" },
		{ "change_frac", -0.05, "1", "-5.00 %" },
		{ "checksum", 458525049, "1", "458525049" },
		{ "ratio", 0.5, "1", "0.5" },
		{ "tokens_per_s", 41.7, "1/s", "41.7 tok/s" },
		{ "tokens_per_s", 4480, "1/s", "4.48 ktok/s" },
		{ "items_per_s", 412, "1/s", "412 items/s" },
		{ "items_per_s", 3040, "1/s", "3.04 k items/s" },
		{ "faults", 412, "1/s", "412 /s" },
		{ "time_s", 61.2e-6, "s", "61.2 µs" },
		{ "roof_frac", NAN, "1", "-" },
		{ "items_per_s", NAN, "1/s", "-" },
	};
	char buf[64];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_metric_text(cases[i].tag, cases[i].value, cases[i].unit, true, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].want);
	}
}

TEST(test_columns)
{
	struct assay_columns t = { .align = "lrl", .indent = " ", .width = 24 };
	struct assay_text out = { 0 };

	assay_columns_row(&t, (const char *const[]){ "a", "µs", "x" });
	assay_columns_row(&t, (const char *const[]){ ASSAY_BOLD "longer" ASSAY_RESET, "1", NULL });
	assay_columns_tail(&t, (const char *const[]){ "b" }, 1, "one two three four five");
	assay_columns_line(&t, 3, "a line of words that is wrapped");
	assay_columns_print(&t, &out);
	assert_string_equal(out.s, " a       µs  x\n"
				   " " ASSAY_BOLD "longer" ASSAY_RESET "   1\n"
				   " b       one two three\n"
				   "         four five\n"
				   "   a line of words that\n"
				   "     is wrapped\n");
	assert_int_equal(assay_columns_width(ASSAY_RED "±µ" ASSAY_RESET), 2);
	assay_columns_release(&t);
	assay_text_release(&out);
}

TEST(nothing_but_colours_reaches_a_terminal)
{
	static const char hostile[] = "\033[2Jx\x07\r\xc2\x9b"
				      "31m\xe2\x80\xae\xff\ty\r\n" ASSAY_RED "z" ASSAY_RESET "\xef\xb7\x96\n";
	const struct assay_emit_style plain = { 0 }, painted = { .colour = true };
	struct assay_text t = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		assay_text_add(&t, "\033");
		assay_text_addn(&t, hostile, sizeof(hostile)); /* with the zero at its end */
		assay_show(&t, 1, i ? &painted : &plain);
		assert_string_equal(t.s, i ? "\033?[2Jx???31m??\ty\r\n\033[31mz\033[0m?\n?"
					   : "\033?[2Jx???31m??\ty\r\nz?\n?");
		assert_int_equal(t.len, strlen(t.s));
		assay_text_release(&t);
	}
	assay_show(&t, 0, &plain);
	assert_int_equal(t.len, 0);
}

TEST(signs_are_what_a_terminal_shows)
{
	struct assay_text t = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		assay_text_add(&t, "µ" ASSAY_RED "1 → 2 µs" ASSAY_RESET "\n");
		assay_show(&t, strlen("µ"), &(struct assay_emit_style){ .utf8 = i });
		assert_string_equal(t.s, i ? "µ1 → 2 µs\n" : "µ1 -> 2 us\n");
		assert_int_equal(t.len, strlen(t.s));
		assay_text_release(&t);
	}
}

static struct assay_result result(const char *op, const char *variant, enum assay_status status)
{
	struct assay_result r = { .status = status, .max_rel_err = -1, .numa_node = -1 };

	strcpy(r.c.op, op);
	strcpy(r.c.variant, variant);
	strcpy(r.c.axes[0].name, "m");
	strcpy(r.c.axes[0].text, "64");
	strcpy(r.c.axes[1].name, "n");
	strcpy(r.c.axes[1].text, strcmp(variant, "bad") ? "1" : "8");
	r.c.n_axes = 2;
	r.c.threads = 1;
	assert_int_equal(assay_case_make_key(&r.c, NULL), 0);
	if (status == ASSAY_STATUS_OK) {
		r.checked = r.correct = r.steady = r.converged = r.ci95_reached = true;
		strcpy(r.digest, "0123456789abcdef0123456789abcdef");
		r.n_samples = 50;
		r.iterations = 10;
		r.median_ns = 61200;
		r.ci95_lo_ns = 61000;
		r.ci95_hi_ns = 61500;
	} else {
		strcpy(r.reason, "because");
	}
	return r;
}

TEST(test_run_table)
{
	struct assay_result r[4] = {
		result("matmul.ternary", "avx2", ASSAY_STATUS_OK),
		result("matmul.ternary", "cuda", ASSAY_STATUS_SKIPPED),
		result("generate.decode", "avx2", ASSAY_STATUS_OK),
		result("matmul.ternary", "bad", ASSAY_STATUS_WRONG),
	};
	struct assay_run run = {
		.id = 7, .results = r, .n_results = 4, .started_ns = 1000000000, .ended_ns = 13000000000
	};
	struct assay_emit_style style = { .utf8 = true };
	char *out;

	assay_result_add_metric(&r[0], "bytes_per_s", "B/s", 1, 1e9);
	assay_result_add_metric(&r[0], "ops_per_s", "op/s", 1, 64e9);
	assay_result_add_metric(&r[0], "roof_frac", "1", 1, 0.713);
	r[0].roof = (struct assay_result_roof){ ASSAY_BOUND_BANDWIDTH, "stream.read", "l3", { 0.7, 0.7249, false } };
	assay_result_add_metric(&r[2], "roof_frac", "1", 1, 0.88);
	r[2].roof = (struct assay_result_roof){ .bound = ASSAY_BOUND_ARITHMETIC, .op = "alu.dot", .name = "i8" };
	assay_result_add_metric(&r[2], "parallel_efficiency", "1", 1, 0.966);
	assay_result_add_metric(&r[2], "tokens_per_s", "1/s", 1, 41.7);
	assay_result_add_metric(&r[2], "bytes_per_s", "B/s", 1, 1e9);
	assay_result_add_metric(&r[2], "kv_cache_hit_rate", "1", 1, 0.875);
	assay_result_add_metric(&r[2], "ttft_p50_s", "s", -1, 0.0123);
	assay_result_add_metric(&r[2], "ttft_p99_s", "s", -1, 0.0140);
	r[2].converged = r[2].steady = false;
	r[2].dropped_frac = 0.08;
	strcpy(r[2].note, "memory was 96 % full");

	out = emit_run(&run, "text", &style);
	assert_true(has_line(out, "    memory was 96 % full", ""));
	/* 64 operations a byte: the arithmetic rate is the one that tells */
	assert_true(has_line(out, "  avx2", "61.2 µs  ±0.4 %   64.0 GOP/s        71 %  l3          ok 01234567"));
	assert_true(has_line(out, "  avx2", "limit 70.0 to 72.5 %?"));
	assert_true(has_line(out, "  avx2", "±0.4 %*  41.7 tok/s        88 %  i8"));
	assert_true(has_line(out, "  avx2", "unsteady, 8 % dropped, 97 % efficient"));
	assert_true(has_line(out, "    kv cache hit rate\u00a087.5\u00a0%",
			     " · ttft p50\u00a012.3\u00a0ms, p99\u00a014.0\u00a0ms"));
	assert_true(has_line(out, "  cuda", "skipped: because"));
	assert_true(has_line(out, "  bad", "wrong: because"));
	assert_true(has_line(out, "2 ok, 1 skipped, 1 wrong in 12 s", ""));
	/* what all cases of an op share stands beside its name, what differs in their lines */
	assert_true(has_line(out, "matmul.ternary m=64", ""));
	assert_true(has_line(out, "generate.decode m=64,n=1", ""));
	assert_true(has_line(out, "  bad", "n=8"));
	assert_false(has_line(out, "  bad", "m=64"));
	/* all cases of an op stand together, in the order of its first */
	assert_true(strstr(out, "\nmatmul.ternary ") < strstr(out, "\ngenerate.decode "));
	assert_true(strstr(out, "wrong: because") < strstr(out, "\ngenerate.decode "));
	assert_null(strchr(out, '\033'));

	style.width = 80;
	style.colour = true;
	out = emit_run(&run, "text", &style);
	assert_non_null(strchr(out, '\033'));
	assert_null(strstr(out, "01234567"));
	assert_non_null(strstr(out, "'assay show RUN CASE'"));
	has_no_wider_line(out, 80);
	/* assay verify stores nothing that could be shown again */
	run.id = 0;
	out = emit_run(&run, "text", &style);
	assert_null(strstr(out, "assay show"));
	assert_true(has_line(out, "  check      every result equals", "unless its line says"));
	for (size_t i = 0; i < 4; i++)
		assay_result_release(&r[i]);
}

/* What the marks and words of a table mean stands below it, where they occur. */
TEST(test_run_legend)
{
	struct assay_result r[2] = { result("op", "avx2", ASSAY_STATUS_OK), result("op", "ref", ASSAY_STATUS_OK) };
	struct assay_run run = { .results = r, .n_results = 1 };
	struct assay_emit_style style = { .utf8 = true };
	char *out;

	out = emit_run(&run, "text", &style);
	assert_null(strstr(out, "  ?  "));
	assert_null(strstr(out, "  *  "));
	assert_null(strstr(out, "below"));
	assert_null(strstr(out, "disturbed"));
	/* of marks, caches and checks only those that occur */
	assert_null(strstr(out, "  notes"));
	assert_true(has_line(out, "  thr", "cache: warm (inputs used before)"));
	assert_null(strstr(out, "cold"));
	r[0].steady = false;
	r[0].c.cache = ASSAY_CACHE_COLD;
	assert_int_equal(assay_counters_add_missing(&r[0].counters, "roof_frac", "assay", "no stream.read ran"), 0);
	out = emit_run(&run, "text", &style);
	assert_true(has_line(out, "  notes      unsteady: ", "did not settle"));
	assert_null(strstr(out, "dropped"));
	assert_null(strstr(out, "slow core"));
	assert_true(has_line(out, "  thr", "cache: cold (in memory only)"));
	assert_true(has_line(out, "  % of limit none: ", "no stream.read ran"));
	r[0].steady = true;

	run.n_results = 2;
	assay_result_add_metric(&r[1], "roof_frac", "1", 1, 0.5);
	out = emit_run(&run, "text", &style);
	assert_true(has_line(out, "             none of 1 case: ", "no stream.read ran"));
	assert_true(has_line(out, "  thr", "warm (inputs used before) or cold (in memory only)"));
	r[1].n_samples = 3;
	r[1].ci95_reached = r[1].converged = false;
	r[1].disturbed_frac = 0.6;
	r[1].dropped_frac = 0.4; /* of slow cores */
	r[1].disturbed = r[1].slow_core = true;
	assay_result_add_metric(&r[1], "ttft_mean_s", "s", -1, 0.0123);
	assay_result_add_metric(&r[1], "tpot_mean_s", "s", -1, 0.0123);
	assay_result_add_metric(&r[1], "kv_cache_hit_rate", "1", 1, 0.875);
	assay_result_add_metric(&r[1], "time_ffn_frac", "1", 0, 0.5);
	assay_result_add_metric(&r[1], "checksum", "1", 0, 45852504900);
	out = emit_run(&run, "text", &style);
	assert_true(!has_line(out, "  ref", "±"));
	assert_true(has_line(out, "  ref", "40 % dropped, 60 % disturbed, slow core"));
	assert_true(has_line(out, "    ttft mean", "checksum\u00a045852504900"));
	assert_true(has_line(out, "  time", "interval over processes; none where"));
	assert_null(strstr(out, "  *  "));
	assert_true(has_line(out, "  below      ttft: ", "; tpot: "));
	assert_true(has_line(out, "  below  ", "; kv cache hit rate: "));
	assert_true(has_line(out, "  below  ", "ffn is"));
	assert_true(has_line(out, "  notes", "disturbed: so many"));
	assert_true(has_line(out, "  notes", "slow core: most"));
	assert_true(has_line(out, "  notes", "or a core was slow"));
	for (size_t i = 0; i < 2; i++)
		assay_result_release(&r[i]);
}

TEST(test_gate_table)
{
	struct assay_gate_case cases[] = {
		{ .key = "op/fine/-/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_PASS,
		  .ratio = 1.001,
		  .ci_lo = 0.99,
		  .ci_hi = 1.01,
		  .margin_frac = 0.05 },
		{ .key = "op/slow/-/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_REGRESSED,
		  .ratio = 1.072,
		  .ci_lo = 1.061,
		  .ci_hi = 1.083,
		  .margin_frac = 0.05,
		  .reason = "7.2 % slower" },
		{ .key = "op/gone/-/t=1/warm",
		  .metric = "",
		  .verdict = ASSAY_NOT_MEASURED,
		  .ratio = NAN,
		  .ci_lo = NAN,
		  .ci_hi = NAN,
		  .margin_frac = NAN,
		  .reason = "not in the run" },
	};
	struct assay_gate_report r = { .verdict = ASSAY_NOT_MEASURED,
				       .exit = ASSAY_EXIT_NOT_MEASURED,
				       .base = "run 1",
				       .head = "run 2",
				       .cases = cases,
				       .n_cases = 3 };
	struct assay_emit_style style = { .utf8 = true };
	char *out;

	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "NOT_MEASURED: run 2 against run 1", ""));
	assert_true(has_line(out, "  REGRESSED", "+7.2 %  +6.1 % to +8.3 %     5 %  op/slow/-/t=1/warm"));
	assert_true(has_line(out, "  NOT_MEASURED", "op/gone/-/t=1/warm"));
	assert_true(has_line(out, "      not in the run", ""));
	assert_null(strstr(out, "op/fine"));
	assert_true(strstr(out, "op/gone") < strstr(out, "op/slow"));
	assert_true(has_line(out, "3 cases: 1 NOT_MEASURED, 1 REGRESSED, 1 PASS", ""));

	style.verbose = true;
	out = emit_gate(&r, "text", &style);
	assert_non_null(strstr(out, "op/fine"));
}

/* Without a baseline the same line a hundred times says nothing. */
TEST(test_gate_no_baseline)
{
	struct assay_gate_case cases[3];
	struct assay_gate_report r = {
		.verdict = ASSAY_PASS, .head = "run 4", .no_baseline = true, .cases = cases, .n_cases = 3
	};
	struct assay_emit_style style = { 0 };
	char *out;
	const char *p;

	for (size_t i = 0; i < 3; i++)
		cases[i] = (struct assay_gate_case){ .key = "k",
						     .evidence = ASSAY_EVIDENCE_STORED,
						     .verdict = ASSAY_INCOMPARABLE,
						     .reason = "no run to compare with",
						     .ratio = NAN };
	out = emit_gate(&r, "text", &style);
	p = strstr(out, "no run to compare with");
	assert_non_null(p);
	assert_null(strstr(p + 1, "no run to compare with"));
	/* the headline and the sum do not contradict each other */
	assert_true(has_line(out, "PASS: run 4: correctness, manifest and limits passed; speed was not judged", ""));
	assert_true(has_line(out, "3 verdicts on 1 case: 3 without a baseline", ""));
	assert_null(strstr(out, "INCOMPARABLE"));

	r.n_unjudged = 1;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out,
			     "PASS: run 4: correctness, manifest and limits passed; 1 demand on skipped cases was not "
			     "judged; speed was not judged",
			     ""));
	r.no_baseline = false;
	r.n_unjudged = 2;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "PASS: run 4 against no baseline; 2 demands on skipped cases were not judged", ""));
	r.no_baseline = true;
	r.n_unjudged = 0;

	r.verdict = ASSAY_INCOMPARABLE;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "INCOMPARABLE: run 4; speed was not judged", ""));

	/* what was compared stands in the headline */
	strcpy(r.base, "counts.json");
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "INCOMPARABLE: run 4 against counts.json; speed was not judged", ""));
	r.verdict = ASSAY_PASS;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(
		out,
		"PASS: run 4 against counts.json: correctness, manifest and limits passed, counts are as recorded; "
		"speed was not judged",
		""));
}

/* A run that was cut short lacks most of its cases, each for the same reason. */
TEST(test_gate_missing)
{
	struct assay_gate_case cases[5];
	struct assay_gate_report r = {
		.verdict = ASSAY_NOT_MEASURED, .head = "run 2", .base = "run 1", .cases = cases
	};
	struct assay_emit_style style = { 0 };
	char *out;

	for (size_t i = 0; i < 5; i++) {
		cases[i] = (struct assay_gate_case){ .verdict = ASSAY_NOT_MEASURED,
						     .metric = "status",
						     .missing = true,
						     .reason = "not in the run",
						     .ratio = NAN };
		snprintf(cases[i].key, sizeof(cases[i].key), "op/v%zu/-/t=1/warm", i);
	}
	r.n_cases = 3;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "  NOT_MEASURED", "op/v2/"));
	assert_null(strstr(out, "are missing"));

	r.n_cases = 5;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "5 cases are missing in the run: op/v0/", "op/v2/-/t=1/warm, ..."));
	assert_null(strstr(out, "op/v3/"));
	assert_null(strstr(out, "not in the run"));
	assert_true(has_line(out, "5 cases: 5 NOT_MEASURED", ""));

	style.verbose = true;
	out = emit_gate(&r, "text", &style);
	assert_true(has_line(out, "  NOT_MEASURED", "op/v4/"));
	assert_null(strstr(out, "are missing"));
}

static char *emit_case(struct assay_result *r, bool samples, const struct assay_emit_style *style)
{
	struct assay_run run = { .results = r, .n_results = 1 };

	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .samples = samples } },
		    "cases", style);
}

TEST(test_header_and_result)
{
	struct assay_fact env[] = { { "clock", "TSC" },
				    { "clock_resolution_ns", "20" },
				    { "clock_overhead_ns", "23" },
				    { "placement", "compact" } };
	struct assay_run run = { .seed = 42, .suite = "quick", .environment = env, .n_environment = 4 };
	struct assay_sample samples[] = { { .iterations = 10, .ns = 1234 },
					  { .iterations = 10,
					    .ns = 2000,
					    .flags = ASSAY_DISTURB_SWITCH | ASSAY_DISTURB_STEAL |
						     ASSAY_SAMPLE_NEW_ROUND } };
	struct assay_result r = result("op", "v", ASSAY_STATUS_OK);
	struct assay_emit_style style = { .utf8 = true };
	char *out;

	strcpy(run.build.commit, "0123456789abcdef0123");
	run.build.dirty = true;
	out = emit_run(&run, "header", &style);
	assert_true(has_line(out, "suite     quick, seed 42", ""));
	assert_true(has_line(out, "clock     TSC, resolution 20 ns, a read takes 23 ns", ""));
	assert_true(has_line(out, "placement compact", ""));
	assert_true(has_line(out, "build     commit 0123456789ab with changes", ""));

	r.samples = samples;
	r.n_samples = 2;
	r.rounds = 2;
	r.disturbed_frac = 0.5;
	r.slow_core_frac = 0.25;
	r.ci95_reached = false;
	assay_result_add_metric(&r, "items_per_s", "1/s", 1, 3040);
	out = emit_case(&r, false, &style);
	assert_true(has_line(out, "median    61.2 µs (the processes differ too much, so no interval)", ""));
	assert_true(has_line(out, "samples   2 of 10 iterations in 2 processes, 50.0 % disturbed, 0.0 % dropped", ""));
	assert_true(has_line(out, "  items_per_s", "3.04 k items/s"));

	/* slow cores are told of where they were looked for */
	assert_int_equal(assay_result_set_count(&r, "slow_core_samples", ASSAY_SOURCE_OS, "a loop", 1), 0);
	samples[0].flags = ASSAY_DISTURB_SLOW;
	out = emit_case(&r, true, &style);
	assert_true(has_line(
		out,
		"samples   2 of 10 iterations in 2 processes, 50.0 % disturbed, 25.0 % of slow cores, 0.0 % dropped",
		""));
	assert_true(has_line(out, "     0  ", "  slow core"));
	samples[0].flags = 0;

	/* one rate of the same items is enough */
	r.ci95_reached = true;
	assay_result_add_metric(&r, "tokens_per_s", "1/s", 1, 4480);
	out = emit_case(&r, false, &style);
	assert_true(has_line(out, "median    61.2 µs (95 % interval over processes 61.0 µs to 61.5 µs)", ""));
	assert_true(has_line(out, "  tokens_per_s", "4.48 ktok/s"));
	assert_null(strstr(out, "items_per_s"));
	out = emit_case(&r, true, &style);
	assert_true(has_line(out, "op/v/m=64,n=1/t=1/warm", ""));
	assert_true(has_line(out, "     0", "1          10           123.400  -"));
	assert_true(has_line(out, "     1      2", "200.000  switch,steal"));
	r.samples = NULL;
	assay_result_release(&r);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plots other than simple trends: what each kind hands to gnuplot, and what becomes of its SVG.
 */
#include "emit_fixture.h"

#include <math.h>

#include "reports/plot/parts.h"

static char *script_of(const struct assay_plot *p)
{
	static const struct assay_plot_options plain;
	struct assay_text t = { 0 };
	struct assay_err err = { 0 };

	if (assay_plot_script(p, &plain, false, "out", &t, &err))
		fail_msg("%s", err.text);
	return assay_text_take(&t);
}

static void refuses(const struct assay_plot *p, const char *why)
{
	static const struct assay_plot_options plain;
	struct assay_text t = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(assay_plot_script(p, &plain, false, "out", &t, &err), ASSAY_ENOTFOUND);
	has(err.text, why);
	assay_text_release(&t);
}

static struct assay_plot of_run(enum assay_plot_kind kind, const struct assay_run *run)
{
	return (struct assay_plot){ .kind = kind, .run = { .run = run } };
}

/* ---- trends: gaps, changes, marks ---- */

static struct assay_trend_point points[6];

static void series(void)
{
	memset(points, 0, sizeof(points));
	for (size_t i = 0; i < N_OF(points); i++) {
		points[i].run_id = (int64_t)i + 1;
		points[i].started_ns = (UINT64_C(1790000000) + i * 3600) * 1000000000u;
		points[i].median_ns = i < 3 ? 100 : 120;
		snprintf(points[i].commit, sizeof(points[i].commit), "%zu000000000", i);
	}
}

TEST(trends_have_gaps_changes_and_marks)
{
	struct assay_trend_gap gaps[2] = {
		{ .run = { .run_id = 9, .started_ns = 1, .commit = "dead" }, .missing = true },
		{ .run = { .run_id = 10, .started_ns = 2 }, .status = ASSAY_STATUS_CRASHED }
	};
	struct assay_trend_change changes[1] = { { .from = 0, .at = 3, .to = 6, .ratio = 1.2 } };
	struct assay_trend_mark marks[3] = { { .name = "v1.0", .commit = "4000000000" },
					     { .name = "baseline main", .run_id = 2 },
					     { .name = "v0", .commit = "none" } };
	struct assay_trend_line line = { .points = points,
					 .n_points = N_OF(points),
					 .gaps = gaps,
					 .n_gaps = 2,
					 .changes = changes,
					 .n_changes = 1 };
	struct assay_plot p = {
		.kind = ASSAY_PLOT_TREND,
		.trend = { .key = "k", .lines = &line, .n_lines = 1, .marks = marks, .n_marks = N_OF(marks) }
	};
	char *text;

	series();
	text = script_of(&p);
	/* the runs without a number come first, and blank lines end the line of the others there */
	has(text, "$line1 << END\n\n1 NaN NaN NaN 3\n\n\n2 NaN NaN NaN 2\n\n3 100 100 100 0\n");
	has(text, "'failed'");
	has(text, "'not measured'");
	has(text, "6 runs, 2 more without a number");
	/* both levels, and the words in order of their places; a mark that no run has is none */
	has(text, "$levels << END\n3 5 100 1\n6 8 120 1\nEND\n");
	has(text, "array FLAG_WORD[3] = ['baseline main', '+20.0 % 30000000', 'v1.0']");
	has(text, "FLAG[1] = 5; FLAG_X[1] = 4;");
	has(text, "FLAG[2] = 1; FLAG_X[2] = 5.5;");
	has(text, "FLAG[3] = 4; FLAG_X[3] = 7;");
	free(text);

	changes[0].ratio = 0.8;
	changes[0].of_machine = true;
	p.trend.by_date = true;
	text = script_of(&p);
	has(text, "'-20.0 % 30000000 (machine)'");
	has(text, "FLAG[2] = 3; FLAG_X[2] = 1790010800;");
	has(text, "BY_DATE = 1");
	free(text);

	/* runs of one moment have an axis, too */
	line = (struct assay_trend_line){ .points = points, .n_points = 2 };
	points[1].started_ns = points[0].started_ns + 1000;
	text = script_of(&p);
	has(text, "XLO = 1789978400\nXHI = 1790021600\n");
	free(text);
}

TEST(lines_that_cannot_be_told_apart_are_refused)
{
	struct assay_trend_line lines[9] = { { .points = points, .n_points = 1 } };

	refuses(&(struct assay_plot){ .kind = ASSAY_PLOT_TREND, .trend = { .key = "k", .lines = lines, .n_lines = 9 } },
		"a plot can tell 8 lines apart, but 'k' has 9");
}

/* ---- comparisons ---- */

static struct assay_gate_case verdict(const char *key, enum assay_verdict v, double ratio)
{
	struct assay_gate_case c = { .verdict = v,
				     .evidence = ASSAY_EVIDENCE_PAIRED,
				     .ratio = ratio,
				     .ci_lo = ratio - 0.01,
				     .ci_hi = ratio + 0.01,
				     .margin_frac = 0.02 };

	snprintf(c.key, sizeof(c.key), "%s", key);
	snprintf(c.metric, sizeof(c.metric), "time_s");
	return c;
}

TEST(comparisons_are_sorted_by_severity)
{
	struct assay_gate_case cases[] = {
		verdict("passed", ASSAY_PASS, 1.001),      verdict("slow", ASSAY_REGRESSED, 1.05),
		verdict("slower", ASSAY_REGRESSED, 1.10),  verdict("gone", ASSAY_NOT_MEASURED, NAN),
		verdict("counted", ASSAY_PASS, 1),         verdict("counted", ASSAY_REGRESSED, 1.2),
		verdict("faster", ASSAY_IMPROVED, 1 / 1.1)
	};
	struct assay_gate_report g = {
		.cases = cases, .n_cases = N_OF(cases), .verdict = ASSAY_REGRESSED, .comparison_id = 3
	};
	struct assay_plot p = { .kind = ASSAY_PLOT_COMPARISON, .comparison = { .gate = &g } };
	char *text;

	strcpy(cases[5].metric, "exact_instructions");
	strcpy(cases[3].reason, "killed by 'x'");
	text = script_of(&p);
	has(text, "array ROW[6] = ['gone', 'counted exact_instructions', 'slower', 'slow', 'faster', 'passed']");
	has(text, "[\"killed\\040by\\040\\047x\\047\", '', '', '', '', '']");
	has(text, "$cases << END\n1 NaN NaN NaN NaN NaN 2\n2 20 19 21 -1.96078431 2 3\n");
	has(text, "array KEY[4] = ['1 NOT_MEASURED', '3 REGRESSED', '1 IMPROVED', '1 PASS']");
	has(text, "'comparison 3: REGRESSED'");
	has(text, "WIDE = 0");
	free(text);

	cases[2].ratio = 4;
	cases[2].ci_lo = cases[2].ci_hi = NAN; /* no interval: the ratio itself */
	text = script_of(&p);
	has(text, "WIDE = 1");
	has(text, "\n2 4 4 4 0.980392157 1.02 3\n");
	free(text);

	g.n_cases = 0;
	refuses(&p, "the comparison has no case to draw");
}

/* ---- runs ---- */

static struct assay_result results[8];
static struct assay_run run;

/* Result @i of @op on @threads; a metric of each pair of @tags and @values. */
static void result(size_t i, const char *op, const char *variant, const char *n, unsigned threads, double ns)
{
	struct assay_result *r = &results[i];

	*r = (struct assay_result){ .status = ASSAY_STATUS_OK, .median_ns = ns, .n_samples = 1 };
	snprintf(r->c.op, sizeof(r->c.op), "%s", op);
	snprintf(r->c.variant, sizeof(r->c.variant), "%s", variant);
	r->c.threads = threads;
	r->c.n_axes = 1;
	snprintf(r->c.axes[0].name, sizeof(r->c.axes[0].name), "n");
	snprintf(r->c.axes[0].text, sizeof(r->c.axes[0].text), "%s", n);
	r->c.axes[0].value = atoi(n);
	assay_case_make_key(&r->c, NULL);
	run = (struct assay_run){ .id = 4, .results = results, .n_results = i + 1 };
	snprintf(run.machine.label, sizeof(run.machine.label), "a machine");
}

static void metric(size_t i, const char *tag, const char *unit, double value)
{
	assert_int_equal(assay_result_add_metric(&results[i], tag, unit, 1, value), 0);
}

static void release(void)
{
	for (size_t i = 0; i < run.n_results; i++)
		assay_result_release(&results[i]);
}

TEST(rooflines_have_limits_and_shares)
{
	struct assay_plot p = of_run(ASSAY_PLOT_ROOFLINE, &run);
	char *text;

	result(0, "stream.read", "ref", "l1", 1, 100);
	metric(0, "bytes_per_s", "B/s", 2e11);
	result(1, "stream.read", "ref", "dram", 1, 100);
	metric(1, "bytes_per_s", "B/s", 2e10);
	result(2, "peak.i8_dot", "ref", "-", 1, 100);
	metric(2, "ops_per_s", "op/s", 5e11);
	result(3, "matmul.f32", "ref", "1", 1, 100);
	metric(3, "roof_frac", "1", 0.5);
	metric(3, "ops_per_s", "op/s", 1e10);
	metric(3, "arith_intensity", "op/B", 2);
	strcpy(results[3].roof.name, "dram");
	result(4, "matmul.f32", "ref", "1", 2, 100);
	metric(4, "roof_frac", "1", 0.5);
	text = script_of(&p);
	has(text, "array KEY[3] = ['matmul', 'L1 200 GB/s', 'DRAM 20.0 GB/s']");
	has(text, "KEY_KIND[3] = 12;");
	has(text, "BANDWIDTH[1] = 200\nBANDWIDTH[2] = 20\nN_BAND = 2\n");
	has(text, "array PEAK[1] = ['i8 peak 500 GOP/s']");
	has(text, "$cases << END\n1 2 10 50 1\nEND\n");
	has(text, "['50 % of dram']");
	has(text, "a machine. 1 case; not measured: L2 bandwidth, L3 bandwidth, f32 peak; no GPU measured. "
		  "1 case with other thread counts left out");
	free(text);
	/* limits that were not selected are drawn */
	p.run.only = "*/t=2/*";
	text = script_of(&p);
	has(text, "$cases << END\n1 nan nan 50 1\nEND\n");
	has(text, "N_BAND = 0");
	has(text, "\nPEAK_RATE[1] = 1\n"); /* of none; gnuplot stops where it has no value */
	has(text, "2 threads'");
	free(text);
	p.run.only = NULL;
	release();

	/* little is not nothing */
	result(0, "matmul.f32", "ref", "1", 1, 100);
	metric(0, "roof_frac", "1", 0.004);
	metric(0, "ops_per_s", "op/s", 1e8);
	metric(0, "arith_intensity", "op/B", 2);
	text = script_of(&p);
	has(text, "['0.4 % of its roof']");
	free(text);
	release();

	result(0, "matmul.f32", "ref", "1", 1, 100);
	assert_int_equal(assay_counters_add_missing(&results[0].counters, "roof_frac", "assay", "no bandwidth"), 0);
	refuses(&p, "no case of run 4 has a limit: none: no bandwidth");
	release();
}

/* The bandwidth of a GPU is no roof of the CPU's cases, nor the other way round. */
TEST(a_device_has_a_roof_of_its_own)
{
	struct assay_plot p = of_run(ASSAY_PLOT_ROOFLINE, &run);
	char *text;

	result(0, "stream.read", "ref", "dram", 1, 100);
	metric(0, "bytes_per_s", "B/s", 2e10);
	result(1, "stream.copy", "cuda", "dram", 1, 100);
	metric(1, "bytes_per_s", "B/s", 2e12);
	strcpy(results[1].c.device, "cuda:0");
	for (size_t i = 2; i < 5; i++) {
		result(i, "quantize.q8_0", i < 4 ? "avx2" : "cuda", i == 2 ? "1" : "2", 1, 100);
		metric(i, "roof_frac", "1", 0.5);
		metric(i, "ops_per_s", "op/s", 1e10);
		metric(i, "arith_intensity", "op/B", 2);
	}
	strcpy(results[4].c.device, "cuda:0");
	text = script_of(&p);
	has(text, "array KEY[2] = ['quantize', 'DRAM 20.0 GB/s']");
	has(text, "a machine. 2 cases; not measured: L1 bandwidth, L2 bandwidth, L3 bandwidth, f32 peak, i8 peak; "
		  "1 case on cuda:0 has a roof of its own'");
	free(text);
	p.run.only = "*/cuda/*";
	text = script_of(&p);
	has(text, "array KEY[2] = ['quantize', 'DRAM 2.00 TB/s']");
	has(text, "'roofline of run 4 on cuda:0'");
	has(text, "a machine. 1 case; not measured: f32 peak, i8 peak'");
	free(text);
	p.run.only = NULL;
	release();
}

TEST(scaling_is_against_one_thread)
{
	struct assay_plot p = of_run(ASSAY_PLOT_SCALING, &run);
	char *text;

	for (unsigned t = 1; t <= 3; t++) {
		result(t - 1, "op", "avx2", "8", t, 1000.0 / t);
		results[t - 1].ci95_lo_ns = 500.0 / t;
		results[t - 1].ci95_hi_ns = 2000.0 / t;
		results[t - 1].ci95_reached = true;
	}
	result(3, "op", "ref", "8", 1, 5000); /* one number of threads makes no line */
	text = script_of(&p);
	has(text, "$line1 << END\n1 1 0.5 2\n2 2 1 4\n3 3 1.5 6\nEND\nN_LINES = 1\n");
	has(text, "array KEY[2] = ['avx2', 'ideal']");
	has(text, "'scaling of op avx2 n=8 warm'");
	free(text);
	run.n_results = 1;
	refuses(&p, "run 4 has no case on more than one number of threads: 'assay run --suite scaling' measures some");
}

TEST(sweeps_go_over_an_axis)
{
	struct assay_plot p = of_run(ASSAY_PLOT_SWEEP, &run);
	char *text;

	result(0, "op", "avx2", "16", 1, 2000);
	result(1, "op", "ref", "1", 1, 3000);
	result(2, "op", "avx2", "1", 1, 1000);
	p.run.metric = "time_s";
	text = script_of(&p);
	has(text, "$line1 << END\n1 1 1 1\n16 2 2 2\nEND\nN_LINES = 1\n");
	has(text, "XWORDS = 0\nXLOG = 1\nXLO = 1\nXHI = 16\n");
	has(text, "YLABEL = 'time per call'");
	free(text);
	strcpy(results[0].c.axes[0].text, "l2");
	strcpy(results[2].c.axes[0].text, "l1");
	text = script_of(&p);
	has(text, "array WORD[2] = ['l1', 'l2']");
	free(text);
	p.run.metric = "bytes_per_s";
	refuses(&p, "no case of 'op' in run 4 has 'bytes_per_s'");
	p.run.axis = "m";
	refuses(&p, "no case has an axis 'm'");
	p.run.axis = "n";
	run.n_results = 1;
	refuses(&p, "all cases of run 4 have the same 'n'");
}

TEST(generation_is_split)
{
	static const struct assay_count steps[2] = { { .name = "prefill_steps", .value = 2, .source = "op" },
						     { .name = "decode_steps", .value = 10, .source = "op" } };
	struct assay_plot p = of_run(ASSAY_PLOT_GENERATE, &run);
	char *text;

	result(0, "generate.chat", "ref", "1", 1, 1e6);
	metric(0, "tpot_mean_s", "s", 2e-5);
	metric(0, "tpot_p50_s", "s", 1e-5);
	metric(0, "time_embedding_frac", "1", 0.25);
	metric(0, "time_attention_frac", "1", 0.5);
	for (int i = 0; i < 2; i++)
		assert_int_equal(assay_counters_add(&results[0].counters, &steps[i]), 0);
	text = script_of(&p);
	/* 10 tokens of 20 us of a millisecond are decoding */
	has(text, "$cases << END\n1 80 25 75 nan nan nan 10 nan nan nan\nEND\n");
	has(text, "['generate.chat/ref/t=1']");
	has(text, "['1.00 ms']");
	free(text);
	release();
	run.n_results = 0;
	refuses(&p, "run 4 has no case that generates");
}

TEST(distributions_have_all_samples)
{
	double ns[] = { 3000, 1000, 2000, 1e9 };
	struct assay_sample_set sides[2] = { { .name = "run 1", .ns = ns, .n = 3, .n_dropped = 5 },
					     { .name = "base" } };
	struct assay_plot p = { .kind = ASSAY_PLOT_DISTRIBUTION,
				.distribution = { .key = "k", .sides = sides, .n_sides = 1 } };
	char *text = script_of(&p);

	has(text, "$density1 << END\n");
	/* a density is never below zero */
	for (const char *row = strstr(text, "$density1 << END\n"); strncmp(row, "END", 3) != 0;
	     row = strchr(row, '\n') + 1)
		assert_true(row[0] == '$' || strtod(strchr(row, ' '), NULL) >= 0);
	has(text, "1 33.3333\n2 66.6667\n3 100\n");
	has(text, "['run 1: median 2.00 \xc2\xb5s of 3 samples, 5 disturbed left out']");
	free(text);
	/* the median of the case is that over its processes, as in every table */
	sides[0].median_ns = 2500;
	text = script_of(&p);
	has(text, "['run 1: median 2.50 \xc2\xb5s of 3 samples, 5 disturbed left out']");
	has(text, "MEDIAN[1] = 2.5\n");
	free(text);
	p.distribution.n_sides = 2;
	refuses(&p, "no samples of 'k' in base");
}

/* ---- pictures ---- */

TEST(svg_is_finished)
{
	static const char from[] = "<?xml?>\n<svg \n width=\"9\" xmlns=\"x\">\n<title>plot</title>\n<desc>by</desc>\n"
				   "<path id='gpPt6' stroke='rgb(  0, 114, 178)'/><use xlink:href='#gpPt6' color="
				   "\"rgb(0,114,178)\" fill = 'url(#gpPt6)'/><text>id='rgb(1,2,3)'</text></svg>";
	struct assay_text t = { 0 };

	assay_plot_finish_svg("trend of <k>", true, from, &t);
	assert_int_equal(times(t.s, "<?xml"), 1);
	has(t.s, "<svg class=\"assay-plot\" role=\"img\" aria-label=\"trend of &lt;k&gt;\" \n width=\"9\"");
	has(t.s, "<title>trend of &lt;k&gt;</title>");
	has(t.s, "@media screen and (prefers-color-scheme: dark)");
	has(t.s, ".assay-plot [fill=\"#ffffff\"] { fill: #16191d }");
	has(t.s, ".assay-plot [stroke=\"#0072b2\"] { stroke: #4aa3df }");
	has(t.s,
	    "<path id='gpPt6' stroke=\"#0072b2\"/><use xlink:href='#gpPt6' color=\"#0072b2\" fill = 'url(#gpPt6)'/>");
	has(t.s, "<text>id='rgb(1,2,3)'</text></svg>");
	assert_null(strstr(t.s, "desc"));
	assay_text_release(&t);
	assay_plot_finish_svg("trend", false, from, &t);
	assert_null(strstr(t.s, "<style>"));
	assay_text_release(&t);
}

/* Names in both themes are the same, line by line, and no two colours are equal: a style tells them apart by value. */
TEST(themes_have_the_same_colours)
{
	struct assay_plot_colour a, b;
	const char *light = assay_plot_program("light.gp"), *dark = assay_plot_program("dark.gp");
	size_t n = 0;

	for (; assay_plot_colour(n, &a); n++)
		for (size_t k = 0; k < n; k++)
			if (assay_plot_colour(k, &b) && !strcmp(a.light, b.light))
				fail_msg("%s twice", a.light);
	assert_int_equal(n, 13);
	for (;;) {
		light = strstr(light, " = '#");
		dark = strstr(dark, " = '#");
		if (!light || !dark)
			break;
		assert_memory_equal(light - 3, dark - 3, 3);
		light++;
		dark++;
	}
	assert_true(!light && !dark);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in every format: the default view, the table of all cases, single cases, and files for other programs. */
#include "emit_fixture.h"
#include "golden.h"

#include <math.h>

#include "reports/run/parts.h"

static const struct assay_emit_style utf8 = { .utf8 = true };

static struct assay_result result(const char *op, const char *variant, const char *n, unsigned threads, double us)
{
	struct assay_result r = { .max_rel_err = -1, .numa_node = -1, .checked = true, .correct = true };

	snprintf(r.c.op, sizeof(r.c.op), "%s", op);
	snprintf(r.c.variant, sizeof(r.c.variant), "%s", variant);
	snprintf(r.c.axes[0].name, sizeof(r.c.axes[0].name), "n");
	snprintf(r.c.axes[0].text, sizeof(r.c.axes[0].text), "%s", n);
	r.c.n_axes = 1;
	r.c.threads = threads;
	r.c.reference = !strcmp(variant, "ref");
	r.steady = r.converged = r.ci95_reached = true;
	r.n_samples = 50;
	r.median_ns = us * 1000;
	r.ci95_lo_ns = r.median_ns * 0.99;
	r.ci95_hi_ns = r.median_ns * 1.01;
	return r;
}

static struct assay_result without_time(const char *op, const char *variant, const char *n, enum assay_status status,
					const char *reason)
{
	struct assay_result r = result(op, variant, n, 1, 1);

	r.status = status;
	r.n_samples = 0;
	r.median_ns = r.ci95_lo_ns = r.ci95_hi_ns = 0;
	snprintf(r.reason, sizeof(r.reason), "%s", reason);
	return r;
}

static char *brief(struct assay_result *r, size_t n, struct assay_emit_style style)
{
	struct assay_run run = { .results = r, .n_results = n, .started_ns = 1, .ended_ns = 12000000001 };

	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .brief = true } }, "text",
		    &style);
}

static void release(struct assay_result *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assay_result_release(&r[i]);
}

TEST(best_of_each_shape)
{
	struct assay_result r[] = {
		result("op", "ref", "1", 1, 100),   result("op", "slow", "1", 1, 50),
		result("op", "fast", "1", 1, 8),    result("op", "ref", "2", 1, 100),
		result("op", "fast", "2", 1, 99),   result("op", "fast", "2", 1, 300),
		result("op", "fast", "3", 1, 10),   result("alone", "ref", "7", 1, 5),
		result("best", "ref", "7", 1, 5),   result("best", "fast", "7", 1, 6),
		result("failed", "ref", "7", 1, 5), result("failed", "fast", "7", 1, 4),
	};

	r[5].c.cache = ASSAY_CACHE_COLD;
	r[10].status = ASSAY_STATUS_CRASHED;
	snprintf(r[10].reason, sizeof(r[10].reason), "killed by SIGSEGV");
	golden("best of each shape", brief(r, N_OF(r), utf8));
}

/* Where most samples of the reference are of a disturbed machine, or it has no interval, that is said, and no ratio. */
TEST(no_ratio_without_an_interval)
{
	struct assay_result r[] = { result("op", "ref", "1", 1, 100), result("op", "fast", "1", 1, 8) };
	const struct assay_run run = { .results = r, .n_results = 2 };
	char *s, text[128];

	for (unsigned i = 0; i < 2; i++) {
		assay_run_cells_against_text(&run, &r[1], text, sizeof(text));
		assert_string_equal(text, "12.5x faster than ref (12.3x to 12.7x)");
		r[0].disturbed = i == 0;
		r[0].ci95_hi_ns = i == 0 ? r[0].ci95_hi_ns : NAN;
		s = brief(r, 2, (struct assay_emit_style){ .utf8 = true });
		assert_null(strstr(s, "×"));
		has(s, "fast  8.00 µs  ±1.0 %  unsure\n");
		has(s, "  vs ref     speed-up over the reference variant on as many threads; unsure where");
		assay_run_cells_against_text(&run, &r[1], text, sizeof(text));
		assert_string_equal(text, i ? "unsure against ref: no interval"
					    : "unsure against ref: most samples were disturbed");
		r[0] = result("op", "ref", "1", 1, 100);
	}
}

/* Threads are folded: the row is of the most work a second, against the reference on as many threads. */
TEST(best_number_of_threads)
{
	struct assay_result r[] = {
		result("op", "ref", "1", 4, 40),
		result("op", "fast", "1", 4, 20),
		result("op", "ref", "1", 1, 100),
		result("op", "fast", "1", 1, 10),
	};

	/* four threads do eight times the work in twice the time */
	for (size_t i = 0; i < 4; i++)
		assay_result_add_metric(&r[i], "ops_per_s", "op/s", 1, (i < 2 ? 8e9 : 1e9) / r[i].median_ns);
	golden("best number of threads", brief(r, 4, utf8));
	release(r, 4);
}

/* The legend explains those marks, words and columns that occur, and a column without a value says why. */
TEST(legend_of_the_default_view)
{
	struct assay_result r[] = { result("op", "ref", "1", 1, 100), result("op", "fast", "1", 1, 8) };

	golden("one undisturbed case", brief(r, 1, utf8));
	assert_int_equal(assay_counters_add_missing(&r[0].counters, "roof_frac", "assay", "no stream.read ran"), 0);
	golden("no limit is known", brief(r, 1, utf8));
	r[1].ci95_reached = r[1].steady = r[1].converged = false;
	r[1].slow_core = true;
	assay_result_add_metric(&r[1], "roof_frac", "1", 1, 0.713);
	r[1].roof = (struct assay_result_roof){ .bound = ASSAY_BOUND_BANDWIDTH, .op = "stream.read", .name = "l3" };
	golden("disturbed, without an interval", brief(r, 2, utf8));
	/* a share that cannot be is shown, and marked above 105 % */
	r[1].metrics[0].value = 1.05;
	has(brief(r, 2, utf8), "  105 %  l3\n");
	r[1].metrics[0].value = 1.22;
	r[1].ci95_reached = true;
	golden("above its limit, ASCII", brief(r, 2, (struct assay_emit_style){ 0 }));
	release(r, 2);
}

/* With fixed work an interval is what it is. */
TEST(fixed_work_is_not_unsure)
{
	struct assay_result r[] = { result("op", "ref", "1", 1, 100) };
	struct assay_fact fixed = { "deterministic", "1" };
	struct assay_run run = { .results = r, .n_results = 1 };
	char *s;

	r[0].converged = false;
	s = emit_run(&run, "text", NULL);
	has(s, "unsure");
	run.environment = &fixed;
	run.n_environment = 1;
	s = emit_run(&run, "text", NULL);
	assert_null(strstr(s, "unsure"));
}

TEST(reasons_are_told_once)
{
	struct assay_result r[] = {
		without_time("op", "a", "1", ASSAY_STATUS_SKIPPED, "needs x"),
		without_time("op", "b", "1", ASSAY_STATUS_SKIPPED, "needs y"),
		without_time("op", "a", "2", ASSAY_STATUS_SKIPPED, "needs x"),
		without_time("op", "c", "1", ASSAY_STATUS_SKIPPED, "needs z"),
		without_time("op", "d", "1", ASSAY_STATUS_SKIPPED, "needs v"),
		without_time("op", "e", "1", ASSAY_STATUS_SKIPPED, "needs w"),
		without_time("op", "f", "1", ASSAY_STATUS_WRONG, "element 3"),
		without_time("op", "f", "2", ASSAY_STATUS_TIMEOUT, "1 s"),
		without_time("op", "f", "3", ASSAY_STATUS_FAILED, "no memory"),
	};
	struct assay_exact_case counted[] = {
		{ .status = ASSAY_STATUS_OK },
		{ .status = ASSAY_STATUS_SKIPPED, .reason = "no valgrind" },
		{ .status = ASSAY_STATUS_SKIPPED, .reason = ASSAY_EXACT_ON_DEVICE, .skip = ASSAY_EXACT_SKIP_UNABLE },
		{ .status = ASSAY_STATUS_SKIPPED, .reason = "this CPU has no z", .skip = ASSAY_EXACT_SKIP_UNABLE },
		{ .status = ASSAY_STATUS_SKIPPED, .reason = "see 'n=1'", .skip = ASSAY_EXACT_SKIP_SMALLER },
		{ .status = ASSAY_STATUS_SKIPPED, .reason = ASSAY_EXACT_UNNAMED },
	};
	struct assay_exact_run exact = { .cases = counted, .n_cases = sizeof(counted) / sizeof(counted[0]) };
	struct assay_run run = { .results = r, .n_results = 9, .exact = &exact };
	golden("reasons are told once",
	       emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .brief = true } }, "text",
		    NULL));
}

/* Columns go before lines wrap, and what is left fits. */
TEST(fits_the_terminal)
{
	static const struct {
		unsigned width;
		const char *head;
	} cases[] = {
		{ 0, "thr  best           time    95 %        vs ref       rate  % of limit  limited by\n" },
		{ 120, "thr  best           time    95 %        vs ref       rate  % of limit  limited by\n" },
		{ 100, "thr  best           time    95 %        vs ref  % of limit  limited by\n" },
		{ 91, "thr  best           time        vs ref  % of limit  limited by\n" },
		{ 80, "thr  best           time        vs ref  % of limit\n" },
	};
	struct assay_result r[] = { result("a.long.name.of.an.op", "ref", "1048576", 2, 100),
				    result("a.long.name.of.an.op", "avx512vnni", "1048576", 2, 8),
				    result("a.long.name.of.an.op", "avx512vnni", "10485760000000000", 2, 8) };

	assay_result_add_metric(&r[1], "roof_frac", "1", 1, 0.713);
	assay_result_add_metric(&r[1], "bytes_per_s", "B/s", 1, 61.2e9);
	r[1].roof = (struct assay_result_roof){ .bound = ASSAY_BOUND_ARITHMETIC, .op = "x", .name = "ternary" };
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_emit_style style = { .utf8 = true, .width = cases[i].width };
		char *s = brief(r, 3, style);

		has(s, cases[i].head);
		if (style.width)
			has_no_wider_line(s, style.width);
		style.colour = true;
		s = brief(r, 3, style);
		assert_non_null(strchr(s, '\033'));
		if (style.width)
			has_no_wider_line(s, style.width);
	}
	assay_result_release(&r[1]);
}

/* In the table of all cases each is held against the fastest on as many threads, and that one against the reference. */
TEST(against)
{
	struct assay_result r[] = { result("op", "ref", "1", 1, 480),   result("op", "avx2", "1", 1, 20),
				    result("op", "avx512", "1", 1, 10), result("op", "avx512", "1", 2, 6),
				    result("op", "ref", "2", 1, 30),    result("op", "slow", "2", 1, 45),
				    result("op", "lone", "3", 1, 45) };
	struct assay_run run = { .results = r, .n_results = N_OF(r), .started_ns = 1, .ended_ns = 12000000001 };
	char *s;

	golden("against the fastest", emit_run(&run, "text", NULL));
	golden_json("against the fastest, json", emit_run(&run, "json", NULL));
	s = emit_run(&run, "text", &(struct assay_emit_style){ .width = 80 });
	has_no_wider_line(s, 80);
	has(s, "\n    48.0x slower than avx512 (47.3x to 48.7x)\n");
}

/* A case whose n is 8 where @variant is "bad"; all cases share m. */
static struct assay_result row(const char *op, const char *variant, enum assay_status status)
{
	struct assay_result r = result(op, variant, strcmp(variant, "bad") ? "1" : "8", 1, 61.2);

	r.c.axes[1] = r.c.axes[0];
	r.c.axes[0] = (struct assay_axis_value){ "m", "64", 64 };
	r.c.n_axes = 2;
	assert_int_equal(assay_case_make_key(&r.c, NULL), 0);
	strcpy(r.digest, "0123456789abcdef0123456789abcdef");
	r.iterations = 10;
	r.ci95_lo_ns = 61000;
	r.ci95_hi_ns = 61500;
	if (status != ASSAY_STATUS_OK) {
		r.status = status;
		strcpy(r.reason, "because");
		assay_result_drop_numbers(&r);
	}
	return r;
}

TEST(table_of_all_cases)
{
	struct assay_result r[4] = { row("matmul.ternary", "avx2", ASSAY_STATUS_OK),
				     row("matmul.ternary", "cuda", ASSAY_STATUS_SKIPPED),
				     row("generate.decode", "avx2", ASSAY_STATUS_OK),
				     row("matmul.ternary", "bad", ASSAY_STATUS_WRONG) };
	struct assay_run run = {
		.id = 7, .results = r, .n_results = 4, .started_ns = 1000000000, .ended_ns = 13000000000
	};
	struct assay_emit_style style = { .utf8 = true, .width = 80, .colour = true };
	char *s;

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
	golden("all cases", emit_run(&run, "text", &utf8));
	s = emit_run(&run, "text", &style);
	has_no_wider_line(s, 80);
	has(s, "'assay show RUN CASE'");
	/* assay verify stores nothing that could be shown again */
	run.id = 0;
	s = emit_run(&run, "text", &style);
	assert_null(strstr(s, "assay show"));
	assert_true(has_line(s, "  check      every result equals", "unless its line says"));
	release(r, 4);
}

/* The meaning of a mark or word stands below the table in which it occurs. */
TEST(legend_of_all_cases)
{
	struct assay_result r[2] = { row("op", "avx2", ASSAY_STATUS_OK), row("op", "ref", ASSAY_STATUS_OK) };
	struct assay_run run = { .results = r, .n_results = 1 };

	golden("one undisturbed case in full", emit_run(&run, "text", &utf8));
	r[0].steady = false;
	r[0].c.cache = ASSAY_CACHE_COLD;
	assert_int_equal(assay_counters_add_missing(&r[0].counters, "roof_frac", "assay", "no stream.read ran"), 0);
	golden("unsteady and cold", emit_run(&run, "text", &utf8));
	r[0].steady = true;
	run.n_results = 2;
	assay_result_add_metric(&r[1], "roof_frac", "1", 1, 0.5);
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
	golden("disturbed, slow core, more metrics", emit_run(&run, "text", &utf8));
	release(r, 2);
}

static char *emit_case(struct assay_result *r, bool samples)
{
	struct assay_run run = { .results = r, .n_results = 1 };

	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .samples = samples } },
		    "cases", &utf8);
}

TEST(header_and_single_cases)
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
	struct assay_result r = row("op", "v", ASSAY_STATUS_OK);

	strcpy(run.build.commit, "0123456789abcdef0123");
	run.build.dirty = true;
	golden("header", emit_run(&run, "header", &utf8));
	r.samples = samples;
	r.n_samples = 2;
	r.rounds = 2;
	r.disturbed_frac = 0.5;
	r.slow_core_frac = 0.25;
	r.ci95_reached = false;
	assay_result_add_metric(&r, "items_per_s", "1/s", 1, 3040);
	golden("one case without an interval", emit_case(&r, false));
	/* slow cores are told of where they were looked for */
	assert_int_equal(assay_result_set_count(&r, "slow_core_samples", ASSAY_SOURCE_OS, "a loop", 1), 0);
	samples[0].flags = ASSAY_DISTURB_SLOW;
	golden("its samples, one on a slow core", emit_case(&r, true));
	/* one rate of the same items is enough */
	r.ci95_reached = true;
	assay_result_add_metric(&r, "tokens_per_s", "1/s", 1, 4480);
	golden("one case with an interval", emit_case(&r, false));
	r.samples = NULL;
	assay_result_release(&r);
}

static void fill_ok(struct assay_result *r)
{
	int *cpus = malloc(2 * sizeof(*cpus));
	struct assay_sample *s = calloc(2, sizeof(*s));

	assert_non_null(cpus);
	assert_non_null(s);
	cpus[0] = 3;
	cpus[1] = 5;
	s[1].iterations = 10;
	s[1].ns = 1234;
	s[1].flags = ASSAY_DISTURB_STEAL;
	*r = (struct assay_result){ .status = ASSAY_STATUS_OK,
				    .checked = true,
				    .correct = true,
				    .max_rel_err = 1e-6,
				    .n_samples = 2,
				    .samples = s,
				    .iterations = 10,
				    .median_ns = 123.5,
				    .ci95_lo_ns = 120,
				    .ci95_hi_ns = 130,
				    .ci95_reached = true,
				    .roof = { ASSAY_BOUND_BANDWIDTH, "stream.read", "l3", { 0.5, 0.75, true } },
				    .cpus = cpus,
				    .n_cpus = 2 };
	strcpy(r->c.op, "op.a");
	strcpy(r->c.variant, "v");
	r->c.n_axes = 2;
	r->c.axes[0] = (struct assay_axis_value){ "m", "4096", 4096 };
	r->c.axes[1] = (struct assay_axis_value){ "level", "dram", 3 };
	r->c.threads = 2;
	assert_int_equal(assay_case_make_key(&r->c, NULL), 0);
	assert_int_equal(assay_result_add_metric(r, "time_s", "s", -1, 123.5e-9), 0);
	assert_int_equal(assay_result_add_metric(r, "odd", "1", 0, NAN), 0);
	assert_int_equal(assay_result_set_count(r, "kv_hits", "op", "read without PAPI", 17), 0);
	assert_int_equal(assay_counters_add_missing(&r->counters, "PAPI_L1_DCM", "pmu", "no PMU"), 0);
}

/* Every field of section 8 of the design; no measurement is null, never 0. */
TEST(json)
{
	struct assay_result r[2];
	struct assay_run run = {
		.id = 12,
		.seed = 42,
		.started_ns = 1000000000ull * 86400,
		.all_threads = 2,
		.all_cpus = (int[]){ 4, 6 },
		.n_all_cpus = 2,
		.results = r,
		.n_results = 2,
	};
	const struct assay_report raw = { .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .samples = true } };

	fill_ok(&r[0]);
	r[1] = (struct assay_result){
		.status = ASSAY_STATUS_SKIPPED, .reason = "needs avx512_vnni", .max_rel_err = -1, .dropped_frac = NAN
	};
	strcpy(run.suite, "quick");
	golden_json("json", emit_run(&run, "json", NULL));
	run.n_results = 1;
	golden_json("json with samples", emit(&raw, "json", NULL));
	release(r, 2);
}

TEST(seeds_beyond_int64_are_text)
{
	static const struct {
		uint64_t seed;
		bool text;
	} cases[] = { { 0, false },
		      { UINT64_C(1) << 53, false },
		      { INT64_MAX, false },
		      { (uint64_t)INT64_MAX + 1, true },
		      { UINT64_MAX, true } };

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_run run = { .seed = cases[i].seed };
		json_t *j, *seed;

		j = json_loads(emit_run(&run, "json", NULL), 0, NULL);
		seed = json_object_get(json_object_get(j, "run"), "seed");
		if (cases[i].text)
			assert_true(strtoull(json_string_value(seed), NULL, 10) == cases[i].seed);
		else
			assert_true((uint64_t)json_integer_value(seed) == cases[i].seed);
		json_decref(j);
	}
}

/* One case with all that has to be escaped, one that failed; the first is to be released. */
static void make_run(struct assay_run *run, struct assay_result results[2])
{
	static struct assay_sample samples[] = { { .iterations = 2, .ns = 2000 }, { .iterations = 2, .ns = 2200 } };
	struct assay_result *r = &results[0];

	memset(results, 0, 2 * sizeof(*results));
	*run = (struct assay_run){ .id = 7,
				   .suite = "quick",
				   .label = "a,b",
				   .started_ns = UINT64_C(1769860800500000000),
				   .ended_ns = UINT64_C(1769860900000000000),
				   .machine.label = "one \"two\" \\ three",
				   .build.commit = "0123abcd",
				   .results = results,
				   .n_results = 2 };
	strcpy(r->c.op, "op");
	strcpy(r->c.variant, "v");
	r->c.n_axes = 2;
	r->c.axes[0] = (struct assay_axis_value){ .name = "m", .text = "4", .value = 4 };
	r->c.axes[1] = (struct assay_axis_value){ .name = "n", .text = "2", .value = 2 };
	r->c.threads = 1;
	assert_int_equal(assay_case_make_key(&r->c, NULL), 0);
	r->checked = r->correct = true;
	r->samples = samples;
	r->n_samples = 2;
	r->rounds = 2;
	r->ci95_reached = true;
	r->iterations = 2;
	r->median_ns = 1050;
	r->ci95_lo_ns = 1000;
	r->ci95_hi_ns = 1100;
	r->min_ns = 1000;
	r->mad_ns = 50;
	assert_int_equal(assay_result_add_metric(r, "time_s", "s", -1, 1.05e-6), 0);
	assert_int_equal(assay_result_add_metric(r, "bytes_per_s", "B/s", 1, 4e9), 0);
	assert_int_equal(assay_result_add_metric(r, "kv_hit_rate", "1", 1, 0.5), 0);
	assert_int_equal(assay_result_add_metric(r, "Total_ms", "1", 1, 3), 0);
	assert_int_equal(assay_result_set_count(r, "page_faults", "os", "", 17), 0);
	r[1].c = r->c;
	r[1].c.threads = 4;
	assert_int_equal(assay_case_make_key(&r[1].c, NULL), 0);
	r[1].status = ASSAY_STATUS_CRASHED;
	strcpy(r[1].reason, "signal 11, \"core\" dumped");
}

TEST(files_for_other_programs)
{
	static const struct assay_run_totals totals = { .runs = 9, .results = { [ASSAY_STATUS_CRASHED] = 2 } };
	static const struct assay_newest_result newest[] = {
		{ "a", "full", 3, { "8c1f", false }, ASSAY_STATUS_OK, 2000 },
		{ .key = "b", .suite = "quick", .run_id = 4, .status = ASSAY_STATUS_TIMEOUT },
	};
	struct assay_result results[2];
	struct assay_run run;
	const struct assay_report whole = {
		.kind = ASSAY_REPORT_RUN, .run = { .run = &run, .totals = &totals, .newest = newest, .n_newest = 2 }
	};

	make_run(&run, results);
	assert_int_equal(assay_result_add_metric(results, "roof_frac", "1", 1, 1.13), 0);
	golden("csv", emit_run(&run, "csv", NULL));
	golden("junit", emit_run(&run, "junit", NULL));
	golden("markdown", emit_run(&run, "markdown", NULL));
	strcpy(run.imported.format, "hyperfine");
	has(emit_run(&run, "markdown", NULL), "Imported from `hyperfine`: pinning and correctness are unknown.");
	/* "ms" at the end of a name would be a unit, and units that are not base units are spelled out */
	assert_int_equal(assay_result_add_metric(results, "vector_bits", "", 1, 512), 0);
	assert_int_equal(assay_result_add_metric(results, "kilobytes_a_minute", "", 1, 7), 0);
	golden("openmetrics", emit(&whole, "openmetrics", NULL));
	run.started_unknown = true;
	assert_null(strstr(emit_run(&run, "openmetrics", NULL), "timestamp"));
	results[0].samples = NULL; /* they are static */
	release(results, 2);
}

GOLDEN_GROUP("run", NULL, NULL)

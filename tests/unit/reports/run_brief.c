/* SPDX-License-Identifier: Apache-2.0 */
/* The default view of a run: the best of each shape, what failed, and what is said once for many cases. */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

#include "reports/run/parts.h"

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
	char *s;

	r[5].c.cache = ASSAY_CACHE_COLD;
	r[10].status = ASSAY_STATUS_CRASHED;
	snprintf(r[10].reason, sizeof(r[10].reason), "killed by SIGSEGV");
	s = brief(r, N_OF(r), (struct assay_emit_style){ .utf8 = true });
	/* several rows stand under their op, a single one beside it */
	has(s, "\nop\n  n=1         1  fast  8.00 µs  ±1.0 %  ×12.5 ±1.4 %\n");
	has(s, "\n  n=2         1  fast  99.0 µs  ±1.0 %  ×1.01 ±1.4 %\n");
	has(s, "\n  n=2 cold    1  fast   300 µs  ±1.0 %\n");
	/* without the reference on the same shape there is nothing to stand against */
	has(s, "\n  n=3         1  fast  10.0 µs  ±1.0 %\n");
	/* the only variant is no better than itself; the reference may be the best of several */
	has(s, "\nalone n=7     1  ref   5.00 µs  ±1.0 %\n");
	has(s, "\nbest n=7      1  ref   5.00 µs  ±1.0 %         ×1.00\n");
	/* a reference that failed measures nothing */
	has(s, "\nfailed n=7\n");
	has(s, "   1  fast  4.00 µs  ±1.0 %\n");
	has(s, "   1  ref   crashed: killed by SIGSEGV\n");
	assert_null(strstr(s, "slow"));
	has(s, "\n  8 of 12 cases: the best of each shape and what failed; -v shows all\n");
	has(s, "\n11 ok, 1 crashed in 12 s\n");
}

/* A reference of which most samples are of a disturbed machine, or that has no interval, says nothing. */
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
		has(s, "fast  8.00 µs");
		assay_run_cells_against_text(&run, &r[1], text, sizeof(text));
		assert_string_equal(text, "");
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
	char *s;

	/* four threads do eight times the work in twice the time */
	for (size_t i = 0; i < 4; i++)
		assay_result_add_metric(&r[i], "ops_per_s", "op/s", 1, (i < 2 ? 8e9 : 1e9) / r[i].median_ns);
	s = brief(r, 4, (struct assay_emit_style){ .utf8 = true });
	has(s, "\nop n=1    4  fast  20.0 µs  ±1.0 %  ×2.00 ±1.4 %  ");
	has(s, "\n  1 of 4 cases");
	for (size_t i = 0; i < 4; i++)
		assay_result_release(&r[i]);
}

TEST(legend_of_what_occurs)
{
	struct assay_result r[] = { result("op", "ref", "1", 1, 100), result("op", "fast", "1", 1, 8) };
	char *s;

	s = brief(r, 1, (struct assay_emit_style){ .utf8 = true });
	assert_null(strstr(s, "vs ref"));
	assert_null(strstr(s, "limit"));
	assert_null(strstr(s, "  ?  "));
	assert_null(strstr(s, "  !  "));
	assert_null(strstr(s, "unsure"));
	assert_null(strstr(s, "-v shows all"));
	/* a column that has no value says why */
	assert_int_equal(assay_counters_add_missing(&r[0].counters, "roof_frac", "assay", "no stream.read ran"), 0);
	s = brief(r, 1, (struct assay_emit_style){ .utf8 = true });
	has(s, "\n  % of limit none: no stream.read ran\n");

	r[1].ci95_reached = r[1].steady = r[1].converged = false;
	r[1].slow_core = true;
	assay_result_add_metric(&r[1], "roof_frac", "1", 1, 0.713);
	r[1].roof = (struct assay_result_roof){ .bound = ASSAY_BOUND_BANDWIDTH, .op = "stream.read", .name = "l3" };
	s = brief(r, 2, (struct assay_emit_style){ .utf8 = true });
	has(s, "fast  8.00 µs  !  ");
	has(s, " 71 %  l3\n");
	assert_null(strstr(s, "±"));
	has(s, "  % of limit share of the bandwidth");
	has(s, "\n             none of 1 case: no stream.read ran\n");
	has(s, "half the width of the 95 % interval over processes; none where");
	has(s, "  !          the host disturbed it");
	has(s, "\nunsure    1 of 2 cases has no interval: one process took all samples, or too few agree\n"
	       "          1 did not settle, 1 on slow cores: 'assay doctor' says what disturbs this machine\n");

	assert_null(strstr(s, "wrong"));

	/* a share that cannot be is shown, and marked */
	r[1].metrics[0].value = 1.05;
	has(brief(r, 2, (struct assay_emit_style){ .utf8 = true }), "  105 %  l3\n");
	r[1].metrics[0].value = 1.22;
	s = brief(r, 2, (struct assay_emit_style){ .utf8 = true });
	has(s, "122 % wrong  l3\n");
	has(s, "  wrong      above 105 %: the limit or the case was not measured rightly\n");
	r[1].metrics[0].value = 0.713;

	r[1].ci95_reached = true;
	s = brief(r, 2, (struct assay_emit_style){ 0 });
	has(s, "+-1.0 %  12.5x +-1.4 %");
	assay_result_release(&r[0]);
	assay_result_release(&r[1]);
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
	char *s = emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .brief = true } },
		       "text", NULL);

	/* what failed has a row, whatever else there is */
	has(s, "  n=1    1  f     wrong: element 3\n");
	has(s, "  n=2    1  f     timeout: 1 s\n");
	has(s, "  n=3    1  f     failed: no memory\n");
	has(s, "\n0 ok, 6 skipped, 1 wrong, 1 timeout, 1 failed\n"
	       "skipped   2: needs x\n"
	       "          1: needs y\n"
	       "          1: needs z\n"
	       "          2 for other reasons: -v shows all\n"
	       "counts    1 of 2 cases counted exactly, smaller shapes for 1, 1 more on devices, 1 more that do not "
	       "run here\n"
	       "          1: no valgrind\n"
	       "          1: this CPU has no z\n");
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

/* In the table of all cases each is held against the fastest on as many threads, that one against the reference. */
TEST(test_against)
{
	struct assay_result r[] = { result("op", "ref", "1", 1, 480),   result("op", "avx2", "1", 1, 20),
				    result("op", "avx512", "1", 1, 10), result("op", "avx512", "1", 2, 6),
				    result("op", "ref", "2", 1, 30),    result("op", "slow", "2", 1, 45),
				    result("op", "lone", "3", 1, 45) };
	struct assay_run run = { .results = r, .n_results = N_OF(r), .started_ns = 1, .ended_ns = 12000000001 };
	const struct assay_report report = { .kind = ASSAY_REPORT_RUN, .run = { .run = &run } };
	json_t *o;
	char *s;

	s = emit(&report, "text", NULL);
	has(s, "48.0x slower than avx512 (47.3x to 48.7x)\n");
	has(s, "2.00x slower than avx512 (1.97x to 2.03x)\n");
	has(s, "48.0x faster than ref (47.3x to 48.7x)\n");
	has(s, "1.50x slower than ref (1.48x to 1.52x)\n");
	assert_int_equal(times(s, " than "), 4);
	has(s, "  check  versus\n");
	has(s, "\n  versus     the fastest variant");
	/* little room: a line below */
	s = emit(&report, "text", &(struct assay_emit_style){ .width = 80 });
	has_no_wider_line(s, 80);
	has(s, "\n    48.0x slower than avx512 (47.3x to 48.7x)\n");
	o = json_loads(emit(&report, "json", NULL), 0, NULL);
	assert_non_null(o);
	for (size_t i = 0; i < N_OF(r); i++) {
		static const struct {
			const char *variant;
			double speedup;
		} want[] = { { "avx512", 10.0 / 480 }, { "avx512", 0.5 }, { "ref", 48 }, { NULL, 0 }, { NULL, 0 },
			     { "ref", 30.0 / 45 },     { NULL, 0 } };
		json_t *a = json_object_get(json_array_get(json_object_get(o, "cases"), i), "against");

		if (!want[i].variant) {
			assert_true(json_is_null(a));
			continue;
		}
		assert_string_equal(json_string_value(json_object_get(a, "variant")), want[i].variant);
		assert_true(fabs(json_number_value(json_object_get(a, "speedup")) - want[i].speedup) < 1e-6);
	}
	json_decref(o);
}

UNIT_GROUP(NULL, NULL)

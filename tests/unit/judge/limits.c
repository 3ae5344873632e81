/* SPDX-License-Identifier: Apache-2.0 */
/* Demands of the policy on metrics and counts: what they read, and what they say. */
#include <math.h>

#include "exact_fixture.h"
#include "gate_world.h"
#include "judge/comparison_judge.h"
#include "judge/fitness.h"
#include "judge/limits.h"
#include "paired_fixture.h"
#include "unit.h"

/* The one requirement of a policy that demands @text. */
static struct assay_limit limit_of(const char *text)
{
	struct assay_policy p = { 0 };
	struct assay_limit l;
	struct assay_err err = { 0 };
	char policy[256];

	snprintf(policy, sizeof(policy), "limit \"*\" { require = \"%s\" }\n", text);
	if (assay_policy_parse(&p, policy, "p", &err))
		fail_msg("%s", err.text);
	l = p.limits[0];
	assay_policy_release(&p);
	return l;
}

TEST(test_judged)
{
	static const struct {
		const char *demand;
		double value, base;
		enum assay_verdict want;
		double limit;
		const char *reason;
	} cases[] = {
		{ "PAPI_L1_DCM <= 100", 100, NAN, ASSAY_PASS, 100, "PAPI_L1_DCM is 100, ceiling 100" },
		{ "PAPI_L1_DCM <= 100", 101, NAN, ASSAY_REGRESSED, 100,
		  "PAPI_L1_DCM is 101, above the ceiling of 100" },
		{ "m >= 50%", 0.5, NAN, ASSAY_PASS, 0.5, "m is 0.5, floor 0.5" },
		{ "m == 40", 40, NAN, ASSAY_PASS, 40, "m is 40, must be 40" },
		{ "m == 0", 1e-9, NAN, ASSAY_REGRESSED, 0, "m is 1e-09, must be 0" },
		{ "m == 0", 0, NAN, ASSAY_PASS, 0, "m is 0, must be 0" },
		{ "m == 40 +- 5%", 42, NAN, ASSAY_PASS, 40, "m is 42, must be 40 (within 5 %)" },
		{ "m == 40 +- 5%", 37, NAN, ASSAY_REGRESSED, 40, "m is 37, must be 40 (within 5 %)" },
		{ "m <= base + 2%", 102, 100, ASSAY_PASS, 102, "m is 102, ceiling 102 (base 100 + 2 %)" },
		{ "m <= base + 2%", 103, 100, ASSAY_REGRESSED, 102,
		  "m is 103, above the ceiling of 102 (base 100 + 2 %)" },
		{ "m >= base - 25%", 75, 100, ASSAY_PASS, 75, "m is 75, floor 75 (base 100 - 25 %)" },
		{ "m >= base", 99, 100, ASSAY_REGRESSED, 100, "m is 99, below the floor of 100 as in the base" },
		{ "m == base", 100, 100, ASSAY_PASS, 100, "m is 100, must be 100 as in the base" },
		{ "m == base +- 1%", 102, 100, ASSAY_REGRESSED, 100,
		  "m is 102, must be 100 as in the base (within 1 %)" },
		{ "m <= base + 2%", 102, NAN, ASSAY_INCOMPARABLE, NAN,
		  "m is 102, ceiling that of the base: the base has none" },
		{ "m == base", NAN, 7, ASSAY_NOT_MEASURED, 7, "m was not measured (no PMU), must be 7 as in the base" },
		{ "m >= 3", NAN, NAN, ASSAY_NOT_MEASURED, 3, "m was not measured (no PMU), floor 3" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_limit l = limit_of(cases[i].demand);
		const struct assay_limit_facts f = {
			.value = cases[i].value,
			.base = cases[i].base,
			.source = "sde",
			.why_no_value = "no PMU",
		};
		struct assay_gate_case g = { .evidence = ASSAY_EVIDENCE_NONE };

		assay_limit_judge(&l, &f, &g);
		if (g.verdict != cases[i].want || strcmp(g.reason, cases[i].reason))
			fail_msg("%s: %s, '%s'", cases[i].demand, assay_verdict_name(g.verdict), g.reason);
		assert_int_equal(g.evidence, ASSAY_EVIDENCE_SDE);
		assert_true(g.limit == cases[i].limit || (isnan(g.limit) && isnan(cases[i].limit)));
	}
}

TEST(test_notes_on_the_load)
{
	static const char limit[] = "limit \"generate*\" { require = \"tokens_per_s >= 50\" }\n",
			  alert[] = "alert \"a\" { when = \"tokens_per_s < 60\" }\n",
			  others[] = "limit \"*\" { require = {\"tokens_per_s >= base\", \"tokens_per_s <= 9\", "
				     "\"hit_rate >= 0.5\"} }\nlimit \"other\" { require = \"tokens_per_s >= 50\" }\n"
				     "alert \"a\" { when = \"tokens_per_s > 1\" }\n";
	static const struct {
		const char *policy;
		double tokens, busy, used; /* busy below 0: not known */
		const char *want;
	} cases[] = {
		{ limit, 41, 0.97, 1e9,
		  "tokens_per_s is 41 tok/s, below the floor of 50 tok/s, while the CPUs were 97 % busy" },
		{ alert, 55, 0.91, 1e9,
		  "tokens_per_s is 55 tok/s, below the floor of 60 tok/s, while the CPUs were 91 % busy" },
		{ limit, 50, 0.97, 1e9, "" },
		{ limit, 41, 0.90, 1e9, "" },
		{ limit, 41, -1, 1e9, "" },
		{ others, 41, 0.97, 1e9, "" },
		{ others, 41, 0.97, 95e8, "" },
		{ others, 41, 0.97, 96e8, "memory was 96 % full: 8.94 GiB of 9.31 GiB" },
		{ limit, 41, 0.97, 96e8,
		  "tokens_per_s is 41 tok/s, below the floor of 50 tok/s, while the CPUs were 97 % busy; memory was 96 "
		  "% full: "
		  "8.94 GiB of 9.31 GiB" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_result r = { .c.key = "generate/v/n=1/t=1/warm", .note = "old" };
		struct assay_policy p;

		assert_int_equal(assay_policy_parse(&p, cases[i].policy, "p", NULL), 0);
		assert_int_equal(assay_result_add_metric(&r, "tokens_per_s", "1/s", 1, cases[i].tokens), 0);
		assert_int_equal(assay_result_add_metric(&r, "hit_rate", "1", 1, 0.1), 0);
		assert_int_equal(assay_result_add_metric(&r, "machine_used_bytes", "B", 0, cases[i].used), 0);
		assert_int_equal(assay_result_add_metric(&r, "machine_total_bytes", "B", 0, 1e10), 0);
		if (cases[i].busy >= 0)
			assert_int_equal(assay_result_add_metric(&r, "machine_busy_frac", "1", 0, cases[i].busy), 0);
		assay_result_note(&p, 0.90, 0.95, &r);
		assert_string_equal(r.note, cases[i].want);
		assay_policy_release(&p);
		assay_result_release(&r);
	}
}

/* A share of more than 105 % of a limit says that one of the two was measured wrongly: it proves nothing. */
TEST(test_share_that_cannot_be)
{
	static const struct {
		const char *demand;
		double value;
		enum assay_verdict want;
	} cases[] = {
		{ "roof_frac >= 0.9", 1.05, ASSAY_PASS },          { "roof_frac >= 0.9", 1.06, ASSAY_NOT_MEASURED },
		{ "roof_frac >= base", 1.06, ASSAY_NOT_MEASURED }, { "roof_frac <= 1", 1.22, ASSAY_NOT_MEASURED },
		{ "hit_rate >= 0.9", 1.22, ASSAY_PASS },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_limit l = limit_of(cases[i].demand);
		const struct assay_limit_facts f = { .value = cases[i].value, .base = NAN, .unit = "1" };
		struct assay_gate_case g = { .evidence = ASSAY_EVIDENCE_NONE };

		assay_limit_judge(&l, &f, &g);
		if (g.verdict != cases[i].want ||
		    !strstr(g.reason, "measured correctly") == (g.verdict == ASSAY_NOT_MEASURED))
			fail_msg("%s: %s, '%s'", cases[i].demand, assay_verdict_name(g.verdict), g.reason);
	}
}

/* Numbers are written as tables show them; as many digits as it takes where two that differ would look alike. */
TEST(test_units)
{
	static const struct {
		const char *demand, *unit;
		double value, base;
		const char *reason;
	} cases[] = {
		{ "bytes_per_s >= 3e10", "B/s", 24.04e9, NAN,
		  "bytes_per_s is 24.0 GB/s, below the floor of 30.0 GB/s" },
		{ "bytes_per_s >= 3e10", "B/s", 30.01e9, NAN, "bytes_per_s is 30.0 GB/s, floor 30.0 GB/s" },
		{ "bytes_per_s >= 3e10", "B/s", 29.99e9, NAN,
		  "bytes_per_s is 2.999e+10 B/s, below the floor of 3e+10 B/s" },
		{ "rss_peak_bytes <= 1048576", "B", 3145728, NAN,
		  "rss_peak_bytes is 3.00 MiB, above the ceiling of 1.00 MiB" },
		{ "time_s <= base + 10%", "s", 150e-6, 100e-6,
		  "time_s is 150 µs, above the ceiling of 110 µs (base 100 µs + 10 %)" },
		{ "hit_rate >= 0.7", "1", 0.65, NAN, "hit_rate is 65.0 %, below the floor of 70.0 %" },
		{ "hits == 1035000", "1", 1066488, NAN, "hits is 1066488, must be 1035000" },
		{ "hits == 5", "1", 5.001, NAN, "hits is 5.001, must be 5" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_limit l = limit_of(cases[i].demand);
		struct assay_limit_facts f = { .value = cases[i].value, .base = cases[i].base };
		struct assay_gate_case g = { .evidence = ASSAY_EVIDENCE_NONE };

		strcpy(f.unit, cases[i].unit);
		assay_limit_judge(&l, &f, &g);
		assert_string_equal(g.reason, cases[i].reason);
	}
}

static int look_up(const void *arg, const struct assay_limit *l, struct assay_limit_facts *out, struct assay_err *err)
{
	*out = (struct assay_limit_facts){ .value = *(const double *)arg, .base = NAN, .why_no_value = "no PMU" };
	return 0;
}

/* A demand that is judged only where it is counted skips a case without a value, and no other. */
TEST(test_where_counted)
{
	static const double values[] = { 4, NAN };
	const struct assay_case of = { .key = "m.a/ref/n=1/t=1/warm" };
	struct assay_policy p;
	struct assay_err err = { 0 };

	if (assay_policy_parse(&p, "limit \"*\" { where_counted = {\"m <= 3\"} require = \"n <= 3\" }\n", "p.conf",
			       &err))
		fail_msg("%s", err.text);
	assert_int_equal(p.n_limits, 2);
	for (size_t i = 0; i < N_OF(values); i++) {
		const struct assay_limit_case c = { .c = &of, .look_up = look_up, .arg = &values[i] };
		struct assay_gate_report r = { 0 };
		size_t n = isnan(values[i]) ? 1 : 2;

		assert_int_equal(assay_limits_judge(&p, &c, &r, &err), 0);
		assert_int_equal(r.n_cases, n);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(r.cases[k].verdict, n == 1 ? ASSAY_NOT_MEASURED : ASSAY_REGRESSED);
		assert_true(n == 2 || !strcmp(r.cases[0].metric, "n"));
		assay_gate_report_release(&r);
	}
	assay_policy_release(&p);
}

TEST(test_values)
{
	static const struct assay_metric metrics[] = {
		{ .tag = "rate", .unit = "op/s", .value = 0.5, .source = "sde", .estimated = true },
		{ .tag = "time_s", .value = 2 }
	};
	static const struct assay_count count = { .name = "hits", .source = "pmu", .value = 7, .running_frac = 0.5 };
	struct assay_counters counters = { 0 };
	struct assay_limit_facts f;

	assert_int_equal(assay_counters_add(&counters, &count), 0);
	assert_int_equal(assay_counters_add_missing(&counters, "lost", "os", "forbidden"), 0);
	assay_limit_value(metrics, 2, &counters, "rate", &f);
	assert_true(f.value == 0.5 && f.estimated && !strcmp(f.source, "sde") && !strcmp(f.unit, "op/s"));
	assay_limit_value(metrics, 2, &counters, "time_s", &f);
	assert_true(f.value == 2 && !f.estimated && !f.source[0]);
	assay_limit_value(metrics, 2, &counters, "hits", &f);
	assert_true(f.value == 7 && f.estimated && !strcmp(f.source, "pmu") && !strcmp(f.unit, "1"));
	assay_limit_value(metrics, 2, &counters, "lost", &f);
	assert_true(isnan(f.value) && !strcmp(f.why_no_value, "forbidden") && !strcmp(f.source, "os"));
	assay_limit_value(metrics, 2, &counters, "other", &f);
	assert_true(isnan(f.value) && !f.why_no_value && !f.unit[0]);
	/* one reason for all exact counts */
	assay_limit_value(metrics, 2, &counters, "exact_instructions", &f);
	assert_true(isnan(f.value) && !f.why_no_value);
	assert_int_equal(assay_counters_add_missing(&counters, "exact", "exact", "no valgrind"), 0);
	assay_limit_value(metrics, 2, &counters, "exact_instructions", &f);
	assert_true(isnan(f.value) && !strcmp(f.why_no_value, "no valgrind") && !strcmp(f.source, "exact"));
	assay_limit_value(metrics, 2, &counters, "bytes_per_s", &f);
	assert_true(isnan(f.value) && !strcmp(f.unit, "B/s"));
	assay_counters_release(&counters);
}

TEST(test_rungs)
{
	static const struct {
		const char *source;
		enum assay_evidence want;
	} cases[] = {
		{ ASSAY_SOURCE_EXACT, ASSAY_EVIDENCE_EXACT },
		{ ASSAY_SOURCE_PMU, ASSAY_EVIDENCE_PMU },
		{ ASSAY_SOURCE_SDE, ASSAY_EVIDENCE_SDE },
		{ ASSAY_SOURCE_OP, ASSAY_EVIDENCE_OP },
		{ ASSAY_SOURCE_HEAP, ASSAY_EVIDENCE_HEAP },
		{ ASSAY_SOURCE_OS, ASSAY_EVIDENCE_OS },
		{ ASSAY_SOURCE_ASSAY, ASSAY_EVIDENCE_NONE },
		{ ASSAY_SOURCE_IMPORTED, ASSAY_EVIDENCE_IMPORTED },
		{ "", ASSAY_EVIDENCE_NONE },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(assay_evidence_of_source(cases[i].source), cases[i].want);
}

/* A demand on what nobody counts needs no samples; any other does. */
TEST(demands_that_need_samples)
{
	static const struct {
		const char *policy;
		bool want;
	} rows[] = {
		{ "", false },
		{ "limit \"other/*\" { require = {\"time_s <= 1\"} }", false },
		{ "limit \"*\" { require = {\"time_s <= 1\"} }", true },
		{ "limit \"*\" { require = {\"syscalls <= 0\"} }", true },
		{ "limit \"*\" { where_counted = {\"syscalls <= 0\"} }", false },
		{ "limit \"*\" { where_counted = {\"time_s <= 1\"} }", true },
		{ "limit \"*\" { where_counted = {\"faults <= 0\"} }", true },
		{ "limit \"*\" { where_counted = {\"syscalls <= 0\", \"items_per_s >= 1\"} }", true },
	};
	struct assay_countable uncounted = { 0 };
	const struct assay_case c = { .key = "op/variant/-/t=1/warm" };

	assert_int_equal(0, assay_strings_add(&uncounted.names, "syscalls", NULL));
	assert_int_equal(0, assay_strings_add(&uncounted.groups, "syscalls", NULL));
	assert_int_equal(0, assay_strings_add(&uncounted.names, "faults", NULL));
	assert_int_equal(0, assay_strings_add(&uncounted.groups, "os", NULL));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct assay_policy p = assay_policy_default();

		assert_int_equal(0, assay_policy_parse(&p, rows[i].policy, "test", NULL));
		if (assay_limits_need_samples(&p, &c, &uncounted) != rows[i].want)
			fail_msg("%s", rows[i].policy);
		assay_policy_release(&p);
	}
	assay_countable_release(&uncounted);
}

/* ---- what a machine is fit for, and how that is said ---- */

/* Without noise the margin is left, and what a floor of the spread adds; more noise tells less, more blocks more. */
TEST(what_can_be_told)
{
	const double quiet = assay_fitness_told(0, 37, 0.005, 0.01), noisy = assay_fitness_told(0.05, 37, 0.005, 0.01);

	assert_true(quiet > 0.005 && quiet < 0.008);
	assert_true(noisy > 0.01 && noisy < 0.05);
	assert_true(assay_fitness_told(0.05, 4, 0.005, 0.01) > noisy);
	assert_true(assay_fitness_told(0.05, 37, 0.02, 0.01) > noisy + 0.01);
	assert_true(isnan(assay_fitness_told(NAN, 37, 0.005, 0.01)));
}

TEST(how_it_is_said)
{
	static const struct {
		struct assay_fitness f;
		const char *want;
	} rows[] = {
		{ { .short_frac = 0.0061, .long_frac = 0.0069 }, "comparisons can detect 0.7 %" },
		{ { .short_frac = 0.01, .long_frac = 0.023 },
		  "comparisons can detect 1 % on calls under 1 ms, 3 % above" },
		{ { .short_frac = 0.0101, .long_frac = 0.0901 },
		  "comparisons can detect 2 % on calls under 1 ms, 10 % above" },
		{ { .short_frac = 0.12, .long_frac = 0.31, .shared = { 1 }, .n_shared = 1 },
		  "comparisons can detect 20 % on calls under 1 ms, 40 % above; other work runs on core 1" },
		{ { .short_frac = 0.01, .long_frac = 0.01, .shared = { 0, 2, 5 }, .n_shared = 3 },
		  "comparisons can detect 1 %; other work runs on cores 0, 2 and 5" },
		{ { .short_frac = 0.03, .long_frac = 2 },
		  "comparisons can detect 3 % on calls under 1 ms; too noisy to detect even a 50 % change on longer "
		  "ones" },
		{ { .short_frac = 0.6, .long_frac = 0.7 }, "too noisy to detect even a 50 % change" },
		{ { .short_frac = NAN, .long_frac = NAN, .shared = { 0, 1 }, .n_shared = 2 },
		  "the smallest change that comparisons can detect is unknown: the cores could not be tried for long "
		  "enough; other work runs on cores 0 "
		  "and 1" },
		{ { .short_frac = 0.03, .long_frac = NAN },
		  "comparisons can detect 3 % on calls under 1 ms; above 1 ms is unknown: the cores could not be tried "
		  "for "
		  "long enough" },
		{ { .untold = "no core to try" },
		  "the smallest change that comparisons can detect is unknown: no core to try" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[256];

		assay_fitness_text(&rows[i].f, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
}

/*
 * Running out of memory while judging is an error, never a shorter report: each allocation of the harness fails once,
 * one after the other. Linked with --wrap for malloc, calloc and realloc; those of libraries are not touched.
 */

static long left = -1; /* until one fails; negative: none does */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* Let each allocation of @judge fail in turn, until it needs no more of them; how many there were. */
static long try_all(int (*judge)(void *arg, struct assay_err *err), void *arg)
{
	for (long n = 0;; n++) {
		struct assay_err err = { 0 };
		int rc;

		left = n;
		rc = judge(arg, &err);
		if (left >= 0) { /* it was not reached */
			left = -1;
			if (rc)
				fail_msg("%s", err.text);
			return n;
		}
		if (rc != ASSAY_ENOMEM || !strstr(err.text, "out of memory"))
			fail_msg("allocation %ld failed: %d, '%s'", n, rc, err.text);
	}
}

/* ---- a policy that asks for everything ---- */

static const char policy_text[] = "margin \"*\" { stored = \"10%\" paired = \"0.5%\" }\n"
				  "exact \"*\" { allow = {\"branches 64\"} }\n"
				  "limit \"*\" {\n"
				  "	require = {\"op_bytes <= base + 2%\", \"prepare_bytes <= 0\", "
				  "\"exact_instructions <= base\", \"time_s >= 0\"}\n"
				  "	where_counted = {\"syscalls <= 0\"}\n"
				  "}\n";

static int judge_run(void *arg, struct assay_err *err)
{
	struct world *w = arg;
	struct assay_gate_report r = { 0 };
	int rc = assay_gate_judge(&w->in, &r, err);

	if (rc)
		assert_null(r.cases);
	/* 3 times and as many rows as cases for each of the four demands */
	else
		assert_int_equal(r.n_cases, 3 + 3 * 4);
	assay_gate_report_release(&r);
	return rc;
}

TEST(runs)
{
	struct assay_policy p;
	struct world w;

	world_make(&w);
	assert_int_equal(assay_policy_parse(&p, policy_text, "p.conf", NULL), 0);
	w.in.policy = &p;
	w.in.countable = &(struct assay_countable){ .names = { .n = 1, .v = (char *[]){ (char[]){ "syscalls" } } },
						    .units = { .n = 1, .v = (char *[]){ (char[]){ "1" } } },
						    .groups = { .n = 1, .v = (char *[]){ (char[]){ "calls" } } } };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(assay_result_add_metric(&w.head_results[i], "op_bytes", "B", 0, 5), 0);
		assert_int_equal(assay_result_add_metric(&w.base_results[i], "op_bytes", "B", 0, 5), 0);
	}
	assert_true(try_all(judge_run, &w) >= 8);
	metrics_release(&w);
	assay_policy_release(&p);
}

/* ---- comparisons ---- */

#define PAIRS 8

struct comparing {
	struct assay_comparison cmp;
	struct assay_policy policy;
};

static void comparison_make(struct comparing *k)
{
	*k = (struct comparing){ .cmp = { .base = "v1",
					  .alpha = 0.01,
					  .family = 1,
					  .max_pairs = PAIRS,
					  .budget_ns = 1000000000,
					  .n_cases = 2 } };
	assert_int_equal(assay_policy_parse(&k->policy, policy_text, "p.conf", NULL), 0);
	k->cmp.cases = calloc(2, sizeof(*k->cmp.cases));
	assert_non_null(k->cmp.cases);
	for (int i = 0; i < 2; i++) {
		paired_make(&k->cmp.cases[i], KEY_A, PAIRS, 2);
		k->cmp.cases[i].control = i ? ASSAY_CONTROL_AA : ASSAY_CONTROL_NONE;
	}
	k->cmp.exact[ASSAY_HEAD] = exact_run();
	k->cmp.exact[ASSAY_BASE] = exact_run();
	k->cmp.exact[ASSAY_HEAD].cases[0].total.v[ASSAY_EXACT_INSTRUCTIONS]++;
	k->cmp.exact[ASSAY_HEAD].cases[0].functions[0].counts.v[ASSAY_EXACT_INSTRUCTIONS]++;
}

static void comparison_release(struct comparing *k)
{
	for (int i = 0; i < 2; i++)
		paired_release(&k->cmp.cases[i]);
	free(k->cmp.cases);
	for (int i = 0; i < 2; i++)
		assay_exact_run_release(&k->cmp.exact[i]);
	assay_policy_release(&k->policy);
}

static int judge_comparison(void *arg, struct assay_err *err)
{
	static const struct assay_comparison_judging how;
	const struct comparing *k = arg;
	struct assay_gate_report r = { 0 };
	int rc = assay_comparison_judge(&k->cmp, &k->policy, &how, &r, err);

	if (rc) {
		assert_null(r.cases);
		assert_null(r.controls);
	} else {
		/* a time and two counts, and four demands on what was timed and on what was only counted */
		assert_int_equal(r.n_cases, 3 + 2 * 4);
		assert_int_equal(r.n_controls, 1);
	}
	assay_gate_report_release(&r);
	return rc;
}

TEST(comparisons)
{
	struct comparing k;

	comparison_make(&k);
	assert_true(try_all(judge_comparison, &k) >= 10);
	comparison_release(&k);
}

UNIT_GROUP(NULL, NULL)

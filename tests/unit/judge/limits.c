/* SPDX-License-Identifier: Apache-2.0 */
/* Demands of the policy on metrics and counts: what they read, and what they say. */
#include <math.h>

#include "unit.h"
#include "judge/limits.h"

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
		if (g.verdict != cases[i].want || !strstr(g.reason, "rightly") == (g.verdict == ASSAY_NOT_MEASURED))
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
		  "time_s is 150 us, above the ceiling of 110 us (base 100 us + 10 %)" },
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

/* What is judged only where it is counted passes over a case without a value, and over no other. */
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

UNIT_GROUP(NULL, NULL)

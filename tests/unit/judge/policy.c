/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files: what they mean, and every refusal with its line. */
#include "judge_fixture.h"

#include <math.h>

#include "judge/policy.h"

static const char good[] = "alpha = \"0.5%\"\n"
			   "max_dropped = 0.2\n"
			   "require_edges = {\"matmul.*\", \"*t=all*\"}\n"
			   "margin \"*\" { stored = \"12%\" }\n"
			   "margin \"matmul.*\" { stored = \"5%\" }\n"
			   "margin \"*t=all*\" { stored = \"20%\" }\n"
			   "margin \"matmul.f32/ref/n=1/*\" { stored = \"100%\" }\n"
			   "limit \"generate.*\" {\n"
			   "\trequire = {\"kv_cache_hit_rate >= 50%\",\n"
			   "\t\t\"token_s<=2e-3\"}\n"
			   "}\n"
			   "limit \"generate.*\" { require = \"tokens_per_s >= -1\" }\n";

TEST(test_reads)
{
	static const struct {
		const char *op;
		int64_t n;
		unsigned threads;
		bool all;
		double want;
	} margins[] = {
		{ "quantize.q8_0", 1, 1, false, 0.12 }, { "matmul.f32", 2, 1, false, 0.05 },
		{ "matmul.f32", 2, 2, true, 0.20 },     { "matmul.f32", 2, 2, false, 0.05 },
		{ "matmul.f32", 1, 2, true, 1.00 },     { "matmul.f32", 1, 1, false, 1.00 },
	};
	static const struct {
		const char *metric;
		bool floor;
		double limit;
		unsigned line;
	} limits[] = { { "kv_cache_hit_rate", true, 0.5, 9 },
		       { "token_s", false, 2e-3, 10 },
		       { "tokens_per_s", true, -1.0, 12 } };
	struct assay_policy p;
	struct assay_err err = { 0 };
	struct text_file t;

	text_file_write(&t, good);
	if (assay_policy_load(&p, t.path, &err))
		fail_msg("%s", err.text);
	unlink(t.path);
	assert_true(p.alpha == 0.005);
	assert_true(p.max_dropped_frac == 0.2);
	assert_int_equal(p.n_margins, 4);
	for (size_t i = 0; i < N_OF(margins); i++) {
		struct assay_case c = make_case(margins[i].op, "ref", margins[i].n, margins[i].threads, margins[i].all);

		assert_true(assay_policy_margin(&p, &c) == margins[i].want);
		assert_int_equal(assay_policy_requires_edges(&p, &c), strcmp(margins[i].op, "quantize.q8_0") != 0);
	}
	assert_int_equal(p.n_limits, N_OF(limits));
	for (size_t i = 0; i < N_OF(limits); i++) {
		assert_string_equal(p.limits[i].cases, "generate.*");
		assert_string_equal(p.limits[i].metric, limits[i].metric);
		assert_int_equal(p.limits[i].floor, limits[i].floor);
		assert_true(p.limits[i].limit == limits[i].limit);
		assert_int_equal(p.limits[i].line, limits[i].line);
	}
	assay_policy_release(&p);
}

/* A policy takes the units that verdicts print. */
TEST(test_units)
{
	static const struct {
		const char *demand, *unit;
		double want;
	} rows[] = {
		{ "bytes_per_s >= 3 GB/s", "B/s", 3e9 },
		{ "bytes_per_s >= 512 MiB/s", "B/s", 512 * 0x1p20 },
		{ "time_s <= 20 us", "s", 20e-6 },
		{ "time_s<=20µs", "s", 20e-6 },
		{ "time_s <= 1.5e1 \xce\xbcs ", "s", 15e-6 },
		{ "time_s <= 0.25", "", 0.25 },
		{ "op_bytes <= 1.50 MiB", "B", 1.5 * 0x1p20 },
		{ "op_bytes <= 2 kB", "B", 2000 },
		{ "ops_per_s >= 2.5 TOP/s", "op/s", 2.5e12 },
		{ "items_per_s >= 3.04 k items/s", "1/s", 3040 },
		{ "tokens_per_s >= 4.48 ktok/s", "1/s", 4480 },
		{ "tokens_per_s >= 41.7 tok/s", "1/s", 41.7 },
		{ "tokens_per_ms >= 0.05 tok/ms", "tok/ms", 0.05 },
		{ "roof_frac >= 90 %", "1", 0.9 },
		{ "requests_per_s == 2 k requests/s +- 1%", "1/s", 2000 },
		{ "watts <= 2 kW", "W", 2000 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[160];
		struct assay_policy p = { 0 };
		struct assay_err err = { 0 };

		snprintf(text, sizeof(text), "limit \"*\" { require = \"%s\" }", rows[i].demand);
		if (assay_policy_parse(&p, text, "p", &err))
			fail_msg("%s: %s", rows[i].demand, err.text);
		if (p.n_limits != 1 || strcmp(p.limits[0].unit, rows[i].unit) ||
		    fabs(p.limits[0].limit / rows[i].want - 1) > 1e-12)
			fail_msg("%s: %.17g %s", rows[i].demand, p.limits[0].limit, p.limits[0].unit);
		assay_policy_release(&p);
	}
}

TEST(test_defaults)
{
	struct assay_case c = make_case("a.b", "ref", 0, 1, false);
	struct assay_policy p;
	struct text_file t;

	text_file_write(&t, "# nothing\n");
	assert_int_equal(assay_policy_load(&p, t.path, NULL), 0);
	unlink(t.path);
	assert_true(p.alpha == 0.01);
	assert_true(p.max_dropped_frac == 0.3);
	assert_true(assay_policy_margin(&p, &c) == 0.1);
	assert_false(assay_policy_requires_edges(&p, &c));
	assay_policy_release(&p);
	assert_int_equal(assay_policy_load(&p, "/nowhere.conf", NULL), ASSAY_ENOTFOUND);
}

static const struct {
	const char *text, *want;
} errors[] = {
	{ "alert \"x\" { cases = \"a\" }\n",
	  "1: alert \"x\" needs when = \"metric < number\" or \"metric > number\", with a unit of the metric or none" },
	{ "alert \"x\" { when = \"time_s > 3 GB/s\" }\n", "1: alert \"x\" needs when = \"metric < number\" or \"metric "
							  "> number\", with a unit of the metric or none, not "
							  "time_s > 3 GB/s" },
	{ "alert \"a b\" { when = \"time_s > 3\" }\n",
	  "1: alert \"a b\" is not a name of up to 63 letters, digits, '_' and '-'" },
	{ "alert \"x\" { when = \"time_s > 3\" }\nalert \"x\" { when = \"time_s > 3\" }\n",
	  "2: alert \"x\" appears twice" },
	{ "alert \"x\" { when = \"time_s > 3\" for = \"x\" }\n", "1: for is 'x', expected a time such as 5min" },
	{ "\nmargin \"*\" { stored = \"0%\" }",
	  "2: stored is '0%', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "margin \"*\" { stored = 0 }", "1: stored is '0', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "margin \"*\" { stored = \"101%\" }",
	  "1: stored is '101%', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "margin \"*\" { stored = \"-1%\" }",
	  "1: stored is '-1%', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "margin \"*\" { stored = 10 }",
	  "1: stored is '10', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "margin \"*\" { stored = ten }",
	  "1: stored is 'ten', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "margin \"*\" {\n\tstord = \"1%\" }", "2: unknown key 'stord', did you mean 'stored'?" },
	{ "margin \"*\" { }", "1: margin \"*\" sets nothing, expected stored = \"10%\" or paired = \"0.5%\"" },
	{ "alpha = \"1%\"\nrequire_edges = {\"*\", \"\"}",
	  "2: bad glob '', expected one over keys such as \"matmul.*\"" },
	{ "margin \"\" { stored = \"1%\" }", "1: bad glob '', expected one over keys such as \"matmul.*\"" },
	{ "margin { stored = \"1%\" }",
	  "1: missing title for section 'margin', expected a name in quotes before the brace" },
	{ "\n\nalpha = \"60%\"", "3: alpha is '60%', expected a share above 0 and up to 50 % such as \"1%\"" },
	{ "alpha = 0", "1: alpha is '0', expected a share above 0 and up to 50 % such as \"1%\"" },
	{ "max_dropped = \"200%\"",
	  "1: max_dropped is '200%', expected a share above 0 and up to 100 % such as \"1%\"" },
	{ "alfa = 1", "1: unknown key 'alfa', did you mean 'alpha'?" },
	{ "floor \"*\" { }", "1: unknown key 'floor', expected one of alpha, max_dropped, pass_alpha, budget, "
			     "require_edges, margin, limit, exact, alert" },
	{ "limit \"*\" { }", "1: limit \"*\" demands nothing, expected require = {\"metric >= number\"}" },
	{ "limit \"*\" {\n\trequire = {\"a >= 1\",\n\"b > 1\"} }",
	  "3: cannot read the requirement 'b > 1', expected \"metric >= number\", \"metric <= base + 2%\" or \"metric "
	  "== base +- 1%\"" },
	{ "limit \"*\" { require = \"B- >= 1\" }", "1: cannot read the requirement 'B- >= 1', expected \"metric >= "
						   "number\", \"metric <= base + 2%\" or \"metric == base +- 1%\"" },
	{ "limit \"*\" { require = \"b >= fast\" }", "1: cannot read the requirement 'b >= fast', expected \"metric >= "
						     "number\", \"metric <= base + 2%\" or \"metric == base +- 1%\"" },
	{ "limit \"*\" { require = \"b >= nan\" }", "1: cannot read the requirement 'b >= nan', expected \"metric >= "
						    "number\", \"metric <= base + 2%\" or \"metric == base +- 1%\"" },
	{ "limit \"*\" { require = \"b >= 1 2\" }", "1: cannot read the requirement 'b >= 1 2', expected \"metric >= "
						    "number\", \"metric <= base + 2%\" or \"metric == base +- 1%\"" },
	{ "limit \"*\" { require = \"b <= base + 2\" }",
	  "1: cannot read the requirement 'b <= base + 2', expected \"metric >= number\", \"metric <= base + 2%\" or "
	  "\"metric == base +- 1%\"" },
	{ "limit \"*\" { require = \"b <= base +- 2%\" }",
	  "1: cannot read the requirement 'b <= base +- 2%', expected \"metric >= number\", \"metric <= base + 2%\" or "
	  "\"metric == base +- 1%\"" },
	{ "limit \"*\" {\n require = \"time_s <= 3 GB/s\" }",
	  "2: time_s cannot be in 'GB/s', it takes ns, us, ms or s" },
	{ "limit \"*\" { require = \"time_s <= 5%\" }", "1: time_s cannot be in '%', it takes ns, us, ms or s" },
	{ "limit \"*\" { require = \"bytes_per_s >= 20 us\" }",
	  "1: bytes_per_s cannot be in 'us', it takes MB/s or GB/s" },
	{ "limit \"*\" { require = \"op_bytes >= 20 fast\" }",
	  "1: op_bytes cannot be in 'fast', it takes B, KiB, MiB or GiB" },
	{ "limit \"*\" { require = \"ops_per_s >= 1 s\" }", "1: ops_per_s cannot be in 's', it takes MOP/s or GOP/s" },
	{ "limit \"*\" { require = \"items_per_s >= 1 k tokens/s\" }",
	  "1: items_per_s cannot be in 'k tokens/s', it takes items/s or k items/s" },
	{ "limit \"*\" { require = \"arith_intensity >= 1 B\" }",
	  "1: arith_intensity cannot be in 'B', it takes op/B or kop/B" },
	{ "limit \"*\" { require = \"roof_frac >= 1 s\" }", "1: roof_frac cannot be in 's', it takes %" },
	{ "limit \"*\" { require = \"exact_branches <= 1 s\" }",
	  "1: exact_branches cannot be in 's', it takes no unit" },
	{ "limit \"*\" { require = \">= 1\" }", "1: cannot read the requirement '>= 1', expected \"metric >= number\", "
						"\"metric <= base + 2%\" or \"metric == base +- 1%\"" },
};

TEST(test_errors)
{
	for (size_t i = 0; i < N_OF(errors); i++) {
		struct assay_policy p = { 0 };
		struct assay_err err = { 0 };
		struct text_file t;
		int rc;

		text_file_write(&t, errors[i].text);
		rc = assay_policy_load(&p, t.path, &err);
		unlink(t.path);
		assert_string_equal(without_path(err.text, &t), errors[i].want);
		assert_int_equal(rc, ASSAY_EUSAGE);
		assert_null(p.margins);
		assert_null(p.limits);
	}
}

UNIT_GROUP(NULL, NULL)

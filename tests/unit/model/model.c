/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, metrics and their ranges, results, verdicts and exit codes, and the catalog's look-up. */

#include <float.h>
#include <math.h>

#include "unit.h"
#include "model/catalog.h"
#include "model/gate_report.h"
#include "model/result.h"
#include "model/verdict.h"

TEST(makes_keys)
{
	static const struct {
		struct assay_case c;
		const char *key, *portable;
	} cases[] = {
		{ { .op = "matmul.ternary",
		    .variant = "avx512vnni",
		    .threads = 1,
		    .n_axes = 3,
		    .axes = { { "m", "4096", 4096 }, { "k", "4096", 4096 }, { "n", "1", 1 } } },
		  "matmul.ternary/avx512vnni/m=4096,k=4096,n=1/t=1/warm",
		  NULL },
		{ { .op = "stream.copy",
		    .variant = "avx2",
		    .threads = 64,
		    .all_threads = true,
		    .n_axes = 1,
		    .axes = { { "level", "dram", 3 } },
		    .cache = ASSAY_CACHE_COLD },
		  "stream.copy/avx2/level=dram/t=64/cold",
		  "stream.copy/avx2/level=dram/t=all/cold" },
		{ { .op = "peak.f32_fma", .variant = "ref", .threads = 2 }, "peak.f32_fma/ref/-/t=2/warm", NULL },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_case c = cases[i].c;
		char portable[ASSAY_KEY_MAX];

		assert_int_equal(assay_case_make_key(&c, NULL), 0);
		assert_string_equal(c.key, cases[i].key);
		assay_case_portable_key(&c, portable);
		assert_string_equal(portable, cases[i].portable ? cases[i].portable : cases[i].key);
	}
}

/* A case with the longest op, three full axes, and one whose value has @last_len bytes. */
static struct assay_case long_case(size_t last_len)
{
	struct assay_case c = { .variant = "v", .threads = 1, .n_axes = 4 };

	memset(c.op, 'o', ASSAY_OP_MAX - 1);
	for (unsigned i = 0; i < 4; i++) {
		c.axes[i].name[0] = 'a';
		memset(c.axes[i].text, 'x', i < 3 ? ASSAY_NAME_MAX - 1 : last_len);
	}
	return c;
}

TEST(refuses_keys_that_do_not_fit)
{
	/* "o…o/v/" + 3 × "a=x…x," + "a=" + "/t=1/warm" */
	const size_t rest = ASSAY_OP_MAX - 1 + 3 + 3 * (2 + (ASSAY_NAME_MAX - 1) + 1) + 2 + 9;
	struct assay_case c = long_case(ASSAY_KEY_MAX - 1 - rest);
	struct assay_err err = { 0 };

	assert_int_equal(assay_case_make_key(&c, &err), 0);
	assert_int_equal(strlen(c.key), ASSAY_KEY_MAX - 1);

	/* t=all is two bytes longer and has to fit as well. */
	c.all_threads = true;
	assert_int_equal(assay_case_make_key(&c, &err), ASSAY_ELIMIT);
	assert_non_null(strstr(err.text, "o/v' is longer than 767 bytes, use shorter names"));
	assert_string_equal(c.key, "");

	c = long_case(ASSAY_KEY_MAX - rest);
	assert_int_equal(assay_case_make_key(&c, &err), ASSAY_ELIMIT);
}

TEST(knows_its_metrics)
{
	static const struct {
		const char *tag, *unit;
		int better;
	} want[] = {
		{ "time_s", "s", -1 },
		{ "ops_per_s", "op/s", 1 },
		{ "bytes_per_s", "B/s", 1 },
		{ "items_per_s", "1/s", 1 },
		{ "roof_frac", "1", 1 },
		{ "parallel_efficiency", "1", 1 },
		{ "rss_peak_bytes", "B", -1 },
		{ "op_bytes", "B", 0 },
		{ "rotated_bytes", "B", 0 },
		{ "prepare_s", "s", -1 },
		{ "prepare_bytes", "B", -1 },
		{ "arith_intensity", "op/B", 0 },
		{ "machine_used_bytes", "B", 0 },
		{ "machine_total_bytes", "B", 0 },
		{ "device_total_bytes", "B", 0 },
		{ "device_used_before_bytes", "B", 0 },
		{ "device_used_bytes", "B", 0 },
		{ "device_used_after_bytes", "B", 0 },
		{ "device_made_bytes", "B", 0 },
		{ "device_peak_bytes", "B", -1 },
		{ "device_leaked_bytes", "B", -1 },
		{ "device_launch_s", "s", -1 },
		{ "device_clock_hz", "Hz", 0 },
		{ "device_in_bytes", "B", 0 },
		{ "device_out_bytes", "B", 0 },
		{ "device_in_bytes_per_s", "B/s", 1 },
		{ "device_out_bytes_per_s", "B/s", 1 },
		{ "device_in_pinned_bytes_per_s", "B/s", 1 },
		{ "device_out_pinned_bytes_per_s", "B/s", 1 },
		{ "device_end_to_end_s", "s", -1 },
		{ "exact_instructions", "1", -1 },
		{ "exact_data_reads", "1", -1 },
		{ "exact_data_writes", "1", -1 },
		{ "exact_i1_misses", "1", -1 },
		{ "exact_d1_misses", "1", -1 },
		{ "exact_ll_misses", "1", -1 },
		{ "exact_branches", "1", -1 },
		{ "exact_mispredictions", "1", -1 },
		{ "exact_d1_hit_rate", "1", 1 },
		{ "exact_ll_hit_rate", "1", 1 },
		{ "exact_branch_hit_rate", "1", 1 },
		{ "exact_imbalance", "1", -1 },
	};

	assert_int_equal(assay_n_metrics, N_OF(want));
	for (size_t i = 0; i < N_OF(want); i++) {
		const struct assay_metric_info *m = assay_metric_find(want[i].tag);

		assert_non_null(m);
		assert_string_equal(m->unit, want[i].unit);
		assert_int_equal(m->better, want[i].better);
		assert_true(strlen(m->tag) < ASSAY_METRIC_TAG_MAX && strlen(m->unit) < ASSAY_METRIC_UNIT_MAX);
		assert_true(m->lo < m->hi && m->help[0]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(want[j].tag, want[i].tag);
	}
	assert_null(assay_metric_find("time"));
	assert_int_not_equal(assay_metric_check("time_s", 0, assay_metric_find("time_s")->lo, INFINITY, NULL), 0);
	assert_int_equal(assay_metric_check("prepare_s", 0, assay_metric_find("prepare_s")->lo, INFINITY, NULL), 0);
}

TEST(checks_ranges)
{
	static const struct {
		double value, lo, hi;
		const char *text; /* NULL: allowed */
	} cases[] = {
		{ 0, 0, 1, NULL },
		{ 1, 0, 1, NULL },
		{ 1e300, 0, INFINITY, NULL },
		{ -3, -INFINITY, INFINITY, NULL },
		{ 1.2, 0, 1, "metric 'x' is 1.2, allowed 0 to 1" },
		{ 1.00000001, 0, 1, "metric 'x' is 1.00000001, allowed 0 to 1" },
		{ -DBL_MIN, 0, INFINITY, "metric 'x' is -2.22507385851e-308, allowed 0 or more" },
		{ 3, -INFINITY, 2, "metric 'x' is 3, allowed 2 or less" },
		{ NAN, 0, 1, "metric 'x' is nan, allowed 0 to 1" },
		{ -NAN, -INFINITY, INFINITY, "metric 'x' is nan, allowed any finite number" },
		{ INFINITY, 0, INFINITY, "metric 'x' is inf, allowed 0 or more" },
		{ -INFINITY, -INFINITY, INFINITY, "metric 'x' is -inf, allowed any finite number" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };
		int rc = assay_metric_check("x", cases[i].value, cases[i].lo, cases[i].hi, &err);

		assert_int_equal(rc, cases[i].text ? ASSAY_ELIMIT : 0);
		assert_string_equal(err.text, cases[i].text ? cases[i].text : "");
	}
}

TEST(keeps_results)
{
	struct assay_run run = { .n_results = 2 };
	struct assay_result *r;
	char longer[200];

	memset(longer, 'n', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	run.results = calloc(2, sizeof(*run.results));
	run.environment = calloc(1, sizeof(*run.environment));
	run.n_environment = 1;
	r = &run.results[0];
	r->samples = calloc(3, sizeof(*r->samples));
	r->cpus = calloc(2, sizeof(*r->cpus));
	for (int i = 0; i < 20; i++)
		assert_int_equal(assay_result_add_metric(r, i == 7 ? "seven" : "x", "s", -1, i), 0);
	assert_int_equal(assay_result_add_metric(r, longer, longer, 0, 1), 0);
	assert_int_equal(assay_result_set_count(r, "page_faults", "os", "getrusage", 12), 0);
	assert_int_equal(assay_result_set_count(r, "kv_hits", NULL, NULL, 3), 0);

	assert_true(assay_result_metric(r, "seven")->value == 7);
	assert_string_equal(assay_result_metric(r, "seven")->unit, "s");
	assert_null(assay_result_metric(r, "eight"));
	assert_int_equal(strlen(r->metrics[20].tag), ASSAY_METRIC_TAG_MAX - 1);
	assert_int_equal(strlen(r->metrics[20].unit), ASSAY_METRIC_UNIT_MAX - 1);
	assert_string_equal(assay_counters_find(&r->counters, "page_faults")->how, "getrusage");
	assert_string_equal(r->counters.v[1].source, "");
	assert_null(assay_counters_find(&r->counters, "kv_misses"));
	assert_int_equal(assay_counters_add_missing(&r->counters, "kv_misses", "sde", "not counted"), 0);
	assert_string_equal(assay_counters_find_missing(&r->counters, "kv_misses")->reason, "not counted");
	assert_null(assay_counters_find_missing(&r->counters, "kv_hits"));

	assay_run_release(&run);
	assert_null(run.results);
	assert_int_equal(run.n_results + run.n_environment, 0);
	assay_run_release(&run);
}

TEST(names_statuses)
{
	static const char *const want[] = { "ok", "skipped", "wrong", "crashed", "timeout", "failed" };

	assert_int_equal(N_OF(want), ASSAY_N_STATUS);
	for (unsigned i = 0; i < N_OF(want); i++)
		assert_string_equal(assay_status_name((enum assay_status)i), want[i]);
	assert_string_equal(assay_status_name(ASSAY_N_STATUS), "?");
}

TEST(verdicts_have_exits)
{
	static const struct {
		enum assay_verdict v;
		const char *name;
		int lax, strict;
	} cases[] = {
		{ ASSAY_PASS, "PASS", 0, 0 },
		{ ASSAY_IMPROVED, "IMPROVED", 0, 0 },
		{ ASSAY_REGRESSED, "REGRESSED", 1, 1 },
		{ ASSAY_INCONCLUSIVE, "INCONCLUSIVE", 0, 6 },
		{ ASSAY_NOT_MEASURED, "NOT_MEASURED", 4, 4 },
		{ ASSAY_INCOMPARABLE, "INCOMPARABLE", 5, 5 },
		{ ASSAY_WRONG_RESULT, "WRONG_RESULT", 3, 3 },
	};

	assert_int_equal(N_OF(cases), ASSAY_N_VERDICTS);
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_string_equal(assay_verdict_name(cases[i].v), cases[i].name);
		assert_int_equal(assay_verdict_exit(cases[i].v, false), cases[i].lax);
		assert_int_equal(assay_verdict_exit(cases[i].v, true), cases[i].strict);
	}
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_EXACT), "exact");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_PMU), "pmu");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_PAIRED), "paired");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_STORED), "stored");
	assert_string_equal(assay_evidence_name(ASSAY_EVIDENCE_NONE), "none");
}

/* Every pair, so that a wrong order cannot hide. */
TEST(the_graver_wins)
{
	static const enum assay_exit exits[] = { 70, 2, 3, 4, 1, 5, 6, 0 };
	static const enum assay_verdict verdicts[] = {
		ASSAY_WRONG_RESULT, ASSAY_NOT_MEASURED, ASSAY_REGRESSED, ASSAY_INCOMPARABLE,
		ASSAY_INCONCLUSIVE, ASSAY_PASS,         ASSAY_IMPROVED,
	};

	for (size_t i = 0; i < N_OF(exits); i++)
		for (size_t j = 0; j < N_OF(exits); j++)
			assert_int_equal(assay_exit_worse(exits[i], exits[j]), exits[i < j ? i : j]);
	for (size_t i = 0; i < N_OF(verdicts); i++)
		for (size_t j = 0; j < N_OF(verdicts); j++)
			assert_int_equal(assay_verdict_worse(verdicts[i], verdicts[j]), verdicts[i < j ? i : j]);
	assert_int_equal(assay_exit_worse(ASSAY_EXIT_USAGE, (enum assay_exit)99), 99);
}

TEST(catalog_finds)
{
	struct assay_catalog cat = { .n_ops = 2, .n_variants = 2, .n_plugins = 1 };

	cat.ops = calloc(2, sizeof(*cat.ops));
	cat.variants = calloc(2, sizeof(*cat.variants));
	cat.plugins = calloc(1, sizeof(*cat.plugins));
	cat.plugins[0].path = strdup("p.so");
	cat.ops[0].name = strdup("a");
	cat.ops[1].name = strdup("b");
	cat.ops[1].axes = calloc(1, sizeof(*cat.ops[1].axes));
	cat.ops[1].n_axes = 1;
	cat.ops[1].axes[0].name = strdup("level");
	assert_int_equal(assay_strings_add(&cat.ops[1].axes[0].symbols, "l1", NULL), 0);
	cat.ops[1].metrics = calloc(1, sizeof(*cat.ops[1].metrics));
	cat.ops[1].n_metrics = 1;
	cat.ops[1].metrics[0].tag = strdup("t");
	for (int i = 0; i < 2; i++) {
		cat.variants[i].op = strdup(i ? "b" : "a");
		cat.variants[i].name = strdup("ref");
	}
	assert_ptr_equal(assay_catalog_op(&cat, "b"), &cat.ops[1]);
	assert_null(assay_catalog_op(&cat, "c"));
	assert_ptr_equal(assay_catalog_variant(&cat, "b", "ref"), &cat.variants[1]);
	assert_null(assay_catalog_variant(&cat, "b", "avx2"));
	assert_null(assay_catalog_variant(&cat, "c", "ref"));
	assay_catalog_release(&cat); /* the leak checker sees what it forgets */
	assert_null(cat.ops);
	assay_catalog_release(&cat);
}

TEST(gate_report_releases)
{
	struct assay_gate_report r = { .cases = calloc(2, sizeof(*r.cases)), .n_cases = 2 };

	assay_gate_report_release(&r);
	assert_null(r.cases);
	assert_int_equal(r.n_cases, 0);
}

/* What each case counts of its own samples is known by name, and nothing that merely ends so. */
TEST(counts_of_disturbed_samples)
{
	static const enum assay_disturb kinds[] = { ASSAY_DISTURB_MIGRATION, ASSAY_DISTURB_STEAL,
						    ASSAY_DISTURB_THROTTLE,  ASSAY_DISTURB_FREQUENCY,
						    ASSAY_DISTURB_PRESSURE,  ASSAY_DISTURB_SLOW,
						    ASSAY_DISTURB_DEVICE };

	for (size_t i = 0; i < N_OF(kinds); i++)
		assert_true(assay_disturb_is_count(assay_disturb_count_name(kinds[i])));
	assert_string_equal(assay_disturb_count_name(ASSAY_DISTURB_STEAL), "steal_samples");
	assert_null(assay_disturb_count_name(ASSAY_DISTURB_SWITCH));
	assert_false(assay_disturb_is_count("kv_samples"));
	assert_false(assay_disturb_is_count("samples"));
}

UNIT_GROUP(NULL, NULL)

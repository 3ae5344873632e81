/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that scripts rely on: every field of section 8 of the design, with null for what does not apply. */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

static json_t *parse(char *text)
{
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	return j;
}

/* The fields of @o are at least @names. */
static void has_fields(const json_t *o, const char *const *names)
{
	for (; *names; names++)
		if (!json_object_get(o, *names))
			fail_msg("no field '%s'", *names);
}

static const char *const run_fields[] = { "id", "suite", "seed", "started", "machine", "build", NULL };
static const char *const case_fields[] = {
	"unavailable",    "key",      "op",           "variant", "axes",           "status",       "reason",
	"correct",        "digest",   "max_rel_err",  "samples", "iterations",     "median_ns",    "ci95_ns",
	"metrics",        "counters", "dropped_frac", "cpus",    "disturbed_frac", "ci95_reached", "slow_core",
	"slow_core_frac", "roof",     "note",         NULL
};
static const char *const gate_fields[] = { "schema", "exit",     "verdict", "base", "head",
					   "alpha",  "controls", "cases",   NULL };
static const char *const gate_case_fields[] = { "key",
						"metric",
						"evidence",
						"verdict",
						"reason",
						"ratio",
						"ci",
						"margin",
						"pairs",
						"dropped_frac",
						"smallest_detectable",
						NULL };

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

TEST(test_run)
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
	json_t *j, *o, *c;

	fill_ok(&r[0]);
	r[1] = (struct assay_result){
		.status = ASSAY_STATUS_SKIPPED, .reason = "needs avx512_vnni", .max_rel_err = -1, .dropped_frac = NAN
	};
	strcpy(run.suite, "quick");
	j = parse(emit_run(&run, "json", NULL));

	assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
	o = json_object_get(j, "run");
	has_fields(o, run_fields);
	assert_int_equal(json_integer_value(json_object_get(o, "id")), 12);
	assert_int_equal(json_integer_value(json_object_get(o, "seed")), 42);
	assert_string_equal(json_string_value(json_object_get(o, "started")), "1970-01-02T00:00:00Z");
	assert_true(json_is_null(json_object_get(o, "ended")));
	assert_int_equal(json_integer_value(json_object_get(o, "all_threads")), 2);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(o, "all_cpus"), 1)), 6);

	c = json_array_get(json_object_get(j, "cases"), 0);
	has_fields(c, case_fields);
	assert_string_equal(json_string_value(json_object_get(c, "key")), "op.a/v/m=4096,level=dram/t=2/warm");
	o = json_object_get(c, "axes");
	assert_int_equal(json_integer_value(json_object_get(o, "m")), 4096);
	assert_string_equal(json_string_value(json_object_get(o, "level")), "dram");
	assert_string_equal(json_string_value(json_object_get(c, "status")), "ok");
	assert_true(json_is_true(json_object_get(c, "correct")));
	assert_true(json_is_null(json_object_get(c, "digest")));
	assert_true(json_real_value(json_object_get(c, "median_ns")) == 123.5);
	assert_true(json_real_value(json_array_get(json_object_get(c, "ci95_ns"), 1)) == 130);
	assert_int_equal(json_integer_value(json_object_get(c, "samples")), 2);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(c, "cpus"), 1)), 5);
	o = json_object_get(json_object_get(c, "metrics"), "time_s");
	assert_string_equal(json_string_value(json_object_get(o, "better")), "lower");
	assert_string_equal(json_string_value(json_object_get(o, "unit")), "s");
	o = json_object_get(json_object_get(c, "metrics"), "odd");
	assert_true(json_is_null(json_object_get(o, "value")));
	assert_true(json_is_null(json_object_get(o, "better")));
	o = json_object_get(json_object_get(c, "counters"), "kv_hits");
	assert_true(json_number_value(json_object_get(o, "value")) == 17);
	assert_string_equal(json_string_value(json_object_get(o, "source")), "op");
	assert_string_equal(json_string_value(json_object_get(o, "how")), "read without PAPI");
	assert_string_equal(json_string_value(json_object_get(o, "per")), "case");
	assert_true(json_number_value(json_object_get(o, "running_frac")) == 1);
	o = json_object_get(json_object_get(c, "unavailable"), "PAPI_L1_DCM");
	assert_string_equal(json_string_value(json_object_get(o, "reason")), "no PMU");
	o = json_object_get(c, "roof");
	assert_string_equal(json_string_value(json_object_get(o, "bound")), "bandwidth");
	assert_string_equal(json_string_value(json_object_get(o, "op")), "stream.read");
	assert_string_equal(json_string_value(json_object_get(o, "name")), "l3");
	o = json_object_get(o, "in_turn");
	assert_true(json_real_value(json_array_get(json_object_get(o, "ci95_frac"), 1)) == 0.75);
	assert_true(json_is_true(json_object_get(o, "ci95_reached")));
	assert_null(json_object_get(c, "raw"));
	/* as of a run that was stored before they were looked for */
	assert_true(json_is_null(json_object_get(c, "slow_core")) &&
		    json_is_null(json_object_get(c, "slow_core_frac")));

	/* no measurement is null, never 0 */
	c = json_array_get(json_object_get(j, "cases"), 1);
	has_fields(c, case_fields);
	assert_string_equal(json_string_value(json_object_get(c, "status")), "skipped");
	assert_string_equal(json_string_value(json_object_get(c, "reason")), "needs avx512_vnni");
	for (const char *const *n = (const char *const[]){ "correct", "digest", "max_rel_err", "median_ns", "ci95_ns",
							   "roof", "dropped_frac", NULL };
	     *n; n++)
		assert_true(json_is_null(json_object_get(c, *n)));
	json_decref(j);

	j = parse(emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .samples = true } },
		       "json", NULL));
	o = json_object_get(json_array_get(json_object_get(j, "cases"), 0), "raw");
	assert_int_equal(json_array_size(o), 2);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(o, 1), 1)), 1234);
	json_decref(j);
	assay_result_release(&r[0]);
	assay_result_release(&r[1]);
}

TEST(test_seed)
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

		j = parse(emit_run(&run, "json", NULL));
		seed = json_object_get(json_object_get(j, "run"), "seed");
		if (cases[i].text)
			assert_true(strtoull(json_string_value(seed), NULL, 10) == cases[i].seed);
		else
			assert_true((uint64_t)json_integer_value(seed) == cases[i].seed);
		json_decref(j);
	}
}

TEST(test_gate)
{
	struct assay_gate_case cases[] = {
		{ .key = "k",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_REGRESSED,
		  .ratio = 1.07,
		  .ci_lo = 1.06,
		  .ci_hi = 1.08,
		  .margin_frac = 0.05,
		  .dropped_frac = 0,
		  .smallest_detectable_frac = NAN,
		  .value = NAN,
		  .limit = NAN },
		{ .key = "l",
		  .metric = "tokens_per_s",
		  .evidence = ASSAY_EVIDENCE_NONE,
		  .verdict = ASSAY_PASS,
		  .ratio = NAN,
		  .ci_lo = NAN,
		  .ci_hi = NAN,
		  .margin_frac = NAN,
		  .dropped_frac = NAN,
		  .smallest_detectable_frac = NAN,
		  .value = 51,
		  .limit = 50 },
	};
	struct assay_gate_report r = { .verdict = ASSAY_REGRESSED,
				       .exit = ASSAY_EXIT_REGRESSED,
				       .base = "run 1",
				       .head = "run 2",
				       .alpha = 0.01,
				       .cases = cases,
				       .n_cases = 2 };
	json_t *j, *c;

	j = parse(emit_gate(&r, "json", NULL));
	has_fields(j, gate_fields);
	assert_int_equal(json_integer_value(json_object_get(j, "exit")), 1);
	assert_string_equal(json_string_value(json_object_get(j, "verdict")), "REGRESSED");
	assert_true(json_is_object(json_object_get(j, "controls")));
	c = json_array_get(json_object_get(j, "cases"), 0);
	has_fields(c, gate_case_fields);
	assert_string_equal(json_string_value(json_object_get(c, "evidence")), "stored");
	assert_true(json_real_value(json_object_get(c, "ratio")) == 1.07);
	assert_int_equal(json_array_size(json_object_get(c, "ci")), 2);
	assert_true(json_is_null(json_object_get(c, "smallest_detectable")));
	c = json_array_get(json_object_get(j, "cases"), 1);
	has_fields(c, gate_case_fields);
	assert_true(json_is_null(json_object_get(c, "ratio")));
	assert_true(json_is_null(json_object_get(c, "ci")));
	assert_true(json_real_value(json_object_get(c, "limit")) == 50);
	json_decref(j);
}

UNIT_GROUP(NULL, NULL)

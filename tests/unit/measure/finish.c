/* SPDX-License-Identifier: Apache-2.0 */
/* Results that need other cases of the run: digests, scaling, and the roof that is measured in turn. */
#include <math.h>

#include "measure/case_metrics.h"
#include "measure/case_needs.h"
#include "measure/measure.h"
#include "measure_world.h"
#include "unit.h"

TEST(digests_are_compared)
{
	struct world *w = *state;
	struct assay_result results[3] = { 0 };
	struct assay_run run = { .results = results, .n_results = 3 };
	struct assay_case_facts facts[3] = { 0 };
	bool changed[3];

	results[0].c = make_case("doubled", 64, 1, ASSAY_CACHE_WARM);
	results[1].c = make_case("ref", 64, 2, ASSAY_CACHE_WARM);
	results[2].c = make_case("ref", 128, 1, ASSAY_CACHE_WARM); /* another problem: may differ */
	snprintf(results[0].digest, sizeof(results[0].digest), "aaaa");
	snprintf(results[1].digest, sizeof(results[1].digest), "bbbb");
	snprintf(results[2].digest, sizeof(results[2].digest), "cccc");
	assert_int_equal(0,
			 assay_measure_finish(&run, facts, &w->host, assay_inventory_catalog(w->inv), changed, NULL));
	assert_true(changed[0] && !changed[1] && !changed[2]);
	assert_int_equal(ASSAY_STATUS_WRONG, results[0].status);
	assert_int_equal(ASSAY_STATUS_OK, results[1].status);
	assert_int_equal(ASSAY_STATUS_OK, results[2].status);
	assert_non_null(strstr(results[0].reason, "differs from bbbb"));
}

/* Against one thread of the same variant, problem and cache state, by the work of a call. */
TEST(efficiency_is_against_one_thread)
{
	struct world *w = *state;
	struct assay_result results[5] = { 0 };
	struct assay_run run = { .results = results, .n_results = 5 };
	struct assay_case_facts facts[5] = { 0 };
	bool changed[5];

	results[0].c = make_case("ref", 64, 2, ASSAY_CACHE_WARM);
	results[1].c = make_case("ref", 64, 1, ASSAY_CACHE_WARM);
	results[2].c = make_case("ref", 64, 2, ASSAY_CACHE_COLD); /* no other like it */
	results[3].c = make_case("doubled", 128, 1, ASSAY_CACHE_WARM);
	results[4].c = make_case("doubled", 128, 4, ASSAY_CACHE_WARM); /* each thread has work of its own */
	for (int i = 0; i < 5; i++) {
		facts[i].cost.ops = i == 4 ? 400 : 100;
		results[i].median_ns = i == 1 ? 180 : 100;
	}
	results[4].median_ns = 125;
	assert_int_equal(0,
			 assay_measure_finish(&run, facts, &w->host, assay_inventory_catalog(w->inv), changed, NULL));
	for (int i = 0; i < 5; i++) {
		const struct assay_metric *m = assay_result_metric(&results[i], "parallel_efficiency");
		double want = i == 0 ? 0.9 : 0.8;

		assert_int_equal(m != NULL, i == 0 || i == 4);
		assert_true(changed[i]);
		if (m)
			assert_true(fabs(m->value - want) < 1e-12);
		assay_result_release(&results[i]);
	}
}

/* The share lies in the interval that @how tells, which is one. */
static void interval_holds(const char *how, double share)
{
	const char *text = strstr(how, "; in turn, ");
	double least = 0, most = 0;

	if (!text || sscanf(text, "; in turn, %lf to %lf %%", &least, &most) != 2 || least >= most ||
	    100 * share < least - 0.05 || 100 * share > most + 0.05)
		fail_msg("'%s' and a share of %g", how, share);
}

/* A case of the plugin roof_ops: @us a call, with this work. */
static struct assay_case roof_case(const char *op, const char *variant, int64_t us, int64_t read, int64_t written,
				   int64_t ops)
{
	static const char *const names[] = { "level", "us", "read", "written", "ops" };
	const int64_t values[] = { 0, us, read, written, ops };
	struct assay_case c = { .n_axes = 5, .threads = 1, .budget_ns = 80000000, .timeout_ns = 120000000000 };

	snprintf(c.op, sizeof(c.op), "%s", op);
	snprintf(c.variant, sizeof(c.variant), "%s", variant);
	for (unsigned i = 0; i < c.n_axes; i++) {
		c.axes[i] = (struct assay_axis_value){ .name = "", .value = values[i] };
		snprintf(c.axes[i].name, sizeof(c.axes[i].name), "%s", names[i]);
		snprintf(c.axes[i].text, sizeof(c.axes[i].text), "%lld", (long long)values[i]);
	}
	assert_int_equal(0, assay_case_make_key(&c, NULL));
	snprintf(c.axes[0].text, sizeof(c.axes[0].text), "l1"); /* where all of it lies */
	return c;
}

/*
 * The times of limit and case in turn count, not the run's measurement of the limit; failures are told. The clock is
 * the plugin's: reading 1000 bytes takes 250 us, copying 500 (1000 moved) 500 us, 1000 operations 10 us, the case 1000
 * us.
 */
TEST(the_roof_in_turn)
{
	enum { LIMIT_READ, LIMIT_COPY, LIMIT_DOT, CASE, N };
	static const struct {
		const char *limits, *variant;
		int64_t read, written, ops;
		enum assay_status status;
		double want; /* share of the roof; 0: none; -1: not known, but it has an interval */
		const char *text;
	} rows[] = {
		{ "plain", "plain", 600, 0, 0, ASSAY_STATUS_OK, 0.15, "roof.load at l1; in turn, 15.0 to 15.0 %" },
		{ "plain", "plain", 750, 250, 0, ASSAY_STATUS_OK, 0.375, "roof.load at l1; in turn, 37.5 to 37.5 %" },
		{ "plain", "plain", 300, 300, 0, ASSAY_STATUS_OK, 0.3, "roof.move at l1; in turn, 30.0 to 30.0 %" },
		{ "plain", "plain", 300, 0, 40000, ASSAY_STATUS_OK, 0.4, "roof.dot; in turn, 40.0 to 40.0 %" },
		{ "plain", "uneven", 750, 250, 0, ASSAY_STATUS_OK, -1, "" },
		/* reading is far from binding, and is not measured again */
		{ "dies", "plain", 10, 600, 0, ASSAY_STATUS_OK, 0,
		  "'roof.move/dies/level=0,us=500,read=500,written=500,ops=0/t=1/warm', in turn: "
		  "killed by signal 11 (SIGSEGV)" },
		{ "dies", "plain", 600, 0, 0, ASSAY_STATUS_OK, 0,
		  "'roof.load/dies/level=0,us=250,read=1000,written=0,ops=0/t=1/warm', in turn: "
		  "killed by signal 11 (SIGSEGV)" },
		{ "hangs", "plain", 600, 0, 0, ASSAY_STATUS_OK, 0,
		  "'roof.load/hangs/level=0,us=250,read=1000,written=0,ops=0/t=1/warm', in turn: "
		  "no result after 2 s" },
		{ "plain", "dies", 600, 0, 0, ASSAY_STATUS_CRASHED, 0,
		  "in turn with 'roof.load/plain/level=0,us=250,read=1000,written=0,ops=0/t=1/warm'"
		  ": killed by signal 11 (SIGSEGV)" },
	};
	struct world *w = *state;
	struct assay_strings plugins = { 0 };
	struct assay_inventory *inv;
	struct assay_err err = { 0 };

	add_plugin(&plugins, w->dir, "roof_ops");
	if (assay_inventory_open(&inv, &plugins, NULL, &w->host, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_measure_options o = { .worker = setup_of(w, &plugins) };
		struct assay_result results[N] = {
			{ .c = roof_case("roof.load", rows[i].limits, 250, 1000, 0, 0) },
			{ .c = roof_case("roof.move", rows[i].limits, 500, 500, 500, 0) },
			{ .c = roof_case("roof.dot", rows[i].limits, 10, 0, 0, 1000) },
			{ .c = roof_case("stream.case", rows[i].variant, 1000, rows[i].read, rows[i].written,
					 rows[i].ops) },
		}, *r = &results[CASE];
		struct assay_run run = { .results = results, .n_results = CASE };
		struct assay_case_facts facts[N];
		const struct assay_metric *share;
		const struct assay_count *roof;
		char few[256];

		for (size_t k = 0; k < N; k++) {
			if (assay_inventory_describe(inv, &results[k].c, 1, &facts[k], &err))
				fail_msg("%s", err.text);
			results[k].median_ns = 1e6;
			results[k].n_samples = 6;
			if (!strcmp(rows[i].limits, "hangs"))
				results[k].c.timeout_ns = 1000000000; /* of each, which wait for each other */
		}
		/* in the run all of them were twice as fast */
		assert_int_equal(0, assay_result_add_metric(&results[LIMIT_READ], "bytes_per_s", "B/s", 1, 8e6));
		assert_int_equal(0, assay_result_add_metric(&results[LIMIT_COPY], "bytes_per_s", "B/s", 1, 4e6));
		assert_int_equal(0, assay_result_add_metric(&results[LIMIT_DOT], "ops_per_s", "OP/s", 1, 2e8));
		if (assay_measure_roof(&run, facts, &facts[CASE], &o, r, &err))
			fail_msg("row %zu: %s", i, err.text);
		share = assay_result_metric(r, "roof_frac");
		roof = assay_counters_find(&r->counters, "roof_ns");
		if (r->status != rows[i].status)
			fail_msg("row %zu: %s: %s", i, assay_status_name(r->status), r->reason);
		if (rows[i].want > 0) {
			assert_true(share && fabs(share->value - rows[i].want) < 1e-9);
			/* a busy machine may have disturbed all but a few turns */
			snprintf(few, sizeof(few), "%s?", rows[i].text);
			if (strcmp(roof->how, few))
				assert_string_equal(roof->how, rows[i].text);
		} else if (rows[i].want < 0) {
			assert_true(share && roof);
			interval_holds(roof->how, share->value);
		} else {
			const char *why = r->status == ASSAY_STATUS_OK
						  ? assay_counters_find_missing(&r->counters, "roof_frac")->reason
						  : r->reason;

			assert_true(!share && !roof);
			if (strncmp(why, rows[i].text, strlen(rows[i].text)))
				fail_msg("row %zu: '%s' does not say '%s'", i, why, rows[i].text);
		}
		/* nothing measured yet: left to the end of the run */
		assay_counters_release(&r->counters);
		run.n_results = 0;
		r->median_ns = 1e6;
		assert_int_equal(0, assay_measure_roof(&run, facts, &facts[CASE], &o, r, &err));
		assert_true(!r->counters.n && !r->counters.n_missing);
		for (int k = 0; k < N; k++)
			assay_result_release(&results[k]);
	}
	assay_inventory_close(inv);
	assay_strings_release(&plugins);
}

/* ---- case metrics ---- */

/* Metrics of a case from what its worker reports: a number that is not known is left out, with a reason. */

/* A side of a pair that has two copies where a run has one is held against limits by what the run would have. */
TEST(a_second_copy_is_left_out)
{
	static struct assay_worker_reply reply = { .op_bytes = 2000,
						   .prepare_bytes = 500,
						   .prepare_ns = 3000000000,
						   .first_bytes = 300,
						   .first_ns = 2000000000 };
	static const struct {
		uint64_t rss;
		double want;
	} rows[] = { { 5300, 4100 }, { 2000, 1000 } }; /* the second copy was hardly touched */

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_catalog_op op = { 0 };
		const struct assay_cost cost = { 0 };
		const struct assay_counter_choice choice = { 0 };
		const struct assay_case_report from = { &reply, &op, &cost, 0, &choice, NULL, true, 0 };
		struct assay_result r = { .status = ASSAY_STATUS_OK };
		struct assay_err err = { 0 };

		reply.rss_peak_bytes = rows[i].rss;
		assert_int_equal(assay_case_metrics(&from, &r, &err), 0);
		assert_true(assay_result_metric(&r, "op_bytes")->value == 1000);
		assert_true(assay_result_metric(&r, "prepare_bytes")->value == 300);
		assert_true(assay_result_metric(&r, "prepare_s")->value == 2);
		assert_true(assay_result_metric(&r, "rss_peak_bytes")->value == rows[i].want);
		assay_result_release(&r);
	}
}

/* Tokens go at the rate of the case's time, whatever its op saw in one process. */
TEST(tokens_follow_the_time)
{
	static struct assay_worker_reply reply = { .n_metrics = 1,
						   .metrics = { { .tag = "tokens_per_s", .value = 7 } } };
	char tag[] = "tokens_per_s", unit[] = "1/s";
	struct assay_catalog_metric token = { .tag = tag, .unit = unit, .better = 1, .hi = 1e18 };
	const struct assay_catalog_op op = { .metrics = &token, .n_metrics = 1 };
	const struct assay_cost cost = { .items = 128 };
	const struct assay_counter_choice choice = { 0 };
	const struct assay_case_report from = { &reply, &op, &cost, 0, &choice, NULL, false, 0 };
	struct assay_sample sample = { .iterations = 1, .ns = 1000000 };
	struct assay_result r = { .status = ASSAY_STATUS_OK, .samples = &sample, .n_samples = 1, .median_ns = 1e6 };
	struct assay_err err = { 0 };

	assert_int_equal(assay_case_metrics(&from, &r, &err), 0);
	assert_true(assay_result_metric(&r, "tokens_per_s")->value == 128000);
	/* also when further processes have moved the median */
	r.median_ns = 2e6;
	assert_int_equal(assay_time_metrics(&r, &cost, &err), 0);
	assert_true(assay_result_metric(&r, "tokens_per_s")->value == 64000);
	r.samples = NULL;
	assay_result_release(&r);
}

/* ---- case plugins ---- */

/* Which plugins a worker loads that counts one case. */

MEASURE_GROUP

/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a case from what its worker reports: a number that is not known is left out, with a reason. */
#include "unit.h"
#include "measure/case_metrics.h"

TEST(test_rss_peak)
{
	static const struct {
		uint64_t reported;
		bool known;
	} rows[] = { { 4096, true }, { 0, false } };

	for (size_t i = 0; i < N_OF(rows); i++) {
		static struct assay_worker_reply reply;
		const struct assay_catalog_op op = { 0 };
		const struct assay_cost cost = { 0 };
		const struct assay_counter_choice choice = { 0 };
		const struct assay_case_report from = { &reply, &op, &cost, 0, &choice, NULL, false };
		const struct assay_unavailable *missing;
		const struct assay_metric *m;
		struct assay_result r = { .status = ASSAY_STATUS_OK };
		struct assay_err err = { 0 };

		reply.rss_peak_bytes = rows[i].reported;
		assert_int_equal(assay_case_metrics(&from, &r, &err), 0);
		m = assay_result_metric(&r, "rss_peak_bytes");
		missing = assay_counters_find_missing(&r.counters, "rss_peak_bytes");
		assert_true(rows[i].known == (m != NULL) && rows[i].known == (missing == NULL));
		if (m)
			assert_true(m->value == 4096);
		else
			assert_string_equal(missing->reason, "this machine shows no VmHWM in '/proc/self/status'");
		assay_result_release(&r);
	}
}

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
		const struct assay_case_report from = { &reply, &op, &cost, 0, &choice, NULL, true };
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
	const struct assay_case_report from = { &reply, &op, &cost, 0, &choice, NULL, false };
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

UNIT_GROUP(NULL, NULL)

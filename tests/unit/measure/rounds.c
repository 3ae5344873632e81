/* SPDX-License-Identifier: Apache-2.0 */
/* Cases measured in several rounds: which are worth it, and what the rounds come to. */
#include "unit.h"
#include "measure/case_metrics.h"
#include "measure/rounds.h"
#include "model/summary.h"

static const struct assay_cost cost = { .ops = 1000, .bytes_read = 64 };

/* One round: @n samples of @ns each. */
static void make_round(struct assay_result *r, size_t n, uint64_t ns, double hits, double rss)
{
	struct assay_count count = {
		.name = "kv_hits", .source = "op", .per_iteration = true, .value = hits, .running_frac = 1
	};
	struct assay_count roof = { .name = "roof_ns", .source = "assay", .value = hits, .running_frac = 1 };

	*r = (struct assay_result){ .status = ASSAY_STATUS_OK,
				    .checked = true,
				    .correct = true,
				    .n_samples = n,
				    .steady = true,
				    .warmup_ns = 7,
				    .max_rel_err = 1e-7,
				    .c.budget_ns = 1000 };
	strcpy(r->c.key, "op/v/-/t=1/warm");
	strcpy(r->digest, "0123");
	r->samples = calloc(n, sizeof(*r->samples));
	assert_non_null(r->samples);
	for (size_t i = 0; i < n; i++)
		r->samples[i] = (struct assay_sample){ .iterations = 1, .ns = ns };
	assert_int_equal(0, assay_summary_fill(r, NULL));
	assert_int_equal(0, assay_time_metrics(r, &cost, NULL));
	assert_int_equal(0, assay_result_add_metric(r, "tpot_s", "s", -1, hits / 100));
	assert_int_equal(0, assay_result_add_metric(r, "rss_peak_bytes", "B", -1, rss));
	assert_int_equal(0, assay_counters_add(&r->counters, &count));
	snprintf(roof.how, sizeof(roof.how), "peak.i8_dot; in turn, %.1f to %.1f %%", hits, hits + 5);
	r->roof = (struct assay_result_roof){
		ASSAY_BOUND_ARITHMETIC, "peak.i8_dot", "i8", { hits / 100, (hits + 5) / 100, true }
	};
	assert_int_equal(0, assay_counters_add(&r->counters, &roof));
	assert_int_equal(0, assay_disturbance_counts(r, NULL));
}

static double metric(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	assert_non_null(m);
	return m->value;
}

TEST(rounds_add_up)
{
	struct assay_result r, second, third;
	size_t n_metrics, n_counts;

	make_round(&r, 10, 100, 30, 5000);
	make_round(&second, 20, 140, 60, 9000);
	make_round(&third, 5, 110, 90, 4000);
	second.samples[3].switches = 1;
	second.max_rel_err = 3e-7;
	third.steady = false;
	n_metrics = r.n_metrics;
	n_counts = r.counters.n;
	assert_int_equal(0, assay_result_add_round(&r, &second, &cost, NULL));
	assert_int_equal(2, r.rounds);
	assert_true(r.steady);
	assert_int_equal(0, assay_result_add_round(&r, &third, &cost, NULL));

	assert_int_equal(3, r.rounds);
	assert_int_equal(35, r.n_samples);
	assert_true(r.samples[10].flags & ASSAY_SAMPLE_NEW_ROUND && r.samples[30].flags & ASSAY_SAMPLE_NEW_ROUND);
	assert_true(r.median_ns == 110);
	/* of the samples: from the median; of the op: the mean of the rounds */
	assert_true(metric(&r, "time_s") == 110e-9);
	assert_true(metric(&r, "ops_per_s") == 1000 / 110e-9);
	assert_true(metric(&r, "tpot_s") == 0.6);
	assert_true(metric(&r, "rss_peak_bytes") == 9000);
	assert_true(assay_counters_find(&r.counters, "kv_hits")->value == 60);
	assert_string_equal(assay_counters_find(&r.counters, "roof_ns")->how, "peak.i8_dot; in turn, 30.0 to 95.0 %");
	assert_true(assay_counters_find(&r.counters, "involuntary_switches")->value == 1);
	assert_int_equal(n_metrics, r.n_metrics);
	assert_int_equal(n_counts, r.counters.n);
	assert_false(r.steady);
	assert_false(r.converged); /* 100, 110 and 140 are far apart, however alike the samples of each are */
	assert_true(r.warmup_ns == 21 && r.max_rel_err == 3e-7);
	assay_result_release(&r);
	assay_result_release(&second);
	assay_result_release(&third);
}

/* Without @tag, and without the counts. */
static void forget(struct assay_result *r, const char *tag)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].tag, tag))
			r->metrics[i] = r->metrics[--r->n_metrics];
	assay_counters_release(&r->counters);
}

/* A round that does not know a value has no weight in its mean. */
TEST(means_are_of_the_rounds_that_know)
{
	struct assay_result r, round[3];

	make_round(&r, 10, 100, 30, 5000);
	for (unsigned i = 0; i < 3; i++) {
		make_round(&round[i], 10, 100, 60 + 30 * i, 5000);
		if (i == 1)
			forget(&round[i], "tpot_s");
		assert_int_equal(0, assay_result_add_round(&r, &round[i], &cost, NULL));
		assay_result_release(&round[i]);
	}
	assert_int_equal(4, r.rounds);
	assert_true(metric(&r, "tpot_s") == (0.3 + 0.6 + 1.2) / 3);
	assert_true(assay_counters_find(&r.counters, "kv_hits")->value == 70);
	assert_true(assay_counters_find(&r.counters, "roof_ns")->value == 70);
	assay_result_release(&r);
}

TEST(a_bad_round_decides)
{
	static const struct {
		enum assay_status status;
		const char *reason, *digest, *want;
		enum assay_status want_status;
	} cases[] = {
		{ ASSAY_STATUS_CRASHED, "killed by signal 11", "0123", "round 2: killed by signal 11",
		  ASSAY_STATUS_CRASHED },
		{ ASSAY_STATUS_TIMEOUT, "after 5 s", "0123", "round 2: after 5 s", ASSAY_STATUS_TIMEOUT },
		{ ASSAY_STATUS_OK, "", "4567",
		  "round 2: the output differs from that of the round before, with the same inputs",
		  ASSAY_STATUS_WRONG },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_result r, second;

		make_round(&r, 10, 100, 1, 1);
		make_round(&second, 10, 100, 1, 1);
		second.status = cases[i].status;
		strcpy(second.reason, cases[i].reason);
		strcpy(second.digest, cases[i].digest);
		r.log = strdup("first");
		second.log = strdup("second");
		assert_int_equal(0, assay_result_add_round(&r, &second, &cost, NULL));
		assert_string_equal("second", r.log);
		assert_int_equal(cases[i].want_status, r.status);
		assert_string_equal(cases[i].want, r.reason);
		assert_int_equal(cases[i].want_status != ASSAY_STATUS_WRONG, r.correct);
		assert_int_equal(0, r.n_samples + r.n_metrics + r.counters.n);
		assert_true(r.median_ns == 0);
		assay_result_release(&r);
		assay_result_release(&second);
	}
}

/* What was said first stays; silence gives way to words. */
TEST(words_of_good_rounds)
{
	struct assay_result r, round[2];

	make_round(&r, 10, 100, 30, 5000);
	r.log = strdup("");
	for (unsigned i = 0; i < 2; i++) {
		make_round(&round[i], 10, 100, 30, 5000);
		round[i].log = strdup(i ? "later" : "sooner");
		assert_int_equal(0, assay_result_add_round(&r, &round[i], &cost, NULL));
		assay_result_release(&round[i]);
		assert_string_equal("sooner", r.log);
	}
	assay_result_release(&r);
}

TEST(only_what_is_worth_it)
{
	struct assay_result r;

	make_round(&r, 10, 100, 1, 1); /* of a budget of 1000 ns */
	assert_true(assay_round_wanted(&r, 12000));
	assert_false(assay_round_wanted(&r, 12001));
	r.status = ASSAY_STATUS_SKIPPED;
	assert_false(assay_round_wanted(&r, 0));
	assay_result_release(&r);
	assert_int_equal(900, assay_round_budget_ns(900, 1));
	assert_int_equal(300, assay_round_budget_ns(900, 3));
}

UNIT_GROUP(NULL, NULL)

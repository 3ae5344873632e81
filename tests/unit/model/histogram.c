/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms: bounds of buckets, merging, quantiles, and the metrics and the text that are made of them. */
#include "unit.h"

#include <math.h>

#include "assay/random.h"
#include "model/catalog.h"
#include "model/histogram.h"
#include "model/result.h"

/* Of each bucket, relative to its least value. */
#define WIDTH_FRAC (1.0 / 32)

static void add(struct assay_histogram *h, double value)
{
	assert_int_equal(0, assay_histogram_add(h, assay_histogram_bucket(value), 1));
}

TEST(every_value_lies_between_the_bounds_of_its_bucket)
{
	static const struct {
		double value;
		unsigned at;
	} edges[] = {
		{ 0, 0 },
		{ -0.0, 0 },
		{ 0x1p-1074, 0 },
		{ 0x1.fffffffffffffp-65, 0 },
		{ 0x1p-64, 1 },
		{ 0x1.08p-64, 2 },
		{ 0x1.07fffffffffffp-64, 1 },
		{ 1, 1 + 64 * 32 },
		{ 0x1.fffffffffffffp-1, 64 * 32 },
		{ 0x1.fffffffffffffp63, ASSAY_HISTOGRAM_BUCKETS - 1 },
	};
	double value = 0x1p-64;

	for (size_t i = 0; i < N_OF(edges); i++)
		assert_int_equal(edges[i].at, assay_histogram_bucket(edges[i].value));
	for (unsigned at = 0; value < ASSAY_HISTOGRAM_END; value *= 1.0173) {
		const unsigned before = at;

		at = assay_histogram_bucket(value);
		assert_true(at >= before && at < ASSAY_HISTOGRAM_BUCKETS);
		assert_true(assay_histogram_bound(at) <= value && value < assay_histogram_bound(at + 1));
		assert_true(assay_histogram_bound(at + 1) <= assay_histogram_bound(at) * (1 + WIDTH_FRAC));
	}
	assert_true(assay_histogram_bound(ASSAY_HISTOGRAM_BUCKETS) == ASSAY_HISTOGRAM_END);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* From nanoseconds to hours, most of them small. */
static double draw(uint64_t i)
{
	return exp2(-30 + 42 * pow(assay_random4(1, 1, i).v[0] / 0x1p32, 3));
}

TEST(a_quantile_is_off_by_less_than_a_bucket)
{
	static const double qs[] = { 0.001, 0.5, 0.9, 0.99, 1 };
	static double v[5000];
	struct assay_histogram h = { 0 };

	for (size_t i = 0; i < N_OF(v); i++)
		add(&h, v[i] = draw(i));
	qsort(v, N_OF(v), sizeof(v[0]), by_value);
	for (size_t i = 0; i < N_OF(qs); i++) {
		const double want = v[(size_t)ceil(qs[i] * N_OF(v)) - 1], is = assay_histogram_quantile(&h, qs[i]);

		assert_true(fabs(is - want) <= want * WIDTH_FRAC);
	}
	assay_histogram_release(&h);
	assert_true(isnan(assay_histogram_quantile(&h, 0.5)));
	add(&h, 0);
	assert_true(assay_histogram_quantile(&h, 0.99) == 0);
	assay_histogram_release(&h);
}

TEST(parts_that_are_merged_are_the_whole_in_any_order)
{
	struct assay_histogram whole = { .tag = "x_s", .unit = "s" }, part[3] = { whole, whole, whole };
	struct assay_result r = { 0 };
	char *want, *is;

	for (uint64_t i = 0; i < 3000; i++) {
		add(&whole, draw(i));
		add(&part[i * i % 3], draw(i));
	}
	for (size_t i = N_OF(part); i-- > 0;) {
		assert_int_equal(0, assay_result_add_histogram(&r, &part[i]));
		assay_histogram_release(&part[i]);
	}
	assert_int_equal(1, r.n_histograms);
	want = assay_histograms_text(&whole, 1);
	is = assay_histograms_text(r.histograms, 1);
	assert_string_equal(want, is);
	assert_true(r.histograms[0].n == 3000);
	assert_true(assay_result_metric(&r, "x_count")->value == 3000);
	assert_true(assay_result_metric(&r, "x_p99_s")->value == assay_histogram_quantile(&whole, 0.99));
	assert_int_equal(4, r.n_metrics);
	free(want);
	free(is);
	assay_histogram_release(&whole);
	assay_result_release(&r);
}

TEST(the_text_of_histograms_is_read_back)
{
	static const char *const bad[] = { "x",
					   "x\ts\t1\t",
					   "x\ts\t1\t5\n",
					   "x\ts\t1\t5:0\n",
					   "x\ts\t1\t5:1",
					   "x\ts\t1\t5:1;\n",
					   "x\ts\t1\t4097:1\n",
					   "x\ts\t1\t-1:1\n",
					   "x\ts\tup\t5:1\n" };
	static const char text[] = "step_s\ts\t-1\t0:3 1762:5 4096:9007199254740992\nbatch\t1\t0\t2049:1\n";
	struct assay_histogram *v = NULL;
	size_t n = 0;
	char *again;

	assert_int_equal(0, assay_histograms_read(text, &v, &n));
	assert_int_equal(2, n);
	assert_int_equal(-1, v[0].better);
	assert_true(v[0].n == 9007199254741000);
	again = assay_histograms_text(v, n);
	assert_string_equal(text, again);
	free(again);
	assay_histograms_release(&v, &n);
	assert_int_equal(0, assay_histograms_read("", &v, &n));
	assert_int_equal(0, n);
	for (size_t i = 0; i < N_OF(bad); i++) {
		assert_int_equal(ASSAY_ESTORE, assay_histograms_read(bad[i], &v, &n));
		assay_histograms_release(&v, &n);
	}
}

TEST(its_metrics_have_the_part_before_the_unit)
{
	static const struct {
		const char *tag, *p99, *count;
	} cases[] = {
		{ "tpot_s", "tpot_p99_s", "tpot_count" },
		{ "latency", "latency_p99", "latency_count" },
		{ "read_bytes", "read_p99_bytes", "read_count" },
		{ "tokens_per_s", "tokens_p99_per_s", "tokens_count" },
		{ "s", "s_p99", "s_count" },
	};
	char tag[ASSAY_METRIC_TAG_MAX];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(0, assay_histogram_tag(cases[i].tag, "p99", tag));
		assert_string_equal(cases[i].p99, tag);
		assert_int_equal(0, assay_histogram_tag(cases[i].tag, "count", tag));
		assert_string_equal(cases[i].count, tag);
	}
	assert_int_equal(ASSAY_ELIMIT, assay_histogram_tag("a_tag_that_has_forty_two_letters_or_digits", "count", tag));
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts: texts, rates and cache models. */
#include <math.h>

#include "exact_fixture.h"
#include "model/exact.h"
#include "model/metric.h"

TEST(numbers_are_grouped)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = { { 0, "0" }, { 999, "999" }, { 1000, "1 000" }, { 40985, "40 985" }, { 1234567, "1 234 567" } };
	char buf[32];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_exact_count_text(cases[i].n, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].text);
	}
}

TEST(estimates_have_three_digits)
{
	static const struct {
		double n;
		const char *text;
	} cases[] = { { 0, "0" },
		      { 0.25, "0.25" },
		      { 12.34, "12.3" },
		      { 99.96, "100" },
		      { 999, "999" },
		      { 999.6, "1 000" },
		      { 21099.6, "21 100" },
		      { 144858, "145 000" },
		      { 999499, "999 000" },
		      { 999500, "1 000 000" },
		      { 1734567.8, "1 730 000" } };
	char buf[32];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_exact_about_text(cases[i].n, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].text);
	}
}

TEST(changes_are_told)
{
	static const struct {
		uint64_t base, head;
		const char *want;
	} cases[] = {
		{ 40985, 42256, "+3.1 %" },
		{ 42256, 40985, "-3.0 %" },
		{ 40985, 40986, "+0.002 %" },
		{ 100000, 99999, "-0.001 %" },
		{ 0, 5, "new" },
		{ 5, 0, "gone" },
		{ 7, 7, "=" },
		{ 0, 0, "=" },
	};
	char buf[32];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_exact_change_text(cases[i].base, cases[i].head, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].want);
	}
}

TEST(cases_are_kept_by_a_glob)
{
	struct assay_exact_run run = exact_run();

	assert_int_equal(assay_exact_run_keep(&run, "op.*"), 2);
	assert_int_equal(assay_exact_run_keep(&run, "op.b/*"), 1);
	assert_string_equal(run.cases[0].key, KEY_B);
	assert_string_equal(run.cases[0].functions[0].name, "memcpy");
	assert_int_equal(assay_exact_run_keep(&run, "other"), 0);
	assay_exact_run_release(&run);
}

TEST(rates_follow_from_counts)
{
	const struct assay_exact_counts c = { .v = { 1000, 60, 40, 1, 25, 5, 200, 10 } }, none = { .v = { 1000 } };

	assert_true(fabs(assay_exact_metric(&c, "exact_d1_hit_rate") - 0.75) < 1e-12);
	assert_true(fabs(assay_exact_metric(&c, "exact_ll_hit_rate") - 0.95) < 1e-12);
	assert_true(fabs(assay_exact_metric(&c, "exact_branch_hit_rate") - 0.95) < 1e-12);
	assert_true(assay_exact_metric(&c, "exact_mispredictions") == 10);
	assert_true(isnan(assay_exact_metric(&c, "mispredictions")));
	assert_true(isnan(assay_exact_metric(&c, "exact_nothing")));
	assert_true(isnan(assay_exact_metric(&none, "exact_d1_hit_rate")));
	assert_true(isnan(assay_exact_metric(&none, "exact_branch_hit_rate")));
}

/* Every event and rate is a metric that policies can name, and the other way round. */
TEST(metrics_are_declared)
{
	const struct assay_exact_counts c = { .v = { 8, 7, 6, 5, 4, 3, 2, 1 } };
	size_t n = 0;

	for (size_t i = 0; i < assay_n_metrics; i++)
		n += !isnan(assay_exact_metric(&c, assay_metrics[i].tag));
	assert_int_equal(n, ASSAY_N_EXACT_EVENTS + 3);
}

TEST(caches_are_rounded)
{
	static const struct {
		uint64_t bytes;
		unsigned ways;
		uint64_t want;
	} cases[] = {
		{ 48 << 10, 12, 48 << 10 }, /* 64 sets */
		{ 32 << 10, 8, 32 << 10 },  { 20 << 20, 16, 16 << 20 },
		{ 30 << 20, 16, 32 << 20 }, { 100, 12, 768 }, /* smaller than one set */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_cache_level l = assay_cache_level_round(cases[i].bytes, cases[i].ways, 64);
		uint64_t sets = l.bytes / l.ways / 64;

		assert_int_equal(sets & (sets - 1), 0);
		assert_int_equal(l.bytes, cases[i].want);
	}
}

/* ---- exact detail ---- */

/* Counts by line and thread: as a text, and which line of a function grew. */

static void add_line(struct assay_text *t, const char *file, unsigned line, const char *function, uint64_t instructions)
{
	struct assay_exact_line l = { .line = line, .counts = { { instructions, instructions / 2 } } };

	snprintf(l.file, sizeof(l.file), "%s", file);
	snprintf(l.function, sizeof(l.function), "%s", function);
	assay_exact_detail_add_line(t, &l);
}

TEST(a_text_holds_all_kinds)
{
	const struct assay_exact_counts threads[2] = { { { 300, 1, 2, 3, 4, 5, 6, 7 } }, { { 100 } } };
	const struct assay_exact_mix mix = { "float_512_operations", 1024 };
	struct assay_exact_case c = { .status = ASSAY_STATUS_OK };
	struct assay_text t = { 0 };
	struct assay_exact_counts thread;
	struct assay_exact_line line;
	struct assay_exact_mix m;
	const char *at;
	unsigned n = 0;

	assert_true(isnan(assay_exact_case_metric(&c, ASSAY_EXACT_IMBALANCE)));
	assay_text_add(&t, "something of a later version\t1\nline\tcut\n");
	add_line(&t, "kernel.c", 12, "f", 1000);
	assay_exact_detail_add_thread(&t, &threads[0]);
	assert_true(isnan(assay_exact_case_metric(&(struct assay_exact_case){ .detail = t.s }, ASSAY_EXACT_IMBALANCE)));
	assay_exact_detail_add_thread(&t, &threads[1]);
	assay_exact_detail_add_mix(&t, &mix);
	c.detail = assay_text_take(&t);
	for (at = c.detail; assay_exact_next_thread(&at, &thread); n++)
		assert_memory_equal(&thread, &threads[n], sizeof(thread));
	assert_int_equal(n, 2);
	at = c.detail;
	assert_true(assay_exact_next_line(&at, &line));
	assert_string_equal(line.file, "kernel.c");
	assert_string_equal(line.function, "f");
	assert_int_equal(line.line, 12);
	assert_int_equal(line.counts.v[ASSAY_EXACT_INSTRUCTIONS], 1000);
	assert_false(assay_exact_next_line(&at, &line));
	at = c.detail;
	assert_true(assay_exact_next_mix(&at, &m));
	assert_string_equal(m.name, "float_512_operations");
	assert_int_equal(m.count, 1024);
	/* 300 of a mean of 200 */
	assert_true(assay_exact_case_metric(&c, ASSAY_EXACT_IMBALANCE) == 1.5);
	assay_exact_case_release(&c);
}

UNIT_GROUP(NULL, NULL)

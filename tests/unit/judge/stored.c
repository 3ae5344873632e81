/* SPDX-License-Identifier: Apache-2.0 */
/* The interval on stored runs, against values computed with Python's math, and what follows from it. */
#include <math.h>

#include "draws.h"
#include "gate_world.h"
#include "judge/stored.h"
#include "judge_fixture.h"
#include "stats/distributions.h"

static const struct {
	struct assay_stored_point head;
	struct assay_stored_point base[4];
	struct {
		size_t n; /* of @base */
		double error, margin;
	} with;
	struct assay_stored_compare want;
} intervals[] = {
	{ { 100, 99, 101, 50, 1 },
	  { { 100, 99, 101, 50, 1 } },
	  { 1, 0.01, 0.1 },
	  { 1, 0.983353558198, 1.01692823671, 0.11862106038, 0 } },
	{ { 120, 118, 123, 50, 1 },
	  { { 100, 99, 101, 40, 1 } },
	  { 1, 0.001, 0.1 },
	  { 1.2, 1.16360891878, 1.25151543784, 0.134401755348, 0 } },
	/* Few samples: ranges, stretched. */
	{ { 100, 98, 103, 3, 1 },
	  { { 100, 99, 101, 5, 1 } },
	  { 1, 0.01, 0.05 },
	  { 1, 0.958194999764, 1.06298421835, 0.0958103520255, 0 } },
	/* Intervals over five processes and over three: Student's, with their six degrees of freedom together. */
	{ { 100, 99, 101, 50, 5 },
	  { { 100, 99, 101, 50, 3 } },
	  { 1, 0.01, 0.1 },
	  { 1, 0.986591308557, 1.01353466744, 0.114950020803, 0 } },
	/* Two runs and more: their spread counts, and their median is the base. */
	{ { 110, 109, 111, 100, 1 },
	  { { 100, 99.5, 100.5, 60, 1 }, { 104, 103, 105, 60, 1 } },
	  { 2, 0.005, 0.1 },
	  { 1.07863874326, 0.965763392994, 1.20469723318, 0.228564497467, 0.0347584520319 } },
	{ { 90, 89, 91, 100, 1 },
	  { { 140, 139, 142, 60, 1 }, { 100, 99.5, 100.5, 60, 1 }, { 104, 103, 105, 60, 1 } },
	  { 3, 0.005, 0.1 },
	  { 0.865384615385, 0.44713312644, 1.67480899377, 1.12894778005, 0.207608631834 } },
	{ { 90, 90, 90, 100, 1 },
	  { { 100, 100, 100, 60, 1 }, { 102, 102, 102, 60, 1 }, { 101, 101, 101, 60, 1 }, { 99, 99, 99, 60, 1 } },
	  { 4, 0.005, 0.1 },
	  { 0.895533471189, 0.858368097933, 0.93430802001, 0.147627481357, 0.0139438457142 } },
};

static bool compare(const struct assay_stored_point *head, size_t n_head, const struct assay_stored_point *base,
		    size_t n_base, double error, double margin, struct assay_stored_compare *out)
{
	return assay_stored_compare((struct assay_stored_points){ head, n_head },
				    (struct assay_stored_points){ base, n_base }, error, margin, out);
}

TEST(test_intervals)
{
	for (size_t i = 0; i < N_OF(intervals); i++) {
		struct assay_stored_compare got;

		assert_true(compare(&intervals[i].head, 1, intervals[i].base, intervals[i].with.n,
				    intervals[i].with.error, intervals[i].with.margin, &got));
		assert_true(fabs(got.ratio - intervals[i].want.ratio) < 1e-9);
		assert_true(fabs(got.lo - intervals[i].want.lo) < 1e-9);
		assert_true(fabs(got.hi - intervals[i].want.hi) < 1e-9);
		assert_true(fabs(got.detectable_frac - intervals[i].want.detectable_frac) < 1e-9);
		assert_true(fabs(got.between_sd - intervals[i].want.between_sd) < 1e-9);
	}
}

TEST(test_no_interval)
{
	static const struct assay_stored_point good = { 100, 99, 101, 50, 1 };
	static const struct assay_stored_point bad[] = {
		{ 100, 99, 101, 1, 1 },   { 100, 99, 101, 0, 1 },   { 0, 0, 0, 10, 1 },
		{ 100, 0, 101, 10, 1 },   { 100, 101, 102, 10, 1 }, { 100, 99, INFINITY, 10, 1 },
		{ NAN, NAN, NAN, 10, 1 },
	};
	struct assay_stored_compare got;

	for (size_t i = 0; i < N_OF(bad); i++) {
		assert_false(compare(&bad[i], 1, &good, 1, 0.01, 0.1, &got));
		assert_false(compare(&good, 1, &bad[i], 1, 0.01, 0.1, &got));
	}
	assert_false(compare(&good, 1, &good, 0, 0.01, 0.1, &got));
}

static const struct {
	const char *name;
	double lo, hi, margin;
	enum assay_verdict want;
} decisions[] = {
	{ "unchanged, tight", 0.999, 1.001, 0.005, ASSAY_PASS },
	{ "slower, within the margin", 1.001, 1.004, 0.005, ASSAY_PASS },
	{ "just within the margin", 0.9, 1.5, 0.5, ASSAY_PASS },
	{ "slower, beyond it", 1.008, 1.012, 0.005, ASSAY_REGRESSED },
	{ "touches the margin from above", 1.5, 1.6, 0.5, ASSAY_INCONCLUSIVE },
	{ "straddles the margin", 1.002, 1.009, 0.005, ASSAY_INCONCLUSIVE },
	{ "wide", 0.5, 2.0, 0.1, ASSAY_INCONCLUSIVE },
	{ "faster, within the margin", 0.996, 0.998, 0.005, ASSAY_PASS },
	{ "faster, perhaps beyond it", 0.98, 0.996, 0.005, ASSAY_PASS },
	{ "faster, beyond it", 0.97, 0.994, 0.005, ASSAY_IMPROVED },
	{ "no numbers", NAN, NAN, 0.005, ASSAY_INCONCLUSIVE },
};

TEST(test_decisions)
{
	for (size_t i = 0; i < N_OF(decisions); i++)
		if (assay_stored_verdict(decisions[i].lo, decisions[i].hi, decisions[i].margin) != decisions[i].want)
			fail_msg("%s", decisions[i].name);
}

/* ---- segment ---- */

/* Gates against the segments of simulated histories: what is unchanged passes, and no slowdown becomes its own base. */

#define CASES 3
#define MOST  200

/* Logarithm of the time of case @c in run @at of @n, without noise. */
typedef double level(size_t at, size_t n, size_t c);

static double flat(size_t at, size_t n, size_t c)
{
	return 0;
}
static double step_at_8(size_t at, size_t n, size_t c)
{
	return at >= 8 && c == 1 ? log(1.3) : 0;
}
static double step_at_half(size_t at, size_t n, size_t c)
{
	return at >= n / 2 && c == 1 ? log(1.3) : 0;
}
static double drift(size_t at, size_t n, size_t c)
{
	return c == 1 ? log(1.4) * (double)at / (double)n : 0;
}
/* A gain that nobody confirmed, and the run that loses it. */
static double gain_and_loss(size_t at, size_t n, size_t c)
{
	return c == 1 && at >= n / 2 && at + 1 < n ? log(0.7) : 0;
}

/* One history of @n runs, the last of which is judged. */
struct history {
	level *level;
	size_t n, from; /* runs before @from are behind a change that was accepted */
	double noise, heavy;
};

static struct assay_stored_point point(double ns)
{
	return (struct assay_stored_point){ ns, ns * 0.995, ns * 1.005, 100, 1 };
}

static enum assay_verdict gate(const struct history *h, struct draws *d, bool segments)
{
	struct assay_segment v[CASES] = { 0 };
	struct assay_gate_report report = { 0 };
	static struct world w;
	enum assay_verdict verdict;
	struct assay_err err;

	world_make(&w);
	for (size_t c = 0; c < CASES; c++) {
		double ns[MOST];

		v[c].margin_frac = 0.1;
		for (size_t i = 0; i < h->n; i++)
			ns[i] = 100 * exp(h->level(i, h->n, c) + h->noise * draw_normal(d) + h->heavy * draw_heavy(d));
		for (size_t i = h->from; i + 1 < h->n; i++) {
			const struct assay_stored_point p = point(ns[i]);

			assay_segment_admit(&v[c], &p, false, 0.01 / CASES);
			if (i + 1 + ASSAY_SEGMENT_RUNS >= h->n)
				v[c].last.v[v[c].last.n++] = p;
		}
		v[c].last.other_code = true;
		set_time(&w.base_results[c], ns[h->n - 2]);
		set_time(&w.head_results[c], ns[h->n - 1]);
	}
	assay_segments_follow_machine(v, CASES, 0.01 / CASES);
	w.in.segments = segments ? v : NULL;
	assert_int_equal(assay_gate_judge(&w.in, &report, &err), 0);
	verdict = report.verdict;
	assay_gate_report_release(&report);
	return verdict;
}

/* Of @tries, those that fail. */
static unsigned failures(const struct history *h, unsigned tries, uint64_t seed, bool segments)
{
	struct draws d = { .seed = seed };
	unsigned n = 0;

	for (unsigned k = 0; k < tries; k++)
		n += gate(h, &d, segments) == ASSAY_REGRESSED;
	return n;
}

TEST(unchanged_code_fails_no_more_often_than_against_the_last_run)
{
	static const struct history of[] = {
		{ flat, 3, 0, 0.02, 0 }, { flat, 8, 0, 0.02, 0 },  { flat, 30, 0, 0.05, 0 }, { flat, 60, 0, 0.05, 0 },
		{ flat, 60, 0, 0.1, 0 }, { flat, 60, 0, 0, 0.03 }, { flat, 60, 0, 0, 0.06 }, { flat, 30, 0, 0, 0.06 },
	};
	enum { TRIES = 300 };
	unsigned all = 0, of_last = 0;

	for (size_t i = 0; i < N_OF(of); i++) {
		unsigned n = failures(&of[i], TRIES, 400 + i, true);

		if (assay_stats_binomial_ci(n, TRIES, 0.98).lo > 0.01)
			fail_msg("%zu runs, noise %g: %u of %d gates", of[i].n, of[i].noise + of[i].heavy, n, TRIES);
		all += n;
		of_last += failures(&of[i], TRIES, 400 + i, false);
	}
	assert_true(all < of_last);
	assert_true(of_last > TRIES / 10);
}

TEST(no_slowdown_becomes_its_own_base)
{
	static const struct {
		struct history h;
		unsigned least; /* of a hundred gates that fail */
	} of[] = {
		{ { step_at_half, MOST, 0, 0.01, 0 }, 100 }, { { step_at_8, MOST, 0, 0.01, 0 }, 100 },
		{ { step_at_half, MOST, 0, 0.02, 0 }, 100 }, { { drift, MOST, 0, 0.01, 0 }, 100 },
		{ { drift, MOST, 0, 0.02, 0 }, 99 },         { { gain_and_loss, MOST, 0, 0.01, 0 }, 100 },
	};

	for (size_t i = 0; i < N_OF(of); i++) {
		unsigned n = failures(&of[i].h, 100, 500 + i, true);

		if (n < of[i].least)
			fail_msg("history %zu: %u of 100 gates failed", i, n);
	}
	/* against the last run alone, none of them would */
	for (size_t i = 0; i + 1 < N_OF(of); i++)
		assert_true(failures(&of[i].h, 100, 500 + i, false) <= 1);
}

/* The last runs are as slow as the head. */
TEST(a_reason_names_the_base)
{
	struct assay_segment v[CASES] = { 0 };
	struct assay_gate_report report = { 0 };
	static struct world w;
	struct assay_err err;

	world_make(&w);
	for (size_t c = 0; c < CASES; c++) {
		v[c].margin_frac = 0.1;
		v[c].last.v[v[c].last.n++] = point(100);
	}
	v[1].first.v[v[1].first.n++] = point(70);
	v[1].first.other_code = true;
	snprintf(v[1].since, sizeof(v[1].since), "0123abcd, 2026-01-31");
	w.in.segments = v;
	assert_int_equal(assay_gate_judge(&w.in, &report, &err), 0);
	assert_int_equal(report.cases[1].verdict, ASSAY_REGRESSED);
	assert_non_null(strstr(report.cases[1].reason,
			       "; the last runs are as slow, the first of the baseline were not: 'assay history' says "
			       "since when; since its change in 0123abcd, 2026-01-31"));
	assert_int_equal(report.cases[0].verdict, ASSAY_PASS);
	assay_gate_report_release(&report);
}

TEST(what_was_accepted_passes)
{
	const struct history h = { step_at_half, MOST, MOST / 2, 0.01, 0 }, young = { step_at_half, 20, 10, 0.01, 0 };

	assert_int_equal(failures(&h, 100, 600, true), 0);
	assert_int_equal(failures(&young, 100, 601, true), 0);
}

/* @n cases whose first runs took 100 and whose last @moved took 130. */
static bool follows(size_t n, size_t moved, bool other_code)
{
	struct assay_segment v[8] = { 0 };
	bool went;

	for (size_t i = 0; i < n; i++) {
		v[i].margin_frac = 0.1;
		v[i].first.other_code = other_code;
		for (size_t k = 0; k < 10; k++) {
			v[i].first.v[v[i].first.n++] = point(100);
			v[i].last.v[v[i].last.n++] = point(i < moved ? 130 : 100);
		}
	}
	went = assay_segments_follow_machine(v, n, 0.001);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(v[i].first.n, went ? 0 : 10);
		assert_int_equal(v[i].last.n, 10);
	}
	return went;
}

TEST(machines_that_change)
{
	assert_true(follows(8, 8, false));
	assert_true(follows(8, 6, false));
	assert_false(follows(8, 5, false));
	assert_true(follows(4, 4, false));
	assert_false(follows(3, 3, false));
	/* code that changed everywhere is no machine */
	assert_false(follows(8, 8, true));
}

TEST(an_empty_segment_says_since_when)
{
	struct assay_segment v[CASES] = { 0 };
	struct assay_gate_report report = { 0 };
	static struct world w;
	struct assay_err err;

	world_make(&w);
	snprintf(v[0].since, sizeof(v[0].since), "0123abcd, 2026-01-31");
	v[1].last.v[v[1].last.n++] = point(100);
	v[1].margin_frac = 0.1;
	w.in.segments = v;
	assert_int_equal(assay_gate_judge(&w.in, &report, &err), 0);
	assert_int_equal(report.verdict, ASSAY_PASS);
	assert_string_equal(report.cases[0].reason,
			    "measured and right, no earlier run has it since its change in 0123abcd, 2026-01-31");
	assert_string_equal(report.cases[2].reason, "measured and right, but not in the baseline");
	assay_gate_report_release(&report);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* Change points of small series whose answer is plain, and that a growing series gives the same ones. */
#include "unit.h"

#include <math.h>

#include "base/err.h"
#include "draws.h"
#include "stats/change_points.h"
#include "tigerbeetle_series.h"

#define MOST 400

struct found {
	struct assay_change *v;
	size_t n;
};

static struct found find_in(struct assay_change_points *s, const struct assay_change_rule *rule)
{
	struct found f;

	assert_int_equal(assay_change_points_find(s, rule, &f.v, &f.n), 0);
	return f;
}

/* Of the whole series; the caller frees .v. */
static struct found find_all(const double *x, size_t n, size_t least_run, const struct assay_change_rule *rule)
{
	struct assay_change_points s;
	struct found f;

	assay_change_points_init(&s, least_run);
	assert_int_equal(assay_change_points_add(&s, x, n), 0);
	f = find_in(&s, rule);
	assay_change_points_release(&s);
	return f;
}

static size_t count(const double *x, size_t n, const struct assay_change_rule *rule)
{
	struct found f = find_all(x, n, 0, rule);

	free(f.v);
	return f.n;
}

/* @n values about @level that spread by @sd. */
static void fill(double *x, size_t n, double level, double sd, uint64_t seed)
{
	struct draws d = { .seed = seed };

	for (size_t i = 0; i < n; i++)
		x[i] = level * (1 + sd * draw_normal(&d));
}

static const struct assay_change_rule by_default;

TEST(a_step_is_found)
{
	double x[100];
	struct found f;

	fill(x, 60, 1000, 0.01, 1);
	fill(x + 60, 40, 1100, 0.01, 2);
	f = find_all(x, 100, 0, &by_default);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.v[0].from, 0);
	assert_int_equal(f.v[0].at, 60);
	assert_int_equal(f.v[0].to, 100);
	assert_true(f.v[0].ci.lo < 1.1 && 1.1 < f.v[0].ci.hi);
	assert_true(f.v[0].ci.lo > 1.09 && f.v[0].ci.hi < 1.12);
	assert_true(f.v[0].ci.lo <= f.v[0].ratio && f.v[0].ratio <= f.v[0].ci.hi);
	assert_true(f.v[0].p > 0 && f.v[0].p < 1e-6);
	free(f.v);
}

TEST(several_steps_are_told_apart)
{
	static const struct {
		size_t n;
		double level;
	} levels[] = { { 80, 100 }, { 20, 130 }, { 60, 100 }, { 90, 90 }, { 60, 95 } };
	double x[MOST];
	size_t n = 0;
	struct found f;

	for (size_t i = 0; i < N_OF(levels); i++) {
		fill(x + n, levels[i].n, levels[i].level, 0.005, 10 + i);
		n += levels[i].n;
	}
	f = find_all(x, n, 0, &by_default);
	assert_int_equal(f.n, N_OF(levels) - 1);
	for (size_t i = 0; i < f.n; i++) {
		assert_int_equal(f.v[i].from, i ? f.v[i - 1].at : 0);
		assert_int_equal(f.v[i].at, f.v[i].from + levels[i].n);
		assert_int_equal(f.v[i].to, f.v[i].at + levels[i + 1].n);
		assert_true(fabs(f.v[i].ratio / (levels[i + 1].level / levels[i].level) - 1) < 0.01);
	}
	free(f.v);
}

/* Steps beyond doubt are found at the default alpha, though before they are known they look like autocorrelation. */
TEST(undiscovered_steps_do_not_hide_each_other)
{
	static const struct {
		size_t n[3];
		double level[3];
	} series[] = {
		{ { 40, 25, 40 }, { 100, 115, 100 } },
		{ { 20, 50, 0 }, { 100, 88, 0 } },
		{ { 20, 50, 25 }, { 100, 88, 106 } },
	};

	for (size_t k = 0; k < N_OF(series); k++) {
		size_t n = 0, steps = 0;
		struct found f;
		double x[MOST];

		for (size_t i = 0; i < 3 && series[k].n[i]; i++) {
			fill(x + n, series[k].n[i], series[k].level[i], 0.003, 60 + 3 * k + i);
			n += series[k].n[i];
			steps += i > 0;
		}
		f = find_all(x, n, 0, &by_default);
		assert_int_equal(f.n, steps);
		for (size_t i = 0, at = 0; i < f.n; i++) {
			at += series[k].n[i];
			assert_int_equal(f.v[i].at, at);
			assert_true(f.v[i].p < 0.001);
		}
		free(f.v);
	}
}

/* All clear changes, and of those of 5 % and more just the two that its publishers name. */
TEST(a_published_series_has_its_known_changes)
{
	const size_t n = N_OF(tigerbeetle_series);
	struct found f = find_all(tigerbeetle_series, n, 0, &by_default);
	unsigned known = 0;

	for (size_t i = 0; i < f.n; i++) {
		known += f.v[i].at == 15 || f.v[i].at == 71;
		assert_true(f.v[i].p <= ASSAY_CHANGE_POINTS_ALPHA);
	}
	assert_int_equal(known, 2);
	free(f.v);
	f = find_all(tigerbeetle_series, n, 0, &(struct assay_change_rule){ .least_frac = 0.05 });
	assert_int_equal(f.n, 2);
	assert_int_equal(f.v[0].at, 15);
	assert_int_equal(f.v[1].at, 71);
	free(f.v);
}

/* Of a level that is not found though it lies far apart it is said that it is too short. */
TEST(the_shortest_level_is_known)
{
	unsigned found = 0, too_short = 0;

	for (size_t n = 10; n <= 100; n += 6) {
		for (size_t m = 5; m <= 9 && m <= n / 2; m++) {
			struct assay_change_points s;
			struct found f;
			size_t shortest;
			double x[100];

			fill(x, n, 1000, 0.003, n);
			for (size_t i = n - m; i < n; i++)
				x[i] *= 2;
			assay_change_points_init(&s, 0);
			assert_int_equal(assay_change_points_add(&s, x, n), 0);
			f = find_in(&s, &by_default);
			shortest = assay_change_points_shortest(&s, 0);
			if (!f.n)
				assert_true(!shortest || shortest > m);
			found += f.n > 0 && shortest > 0;
			too_short += !f.n;
			free(f.v);
			assay_change_points_release(&s);
		}
	}
	assert_true(found > 0 && too_short > 0);
}

/* A correlation of neighbours cannot be estimated from so few, and hides no step. */
TEST(a_step_of_few_points_is_found)
{
	for (size_t n = 10; n < 20; n++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct found f;
			double x[20];

			fill(x, n, 1000, 0.003, seed);
			for (size_t i = n / 2; i < n; i++)
				x[i] *= 1.15;
			f = find_all(x, n, 0, &by_default);
			assert_int_equal(f.n, 1);
			assert_int_equal(f.v[0].at, n / 2);
			free(f.v);
		}
}

TEST(levels_that_alternate_are_told)
{
	struct assay_change_points s;
	struct assay_change *v;
	double x[50];
	size_t n;

	fill(x, 50, 1000, 0.003, 7);
	for (size_t i = 0; i < 50; i++)
		x[i] *= i / 10 % 2 ? 1.2 : 1;
	assay_change_points_init(&s, 0);
	assert_int_equal(assay_change_points_add(&s, x, 50), 0);
	assert_int_equal(assay_change_points_find(&s, &(struct assay_change_rule){ .alpha = 0.2 }, &v, &n), 0);
	assert_true(s.takes_turns && !n);
	free(v);
	assay_change_points_release(&s);
}

/* Whatever the number of points, a step is seen when sixteen came after it. */
TEST(a_step_near_the_end_is_found)
{
	for (size_t n = 100; n < 130; n++) {
		double x[130];

		fill(x, n, 1000, 0.01, n);
		for (size_t i = n - 16; i < n; i++)
			x[i] *= 1.2;
		assert_int_equal(count(x, n, &by_default), 1);
	}
}

TEST(equal_values_have_no_order)
{
	double x[100];

	for (size_t i = 0; i < 100; i++)
		x[i] = 5;
	assert_int_equal(count(x, 100, &by_default), 0);
	/* two rare values side by side are no level */
	x[97] = x[98] = 7;
	assert_int_equal(count(x, 100, &by_default), 0);
	for (size_t i = 50; i < 100; i++)
		x[i] = 7;
	assert_int_equal(count(x, 100, &by_default), 1);
}

TEST(spikes_are_no_change)
{
	for (size_t width = 1; width < ASSAY_CHANGE_POINTS_LEAST_RUN; width++) {
		double x[120];

		fill(x, 120, 1000, 0.01, 20 + width);
		for (size_t i = 0; i < width; i++)
			x[70 + i] *= 3;
		assert_int_equal(count(x, 120, &by_default), 0);
	}
}

TEST(few_points_have_none)
{
	const size_t shortest = 2 * ASSAY_CHANGE_POINTS_LEAST_RUN;
	double x[20] = { 0 };

	assert_int_equal(count(x, 0, &by_default), 0);
	for (size_t n = 1; n <= 20; n++) {
		fill(x, n, 1000, 0.01, 30);
		assert_int_equal(count(x, n, &by_default), 0);
	}
	/* of this many the shortest series shows a change at all */
	fill(x, shortest / 2, 1000, 0.001, 31);
	fill(x + shortest / 2, shortest / 2, 2000, 0.001, 32);
	assert_int_equal(count(x, shortest - 1, &(struct assay_change_rule){ .alpha = 0.5 }), 0);
	assert_int_equal(count(x, shortest, &(struct assay_change_rule){ .alpha = 0.5 }), 1);
}

TEST(the_rule_is_configurable)
{
	double x[200];
	struct found f;

	fill(x, 50, 1000, 0.0005, 40);
	fill(x + 50, 50, 1004, 0.0005, 41);
	assert_int_equal(count(x, 100, &by_default), 0);
	assert_int_equal(count(x, 100, &(struct assay_change_rule){ .least_frac = 0.003 }), 1);
	assert_int_equal(count(x, 100, &(struct assay_change_rule){ .least_frac = -1 }), 1);

	fill(x, 50, 1000, 0.02, 42);
	fill(x + 50, 50, 1030, 0.02, 43);
	f = find_all(x, 100, 0, &by_default);
	assert_int_equal(f.n, 1);
	assert_int_equal(count(x, 100, &(struct assay_change_rule){ .alpha = f.v[0].p * 1.01 }), 1);
	assert_int_equal(count(x, 100, &(struct assay_change_rule){ .alpha = f.v[0].p / 1.01 }), 0);
	free(f.v);

	/* a level of 30 runs, where none may be shorter than 40 */
	fill(x, 90, 1000, 0.01, 44);
	fill(x + 90, 30, 1300, 0.01, 45);
	fill(x + 120, 80, 1000, 0.01, 46);
	f = find_all(x, 200, 0, &by_default);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.v[0].at, 90);
	assert_int_equal(f.v[1].at, 120);
	free(f.v);
	f = find_all(x, 200, 40, &by_default);
	for (size_t i = 0; i < f.n; i++)
		assert_true(f.v[i].at - f.v[i].from >= 40 && f.v[i].to - f.v[i].at >= 40);
	free(f.v);
}

TEST(bad_values_are_refused)
{
	static const double bad[] = { NAN, INFINITY, 0, -1 };
	struct assay_change_points s;

	assay_change_points_init(&s, 0);
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(assay_change_points_add(&s, (const double[]){ 1, bad[i] }, 2), ASSAY_EUSAGE);
	assert_int_equal(s.n, 0);
	assay_change_points_release(&s);
}

/* A series that grows point by point has, at each length, the changes of the same series that came at once. */
TEST(appending_changes_nothing)
{
	struct assay_change_points s;
	double x[MOST];

	fill(x, 90, 100, 0.02, 50);
	fill(x + 90, 130, 110, 0.02, 51);
	fill(x + 220, 180, 104, 0.02, 52);
	assay_change_points_init(&s, 0);
	for (size_t n = 1; n <= MOST; n += n % 7 ? 1 : 13) {
		struct found grown, whole = find_all(x, n, 0, &by_default);

		assert_int_equal(assay_change_points_add(&s, x + s.n, n - s.n), 0);
		grown = find_in(&s, &by_default);
		assert_int_equal(grown.n, whole.n);
		for (size_t i = 0; i < grown.n; i++) {
			assert_int_equal(grown.v[i].at, whole.v[i].at);
			assert_true(grown.v[i].p == whole.v[i].p && grown.v[i].ratio == whole.v[i].ratio);
		}
		free(grown.v);
		free(whole.v);
	}
	assay_change_points_release(&s);
}

UNIT_GROUP(NULL, NULL)

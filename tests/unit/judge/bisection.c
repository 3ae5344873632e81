/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the commit that changed a time, on simulated judges. All draws come from Philox by a fixed seed. */
#include "unit.h"

#include <math.h>

#include "draws.h"
#include "judge/bisection.h"

#define COMMITS 64
#define TRIES   100

struct judge {
	size_t culprit, n_broken, broken[COMMITS];
	double change, error; /* logarithms; the error of an answer */
	double wrong;         /* share of answers that are plainly wrong */
};

struct outcome {
	struct assay_bisection_place place;
	unsigned comparisons;
};

static bool is_broken(const struct judge *j, size_t at)
{
	for (size_t i = 0; i < j->n_broken; i++)
		if (j->broken[i] == at)
			return true;
	return false;
}

/* What a comparison says that is slower, or is not. */
static double answer(const struct judge *j, bool slower, struct draws *d)
{
	slower ^= draw_uniform(d) < j->wrong;
	return (slower ? j->change : 0) + j->error * draw_normal(d);
}

/* Until the place is sure and a comparison across it agrees. */
static struct outcome search(const struct judge *j, size_t n, struct draws *d)
{
	struct outcome out = { 0 };
	struct assay_bisection b;
	bool agreed = false;

	assert_int_equal(assay_bisection_init(&b, n, j->change, NULL), 0);
	while (out.comparisons < 40 && !agreed) {
		size_t at = 0;

		if (!assay_bisection_next(&b, &at)) {
			bool here;

			out.place = assay_bisection_place(&b);
			here = out.place.first <= j->culprit && j->culprit <= out.place.last;
			agreed = answer(j, here, d) / j->change > 0.5;
			if (!agreed)
				assay_bisection_reject(&b, &out.place);
			out.comparisons++;
			continue;
		}
		assert_true(at >= 1 && at < n);
		if (is_broken(j, at)) {
			assay_bisection_skip(&b, at);
			continue;
		}
		assay_bisection_answer(&b, at, answer(j, at >= j->culprit, d), j->error);
		out.comparisons++;
	}
	assay_bisection_release(&b);
	return out;
}

/* Three that do not build, anywhere. */
static void break_some(struct judge *j, struct draws *d)
{
	for (j->n_broken = 0; j->n_broken < 3;)
		j->broken[j->n_broken++] = 1 + draw_word(d) % (COMMITS - 1);
}

static bool names(const struct judge *j, const struct assay_bisection_place *p)
{
	if (p->first > j->culprit || p->last < j->culprit)
		return false;
	/* a range is only what cannot be told apart */
	for (size_t i = p->first; i < p->last; i++)
		if (!is_broken(j, i))
			return false;
	return true;
}

TEST(one_of_64_commits_is_named)
{
	static const struct {
		double change, error, wrong;
		unsigned right_least, comparisons_most;
	} judges[] = {
		{ 0.02, 0.001, 0, 100, 7 },   /* plain answers; with that of good and bad they are eight */
		{ -0.02, 0.001, 0, 100, 7 },  /* faster */
		{ 0.02, 0.003, 0, 99, 12 },   /* now and then one that does not decide */
		{ 0.02, 0.008, 0, 95, 40 },   /* most do not decide */
		{ 0.02, 0.001, 0.01, 98, 40 } /* one in a hundred is wrong */
	};

	for (size_t k = 0; k < N_OF(judges); k++) {
		unsigned right = 0;

		for (uint64_t seed = 0; seed < TRIES; seed++) {
			struct draws d = { .seed = 1000 * k + seed };
			struct judge j = { .change = judges[k].change,
					   .error = judges[k].error,
					   .wrong = judges[k].wrong,
					   .culprit = 1 + draw_word(&d) % COMMITS };
			struct outcome o;

			break_some(&j, &d);
			o = search(&j, COMMITS, &d);
			right += names(&j, &o.place);
			if (o.comparisons > judges[k].comparisons_most)
				fail_msg("judge %zu: %u comparisons", k, o.comparisons);
		}
		if (right < judges[k].right_least)
			fail_msg("judge %zu: right in %u of %d", k, right, TRIES);
	}
}

TEST(what_cannot_be_measured_makes_a_range)
{
	struct judge j = { .change = 0.1, .error = 0.001, .culprit = 5, .n_broken = 4, .broken = { 3, 4, 5, 6 } };
	struct draws d = { .seed = 1 };
	struct outcome o = search(&j, 10, &d);

	assert_int_equal(o.place.first, 3);
	assert_int_equal(o.place.last, 7);
	/* all between */
	j.n_broken = 0;
	for (size_t i = 1; i < 10; i++)
		j.broken[j.n_broken++] = i;
	o = search(&j, 10, &d);
	assert_int_equal(o.comparisons, 1);
	assert_int_equal(o.place.first, 1);
	assert_int_equal(o.place.last, 10);
}

TEST(one_commit_needs_no_question)
{
	struct judge j = { .change = 0.1, .error = 0.001, .culprit = 1 };
	struct draws d = { .seed = 2 };
	struct outcome o = search(&j, 1, &d);

	assert_int_equal(o.comparisons, 1);
	assert_int_equal(o.place.first, 1);
	assert_int_equal(o.place.last, 1);
	assert_true(o.place.p == 1);
}

UNIT_GROUP(NULL, NULL)

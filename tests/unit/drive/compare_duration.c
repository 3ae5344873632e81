/* SPDX-License-Identifier: Apache-2.0 */
/* How long a comparison will take, as told before it begins: by stored pairs, and where nothing is known. */
#include "paired_fixture.h"
#include "store_comparison_fixture.h"

#include "drive/compare/duration.h"
#include "stats/sequential.h"

#define USUAL_PAIR_S 0.3

/* Of so many comparisons, three usable pairs of half a second each. */
static void remember(struct fixture *f, struct assay_store *s, unsigned comparisons)
{
	for (unsigned k = 0; k < comparisons; k++) {
		struct assay_comparison_case measured;
		struct assay_comparison cmp;
		int64_t id;

		make_cases(&cmp, "m1", 0);
		paired_make(&measured, cmp.cases[0].c.key, 3, 2);
		assert_ok(f, assay_store_comparison_begin_with(s, &cmp, &id, &f->err));
		for (size_t i = 0; i < measured.n_pairs; i++)
			assert_ok(f, assay_store_pair_add(s, id, &measured.pairs[i], &f->err));
		paired_release(&measured);
		assay_comparison_release(&cmp);
	}
}

/* A case with both controls, and one more. */
static double expected(struct fixture *f, struct assay_store *s)
{
	struct assay_compare_plan plan = { .policy = assay_policy_default() };
	struct assay_duration d;

	make_cases(&plan.cmp, "m1", 3);
	plan.cmp.cases[2].control = ASSAY_CONTROL_SLOWER;
	make_case(&plan.cmp.cases[3], 1, ASSAY_CONTROL_NONE);
	assert_ok(f, assay_compare_duration(&plan, s, &d, &f->err));
	assert_int_equal(d.n_cases, 2);
	assert_int_equal(d.n_controls, 2);
	assert_true(d.most_s > d.about_s);
	assay_comparison_release(&plan.cmp);
	return d.about_s;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

STORE_TEST(test_by_what_cases_took)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	const struct assay_policy usual = assay_policy_default();
	const double passes = (double)assay_sequential_first_look(usual.pass_alpha, 30),
		     slower = (double)assay_sequential_first_look(0.3, 30); /* alpha and pairs of make_comparison */

	assert_true(near(expected(f, s), (3 * passes + slower) * USUAL_PAIR_S));
	remember(f, s, 1);
	assert_true(near(expected(f, s), passes * USUAL_PAIR_S + 2 * 1.5 + slower * 0.5));
	/* the mean of comparisons, not their sum */
	remember(f, s, 1);
	assert_true(near(expected(f, s), passes * USUAL_PAIR_S + 2 * 1.5 + slower * 0.5));
	assay_store_close(s);
}

/* Beside other work nothing is promised; else what takes half as long again is told. */
TEST(exceeded)
{
	struct assay_duration d = { .n_cases = 1, .n_controls = 2, .about_s = 10, .most_s = 200 };
	char text[256];

	assert_false(assay_compare_duration_exceeded(&d, 15, 2, text, sizeof(text)));
	assert_false(assay_compare_duration_exceeded(&d, 16, 0, text, sizeof(text)));
	assert_true(assay_compare_duration_exceeded(&d, 16, 2, text, sizeof(text)));
	assert_string_equal(text,
			    "this takes longer than the 10 s announced: after 16 s, 2 of 3 cases and controls are "
			    "undecided; at most 3 min 20 s");
	d.shared = true;
	assert_false(assay_compare_duration_exceeded(&d, 100, 2, text, sizeof(text)));
}

UNIT_GROUP(NULL, NULL)

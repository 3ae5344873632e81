/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine is fit for, and how that is said. */

#include <math.h>

#include "judge/fitness.h"
#include "unit.h"

/* Without noise the margin is left, and what a floor of the spread adds; more noise tells less, more blocks more. */
TEST(what_can_be_told)
{
	const double quiet = assay_fitness_told(0, 37, 0.005, 0.01), noisy = assay_fitness_told(0.05, 37, 0.005, 0.01);

	assert_true(quiet > 0.005 && quiet < 0.008);
	assert_true(noisy > 0.01 && noisy < 0.05);
	assert_true(assay_fitness_told(0.05, 4, 0.005, 0.01) > noisy);
	assert_true(assay_fitness_told(0.05, 37, 0.02, 0.01) > noisy + 0.01);
	assert_true(isnan(assay_fitness_told(NAN, 37, 0.005, 0.01)));
}

TEST(how_it_is_said)
{
	static const struct {
		struct assay_fitness f;
		const char *want;
	} rows[] = {
		{ { .short_frac = 0.0061, .long_frac = 0.0069 }, "comparisons can detect 0.7 %" },
		{ { .short_frac = 0.01, .long_frac = 0.023 },
		  "comparisons can detect 1 % on calls under 1 ms, 3 % above" },
		{ { .short_frac = 0.0101, .long_frac = 0.0901 },
		  "comparisons can detect 2 % on calls under 1 ms, 10 % above" },
		{ { .short_frac = 0.12, .long_frac = 0.31, .shared = { 1 }, .n_shared = 1 },
		  "comparisons can detect 20 % on calls under 1 ms, 40 % above; other work runs on core 1" },
		{ { .short_frac = 0.01, .long_frac = 0.01, .shared = { 0, 2, 5 }, .n_shared = 3 },
		  "comparisons can detect 1 %; other work runs on cores 0, 2 and 5" },
		{ { .short_frac = 0.03, .long_frac = 2 },
		  "comparisons can detect 3 % on calls under 1 ms; too noisy to detect even a 50 % change on longer "
		  "ones" },
		{ { .short_frac = 0.6, .long_frac = 0.7 }, "too noisy to detect even a 50 % change" },
		{ { .short_frac = NAN, .long_frac = NAN, .shared = { 0, 1 }, .n_shared = 2 },
		  "the smallest change that comparisons can detect is unknown: the cores could not be tried for long "
		  "enough; other work runs on cores 0 "
		  "and 1" },
		{ { .short_frac = 0.03, .long_frac = NAN },
		  "comparisons can detect 3 % on calls under 1 ms; above 1 ms is unknown: the cores could not be tried "
		  "for "
		  "long enough" },
		{ { .untold = "no core to try" },
		  "the smallest change that comparisons can detect is unknown: no core to try" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[256];

		assay_fitness_text(&rows[i].f, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
}

UNIT_GROUP(NULL, NULL)

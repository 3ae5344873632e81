/* SPDX-License-Identifier: Apache-2.0 */
/* What it takes to count a case, told from its record. */
#include "unit.h"

#include <math.h>

#include "drive/exact/schedule.h"

TEST(recorded_cases_have_a_price)
{
	struct assay_exact_case here[] = {
		{ .key = "simulated", .total = { { [ASSAY_EXACT_INSTRUCTIONS] = 70000 } } },
		{ .key = "stepped", .how = ASSAY_EXACT_STEPPED, .total = { { [ASSAY_EXACT_INSTRUCTIONS] = 9000 } } },
	};
	struct assay_exact_case there[] = {
		{ .key = "stepped-long",
		  .how = ASSAY_EXACT_STEPPED,
		  .total = { { [ASSAY_EXACT_INSTRUCTIONS] = 70000 } } },
	};
	struct assay_exact_run builds[] = { { .cases = here, .n_cases = N_OF(here) },
					    { .cases = there, .n_cases = N_OF(there) } };
	const struct assay_exact_baseline b = { .builds = builds, .n_builds = N_OF(builds) }, none = { .n_builds = 0 };

	assert_ptr_equal(assay_exact_price_case(&b, "stepped-long"), &there[0]);
	assert_null(assay_exact_price_case(&b, "new"));
	assert_null(assay_exact_price_case(&none, "stepped"));
	/* a step takes over a hundred times as long as a simulated instruction, a simulator longer to begin */
	assert_true(assay_exact_price_ns(&b, "stepped") < assay_exact_price_ns(&b, "simulated"));
	assert_true(assay_exact_price_ns(&b, "simulated") < assay_exact_price_ns(&b, "stepped-long"));
	assert_true(isinf(assay_exact_price_ns(&b, "new")));
	assert_true(assay_exact_price_steps(&b, "stepped") == 9000);
	assert_true(assay_exact_price_steps(&b, "simulated") == 0);
	assert_true(assay_exact_price_steps(&b, "new") == 0);
}

UNIT_GROUP(NULL, NULL)

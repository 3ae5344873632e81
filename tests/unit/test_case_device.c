/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on a device, by the mock of one: what is its own and what is not, its failures, its memory, its state. */
#include "audit_world.h"

static void open_mock(const struct world *w, struct sides *s)
{
	open_sides(w, (const char *const[2]){ "mock_cheat", "mock_cheat" }, s);
}

TEST(what_a_kernel_must_leave_alone)
{
	struct sides s;

	open_mock(*state, &s);
	check_alone(&s, "mock_honest", N, ASSAY_CACHE_WARM, 1, NULL);
	check_alone(&s, "mock_spoils", N, ASSAY_CACHE_WARM, 1, "changed its inputs: 'x' on the device");
	check_alone(&s, "mock_beside", N, ASSAY_CACHE_WARM, 1,
		    "wrote outside of 'y': byte 16384 of a buffer of 16384 bytes");
	close_sides(&s);
}

MEASURE_MAIN

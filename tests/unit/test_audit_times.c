/* SPDX-License-Identifier: Apache-2.0 */
/* What a busy machine took from calls in a row is no sign of a cheat. */
#include "unit.h"

#include "worker/audit_times.h"

TEST(waits_are_left_out)
{
	const struct assay_thread_time told = { .waits_told = true, .waited_ns = 7000 };
	const struct assay_thread_time later = { .waits_told = true, .waited_ns = 17000 };
	const struct assay_thread_time silent = { .waits_told = false };

	(void)state;
	assert_true(assay_audit_times_less_waits(15000, &told, &later) == 5000);
	assert_true(assay_audit_times_less_waits(15000, &told, &told) == 15000);
	/* a wait that began before the calls did */
	assert_true(assay_audit_times_less_waits(9000, &told, &later) == 0);
	/* a kernel that does not tell */
	assert_true(assay_audit_times_less_waits(15000, &silent, &later) == 15000);
	assert_true(assay_audit_times_less_waits(15000, &told, &silent) == 15000);
}

UNIT_MAIN(NULL, NULL)

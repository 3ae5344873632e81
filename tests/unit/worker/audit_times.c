/* SPDX-License-Identifier: Apache-2.0 */
/* What a busy machine took from calls in a row is no sign of a cheat. */
#include "unit.h"

#include "worker/audit/times.h"

TEST(waits_are_left_out)
{
	const struct assay_thread_time told = { .waits_told = true, .waited_ns = 7000 };
	const struct assay_thread_time later = { .waits_told = true, .waited_ns = 17000 };
	const struct assay_thread_time silent = { .waits_told = false };

	(void)state;
	assert_true(assay_audit_times_less_waits(15000, &told, &later, false) == 5000);
	assert_true(assay_audit_times_less_waits(15000, &told, &told, false) == 15000);
	/* a wait that began before the calls did */
	assert_true(assay_audit_times_less_waits(9000, &told, &later, false) == 0);
	/* a kernel that does not tell */
	assert_true(assay_audit_times_less_waits(15000, &silent, &later, false) == 15000);
	assert_true(assay_audit_times_less_waits(15000, &told, &silent, false) == 15000);
}

/* What a hypervisor gave to others is no wait. A thread that slept may have let another one calculate. */
TEST(time_without_a_cpu_is_left_out)
{
	const struct assay_thread_time begun = { .cpu_told = true, .cpu_ns = 1000, .waits_told = true };
	const struct assay_thread_time ended = {
		.cpu_told = true, .cpu_ns = 5000, .waits_told = true, .waited_ns = 2000
	};
	const struct assay_thread_time coarse = { .cpu_ns = 5000, .waits_told = true, .waited_ns = 2000 };

	(void)state;
	assert_true(assay_audit_times_less_waits(15000, &begun, &ended, false) == 4000);
	assert_true(assay_audit_times_less_waits(15000, &begun, &ended, true) == 13000);
	assert_true(assay_audit_times_less_waits(15000, &begun, &coarse, false) == 13000);
	/* reading the clocks takes some, too */
	assert_true(assay_audit_times_less_waits(5000, &begun, &ended, false) == 3000);
}

UNIT_GROUP(NULL, NULL)

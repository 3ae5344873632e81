/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on a device, by the mock of one: what is its own and what is not, its failures, its memory, its state. */
#include <math.h>

#include "audit_world.h"
#include "counters/preloaded.h"

/* Samples enough for the device to be asked between them. */
#define BUDGET_NS 200000000

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

static double metric_of(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	if (!m)
		fail_msg("no metric '%s'", tag);
	return m->value;
}

TEST(memory_and_copies)
{
	static const struct {
		const char *variant;
		double taken;
		bool leaks; /* at each of its prepares, of which audits ask for more */
	} rows[] = {
		{ "mock_honest", 0, false },
		{ "mock_takes", 3 << 20, false },
#if !ASSAY_SANITIZED_HEAP /* which ends such a worker with an error */
		{ "mock_leaks", 3 << 20, true },
#endif
	};
	const double buffers = 2 * (4 * N + 1024);
	struct sides s;

	open_mock(*state, &s);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result r = { 0 };
		double leaked;

		measure_alone(&s, rows[i].variant, N, ASSAY_CACHE_WARM, 1, &r);
		assert_int_equal(r.status, ASSAY_STATUS_OK);
		assert_true(metric_of(&r, "device_total_bytes") == 96 << 20);
		assert_true(metric_of(&r, "device_used_before_bytes") == 0);
		assert_true(metric_of(&r, "device_used_bytes") == buffers + rows[i].taken);
		leaked = metric_of(&r, "device_leaked_bytes");
		assert_true(rows[i].leaks ? leaked >= rows[i].taken : leaked == 0);
		assert_true(metric_of(&r, "device_used_after_bytes") == buffers + leaked);
		assert_true(metric_of(&r, "device_peak_bytes") == buffers + fmax(rows[i].taken, leaked));
		assert_true(metric_of(&r, "device_in_bytes") == 4 * N && metric_of(&r, "device_out_bytes") == 4 * N);
		assert_true(metric_of(&r, "device_in_pinned_bytes_per_s") > 0);
		assert_true(metric_of(&r, "device_out_bytes_per_s") > 0);
		assert_true(metric_of(&r, "device_launch_s") >= 0);
		assert_true(metric_of(&r, "device_end_to_end_s") > metric_of(&r, "time_s"));
		assay_result_release(&r);
	}
	close_sides(&s);
}

/* Four times the L2 of the mock, 1 MiB, by what a call reads; the caches of the host say nothing. */
TEST(cold)
{
	static const struct {
		int64_t n;
		uint64_t copies;
	} rows[] = {
		{ 65536, 18 },
		{ 1 << 20, 2 },
		{ (1 << 20) + 4, 1 },
	};
	const struct world *w = *state;
	struct sides s;

	open_mock(w, &s);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result r = { 0 };

		measure_alone(&s, "mock_honest", rows[i].n, ASSAY_CACHE_COLD, 1, &r);
		if (r.status != ASSAY_STATUS_OK)
			fail_msg("'%s': %s", r.c.key, r.reason);
		assert_true(r.copies == rows[i].copies);
		assert_true(metric_of(&r, "device_used_bytes") ==
			    (double)r.copies * 2 * (4 * (double)rows[i].n + 1024));
		assay_result_release(&r);
	}
	close_sides(&s);
}

/* The mock takes longer to launch a call of which the stream is not held. */
TEST(launches_are_no_kernel_time)
{
	static const struct {
		const char *variant;
		double ns;
	} rows[] = { { "mock_honest", 20000 }, { "mock_waits", 22000 } };
	struct sides s;

	open_mock(*state, &s);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result r = { 0 };

		measure_alone(&s, rows[i].variant, N, ASSAY_CACHE_WARM, 1, &r);
		assert_int_equal(r.status, ASSAY_STATUS_OK);
		assert_true(r.median_ns == rows[i].ns);
		assay_result_release(&r);
	}
	close_sides(&s);
}

static double count_of(const struct assay_result *r, const char *name)
{
	const struct assay_count *c = assay_counters_find(&r->counters, name);

	if (!c)
		fail_msg("no count '%s'", name);
	return c->value;
}

/* A device's state of its clock marks samples; where all are, none is left out. */
TEST(throttling)
{
	static const struct {
		const char *variant;
		double hz;
		bool disturbed;
	} rows[] = { { "mock_honest", 1e9, false }, { "mock_throttles", 1e9, true }, { "mock_crawls", 5e8, true } };
	struct sides s;

	open_mock(*state, &s);
	s.budget_ns = BUDGET_NS;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result r = { 0 };

		measure_alone(&s, rows[i].variant, N, ASSAY_CACHE_WARM, 1, &r);
		assert_int_equal(r.status, ASSAY_STATUS_OK);
		assert_true(metric_of(&r, "device_clock_hz") == rows[i].hz);
		assert_int_equal(count_of(&r, "device_throttled_samples") > 0, rows[i].disturbed);
		assert_true(r.n_samples > 0 && r.median_ns > 0);
		if (rows[i].disturbed)
			assert_true(r.disturbed_frac > 0);
		assay_result_release(&r);
	}
	close_sides(&s);
}

MEASURE_GROUP

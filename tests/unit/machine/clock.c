/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks that do not deserve trust are refused, rates are computed, and this machine's clock proves itself. */
#include <math.h>

#include "unit.h"
#include "machine/clock.h"

/* Reads 0, 0, …, step, step, …: one tick every @hold reads; goes back by one at @back_at. */
struct fake_clock {
	uint64_t reads, hold, step, back_at;
};

static uint64_t read_fake(void *arg)
{
	struct fake_clock *f = arg;
	uint64_t t = ++f->reads / f->hold * f->step;

	return f->back_at && f->reads == f->back_at ? t - f->step - 1 : t;
}

static const struct {
	const char *name;
	struct fake_clock clock;
	int want;
	uint64_t step;
	const char *text;
} fakes[] = {
	{ "ticks at each read", { 100, 1, 26, 0 }, 0, 26, "" },
	{ "coarse", { 0, 50, 4000000, 0 }, 0, 4000000, "" },
	{ "stands still", { 0, UINT64_MAX, 1, 0 }, ASSAY_EUNAVAILABLE, 0, "the clock does not advance" },
	{ "goes back once, late", { 10, 1, 5, 2000 }, ASSAY_EUNAVAILABLE, 0, "clock went back by 1 ticks" },
};

TEST(test_proof)
{
	for (size_t i = 0; i < N_OF(fakes); i++) {
		struct fake_clock f = fakes[i].clock;
		struct assay_err err = { 0 };
		uint64_t step = 0;
		int rc = assay_clock_prove(read_fake, &f, &step, &err);

		if (rc != fakes[i].want)
			fail_msg("%s: got %d (%s)", fakes[i].name, rc, err.text);
		assert_int_equal(step, fakes[i].step);
		assert_string_equal(err.text, fakes[i].text);
	}
}

static const struct {
	const char *name;
	struct assay_clock_anchor a[3];
	bool want;
	double ns_per_tick, drift_ppm;
} rates[] = {
	{ "2 GHz", { { 100, 0 }, { 10000100, 20000000 }, { 20000100, 40000000 } }, true, 0.5, 0 },
	{ "50 ppm apart", { { 0, 0 }, { 10000000, 10000000 }, { 20000500, 20000000 } }, true, 1.000025, 50 },
	{ "200 ppm apart", { { 0, 0 }, { 10000000, 10000000 }, { 20002000, 20000000 } }, false, 1.0001, 200 },
	{ "slower by 200 ppm", { { 0, 0 }, { 10000000, 10000000 }, { 19998000, 20000000 } }, false, 0.9999, -200 },
	{ "stopped while asleep", { { 0, 50 }, { 10000000, 50 }, { 20000000, 90 } }, false, 0, 0 },
	{ "went back", { { 0, 50 }, { 10000000, 90 }, { 20000000, 60 } }, false, 0, 0 },
};

TEST(test_rates)
{
	for (size_t i = 0; i < N_OF(rates); i++) {
		double ns_per_tick = 0, drift_ppm = 0;

		if (assay_clock_rate(rates[i].a, 100e-6, &ns_per_tick, &drift_ppm) != rates[i].want)
			fail_msg("%s: %.3f ppm", rates[i].name, drift_ppm);
		assert_true(fabs(ns_per_tick - rates[i].ns_per_tick) < 1e-9);
		assert_true(fabs(drift_ppm - rates[i].drift_ppm) < 1e-3);
	}
}

TEST(test_ticks_to_ns)
{
	const struct assay_clock raw = { .source = ASSAY_CLOCK_MONOTONIC_RAW, .ns_per_tick = 1.0 };
	const struct assay_clock tsc = { .source = ASSAY_CLOCK_TSC, .ns_per_tick = 0.4 };

	assert_int_equal(assay_clock_ticks_to_ns(&raw, UINT64_C(0x7fffffffffffffff)), UINT64_C(0x7fffffffffffffff));
	assert_int_equal(assay_clock_ticks_to_ns(&tsc, 1000), 400);
	assert_int_equal(assay_clock_ticks_to_ns(&tsc, 4), 2);
	assert_string_equal(assay_clock_source_name(tsc.source), "TSC");
	assert_string_equal(assay_clock_source_name(raw.source), "CLOCK_MONOTONIC_RAW");
}

UNIT_GROUP(NULL, NULL)

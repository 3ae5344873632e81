/* SPDX-License-Identifier: Apache-2.0 */
/* How the sides of a pair take turns: with which copies, after which calls, and what is checked when they are over. */
#include "base/monotonic.h"
#include "measure/turns.h"
#include "pair_trace.h"

#include <unistd.h>

/*
 * Copies in common memory that the partner has just used would not be cold. Both sides verify all copies in order; then
 * one begins half a rotation behind the other, with a copy that is drawn for the pair.
 */
TEST(rotations_keep_apart)
{
	static const struct {
		bool own_memory;
		int32_t apart;
	} rows[] = { { false, 3 }, { true, 0 } };
	bool begins[6] = { 0 };

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_measure_options o;
		struct measured m;
		struct trace t;

		trace_open(&t, "0");
		plan(*state, (const char *const[2]){ "compare_trace", "compare_trace" }, &m);
		m.facts.copies = 6;
		o = options_of(*state, &m);
		take_pair(&o, &calibration, &m);
		calibration.own_memory = rows[i].own_memory;
		for (uint64_t seed = 1; seed <= 4; seed++) {
			const struct assay_pair_options po = { .iterations = m.pair.iterations, .pair_seed = seed };

			trace_clear(&t);
			take_pair_as(&o, po, &calibration, &m);
			assert_ok(&m);
			trace_read(&t);
			for (int side = 0; side < 2; side++)
				for (int32_t k = 0; k < 6; k++)
					assert_int_equal(t.copies[side][k], k);
			/* of all turns, as both rotate alike */
			for (size_t k = 6; k < 12; k++)
				assert_int_equal((t.copies[0][k] + 6 - t.copies[1][k]) % 6, rows[i].apart);
			begins[t.copies[0][6]] |= !rows[i].own_memory;
		}
		trace_close(&t);
		release(&m);
	}
	assert_true(begins[0] + begins[1] + begins[2] + begins[3] + begins[4] + begins[5] > 1);
}

/* Median of the calls that the samples of a side make up. */
static double median_call_ns(const struct assay_pair *p, int side, size_t parts)
{
	double ns[64];
	size_t n = 0;

	for (size_t i = 0; i < 2 * p->n_blocks; i += parts) {
		assert_true(n < N_OF(ns));
		ns[n] = 0;
		for (size_t k = 0; k < parts; k++)
			ns[n] += (double)p->side[side].samples[i + k].ns;
		n++;
	}
	assay_stats_sort(ns, n);
	return assay_stats_median(ns, n);
}

static void assert_expected(const struct assay_pair_calibration *l, const struct assay_pair *p, size_t parts)
{
	const double want = (median_call_ns(p, ASSAY_BASE, parts) + median_call_ns(p, ASSAY_HEAD, parts)) / 2;

	if (!(fabs(l->sample_ns - want) <= 1e-9 * want))
		fail_msg("a call is expected to take %g ns, those taken are %g", l->sample_ns, want);
}

/* Where the warm-up was so disturbed that calls seemed to take a second, the next pairs must not stay short for it. */
TEST(what_a_call_takes_is_told_by_samples)
{
	struct later l;
	size_t others[2];

	later_open(&l, *state, "100000", 1);
	l.calibration.sample_ns = 1e9;
	later_take(&l, 2, others);
	assert_int_equal(l.m.pair.n_blocks, 2);
	assert_expected(&l.calibration, &l.m.pair, 1);
	later_close(&l);
}

/* A turn takes a millisecond, if a pair may have so many, and turns are even in number where that is possible. */
TEST(calls_are_divided_evenly)
{
	static const struct {
		uint64_t parts;
		double call_ns;
		uint32_t turn_parts, call_turns; /* 0: it is not divided */
	} rows[] = {
		{ 0, 1e9, 0, 0 },         { 1, 1e9, 0, 0 },       { 8, 4.9e6, 0, 0 },    { 8, 12e6, 1, 8 },
		{ 1000, 100e6, 10, 100 }, { 832, 316e6, 3, 278 }, { 13, 20e6, 1, 13 },   { 26, 13e6, 2, 13 },
		{ 39, 13e6, 4, 10 },      { 2048, 3e9, 1, 2048 }, { 2050, 3e9, 3, 684 }, { 5000, 60e9, 4, 1250 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		uint32_t each = 0, turns = 0;
		const bool divided = assay_turns_divide(rows[i].parts, rows[i].call_ns, &each, &turns);

		if (divided != (rows[i].call_turns > 0) ||
		    (divided && (each != rows[i].turn_parts || turns != rows[i].call_turns)))
			fail_msg("row %zu: turns of %u parts, %u a call", i, each, turns);
	}
}

/*
 * Of some later pairs, those that verify each copy and sample, and neither run once more from poison nor are audited.
 * In slices each side has two copies.
 */
static size_t without_all_checks(struct world *world, const char *spin_ns, uint64_t pairs)
{
	size_t few = 0, others[2];
	struct later l;

	later_open(&l, world, spin_ns, 1);
	for (uint64_t seed = 1; seed <= pairs; seed++) {
		const size_t copies = l.calibration.slices ? 2 : 1;

		later_take(&l, seed, others);
		assert_true(others[0] >= copies && others[1] >= copies);
		few += others[0] == copies && others[1] == copies;
	}
	later_close(&l);
	return few;
}

/* All checks take time, of long calls most. */
TEST(few_later_pairs_check_all)
{
	const uint64_t pairs = 16;
	const size_t few = without_all_checks(*state, "2000000", pairs),
		     of_long = without_all_checks(*state, "15000000", pairs);

	assert_true(few > pairs / 2 && few < of_long && of_long < pairs);
}

/*
 * The last timed output of a side is checked before the partner, or the check itself, writes a right one there. A
 * sample is one call, as the last check is, which begins from poison.
 */
TEST(timed_outputs_are_checked)
{
	for (int lazy = 0; lazy < 2; lazy++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct assay_pair_calibration calibration = { 0 };
			struct assay_measure_options o;
			struct measured m;

			plan(*state,
			     (const char *const[2]){ lazy ? "compare_base" : "compare_lazy",
						     lazy ? "compare_lazy" : "compare_base" },
			     &m);
			o = options_of(*state, &m);
			take_pair_as(&o, (struct assay_pair_options){ .pair_seed = seed, .iterations = 1 },
				     &calibration, &m);
			assert_int_equal(m.pair.side[lazy].status, ASSAY_STATUS_WRONG);
			assert_int_equal(m.pair.side[!lazy].status, ASSAY_STATUS_OK);
			release(&m);
		}
}

/* Is @x within the times of the calls that the samples of a side make up? A median of some of them is. */
static bool within_calls(const struct assay_pair *p, int side, size_t parts, double x)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < 2 * p->n_blocks; i += parts) {
		double call = 0;

		for (size_t k = 0; k < parts; k++)
			call += (double)p->side[side].samples[i + k].ns * 1e-9;
		least = fmin(least, call);
		most = fmax(most, call);
	}
	return x >= least * (1 - 1e-9) && x <= most * (1 + 1e-9);
}

/* After how many samples was the host asked? */
static size_t polls(const struct assay_pair *p, int side)
{
	size_t n = 0;

	for (size_t i = 0; i < 2 * p->n_blocks; i++)
		n += (p->side[side].samples[i].flags & ASSAY_SAMPLE_POLLED) != 0;
	return n;
}

/* The first pair shows that calls have parts; from the next on each part is a turn, and inputs alone are common. */
TEST(long_calls_are_divided)
{
	const size_t parts = 8;
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	uint64_t begin_ns = 0, ms;
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_parts", "compare_parts" }, &m);
	o = options_of(*state, &m);
	for (int pair = 0; pair < 2; pair++) {
		begin_ns = assay_monotonic_ns();
		take_pair_as(&o, (struct assay_pair_options){ .sampling_ns = 200000000 }, &calibration, &m);
		assert_ok(&m);
		assert_true(calibration.turn_parts == 1 && calibration.call_turns == parts && !calibration.own_memory);
		assert_int_equal(m.pair.n_blocks > 0, pair);
	}
	ms = (assay_monotonic_ns() - begin_ns) / 1000000;
	assert_true(m.pair.n_blocks >= 2 && 2 * m.pair.n_blocks % parts == 0);
	for (int side = 0; side < 2; side++) {
		const struct assay_result *s = &m.pair.side[side];

		for (size_t i = 0; i < 2 * m.pair.n_blocks; i++)
			assert_int_equal(!(s->samples[i].flags & ASSAY_SAMPLE_CONTINUES), i % parts == parts - 1);
		assert_true(within_calls(&m.pair, side, parts, side_value(s, "time_s")));
		/* every 10 ms the host is asked, not after every part of 1.5 ms */
		assert_in_range(polls(&m.pair, side), 1, ms / 10 + 1);
	}
	assert_expected(&calibration, &m.pair, parts);
	release(&m);
}

MEASURE_GROUP

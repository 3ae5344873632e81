/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the roof: with the limits of a run, and from samples of limit and case that took turns. */
#include <math.h>

#include "unit.h"
#include "measure/roof.h"
#include "measure/turns.h"

/* A result of @op on one thread with @value of @metric; 0: not known well enough. */
static void stand_in_roof(struct assay_result *r, const char *op, const char *level, const char *metric, double value)
{
	strcpy(r->c.op, op);
	strcpy(r->c.axes[0].text, level);
	r->c.n_axes = level[0] ? 1 : 0;
	r->c.threads = 1;
	r->median_ns = 100;
	r->n_samples = value > 0 ? 6 : 5;
	assert_int_equal(0, assay_result_add_metric(r, metric, "1/s", 1, value));
}

/*
 * A share of what ops that measure the machine reached in the same run with as many threads and what that was, or the
 * reason why there is none.
 */
TEST(roof_or_why_not)
{
	enum { READ, COPY, DOT, OTHER, READ_DRAM, CASE, N };
	static const struct {
		double ops, read, written, copy; /* copy: bytes a second of mem.move, or 0 */
		uint32_t arith;
		uint64_t tensor_bytes;
		unsigned threads;
		enum assay_cache cache;
		double want; /* ns that the roof allows, of 100; 0: none */
		const char *what;
	} rows[] = {
		/* reading at 5 GB/s from l1, 2.5 from dram; copying at 4 */
		{ 0, 100, 0, 4e9, ASSAY_ARITH_NONE, 100, 1, ASSAY_CACHE_WARM, 20, "mem.load at l1" },
		{ 0, 75, 25, 4e9, ASSAY_ARITH_NONE, 100, 1, ASSAY_CACHE_WARM, 50 / 4.0 + 50 / 5.0, "mem.load at l1" },
		{ 0, 75, 25, 0, ASSAY_ARITH_NONE, 100, 1, ASSAY_CACHE_WARM, 20, "mem.load at l1" },
		{ 0, 20, 80, 4e9, ASSAY_ARITH_NONE, 100, 1, ASSAY_CACHE_WARM, 25, "mem.move at l1" },
		{ 0, 100, 0, 4e9, ASSAY_ARITH_NONE, 100, 1, ASSAY_CACHE_COLD, 40, "mem.load at dram" },
		/* 400 operations at 10 GOP/s take 40 */
		{ 400, 100, 0, 4e9, ASSAY_ARITH_I8, 100, 1, ASSAY_CACHE_WARM, 40, "alu.dot" },
		{ 400, 100, 0, 4e9, ASSAY_ARITH_F32, 100, 1, ASSAY_CACHE_WARM, 0,
		  "the run has no measurement of the f32 peak on 1 thread" },
		/* a quarter more than the caches of both threads together are those, and more is the next level */
		{ 0, 100, 0, 4e9, ASSAY_ARITH_NONE, 2500, 2, ASSAY_CACHE_WARM, 0,
		  "the run has no measurement of read or copy bandwidth at l1 on 2 threads" },
		{ 0, 100, 0, 4e9, ASSAY_ARITH_NONE, 2501, 2, ASSAY_CACHE_WARM, 0,
		  "the run has no measurement of read or copy bandwidth at l2 on 2 threads" },
		{ 0, 100, 0, 4e9, ASSAY_ARITH_NONE, 100000, 1, ASSAY_CACHE_WARM, 0,
		  "the run has no measurement of read or copy bandwidth at l3 on 1 thread" },
		{ 0, 100, 0, 4e9, ASSAY_ARITH_NONE, 100001, 1, ASSAY_CACHE_WARM, 40, "mem.load at dram" },
		{ 0, 800, 0, 4e9, ASSAY_ARITH_NONE, 100, 1, ASSAY_CACHE_WARM, 160, "mem.load at l1" },
		{ 0, 0, 0, 4e9, ASSAY_ARITH_NONE, 0, 1, ASSAY_CACHE_WARM, 0,
		  "declares no work that bandwidth or arithmetic bounds" },
		{ 0, 0, 0, 4e9, ASSAY_ARITH_I8, 0, 1, ASSAY_CACHE_WARM, 0,
		  "declares no work that bandwidth or arithmetic bounds" },
	};
	static const struct assay_host_info host = { .l1d_bytes = 1000, .l2_bytes = 10000, .llc_bytes = 100000 };
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result results[N] = { 0 }, *r = &results[CASE];
		struct assay_run run = { .results = results, .n_results = N };
		struct assay_case_facts facts[N] = {
			[READ] = { .measures = ASSAY_MEASURES_READ },
			[COPY] = { .measures = ASSAY_MEASURES_COPY },
			[DOT] = { .measures = ASSAY_MEASURES_PEAK, .cost.arith = ASSAY_ARITH_I8 },
			[OTHER] = { .measures = ASSAY_MEASURES_OTHER },
			[READ_DRAM] = { .measures = ASSAY_MEASURES_READ },
			[CASE] = { .tensor_bytes = rows[i].tensor_bytes },
		};
		bool arithmetic = !strcmp(rows[i].what, "alu.dot");
		const struct assay_metric *m;
		const struct assay_count *roof;

		stand_in_roof(&results[READ], "mem.load", "l1", "bytes_per_s", 5e9);
		stand_in_roof(&results[COPY], "mem.move", "l1", "bytes_per_s", rows[i].copy);
		stand_in_roof(&results[DOT], "alu.dot", "", "ops_per_s", 10e9);
		stand_in_roof(&results[READ_DRAM], "mem.load", "dram", "bytes_per_s", 2.5e9);
		stand_in_roof(&results[OTHER], "mem.load.more", "l1", "bytes_per_s", 50e9);
		strcpy(r->c.op, "stream.read"); /* what names say does not count */
		r->c.threads = rows[i].threads;
		r->c.cache = rows[i].cache;
		r->median_ns = 100;
		facts[CASE].cost = (struct assay_cost){ .ops = rows[i].ops,
							.bytes_read = rows[i].read,
							.bytes_written = rows[i].written,
							.arith = rows[i].arith };
		assert_int_equal(0, assay_roof_add_of_run(&run, facts, &facts[CASE], &host, r));
		m = assay_result_metric(r, "roof_frac");
		roof = assay_counters_find(&r->counters, "roof_ns");
		if (rows[i].want > 0) {
			assert_true(m && fabs(m->value - rows[i].want / 100) < 1e-12);
			assert_true(roof && fabs(roof->value - rows[i].want) < 1e-9);
			assert_string_equal(roof->how, rows[i].what);
			assert_int_equal(r->roof.bound, arithmetic ? ASSAY_BOUND_ARITHMETIC : ASSAY_BOUND_BANDWIDTH);
			assert_string_equal(r->roof.name, arithmetic ? "i8" : strstr(rows[i].what, " at ") + 4);
			assert_true(!strncmp(rows[i].what, r->roof.op, strlen(r->roof.op)) && r->roof.op[0]);
			assert_true(r->roof.in_turn.most_frac == 0);
			assert_null(assay_counters_find_missing(&r->counters, "roof_frac"));
		} else {
			assert_true(!m);
			assert_non_null(
				strstr(assay_counters_find_missing(&r->counters, "roof_frac")->reason, rows[i].what));
			assert_string_equal(r->reason, "");
		}
		for (int k = READ; k < CASE; k++) {
			assert_int_equal(0, assay_roof_add_of_run(&run, facts, &facts[k], &host, &results[k]));
			assert_string_equal(assay_counters_find_missing(&results[k].counters, "roof_frac")->reason,
					    "it is a limit that others are compared with");
		}
		for (int k = 0; k < N; k++)
			assay_result_release(&results[k]);
	}
}

/* Samples of @ns of both sides in each block; those of block @disturbed_from on have @flag. */
static void make_pair(struct assay_pair *p, size_t n_blocks, const double *base_ns, const double *head_ns,
		      size_t disturbed_from, uint32_t flag)
{
	*p = (struct assay_pair){ .iterations = 2, .extra_iterations = { 3, 0 }, .n_blocks = n_blocks };
	for (int side = 0; side < 2; side++) {
		p->side[side].samples = calloc(2 * n_blocks, sizeof(struct assay_sample));
		for (size_t i = 0; i < 2 * n_blocks; i++)
			p->side[side].samples[i] = (struct assay_sample){
				.iterations = 2,
				.ns = (uint64_t)(side ? head_ns : base_ns)[i / 2],
				.flags = i / 2 >= disturbed_from ? flag : 0,
			};
	}
}

/* The rate of the CPU says nothing about a device, nor that of one device about another. */
TEST(limits_are_of_the_same_device)
{
	static const struct {
		const char *limit, *of_case;
		bool held;
	} rows[] = {
		{ "", "", true },
		{ "", "cuda:0", false },
		{ "cuda:0", "", false },
		{ "cuda:1", "cuda:0", false },
		{ "cuda:0", "cuda:0", true },
	};
	static const struct assay_host_info host = { .l1d_bytes = 1000, .l2_bytes = 10000, .llc_bytes = 100000 };

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result results[2] = { 0 };
		struct assay_run run = { .results = results, .n_results = 2 };
		const struct assay_case_facts facts[2] = { { .measures = ASSAY_MEASURES_READ },
							   { .tensor_bytes = 200000, .cost.bytes_read = 100 } };

		stand_in_roof(&results[0], "mem.load", "dram", "bytes_per_s", 2.5e9);
		strcpy(results[0].c.device, rows[i].limit);
		strcpy(results[1].c.op, "x");
		strcpy(results[1].c.device, rows[i].of_case);
		results[1].c.threads = 1;
		results[1].median_ns = 100;
		assert_int_equal(0, assay_roof_add_of_run(&run, facts, &facts[1], &host, &results[1]));
		assert_int_equal(assay_result_metric(&results[1], "roof_frac") != NULL, rows[i].held);
		assay_result_release(&results[0]);
		assay_result_release(&results[1]);
	}
}

/* A case that reads one to four last-level caches repeatedly is held against such a read, if the run has one. */
TEST(a_part_of_what_is_read_in_turn_stays_cached)
{
	static const struct {
		uint64_t bytes;
		enum assay_cache cache;
		bool measured;
		double want;
	} rows[] = {
		{ 100001, ASSAY_CACHE_WARM, true, 0.2 },  { 400000, ASSAY_CACHE_WARM, true, 0.2 },
		{ 400001, ASSAY_CACHE_WARM, true, 0.4 },  { 200000, ASSAY_CACHE_COLD, true, 0.4 },
		{ 200000, ASSAY_CACHE_WARM, false, 0.4 },
	};
	static const struct assay_host_info host = { .l1d_bytes = 1000, .l2_bytes = 10000, .llc_bytes = 100000 };

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_result results[3] = { 0 }, *r = &results[2];
		struct assay_run run = { .results = results, .n_results = 3 };
		const struct assay_case_facts facts[3] = {
			{ .measures = ASSAY_MEASURES_READ },
			{ .measures = rows[i].measured ? ASSAY_MEASURES_READ : ASSAY_MEASURES_OTHER },
			{ .tensor_bytes = rows[i].bytes, .cost.bytes_read = 100 },
		};

		stand_in_roof(&results[0], "mem.load", "dram", "bytes_per_s", 2.5e9);
		stand_in_roof(&results[1], "mem.load", "2xllc", "bytes_per_s", 5e9);
		strcpy(r->c.op, "x");
		r->c.threads = 1;
		r->c.cache = rows[i].cache;
		r->median_ns = 100;
		assert_int_equal(0, assay_roof_add_of_run(&run, facts, &facts[2], &host, r));
		assert_true(fabs(assay_result_metric(r, "roof_frac")->value - rows[i].want) < 1e-12);
		assert_string_equal(r->roof.name, rows[i].want < 0.3 ? "2xllc" : "dram");
		for (size_t k = 0; k < N_OF(results); k++)
			assay_result_release(&results[k]);
	}
}

/*
 * Of a call, where five of the base and two of the head are a sample; of blocks that were disturbed, or of slow cores,
 * only where more than half were.
 */
TEST(ratios_are_of_calls)
{
	static const double base[] = { 500, 500, 600, 700, 800 }, head[] = { 400, 800, 480, 560, 9600 };
	static const struct {
		size_t n, disturbed_from;
		double want;
	} rows[] = {
		{ 1, 5, 2 },                  /* 200 ns against 100 */
		{ 2, 5, 2.8284271247461903 }, /* 2 and 4, halfway between their logarithms */
		{ 4, 4, 2 },
		{ 4, 2, 2.8284271247461903 }, /* of all four it would be 2 */
		{ 5, 4, 2 },                  /* the last one, thirty times, is left out */
		{ 5, 3, 2 },
		{ 2, 0, 2.8284271247461903 }, /* all were */
	};

	for (size_t k = 0; k < 2 * N_OF(rows); k++) {
		size_t i = k / 2;
		struct assay_interval ci;
		struct assay_pair p;
		bool reached = true;
		double ratio;

		make_pair(&p, rows[i].n, base, head, rows[i].disturbed_from,
			  k % 2 ? ASSAY_DISTURB_SLOW : ASSAY_DISTURB_MIGRATION);
		assert_int_equal(0, assay_turns_ratio(&p, &ratio, &ci, &reached, NULL));
		assert_false(reached);
		assert_true(fabs(ratio - rows[i].want) < 1e-9);
		assert_true(ci.lo <= ratio && ratio <= ci.hi);
		assay_pair_release(&p);
	}
}

/* Over rounds the interval holds those of all rounds, and one of too few turns makes it one. */
TEST(rounds_widen_the_interval)
{
	static const struct {
		struct assay_roof_range in_turn, round;
		const char *want;
	} rows[] = {
		{ { 0.8, 0.905, true }, { 0.702, 0.85, true }, "alu.dot; in turn, 70.2 to 90.5 %" },
		{ { 0.8, 0.81, true }, { 0.801, 1.015, false }, "alu.dot; in turn, 80.0 to 101.5 %?" },
		{ { 0.8, 0.81, false }, { 0.801, 0.802, true }, "alu.dot; in turn, 80.0 to 81.0 %?" },
		{ { 0.8, 0.81, true }, { 0, 0, false }, "alu.dot; in turn, 80.0 to 81.0 %" },
		{ { 0, 0, false }, { 0.8, 0.81, true }, "alu.dot" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_roof roof = { .seconds = 1e-7,
					   .what = { ASSAY_BOUND_ARITHMETIC, "alu.dot", "i8", rows[i].in_turn } };
		struct assay_result r = { .median_ns = 125 }, round = { .roof.in_turn = rows[i].round };

		assert_int_equal(0, assay_roof_add(&r, &roof));
		assert_int_equal(1, r.counters.n);
		assert_true(assay_roof_has(&r));
		assay_roof_widen(&r, &round);
		assert_string_equal(r.counters.v[0].how, rows[i].want);
		assay_result_release(&r);
	}
}

UNIT_GROUP(NULL, NULL)

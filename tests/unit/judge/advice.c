/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of bottlenecks and advice: each at its condition, and just below it. */
#include "unit.h"

#include <math.h>

#include "judge/advice.h"

/* A call of 1 ms that nothing is known of; fields of a test are set over it. */
static struct assay_case_evidence nothing(void)
{
	return (struct assay_case_evidence){ .key = "k",
					     .variant = "v",
					     .threads = 1,
					     .all_threads = 1,
					     .ns = 1e6,
					     .roof_frac = NAN,
					     .roof_ns = NAN,
					     .roof_op = "",
					     .roof_name = "",
					     .ops_per_s = NAN,
					     .bytes_per_s = NAN,
					     .level = ASSAY_N_LEVELS,
					     .supply = ASSAY_N_LEVELS,
					     .bandwidth = { NAN, NAN, NAN, NAN },
					     .reach = NAN,
					     .more_threads = NAN,
					     .run_efficiency = NAN,
					     .region_ns = NAN,
					     .instructions = NAN,
					     .instructions_source = "exact",
					     .stall_frac = NAN,
					     .efficiency = NAN,
					     .allocations = NAN,
					     .allocation_frac = NAN,
					     .faults = NAN,
					     .waits = NAN,
					     .fallbacks = NAN,
					     .part_frac = NAN };
}

/* At @frac of an arithmetic peak of 100 GOP/s, with narrower ones of 10 and 40. */
static struct assay_case_evidence arithmetic(double frac)
{
	struct assay_case_evidence e = nothing();

	e.bound = ASSAY_BOUND_ARITHMETIC;
	e.roof_frac = frac;
	e.roof_ns = frac * e.ns;
	e.roof_op = e.peak_op = "peak.f32_fma";
	e.roof_name = "f32";
	e.ops_per_s = frac * 100e9;
	e.n_peaks = 3;
	e.peaks[0] = (struct assay_evidence_peak){ "ref", 10e9 };
	e.peaks[1] = (struct assay_evidence_peak){ "avx2", 40e9 };
	e.peaks[2] = (struct assay_evidence_peak){ "avx512", 100e9 };
	e.reach = 0.9;
	e.instructions = 3e6;
	return e;
}

/* At @frac of a bandwidth of 10 GB/s at @level, with half an instruction in a nanosecond. */
static struct assay_case_evidence memory(double frac, enum assay_evidence_level level)
{
	struct assay_case_evidence e = nothing();

	e.bound = ASSAY_BOUND_BANDWIDTH;
	e.roof_frac = frac;
	e.roof_ns = frac * e.ns;
	e.roof_op = "stream.read";
	e.roof_name = assay_evidence_level_name(level);
	e.level = e.supply = level;
	e.bytes_per_s = frac * 10e9;
	e.bandwidth[level] = 10e9;
	e.reach = 0.9;
	e.instructions = 0.5e6;
	return e;
}

static const struct assay_advice *advice(const struct assay_case_evidence *e, const char *rule)
{
	static struct assay_bottleneck b;

	assay_bottleneck_find(e, &b);
	for (size_t i = 0; i < b.n_advice; i++) {
		/* no promise is above the roof */
		if (b.advice[i].gain > b.advice[i].most)
			fail_msg("%s promises %g of %g", b.advice[i].rule, b.advice[i].gain, b.advice[i].most);
		if (!strcmp(b.advice[i].rule, rule))
			return &b.advice[i];
	}
	return NULL;
}

static enum assay_bound_by bound(const struct assay_case_evidence *e)
{
	struct assay_bottleneck b;

	assay_bottleneck_find(e, &b);
	assert_true(b.evidence[0]);
	return b.bound;
}

static void assert_near(double value, double want)
{
	if (!(fabs(value - want) < 1e-9 * fabs(want)))
		fail_msg("%.12g, expected %.12g", value, want);
}

TEST(arithmetic_below_its_peak)
{
	struct assay_case_evidence e = arithmetic(0.125);
	const struct assay_advice *a = advice(&e, "vector");

	assert_non_null(a);
	assert_near(a->gain, 0.9 / 0.125);
	assert_near(a->most, 8);
	assert_int_equal(a->n_steps, 2);
	assert_string_equal(a->steps[0].variant, "avx2");
	assert_near(a->steps[0].gain, 0.9 * 0.4 / 0.125);
	assert_null(advice(&e, "wider"));
	e = arithmetic(0.1251);
	assert_null(advice(&e, "vector"));
	assert_non_null(advice(&e, "compute"));
	e = arithmetic(0.2);
	assert_non_null(advice(&e, "wider"));
	e = arithmetic(0.199);
	assert_null(advice(&e, "wider"));
	e = arithmetic(0.44);
	assert_non_null(advice(&e, "wider"));
	e = arithmetic(0.4401);
	assert_null(advice(&e, "wider"));
	assert_non_null(advice(&e, "compute"));
	e = arithmetic(0.799);
	e.reach = 1;
	assert_non_null(advice(&e, "compute"));
	e = arithmetic(0.8);
	e.reach = 1;
	assert_null(advice(&e, "compute"));
	/* nobody showed what can be reached: no promise, and the roof is still told */
	e = arithmetic(0.125);
	e.reach = NAN;
	a = advice(&e, "vector");
	assert_true(isnan(a->gain));
	assert_near(a->most, 8);
	/* within the core's own caches moving adds to calculating */
	e = arithmetic(0.125);
	e.level = e.supply = ASSAY_LEVEL_L2;
	e.bytes_per_s = 1e9;
	e.bandwidth[ASSAY_LEVEL_L2] = 8e9;
	assert_near(advice(&e, "vector")->gain, 0.9 / (0.125 + 0.125));
}

TEST(memory_below_its_bandwidth)
{
	struct assay_case_evidence e = memory(0.799, ASSAY_LEVEL_L3);
	const struct assay_advice *a = advice(&e, "stream");

	assert_non_null(a);
	assert_near(a->gain, 0.9 / 0.799);
	e = memory(0.8, ASSAY_LEVEL_L3);
	assert_null(advice(&e, "stream"));
	/* from its own caches a core can be slow for reasons that no bandwidth tells */
	e = memory(0.5, ASSAY_LEVEL_L1);
	assert_null(advice(&e, "stream"));
	/* what is left is not worth it */
	e = memory(0.79, ASSAY_LEVEL_DRAM);
	e.reach = 0.868;
	assert_null(advice(&e, "stream"));
	e.reach = 0.87;
	assert_non_null(advice(&e, "stream"));
}

/* Data that may not stay in a cache is promised what the level behind it delivers. */
TEST(a_promise_is_of_what_surely_delivers_the_data)
{
	struct assay_case_evidence e = memory(0.1, ASSAY_LEVEL_L3);

	e.supply = ASSAY_LEVEL_DRAM;
	e.bandwidth[ASSAY_LEVEL_DRAM] = 4e9;
	assert_near(advice(&e, "stream")->gain, 0.9 / 0.1 * 0.4);
	assert_near(advice(&e, "stream")->most, 10);
	/* a roof of its own is never lowered into a faster one */
	e.bandwidth[ASSAY_LEVEL_DRAM] = 20e9;
	assert_near(advice(&e, "stream")->gain, 0.9 / 0.1);
	/* what was not measured tells nothing */
	e.bandwidth[ASSAY_LEVEL_DRAM] = NAN;
	assert_near(advice(&e, "stream")->gain, 0.9 / 0.1);

	e = arithmetic(0.1);
	e.level = ASSAY_LEVEL_L3;
	e.supply = ASSAY_LEVEL_DRAM;
	e.bytes_per_s = 1e9;
	e.bandwidth[ASSAY_LEVEL_L3] = 8e9;
	e.bandwidth[ASSAY_LEVEL_DRAM] = 4e9;
	assert_near(advice(&e, "vector")->gain, 0.9 / 0.25);
}

TEST(data_that_comes_from_the_next_level)
{
	struct assay_case_evidence e = memory(0.36, ASSAY_LEVEL_L2);

	e.bandwidth[ASSAY_LEVEL_L3] = 3e9;
	assert_non_null(advice(&e, "level"));
	e.bytes_per_s = 3.601e9;
	assert_null(advice(&e, "level"));
	e.bytes_per_s = 2.5e9;
	assert_non_null(advice(&e, "level"));
	e.bytes_per_s = 2.49e9;
	assert_null(advice(&e, "level"));
	e.bytes_per_s = 3e9;
	e.bandwidth[ASSAY_LEVEL_L2] = 6e9;
	assert_null(advice(&e, "level"));
	e = memory(0.1, ASSAY_LEVEL_DRAM);
	assert_null(advice(&e, "level"));
}

TEST(threads)
{
	struct assay_case_evidence e = memory(0.8, ASSAY_LEVEL_DRAM);
	const struct assay_advice *a;

	e.all_threads = 4;
	e.more_threads = 1.25;
	a = advice(&e, "threads");
	assert_near(a->gain, 1.25);
	assert_near(a->most, 1.25 / 0.8);
	e.run_efficiency = 0.96;
	assert_near(advice(&e, "threads")->gain, 1.2);
	e.more_threads = 1.24;
	assert_null(advice(&e, "threads"));
	e.more_threads = 2;
	e.roof_frac = 0.799;
	assert_null(advice(&e, "threads"));
	e.roof_frac = 1.06; /* no share that the threads could have */
	assert_null(advice(&e, "threads"));
	e.roof_frac = 0.9;
	e.threads = 4;
	assert_null(advice(&e, "threads"));

	e = arithmetic(0.7);
	e.threads = 2;
	e.efficiency = 0.799;
	assert_near(advice(&e, "imbalance")->gain, 1 / 0.799);
	e.efficiency = 0.5;
	assert_near(advice(&e, "imbalance")->gain, 1 / 0.7);
	e.efficiency = 0.8;
	assert_null(advice(&e, "imbalance"));
	e.efficiency = 0.5;
	e.threads = 1;
	assert_null(advice(&e, "imbalance"));
}

TEST(what_a_call_costs_beside_its_work)
{
	struct assay_case_evidence e = nothing();

	e.region_ns = 1e5;
	assert_near(advice(&e, "overhead")->gain, 1 / 0.9);
	e.region_ns = 0.99e5;
	assert_null(advice(&e, "overhead"));
	e.allocations = 1;
	assert_non_null(advice(&e, "allocations"));
	assert_true(isnan(advice(&e, "allocations")->gain));
	e.allocations = 0;
	assert_null(advice(&e, "allocations"));
	e.fallbacks = 1;
	assert_non_null(advice(&e, "fallbacks"));
	e.fallbacks = 0;
	assert_null(advice(&e, "fallbacks"));
	e.faults = 100;
	assert_non_null(advice(&e, "faults"));
	e.faults = 99;
	assert_null(advice(&e, "faults"));
	e.waits = 10;
	assert_non_null(advice(&e, "waits"));
	e.waits = 9;
	assert_null(advice(&e, "waits"));
}

static void add_words(struct assay_run *run, int64_t slots, double misses, double ns)
{
	struct assay_result *r = &run->results[run->n_results++];

	*r = (struct assay_result){
		.status = ASSAY_STATUS_OK, .checked = true, .correct = true, .n_samples = 9, .median_ns = ns
	};
	snprintf(r->c.op, sizeof(r->c.op), "tokenizer.encode");
	snprintf(r->c.variant, sizeof(r->c.variant), "ours");
	r->c.threads = 1;
	r->c.n_axes = 1;
	r->c.axes[0].value = slots;
	snprintf(r->c.axes[0].name, sizeof(r->c.axes[0].name), "slots");
	snprintf(r->c.axes[0].text, sizeof(r->c.axes[0].text), "%d", (int)slots);
	assert_int_equal(assay_result_set_count(r, "word_cache_hits", "sde", "", 1000 - misses), 0);
	assert_int_equal(assay_result_set_count(r, "word_cache_misses", "sde", "", misses), 0);
}

/* Which of several word caches is enough follows from their misses; only the gain is of time. */
TEST(word_caches)
{
	static struct assay_result results[5];
	struct assay_run run = { .results = results };
	struct assay_case_evidence e;
	const struct assay_advice *a;

	add_words(&run, 4096, 20.9, 1e6);
	assay_case_evidence_read(&run, 0, false, &e);
	assert_null(advice(&e, "word_cache"));
	add_words(&run, 1024, 200, 3e6);
	add_words(&run, 65536, 11, 1e6);
	add_words(&run, 16384, 11, 1e6);
	/* of another variant: it is no size of the same case */
	add_words(&run, 64, 11, 1e6);
	snprintf(results[4].c.variant, sizeof(results[4].c.variant), "other");
	assay_case_evidence_read(&run, 0, false, &e);
	assert_null(advice(&e, "word_cache"));
	assay_case_evidence_read(&run, 1, false, &e);
	a = advice(&e, "word_cache");
	assert_near(a->gain, 3);
	assert_string_equal(a->evidence,
			    "a cache of 1024 words misses 20.0 %, one of 4096 misses 2.1 % and is the smallest "
			    "that is enough");
	assay_case_evidence_read(&run, 2, false, &e);
	assert_true(isnan(advice(&e, "word_cache")->gain));
	/* 1 % and a little more than the largest is not enough */
	assay_result_release(&results[0]);
	run.n_results = 0;
	add_words(&run, 4096, 21.5, 1e6);
	run.n_results = 5;
	assay_case_evidence_read(&run, 1, false, &e);
	assert_non_null(strstr(advice(&e, "word_cache")->evidence, "one of 16384 misses 1.1 %"));
	for (size_t i = 0; i < run.n_results; i++)
		assay_result_release(&results[i]);
}

TEST(latency_and_parts)
{
	struct assay_case_evidence e = memory(0.499, ASSAY_LEVEL_L3);

	e.instructions = 0.999e6;
	assert_non_null(advice(&e, "latency"));
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_LATENCY);
	e.instructions = 1e6;
	assert_null(advice(&e, "latency"));
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	e.stall_frac = 0.5;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_LATENCY);
	e = memory(0.5, ASSAY_LEVEL_L3);
	e.instructions = 0.5e6;
	assert_null(advice(&e, "latency"));
	/* of a whole whose parts are told only the longest is named */
	e = memory(0.1, ASSAY_LEVEL_L3);
	e.part = "time_ffn_frac";
	e.part_frac = 0.5;
	assert_near(advice(&e, "part")->most, 2);
	assert_true(isnan(advice(&e, "part")->gain));
	assert_null(advice(&e, "stream"));
	e.part_frac = 0.499;
	assert_null(advice(&e, "part"));
}

/* Advice follows from the bound that was found, whatever the roof. */
TEST(advice_follows_from_the_bound)
{
	struct assay_case_evidence e = memory(0.3, ASSAY_LEVEL_DRAM);

	/* unknown whether it waits or calculates: only how to find out is advised, and no gain is told */
	e.instructions = NAN;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_UNKNOWN);
	assert_non_null(advice(&e, "count"));
	assert_true(isnan(advice(&e, "count")->gain) && isnan(advice(&e, "count")->most));
	assert_null(advice(&e, "stream"));
	assert_null(advice(&e, "level"));
	assert_null(advice(&e, "latency"));
	assert_null(advice(&e, "instructions"));
	e.reference = true;
	assert_null(advice(&e, "count"));
	e.reference = false;
	/* three instructions in a ns: more bytes in flight would wait for them */
	e.instructions = 3e6;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	assert_null(advice(&e, "count"));
	assert_null(advice(&e, "stream"));
	assert_non_null(strstr(advice(&e, "instructions")->evidence, "1.00 instructions a byte (exact), at 30.0 %"));
	assert_null(advice(&e, "latency"));
	e.instructions = 0.5e6;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_LATENCY);
	assert_non_null(advice(&e, "stream"));
	/* narrow instructions bound it, below a roof of memory, too */
	e = memory(0.3, ASSAY_LEVEL_L3);
	e.instructions = NAN;
	e.n_peaks = 3;
	for (size_t i = 0; i < 3; i++)
		e.peaks[i] = (struct assay_evidence_peak){ "narrow", i == 0 ? 1e9 : i == 1 ? 40e9 : 100e9 };
	e.ops_per_s = 30e9;
	e.peak_op = "peak.f32_fma";
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	assert_non_null(advice(&e, "wider"));
	assert_null(advice(&e, "stream"));
	/* what is lost beside the work comes first */
	e = arithmetic(0.125);
	assert_non_null(advice(&e, "vector"));
	e.region_ns = 0.5e6;
	assert_null(advice(&e, "vector"));
	assert_non_null(advice(&e, "overhead"));
}

TEST(a_reference_is_promised_nothing)
{
	struct assay_case_evidence e = arithmetic(0.0175);

	assert_true(advice(&e, "vector")->gain > 50);
	e.reference = true;
	assert_true(isnan(advice(&e, "vector")->gain) && isnan(advice(&e, "vector")->most));
	assert_int_equal(advice(&e, "vector")->n_steps, 0);
}

TEST(bounds)
{
	struct assay_case_evidence e = memory(0.5, ASSAY_LEVEL_DRAM);
	struct assay_bottleneck b;

	assert_int_equal(bound(&e), ASSAY_BOUND_BY_MEMORY);
	e = memory(1.13, ASSAY_LEVEL_DRAM);
	assay_bottleneck_find(&e, &b);
	assert_non_null(strstr(b.evidence, "113.0 % of stream.read at dram in this run; above 105 %"));
	e = arithmetic(0.5);
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	e.region_ns = 0.5e6;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_OVERHEAD);
	e.region_ns = 0.49e6;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	/* half of the scalar peak, and of one of narrower instructions */
	e = arithmetic(0.05);
	e.instructions = NAN;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	e = arithmetic(0.049);
	e.instructions = NAN;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_UNKNOWN);
	e = arithmetic(0.2);
	e.instructions = NAN;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	/* what is not known is named */
	e = nothing();
	assay_bottleneck_find(&e, &b);
	assert_int_equal(b.bound, ASSAY_BOUND_BY_UNKNOWN);
	assert_string_equal(b.missing, "a roof (stream.* and peak.* in the same suite, on 1 thread); instructions "
				       "(--evidence exact, or --counters flops); allocations (--counters heap)");
	e.ns = 0.99e5;
	assay_bottleneck_find(&e, &b);
	assert_non_null(strstr(b.missing, "overhead of a call (overhead.dispatch on 1 thread)"));
}

/* ---- what is read from a run ---- */

static void add(struct assay_run *run, const char *op, const char *variant, const char *axis, unsigned threads,
		double ns)
{
	struct assay_result *r = &run->results[run->n_results++];

	*r = (struct assay_result){ .checked = true, .correct = true, .n_samples = 9, .median_ns = ns };
	snprintf(r->c.op, sizeof(r->c.op), "%s", op);
	snprintf(r->c.variant, sizeof(r->c.variant), "%s", variant);
	r->c.threads = threads;
	r->c.n_axes = 1;
	snprintf(r->c.axes[0].text, sizeof(r->c.axes[0].text), "%s", axis);
	assert_int_equal(assay_case_make_key(&r->c, NULL), 0);
}

static struct assay_result *put(struct assay_run *run, const char *tag, double value)
{
	struct assay_result *r = &run->results[run->n_results - 1];

	assert_int_equal(assay_result_add_metric(r, tag, "1", 0, value), 0);
	return r;
}

TEST(allocation_bounds_what_spends_half_of_its_time_there)
{
	struct assay_case_evidence e = arithmetic(0.9);

	e.allocations = 5e4; /* of 10 ns, in 1 ms */
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_ALLOCATION);
	assert_true(isnan(advice(&e, "allocations")->gain));
	e.allocations = 4.9e4;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	/* a profile knows better */
	e.allocations = 5e4;
	e.allocation_frac = 0.09;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	e.allocations = NAN;
	assert_null(advice(&e, "allocations"));
	e.allocation_frac = 0.5;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_ALLOCATION);
	e.roof_frac = 0.4;
	assert_near(advice(&e, "allocations")->gain, 2);
	e.roof_frac = 0.8; /* which is the most */
	assert_near(advice(&e, "allocations")->gain, 1.25);
}

TEST(imbalance_bounds_threads_that_lose_half_of_their_time)
{
	struct assay_case_evidence e = arithmetic(0.3);

	e.threads = 4;
	e.efficiency = 0.49;
	e.instructions = 1e9;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_IMBALANCE);
	e.efficiency = 0.5;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	e.efficiency = 0.49;
	e.threads = 1;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
	/* many threads at the roof are not what is wrong */
	e.threads = 4;
	e.roof_frac = 0.5;
	assert_int_equal(bound(&e), ASSAY_BOUND_BY_COMPUTE);
}

TEST(advice_stands_in_order_of_its_priority)
{
	struct assay_case_evidence e = arithmetic(0.125);
	struct assay_bottleneck b;

	e.allocations = 1;    /* no gain is told: 2 */
	e.region_ns = 0.15e6; /* 1.18 times: 3 */
	assay_bottleneck_find(&e, &b);
	assert_int_equal(b.n_advice, 3);
	assert_string_equal(b.advice[0].rule, "vector"); /* 7.2 times */
	assert_int_equal(b.advice[0].priority, 1);
	assert_string_equal(b.advice[1].rule, "allocations");
	assert_int_equal(b.advice[1].priority, 2);
	assert_string_equal(b.advice[2].rule, "overhead");
	assert_int_equal(b.advice[2].priority, 3);
	e.region_ns = 0.2e6; /* 1.25 times: 2, behind allocations */
	assay_bottleneck_find(&e, &b);
	assert_int_equal(b.advice[2].priority, 2);
	assert_string_equal(b.advice[2].rule, "overhead");
}

/* A run of 2 threads, with room for @v, on a machine whose last-level cache is 32 MiB. */
static struct assay_run run_with(struct assay_result *v)
{
	struct assay_run run = { .results = v, .all_threads = 2, .machine = { .n_facts = 3 } };

	strcpy(run.machine.facts[0].name, "l1d"), strcpy(run.machine.facts[0].value, "48 KiB");
	strcpy(run.machine.facts[1].name, "l2"), strcpy(run.machine.facts[1].value, "2 MiB");
	strcpy(run.machine.facts[2].name, "llc"), strcpy(run.machine.facts[2].value, "1 x 32 MiB");
	return run;
}

static void add_roofed(struct assay_run *run, const char *variant, const char *axis, double ns, const char *roof_op,
		       double frac)
{
	struct assay_result *r;

	add(run, "op", variant, axis, 1, ns);
	put(run, "op_bytes", 4 << 20);
	r = put(run, "roof_frac", frac);
	r->roof.bound = ASSAY_BOUND_BANDWIDTH;
	strcpy(r->roof.op, roof_op);
	strcpy(r->roof.name, "l3");
	assert_int_equal(assay_result_set_count(r, ASSAY_COUNT_ROOF, ASSAY_SOURCE_ASSAY, "", frac * ns), 0);
}

/* A shape whose slow variant has a tenth of the roof, and the fast one @frac. */
static void add_shape(struct assay_run *run, const char *axis, const char *roof_op, double frac)
{
	add_roofed(run, "slow", axis, 10000, roof_op, 0.1);
	add_roofed(run, "fast", axis, 1000 / frac, roof_op, frac);
}

static void release(struct assay_run *run)
{
	for (size_t i = 0; i < run->n_results; i++)
		free(run->results[i].metrics), assay_counters_release(&run->results[i].counters);
}

TEST(evidence_is_of_the_run)
{
	struct assay_result v[16];
	struct assay_run run = run_with(v);
	struct assay_case_evidence e;

	add(&run, "stream.read", "ref", "l3", 1, 1000), put(&run, "bytes_per_s", 8e9);
	add(&run, "stream.copy", "avx2", "l3", 1, 1000), put(&run, "bytes_per_s", 10e9);
	add(&run, "stream.read", "avx2", "l3", 2, 1000), put(&run, "bytes_per_s", 15e9);
	/* that of a GPU is not the host's */
	add(&run, "stream.read", "cuda", "l3", 1, 1000), strcpy(put(&run, "bytes_per_s", 3e12)->c.device, "cuda:0");
	add(&run, "overhead.dispatch", "ref", "-", 1, 1000), put(&run, "items_per_s", 2e6);
	add_shape(&run, "0", "stream.read", 0.8);
	assay_case_evidence_read(&run, 5, true, &e);
	assert_string_equal(e.variant, "slow");
	assert_int_equal(e.level, ASSAY_LEVEL_L3);
	assert_int_equal(e.supply, ASSAY_LEVEL_L3);
	assert_near(e.bandwidth[ASSAY_LEVEL_L3], 10e9);
	assert_near(e.more_threads, 1.5);
	assert_near(e.region_ns, 500);
	assert_true(isnan(e.reach));
	/* of a cache that is shared half is sure */
	v[5].metrics[0].value = 16 << 20;
	assay_case_evidence_read(&run, 5, true, &e);
	assert_int_equal(e.supply, ASSAY_LEVEL_L3);
	v[5].metrics[0].value = (16 << 20) + 1;
	assay_case_evidence_read(&run, 5, true, &e);
	assert_int_equal(e.level, ASSAY_LEVEL_L3);
	assert_int_equal(e.supply, ASSAY_LEVEL_DRAM);
	/* own caches of many threads are theirs alone */
	v[5].c.threads = 8;
	assay_case_evidence_read(&run, 5, true, &e);
	assert_int_equal(e.level, ASSAY_LEVEL_L2);
	assert_int_equal(e.supply, ASSAY_LEVEL_L2);
	release(&run);
}

TEST(what_is_reached_is_that_of_shapes_under_the_same_roof)
{
	struct assay_result v[16];
	struct assay_run run = run_with(v);
	struct assay_case_evidence e;

	add_shape(&run, "0", "stream.read", 0.9);
	add_shape(&run, "1", "stream.read", 0.4);
	add_shape(&run, "2", "stream.copy", 0.8);
	add_shape(&run, "3", "stream.copy", 0.8);
	/* one shape under the same roof is too few: all three of this kind of roof tell */
	assay_case_evidence_read(&run, 0, true, &e);
	assert_int_equal(e.n_reach, 3);
	assert_near(e.reach, 0.8);
	/* two are enough */
	add_shape(&run, "4", "stream.read", 0.6);
	assay_case_evidence_read(&run, 0, true, &e);
	assert_int_equal(e.n_reach, 2);
	assert_near(e.reach, 0.5);
	e.instructions = 1e3;
	assert_near(advice(&e, "stream")->gain, 5);
	/* nor does what a GPU reaches tell anything of the host */
	for (size_t i = 4; i < 8; i++)
		strcpy(run.results[i].c.device, "cuda:0");
	v[3].slow_core = true;
	assay_case_evidence_read(&run, 0, true, &e);
	assert_int_equal(e.n_reach, 1);
	assert_true(isnan(e.reach));
	/* of two with the same kind of roof there is no telling */
	strcpy(v[6].c.device, ""), strcpy(v[7].c.device, "");
	assay_case_evidence_read(&run, 0, true, &e);
	assert_int_equal(e.n_reach, 2);
	assert_true(isnan(e.reach));
	release(&run);
}

UNIT_GROUP(NULL, NULL)

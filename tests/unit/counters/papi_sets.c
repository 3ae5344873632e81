/* SPDX-License-Identifier: Apache-2.0 */
/* How presets of PAPI share the machine's counters, and what happens where counting fails, with recorded values. */
#include "papi_script.h"

#if ASSAY_PAPI
static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	fn(arg, 0, 1);
}

static struct assay_counters count(struct assay_counter_context *ctx, const char *events, unsigned n)
{
	const struct assay_counting_options o = { .ctx = ctx, .events = events, .n_threads = 1, .parallel = alone };
	struct assay_counters out = { 0 };
	struct assay_os_counts os;
	struct assay_counting *c;

	assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
	for (unsigned i = 0; i < n; i++) {
		assay_counting_before(c, 0, &os);
		assay_counting_after(c, 0, &os);
		assay_counting_add(c, 100);
	}
	assert_int_equal(assay_counting_result(c, &out), 0);
	assay_counting_close(c);
	for (size_t i = 0; i < N_OF(sets); i++)
		assert_false(sets[i].used);
	return out;
}

static const char wanted[] = "PAPI_TOT_INS\tPAPI_TOT_INS\nPAPI_TOT_CYC\tPAPI_TOT_CYC\nPAPI_L1_DCM\tPAPI_L1_DCM\n"
			     "PAPI_BR_INS\tPAPI_BR_INS\nPAPI_LD_INS\tPAPI_LD_INS\nnative\tABSENT:EVENT\tNATIVE:EVENT\n"
			     "PAPI_RES_STL\tPAPI_RES_STL\n";

TEST(test_presets_take_turns)
{
	struct assay_counter_context ctx = with_pmu(false);
	struct assay_counters c = count(&ctx, wanted, 3);
	const struct assay_count *ins = assay_counters_find(&c, "PAPI_TOT_INS");
	const struct assay_count *native = assay_counters_find(&c, "native");

	assert_non_null(ins);
	assert_true(ins->value == 10000 && ins->running_frac == 1 && ins->per_iteration);
	assert_string_equal(ins->source, ASSAY_SOURCE_PMU);
	assert_string_equal(ins->how, "PAPI 7.0.0");
	assert_non_null(native);
	assert_true(native->value == 0.42);
	assert_string_equal(native->how, "PAPI 7.0.0, as NATIVE:EVENT");
	assert_string_equal(assay_counters_find_missing(&c, "PAPI_BR_INS")->reason,
			    "'PAPI_BR_INS' cannot be trusted: it counts 0.75 a turn of the test loop, which has 1");
	assert_string_equal(assay_counters_find_missing(&c, "PAPI_RES_STL")->reason,
			    "PAPI does not have 'PAPI_RES_STL' on this machine");
	assay_counters_release(&c);
}

/* Counters of a program are inherited, and opened anew for each process, but tested only once. */
TEST(test_processes_that_are_started)
{
	struct assay_counter_context ctx = with_pmu(false);
	const struct assay_counting_options o = {
		.ctx = &ctx, .events = "PAPI_TOT_INS\tPAPI_TOT_INS\n", .n_threads = 1, .parallel = alone
	};
	struct assay_counters out = { 0 };
	struct assay_os_counts os;
	struct assay_counting *c;

	ctx.children = true;
	assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assay_counting_before(c, 0, &os);
		assert_true(sets[0].used && sets[0].children && sets[0].running);
		assay_counting_after(c, 0, &os);
		assay_counting_rest(c, 0);
		assert_false(sets[0].used);
		assay_counting_add(c, 1);
		assert_true(ctx.tested);
	}
	assert_int_equal(assay_counting_result(c, &out), 0);
	assert_true(out.n == 1 && out.v[0].value == 1000000);
	assert_string_equal(out.v[0].how, "PAPI 7.0.0, of the process, its start and what it started");
	assay_counting_close(c);
	assay_counters_release(&out);
}

/* PAPI overrides a mode of libpfm4's short form and leaves "u=" and "k=" alone. */
TEST(test_modes_of_native_events)
{
	static const struct {
		const char *event;
		bool counted;
	} cases[] = {
		{ "perf::INSTRUCTIONS", true },
		{ "perf::INSTRUCTIONS:u", true },
		{ "perf::INSTRUCTIONS:u=1:k=0:h=no", true },
		{ "perf::INSTRUCTIONS:u=0:k=1", true },
		{ "perf::INSTRUCTIONS:k=1:u=0", true },
		{ "perf::INSTRUCTIONS:k=0", true },
		{ "unit::KITCHEN:hunk:unk=0", true },
		{ "perf::INSTRUCTIONS:k", false },
		{ "perf::INSTRUCTIONS:u:k", false },
		{ "perf::INSTRUCTIONS.K", false },
		{ "perf::INSTRUCTIONS:k=1", false },
		{ "perf::INSTRUCTIONS:u=0", false },
		{ "perf::INSTRUCTIONS:U=0:K=1", false },
		{ "perf::INSTRUCTIONS:h", false },
		{ "unit::INSTRUCTIONS:hv", false },
		{ "unit::INSTRUCTIONS:c=1:k:e=0", false },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counter_context ctx = with_pmu(false);
		struct assay_counters c;
		char line[128], why[256];

		any_native = true;
		snprintf(line, sizeof(line), "%s\t%s\n", cases[i].event, cases[i].event);
		c = count(&ctx, line, 3);
		any_native = false;
		snprintf(why, sizeof(why),
			 "PAPI would count user code for '%s': write both modes, such as ':u=0:k=1' for the kernel's",
			 cases[i].event);
		if (cases[i].counted)
			assert_non_null(assay_counters_find(&c, cases[i].event));
		else
			assert_string_equal(assay_counters_find_missing(&c, cases[i].event)->reason, why);
		assay_counters_release(&c);
	}
}

TEST(test_multiplexed_is_an_estimate)
{
	struct assay_counter_context ctx = with_pmu(true);
	struct assay_counters c = count(&ctx, wanted, 3);
	const struct assay_count *ins = assay_counters_find(&c, "PAPI_TOT_INS");

	assert_non_null(ins);
	assert_true(ins->value == 10000 && ins->running_frac == 4.0 / 5);
	assert_string_equal(ins->how, "PAPI 7.0.0, multiplexed, share of the time nominal");
	assay_counters_release(&c);
}

/* A counter that cannot be started or read is unavailable, and says why; before the first sample and after it. */
TEST(test_failures)
{
	static const struct {
		bool early; /* in the test of the counter already */
		int start, read;
		const char *why;
	} cases[] = {
		{ true, PAPI_ESYS, 0, "'PAPI_LD_INS' cannot be trusted: PAPI does not start: code -3" },
		{ true, 0, PAPI_ESYS, "'PAPI_LD_INS' cannot be trusted: it cannot be read" },
		{ false, PAPI_ESYS, 0, "PAPI does not start: code -3" },
		{ false, 0, PAPI_ESYS, "it cannot be read" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counter_context ctx = with_pmu(false);
		const struct assay_counting_options o = {
			.ctx = &ctx, .events = "PAPI_LD_INS\tPAPI_LD_INS\n", .n_threads = 1, .parallel = alone
		};
		struct assay_counters out = { 0 };
		struct assay_os_counts os;
		struct assay_counting *c;

		start_fails = cases[i].early ? cases[i].start : PAPI_OK;
		read_fails = cases[i].early ? cases[i].read : PAPI_OK;
		assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
		start_fails = cases[i].start;
		read_fails = cases[i].read;
		assay_counting_before(c, 0, &os);
		assay_counting_after(c, 0, &os);
		assay_counting_add(c, 100);
		assert_int_equal(assay_counting_result(c, &out), 0);
		assay_counting_close(c);
		start_fails = read_fails = PAPI_OK;
		assert_int_equal(out.n, 0);
		assert_string_equal(assay_counters_find_missing(&out, "PAPI_LD_INS")->reason, cases[i].why);
		assert_string_equal(assay_counters_find_missing(&out, "PAPI_LD_INS")->source, ASSAY_SOURCE_PMU);
		assay_counters_release(&out);
		for (size_t k = 0; k < N_OF(sets); k++)
			assert_false(sets[k].used);
	}
}

#define THREADS 3
struct call {
	assay_parallel_fn fn;
	void *arg;
	uint32_t tid;
};

static void *run_one(void *p)
{
	const struct call *c = p;

	c->fn(c->arg, c->tid, THREADS);
	return NULL;
}

/* One thread after the other: what is recorded takes no lock. */
static void in_turn(void *pool, assay_parallel_fn fn, void *arg)
{
	for (uint32_t tid = 1; tid < THREADS; tid++) {
		struct call c = { fn, arg, tid };
		pthread_t t;

		assert_int_equal(pthread_create(&t, NULL, run_one, &c), 0);
		assert_int_equal(pthread_join(t, NULL), 0);
	}
	fn(arg, 0, THREADS);
}

/* PAPI forgets every thread that ends, and not the one that goes on. */
TEST(test_threads_leave)
{
	struct assay_counter_context ctx = with_pmu(false);
	const struct assay_counting_options o = {
		.ctx = &ctx, .events = wanted, .n_threads = THREADS, .parallel = in_turn
	};
	struct assay_counting *c;

	assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
	n_registered = n_unregistered = 0;
	assay_counting_close(c);
	assert_int_equal(n_unregistered, THREADS - 1);
	for (int i = 0; i < n_unregistered; i++)
		assert_false(pthread_equal(left[i], pthread_self()));
	assert_int_equal(n_registered, 0);
	for (size_t i = 0; i < N_OF(sets); i++)
		assert_false(sets[i].used);
}
#endif

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/* The road of PAPI's presets with recorded values in place of a PMU: which counters are believed, and how they share
 * the machine's. */
#include <pthread.h>

#include "unit.h"
#include "counters/counting.h"
#include "counters/pmu_selftest.h"

#if ASSAY_PAPI
#include <papi.h>

#define COUNTERS 4

/* What every reading finds more than the one before. The test loop has 200 000 turns, the walk 8065 steps. */
static const struct {
	const char *name;
	long long delta;
} recorded[] = {
	{ "PAPI_TOT_INS", 1000000 }, { "PAPI_TOT_CYC", 900000 }, { "PAPI_L1_DCM", 6000 },    { "PAPI_LD_INS", 400000 },
	{ "PAPI_BR_INS", 150000 },   { "PAPI_TLB_DM", 0 },       { "PAPI_L3_TCM", 0 },       { "NATIVE:EVENT", 42 },
	{ "PAPI_BR_MSP", 100000 },   { "PAPI_FP_OPS", 400000 },  { "PAPI_LST_INS", 400000 }, { "PAPI_SR_INS", 0 },
	{ "PAPI_VEC_SP", 200000 },   { "PAPI_VEC_DP", 800000 },  { "PAPI_SP_OPS", 800000 },  { "PAPI_REF_CYC", 700000 },
	{ "perf::CYCLES", 900000 },  { "PAPI_L1_DCA", 0 },       { "PAPI_VEC_INS", 0 },      { "PAPI_L1_ICA", 2 },
	{ "PAPI_L2_STM", 8065 },     { "PAPI_L2_DCW", 0 },       { "PAPI_L1_ICM", 0 },       { "PAPI_L2_DCH", 0 },
	{ "PAPI_L2_ICM", 8065 },     { "PAPI_L2_TCH", 30720 },
};
static long long scripted = -1; /* from 0 on: what every reading of any event finds more */

/* What starting and reading fail with from here on; PAPI_OK: nothing. */
static int start_fails, read_fails;

static struct {
	size_t n, event[16];
	long long value[16];
	bool used, running, multiplex;
} sets[64];

static int create(int *set)
{
	for (int i = 0; i < (int)N_OF(sets); i++)
		if (!sets[i].used) {
			memset(&sets[i], 0, sizeof(sets[i]));
			sets[i].used = true;
			*set = i;
			return PAPI_OK;
		}
	return PAPI_ENOMEM;
}

static int assign(int set, int component)
{
	return component == 0 ? PAPI_OK : PAPI_ENOCMP;
}

static int multiplex(int set)
{
	sets[set].multiplex = true;
	return PAPI_OK;
}

static bool any_native; /* a name with "::" is counted as "NATIVE:EVENT" is */

/* N_OF(recorded): there is none */
static size_t find(const char *name)
{
	size_t i = 0;

	if (any_native && strstr(name, "::"))
		name = "NATIVE:EVENT";
	while (i < N_OF(recorded) && strcmp(recorded[i].name, name))
		i++;
	return i;
}

static int query(const char *name)
{
	return find(name) < N_OF(recorded) ? PAPI_OK : PAPI_ENOEVNT;
}

static int add(int set, const char *name)
{
	if (query(name))
		return PAPI_ENOEVNT;
	if (sets[set].n >= (sets[set].multiplex ? N_OF(sets[set].event) : COUNTERS))
		return PAPI_ECNFLCT;
	sets[set].event[sets[set].n++] = find(name);
	return PAPI_OK;
}

/* One set at a time, as with the real one. */
static int start(int set)
{
	for (size_t i = 0; i < N_OF(sets); i++)
		if (sets[i].used && sets[i].running)
			return PAPI_EISRUN;
	if (start_fails)
		return start_fails;
	sets[set].running = true;
	return PAPI_OK;
}

static int read_values(int set, long long *values)
{
	if (!sets[set].running)
		return PAPI_ENOTRUN;
	if (read_fails)
		return read_fails;
	for (size_t i = 0; i < sets[set].n; i++)
		values[i] = sets[set].value[i] += scripted >= 0 ? scripted : recorded[sets[set].event[i]].delta;
	return PAPI_OK;
}

static int stop(int set, long long *values)
{
	int rc = read_values(set, values);

	sets[set].running = false;
	return rc;
}

static int cleanup(int set)
{
	return sets[set].running ? PAPI_EISRUN : PAPI_OK;
}

static int destroy(int *set)
{
	sets[*set].used = false;
	*set = PAPI_NULL;
	return PAPI_OK;
}

static int n_registered, n_unregistered;
static pthread_t left[8];

static int register_thread(void)
{
	n_registered++;
	return PAPI_OK;
}

static int unregister_thread(void)
{
	left[n_unregistered++] = pthread_self();
	return PAPI_OK;
}

static char *words(int code)
{
	static char text[32];

	snprintf(text, sizeof(text), "code %d", code);
	return text;
}

static struct assay_counter_context with_pmu(bool multiplexed)
{
	return (struct assay_counter_context){
		.papi = { .call = { .create_eventset = create,
				    .assign_eventset_component = assign,
				    .set_multiplex = multiplex,
				    .add_named_event = add,
				    .start = start,
				    .read = read_values,
				    .stop = stop,
				    .cleanup_eventset = cleanup,
				    .destroy_eventset = destroy,
				    .query_named_event = query,
				    .register_thread = register_thread,
				    .unregister_thread = unregister_thread,
				    .strerror = words },
			  .version = "7.0.0",
			  .hardware_counters = COUNTERS },
		.papi_loaded = true,
		.sde_reason = "not in this test",
		.multiplex = multiplexed,
	};
}

/* The one event that a set takes while add_only() adds; NULL: none. */
static const char *takes;

static int add_only(int set, const char *name)
{
	return takes && !strcmp(name, takes) ? add(set, name) : PAPI_ENOEVNT;
}

static int create_none(int *set)
{
	return PAPI_ENOMEM;
}

/* An enabled component that lists its events without a PMU behind it: no set takes any. */
TEST(test_pmu_without_counters)
{
	static const char *const enough[] = { "PAPI_TOT_CYC", "PAPI_TOT_INS", "perf::CYCLES" };
	struct assay_papi p = with_pmu(false).papi;

	p.call.add_named_event = add_only;
	for (size_t i = 0; i < N_OF(enough); i++) {
		takes = enough[i];
		assay_papi_doubt_pmu(&p);
		assert_string_equal(p.pmu_reason, "");
		assert_int_equal(p.pmu_component, 0);
		assert_int_equal(p.hardware_counters, COUNTERS);
	}
	takes = NULL;
	assert_int_equal(p.call.query_named_event("PAPI_TOT_CYC"), PAPI_OK);
	assay_papi_doubt_pmu(&p);
	assert_string_equal(p.pmu_reason, "PAPI knows the processor and counts none of PAPI_TOT_CYC, PAPI_TOT_INS and "
					  "perf::CYCLES on it: code -7");
	assert_int_equal(p.pmu_component, -1);
	assert_int_equal(p.hardware_counters, 0);
	for (size_t i = 0; i < N_OF(sets); i++)
		assert_false(sets[i].used);

	p = with_pmu(false).papi;
	p.call.create_eventset = create_none;
	assay_papi_doubt_pmu(&p);
	assert_int_equal(p.pmu_component, -1);
	p = with_pmu(false).papi;
	p.pmu_component = 1; /* which assign() does not know */
	assay_papi_doubt_pmu(&p);
	assert_int_equal(p.pmu_component, -1);
	for (size_t i = 0; i < N_OF(sets); i++)
		assert_false(sets[i].used);
}

/* The advice is that of the reason. */
TEST(test_probe_without_pmu)
{
	struct assay_counter_context ctx = with_pmu(false);
	struct assay_counter_probe found;

	assay_provider_papi.probe(&ctx, &found);
	assert_true(found.works);
	assert_string_equal(found.value, "PAPI 7.0.0, 4 hardware counters at once");
	assert_string_equal(found.advice, "");
	snprintf(ctx.papi.pmu_reason, sizeof(ctx.papi.pmu_reason), "forbidden");
	snprintf(ctx.papi.pmu_advice, sizeof(ctx.papi.pmu_advice), "allow it");
	assay_provider_papi.probe(&ctx, &found);
	assert_false(found.works);
	assert_string_equal(found.value, "forbidden");
	assert_string_equal(found.advice, "allow it");
}

TEST(test_what_is_believed)
{
	static const struct {
		const char *event;
		bool believed;
		const char *what;
	} cases[] = {
		{ "PAPI_TOT_INS", true, "it counts 5 a turn of the test loop, which has 5" },
		{ "PAPI_TOT_CYC", true, "it counts 4.5 a turn of the test loop, which has 1 to 5000" },
		{ "PAPI_LD_INS", true, "it counts 2 a turn of the test loop, which has 2" },
		{ "PAPI_L1_DCM", true, "it counts 0.744 a step of a walk that must miss, which has 0.5 to 32" },
		{ "PAPI_BR_INS", false, "it counts 0.75 a turn of the test loop, which has 1" },
		{ "PAPI_TLB_DM", false,
		  "it reads zero in a loop that must count 0.01 to 32 a step of a walk that must miss" },
		{ "PAPI_L3_TCM", false,
		  "it reads zero in a loop that must count 0.1 to 32 a step of a walk that must miss" },
		{ "PAPI_LST_INS", true, "it counts 2 a turn of the test loop, which has 2" },
		{ "PAPI_SR_INS", false, "it reads zero in a loop that must count 1 a turn of the storing loop" },
		{ "PAPI_VEC_SP", true, "it counts 1 a turn of the vector loop, which has 1 to 8" },
		{ "PAPI_VEC_DP", true, "it counts 4 a turn of the vector loop, which has 1 to 4" },
		{ "PAPI_SP_OPS", true, "it counts 4 a turn of the vector loop, which has 4 to 8" },
		{ "PAPI_REF_CYC", true, "it counts 3.5 a turn of the test loop, which has 0.01 to 5000" },
		{ "PAPI_L1_DCA", false, "it reads zero in a loop that must count 0.5 to 8 a turn of the test loop" },
		{ "PAPI_VEC_INS", false, "it reads zero in a loop that must count 1 to 8 a turn of the vector loop" },
		{ "PAPI_L1_ICA", true, "it counts 1e-05 a turn of the test loop, which has 1e-05 to 8" },
		{ "PAPI_L2_STM", true, "it counts 1 a step of a storing walk that must miss, which has 0.1 to 32" },
		{ "PAPI_L2_DCW", false,
		  "it reads zero in a loop that must count 0.1 to 32 a step of a storing walk that must miss" },
		{ "PAPI_L1_ICM", false,
		  "it reads zero in a loop that must count 0.1 to 32 a call of code that is in no cache" },
		{ "PAPI_L2_ICM", true, "it counts 1 a call of code that is in no cache, which has 0.1 to 32" },
		{ "PAPI_L2_DCH", false,
		  "it reads zero in a loop that must count 0.01 to 32 a step of a walk that must miss the first cache "
		  "and hit the second" },
		{ "PAPI_L2_TCH", true,
		  "it counts 1 a step of a walk that must miss the first cache and hit the second, which has 0.01 to "
		  "32" },
		{ "NATIVE:EVENT", true, "nothing is known that it must count" },
		{ "PAPI_RES_STL", true, "nothing is known that it must count" },
	};
	struct assay_counter_context ctx = with_pmu(false);

	for (size_t i = 0; i < N_OF(cases); i++) {
		char what[256];

		assert_int_equal(assay_pmu_selftest(&ctx, cases[i].event, what, sizeof(what)), cases[i].believed);
		assert_string_equal(what, cases[i].what);
	}
	for (size_t i = 0; i < N_OF(sets); i++)
		assert_false(sets[i].used);
}

/* Just within the bounds, just outside. */
TEST(test_bounds)
{
	static const struct {
		const char *event;
		long long delta;
		bool believed;
		const char *what;
	} cases[] = {
		{ "PAPI_TOT_INS", 1050000, true, "it counts 5.25 a turn of the test loop, which has 5" },
		{ "PAPI_TOT_INS", 1052000, false, "it counts 5.26 a turn of the test loop, which has 5" },
		{ "PAPI_TOT_INS", 948000, false, "it counts 4.74 a turn of the test loop, which has 5" },
		{ "PAPI_FP_OPS", 200000, true, "it counts 1 a turn of the test loop, which has 1 to 2" },
		{ "PAPI_FP_OPS", 400000, true, "it counts 2 a turn of the test loop, which has 1 to 2" },
		{ "PAPI_FP_OPS", 402000, false, "it counts 2.01 a turn of the test loop, which has 1 to 2" },
		{ "PAPI_BR_MSP", 100000, true, "it counts 0.5 a branch on a random bit, which has 0.25 to 0.75" },
		{ "PAPI_BR_MSP", 48000, false, "it counts 0.24 a branch on a random bit, which has 0.25 to 0.75" },
		{ "PAPI_BR_MSP", 152000, false, "it counts 0.76 a branch on a random bit, which has 0.25 to 0.75" },
		{ "PAPI_BR_MSP", 0, false,
		  "it reads zero in a loop that must count 0.25 to 0.75 a branch on a random bit" },
		{ "PAPI_TOT_CYC", 1000000000, true, "it counts 5000 a turn of the test loop, which has 1 to 5000" },
		{ "PAPI_TOT_CYC", 1002000000, false, "it counts 5010 a turn of the test loop, which has 1 to 5000" },
		{ "PAPI_LST_INS", 418000, true, "it counts 2.09 a turn of the test loop, which has 2" },
		{ "PAPI_LST_INS", 200000, false, "it counts 1 a turn of the test loop, which has 2" },
		{ "PAPI_SR_INS", 200000, true, "it counts 1 a turn of the storing loop, which has 1" },
		{ "PAPI_VEC_DP", 802000, false, "it counts 4.01 a turn of the vector loop, which has 1 to 4" },
		{ "PAPI_SP_OPS", 798000, false, "it counts 3.99 a turn of the vector loop, which has 4 to 8" },
		{ "PAPI_L3_TCM", 8065, true, "it counts 1 a step of a walk that must miss, which has 0.1 to 32" },
		{ "PAPI_L3_TCM", 266145, false, "it counts 33 a step of a walk that must miss, which has 0.1 to 32" },
	};
	struct assay_counter_context ctx = with_pmu(false);

	for (size_t i = 0; i < N_OF(cases); i++) {
		char what[256];

		scripted = cases[i].delta;
		assert_int_equal(assay_pmu_selftest(&ctx, cases[i].event, what, sizeof(what)), cases[i].believed);
		assert_string_equal(what, cases[i].what);
	}
	scripted = -1;
}

static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	fn(arg, 0, 1);
}

static struct assay_counters count(struct assay_counter_context *ctx, const char *events, unsigned n, size_t turns)
{
	const struct assay_counting_options o = { .ctx = ctx, .events = events, .n_threads = 1, .parallel = alone };
	struct assay_counters out = { 0 };
	struct assay_os_counts os;
	struct assay_counting *c;

	assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
	assert_int_equal(assay_counting_turns(c), turns);
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
	struct assay_counters c = count(&ctx, wanted, 3, 2);
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
			    "'PAPI_BR_INS' is not to be believed: it counts 0.75 a turn of the test loop, which has 1");
	assert_string_equal(assay_counters_find_missing(&c, "PAPI_RES_STL")->reason,
			    "PAPI does not have 'PAPI_RES_STL' on this machine");
	assay_counters_release(&c);
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
		c = count(&ctx, line, 3, cases[i].counted);
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
	struct assay_counters c = count(&ctx, wanted, 3, 1);
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
		{ true, PAPI_ESYS, 0, "'PAPI_LD_INS' is not to be believed: PAPI does not start: code -3" },
		{ true, 0, PAPI_ESYS, "'PAPI_LD_INS' is not to be believed: it cannot be read" },
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

#else

TEST(test_papi_is_not_in_this_build)
{
	skip();
}
#endif

UNIT_MAIN(NULL, NULL)

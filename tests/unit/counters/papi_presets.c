/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the presets of PAPI are believed, with recorded values in place of a PMU. */
#include "papi_script.h"

#if ASSAY_PAPI
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
#endif

UNIT_GROUP(NULL, NULL)

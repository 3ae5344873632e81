/* SPDX-License-Identifier: Apache-2.0 */
/* A PAPI of recorded values in place of a PMU, for tests of which counters are believed and how they are shared. */
#ifndef ASSAY_TESTS_PAPI_SCRIPT_H
#define ASSAY_TESTS_PAPI_SCRIPT_H

#include <pthread.h>

#include "counters/counting.h"
#include "counters/papi/papi.h"
#include "unit.h"

#if ASSAY_PAPI
#include <papi.h>

#define COUNTERS 4

/* The increase of every reading over the one before. The test loop has 200 000 turns, the walk 8065 steps. */
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

/* The error of starting and reading from here on; PAPI_OK: nothing. */
static int start_fails, read_fails;

static struct {
	size_t n, event[16];
	long long value[16];
	bool used, running, multiplex, children;
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

static int set_option(int option, void *values)
{
	const PAPI_inherit_option_t *inherit = &((PAPI_option_t *)values)->inherit;

	if (option == PAPI_INHERIT)
		sets[inherit->eventset].children = inherit->inherit;
	return option == PAPI_INHERIT ? PAPI_OK : PAPI_EINVAL;
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

static int stop_set(int set, long long *values)
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

static inline struct assay_counter_context with_pmu(bool multiplexed)
{
	return (struct assay_counter_context){
		.papi = { .call = { .create_eventset = create,
				    .assign_eventset_component = assign,
				    .set_multiplex = multiplex,
				    .set_opt = set_option,
				    .add_named_event = add,
				    .start = start,
				    .read = read_values,
				    .stop = stop_set,
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

#else

TEST(test_papi_is_not_in_this_build)
{
	skip();
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The loops are written in assembly where their counts must be known; elsewhere a counter only has to tick. */
#include "counters/pmu_selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/papi_set.h"

#define TURNS      200000u
#define WALK_BYTES (32u << 20)
#define WALK_STEP  (4096u + 64u) /* another page and another cache set each time */
#define WALK_STEPS (WALK_BYTES / WALK_STEP)

enum loop { LOOP_WORK, LOOP_WALK };

/* What a turn of LOOP_WORK, or a step of LOOP_WALK, must count: exactly, or with @at_least that much or more. */
static const struct expectation {
	const char *event;
	enum loop loop;
	double per_turn;
	bool at_least;
} expected[] = {
#if defined(__x86_64__) || defined(__aarch64__)
	{ "PAPI_TOT_INS", LOOP_WORK, 5, false },  { "PAPI_BR_INS", LOOP_WORK, 1, false },
	{ "PAPI_BR_CN", LOOP_WORK, 1, false },    { "PAPI_BR_TKN", LOOP_WORK, 1, false },
	{ "PAPI_LD_INS", LOOP_WORK, 2, false },   { "PAPI_FP_OPS", LOOP_WORK, 1, true },
	{ "PAPI_DP_OPS", LOOP_WORK, 1, true },    { "PAPI_FP_INS", LOOP_WORK, 1, true },
#endif
	{ "PAPI_TOT_CYC", LOOP_WORK, 1, true },   { "PAPI_REF_CYC", LOOP_WORK, 0.01, true },
	{ "PAPI_L1_DCM", LOOP_WALK, 0.5, true },  { "PAPI_L1_TCM", LOOP_WALK, 0.5, true },
	{ "PAPI_L2_DCM", LOOP_WALK, 0.1, true },  { "PAPI_L2_TCM", LOOP_WALK, 0.1, true },
	{ "PAPI_TLB_DM", LOOP_WALK, 0.01, true },
};
#define N_EXPECTED (sizeof(expected) / sizeof(expected[0]))

const char *const assay_pmu_selftest_events[] = { "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_BR_INS",
						  "PAPI_LD_INS",  "PAPI_FP_OPS",  "PAPI_L1_DCM",
						  "PAPI_L2_TCM",  "PAPI_TLB_DM",  NULL };

/* Five instructions a turn: two loads, a multiplication, the count, and the branch. */
static void work(void)
{
	static const double one[2] = { 1, 1 };
	uint64_t n = TURNS;

#if defined(__x86_64__)
	__asm__ volatile("1: movsd (%1), %%xmm0\n\t"
			 "movsd 8(%1), %%xmm1\n\t"
			 "mulsd %%xmm1, %%xmm0\n\t"
			 "decq %0\n\t"
			 "jnz 1b\n\t"
			 : "+r"(n)
			 : "r"(one)
			 : "xmm0", "xmm1", "cc", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("1: ldr d0, [%1]\n\t"
			 "ldr d1, [%1, #8]\n\t"
			 "fmul d0, d0, d1\n\t"
			 "subs %0, %0, #1\n\t"
			 "b.ne 1b\n\t"
			 : "+r"(n)
			 : "r"(one)
			 : "d0", "d1", "cc", "memory");
#else
	for (volatile double x = one[0]; n; n--)
		x *= one[1];
#endif
}

static void walk(const volatile char *p)
{
	for (size_t i = 0; i < WALK_STEPS; i++)
		(void)p[i * WALK_STEP];
}

/* Count @loop with nothing but @event in a set of its own. */
static int count(const struct assay_counter_context *ctx, const char *event, enum loop loop, const char *buffer,
		 double *out, struct assay_err *err)
{
	uint64_t before = 0, after = 0;
	void *set = NULL;
	int rc = assay_papi_set_open(ctx, ctx->papi.pmu_component, &set, err);

	if (rc)
		return rc;
	rc = assay_papi_set_add(set, event, err);
	if (!rc)
		rc = assay_papi_set_start(set, err);
	if (!rc && assay_papi_set_read(set, &before))
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "it cannot be read");
	if (!rc) {
		if (loop == LOOP_WORK)
			work();
		else
			walk(buffer);
		if (assay_papi_set_read(set, &after))
			rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "it cannot be read");
	}
	assay_papi_set_close(set);
	*out = (double)(after - before) / (loop == LOOP_WORK ? TURNS : WALK_STEPS);
	return rc;
}

static bool judge(const struct expectation *e, double got, char *what, size_t size)
{
	const char *turn = e->loop == LOOP_WORK ? "turn of the test loop" : "step of a walk that must miss";
	bool right = e->at_least ? got >= e->per_turn
				 : fabs(got - e->per_turn) <= ASSAY_SELFTEST_TOLERANCE_FRAC * e->per_turn;

	if (got == 0)
		snprintf(what, size, "it reads zero in a loop that must count %s%g a %s",
			 e->at_least ? "at least " : "", e->per_turn, turn);
	else
		snprintf(what, size, "it counts %.4g a %s, which has %s%g", got, turn, e->at_least ? "at least " : "",
			 e->per_turn);
	return right;
}

bool assay_pmu_selftest(const struct assay_counter_context *ctx, const char *event, char *what, size_t size)
{
	const struct expectation *e = NULL;
	struct assay_err err = { 0 };
	char *buffer = NULL;
	double got;
	int rc;

	for (size_t i = 0; i < N_EXPECTED; i++)
		if (!strcmp(expected[i].event, event))
			e = &expected[i];
	snprintf(what, size, "nothing is known that it must count");
	if (!e)
		return true;
	if (e->loop == LOOP_WALK) {
		buffer = malloc(WALK_BYTES);
		if (!buffer) {
			snprintf(what, size, "out of memory for its test");
			return false;
		}
		memset(buffer, 1, WALK_BYTES);
	}
	rc = count(ctx, event, e->loop, buffer, &got, &err);
	free(buffer);
	if (rc) {
		snprintf(what, size, "%s", err.text);
		return false;
	}
	return judge(e, got, what, size);
}

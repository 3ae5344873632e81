/* SPDX-License-Identifier: Apache-2.0 */
/* The loops are written in assembly where their counts must be known; elsewhere a counter only has to tick. */
#include "counters/papi/papi.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "counters/provider.h"

#define TURNS      200000u
#define PAGE_BYTES 4096u
#define WALK_BYTES (32u << 20)
#define WALK_STEP  (4096u + 64u) /* another page and another cache set each time */
#define WALK_STEPS (WALK_BYTES / WALK_STEP)

/* Lines that are more than any first cache for data holds, and less than any second cache. */
#define LINGER_BYTES  (192u << 10)
#define LINGER_STEP   64u
#define LINGER_ROUNDS 10u
#define LINGER_STEPS  (LINGER_ROUNDS * (LINGER_BYTES / LINGER_STEP))

enum loop { LOOP_WORK, LOOP_STORE, LOOP_VECTOR, LOOP_TOSS, LOOP_WALK, LOOP_SPREAD, LOOP_CALLS, LOOP_LINGER };

static const struct {
	const char *turn;
	double turns;
} loops[] = {
	[LOOP_WORK] = { "turn of the test loop", TURNS },
	[LOOP_STORE] = { "turn of the storing loop", TURNS },
	[LOOP_VECTOR] = { "turn of the vector loop", TURNS },
	[LOOP_TOSS] = { "branch on a random bit", TURNS },
	[LOOP_WALK] = { "step of a walk that must miss", WALK_STEPS },
	[LOOP_SPREAD] = { "step of a storing walk that must miss", WALK_STEPS },
	[LOOP_CALLS] = { "call of code that is in no cache", WALK_STEPS },
	[LOOP_LINGER] = { "step of a walk that must miss the first cache and hit the second", LINGER_STEPS },
};

#define CYCLES_MOST   5000 /* 1000 an instruction: no processor is that slow */
#define ISSUED_MOST   50   /* five; one may be several parts, and issued again */
#define ACCESSES_MOST 8    /* at most two; an access may be tried again */
#define FETCHES_LEAST 1e-5 /* two in all: a buffer of the decoder may hold the loop */
#define HITS_LEAST    0.01 /* what is fetched before it is asked for may count as nothing */
#define MISSES_MOST   32   /* a step reads one line; translating its address and prefetching may miss as well */

/*
 * Counts of a turn. Equal bounds are exact but for the tolerance. A fused multiply-add is one operation or two,
 * by processor; vector counters count instructions or what their lanes do; half of the branches on random bits are
 * mispredicted.
 */
static const struct expectation {
	const char *event;
	enum loop loop;
	double least, most;
} expected[] = {
#if defined(__x86_64__) || defined(__aarch64__)
	{ "PAPI_TOT_INS", LOOP_WORK, 5, 5 },
	{ "PAPI_TOT_IIS", LOOP_WORK, 1, ISSUED_MOST },
	{ "PAPI_BR_INS", LOOP_WORK, 1, 1 },
	{ "PAPI_BR_CN", LOOP_WORK, 1, 1 },
	{ "PAPI_BR_TKN", LOOP_WORK, 1, 1 },
	{ "PAPI_LD_INS", LOOP_WORK, 2, 2 },
	{ "PAPI_LST_INS", LOOP_WORK, 2, 2 },
	{ "PAPI_SR_INS", LOOP_STORE, 1, 1 },
	{ "PAPI_L1_DCA", LOOP_WORK, 0.5, ACCESSES_MOST },
	{ "PAPI_L1_DCR", LOOP_WORK, 0.5, ACCESSES_MOST },
	{ "PAPI_L1_DCW", LOOP_STORE, 0.5, ACCESSES_MOST },
	{ "PAPI_L1_ICA", LOOP_WORK, FETCHES_LEAST, ACCESSES_MOST },
	{ "PAPI_L1_ICR", LOOP_WORK, FETCHES_LEAST, ACCESSES_MOST },
	{ "PAPI_FP_OPS", LOOP_WORK, 1, 2 },
	{ "PAPI_DP_OPS", LOOP_WORK, 1, 2 },
	{ "PAPI_FP_INS", LOOP_WORK, 1, 2 },
	{ "PAPI_VEC_INS", LOOP_VECTOR, 1, 8 },
	{ "PAPI_SP_OPS", LOOP_VECTOR, 4, 8 },
	{ "PAPI_VEC_SP", LOOP_VECTOR, 1, 8 },
	{ "PAPI_VEC_DP", LOOP_VECTOR, 1, 4 },
	{ "PAPI_BR_MSP", LOOP_TOSS, 0.25, 0.75 },
	{ "PAPI_L1_ICM", LOOP_CALLS, 0.1, MISSES_MOST },
	{ "PAPI_L2_ICM", LOOP_CALLS, 0.1, MISSES_MOST },
	{ "PAPI_L2_ICA", LOOP_CALLS, 0.1, MISSES_MOST },
	{ "PAPI_L2_ICR", LOOP_CALLS, 0.1, MISSES_MOST },
	{ "PAPI_TLB_IM", LOOP_CALLS, 0.01, MISSES_MOST },
	{ "PAPI_L1_DCH", LOOP_WORK, 0.5, ACCESSES_MOST },
	{ "PAPI_L1_TCA", LOOP_WORK, 0.5, ACCESSES_MOST },
	{ "PAPI_L1_TCH", LOOP_WORK, 0.5, ACCESSES_MOST },
	{ "PAPI_L3_DCM", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L3_TCM", LOOP_WALK, 0.1, MISSES_MOST },
#endif
	{ "PAPI_TOT_CYC", LOOP_WORK, 1, CYCLES_MOST },
	{ "PAPI_REF_CYC", LOOP_WORK, 0.01, CYCLES_MOST },
	{ "PAPI_L1_DCM", LOOP_WALK, 0.5, MISSES_MOST },
	{ "PAPI_L1_TCM", LOOP_WALK, 0.5, MISSES_MOST },
	{ "PAPI_L2_DCM", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L2_TCM", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L1_LDM", LOOP_WALK, 0.5, MISSES_MOST },
	{ "PAPI_L2_LDM", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L2_DCR", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L2_DCA", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L1_STM", LOOP_SPREAD, 0.1, MISSES_MOST },
	{ "PAPI_L2_STM", LOOP_SPREAD, 0.1, MISSES_MOST },
	{ "PAPI_L2_DCW", LOOP_SPREAD, 0.1, MISSES_MOST },
	{ "PAPI_L2_TCA", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L2_TCR", LOOP_WALK, 0.1, MISSES_MOST },
	{ "PAPI_L2_TCW", LOOP_SPREAD, 0.1, MISSES_MOST },
	{ "PAPI_L2_DCH", LOOP_LINGER, HITS_LEAST, MISSES_MOST },
	{ "PAPI_L2_TCH", LOOP_LINGER, HITS_LEAST, MISSES_MOST },
	{ "PAPI_TLB_DM", LOOP_WALK, 0.01, MISSES_MOST },
};
#define N_EXPECTED (sizeof(expected) / sizeof(expected[0]))

const char *assay_pmu_selftest_event(size_t i)
{
	return i < N_EXPECTED ? expected[i].event : NULL;
}

/* @body and the two instructions that count a turn and jump back, until register @n is 0. */
#if defined(__x86_64__)
#define REPEAT(n, body, ...)                                                                                           \
	__asm__ volatile("1: " body "decq %0\n\tjnz 1b" : "+r"(n) : __VA_ARGS__ : "xmm0", "xmm1", "cc", "memory")
#elif defined(__aarch64__)
#define REPEAT(n, body, ...)                                                                                           \
	__asm__ volatile("1: " body "subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : __VA_ARGS__ : "v0", "v1", "cc", "memory")
#endif

/* Five instructions a turn: two loads, a fused multiply-add, the count, the branch. A CPU without FMA multiplies. */
static void work(void)
{
	static const double one[2] = { 1, 1 };
	uint64_t n = TURNS;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("fma"))
		REPEAT(n, "vmovsd (%1), %%xmm0\n\tvmovsd 8(%1), %%xmm1\n\tvfmadd231sd %%xmm1, %%xmm1, %%xmm0\n\t",
		       "r"(one));
	else
		REPEAT(n, "movsd (%1), %%xmm0\n\tmovsd 8(%1), %%xmm1\n\tmulsd %%xmm1, %%xmm0\n\t", "r"(one));
#elif defined(__aarch64__)
	REPEAT(n, "ldr d0, [%1]\n\tldr d1, [%1, #8]\n\tfmadd d0, d1, d1, d0\n\t", "r"(one));
#else
	for (volatile double x = one[0]; n; n--)
		x *= one[1];
#endif
}

/* One store a turn. */
static void store(void)
{
	volatile uint64_t cell = 0;
	uint64_t n = TURNS;

#if defined(__x86_64__)
	REPEAT(n, "movq %0, (%1)\n\t", "r"(&cell));
#elif defined(__aarch64__)
	REPEAT(n, "str %0, [%1]\n\t", "r"(&cell));
#else
	for (; n; n--)
		cell = n;
#endif
}

/* A turn works once on four floats and once on two doubles: fused multiply-adds, or products on a CPU without FMA. */
static void vector(void)
{
	const float zero __attribute__((vector_size(16))) = { 0 };
	uint64_t n = TURNS;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("fma"))
		REPEAT(n, "vfmadd132ps %1, %1, %%xmm0\n\tvfmadd132pd %1, %1, %%xmm1\n\t", "x"(zero));
	else
		REPEAT(n, "mulps %1, %%xmm0\n\tmulpd %1, %%xmm1\n\t", "x"(zero));
#elif defined(__aarch64__)
	REPEAT(n, "fmla v0.4s, %1.4s, %1.4s\n\tfmla v1.2d, %1.2d, %1.2d\n\t", "w"(zero));
#else
	for (volatile float x = zero[0]; n; n--)
		x *= x;
#endif
}

/* A branch a turn on a bit of xorshift64 (Marsaglia, "Xorshift RNGs", 2003), which no predictor learns in one pass. */
static void toss(void)
{
	uint64_t bits = UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t i = 0; i < TURNS; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
#if defined(__x86_64__)
		__asm__ volatile("testb $1, %b0\n\tjz 1f\n\tnop\n1:" : : "q"(bits) : "cc");
#elif defined(__aarch64__)
		__asm__ volatile("tbz %0, #0, 1f\n\tnop\n1:" : : "r"(bits));
#else
		__asm__ volatile("" : : "r"(bits));
#endif
	}
}

/* A function that returns at once. */
#if defined(__x86_64__)
static const unsigned char returns[] = { 0xc3 };
#elif defined(__aarch64__)
static const unsigned char returns[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#else
static const unsigned char returns[1];
#endif

/*
 * A buffer for the walks and for calls() of which no cache holds what they touch, however large it is, and of small
 * pages, more of them than a TLB holds. With @code there is a function at each step. NULL: there is none.
 */
static char *walk_buffer(bool code)
{
	char *p = mmap(NULL, WALK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, WALK_BYTES, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses: there is nothing to do */
	memset(p, 1, WALK_BYTES);
	if (code) {
		for (size_t i = 0; i < WALK_STEPS; i++)
			memcpy(p + i * WALK_STEP, returns, sizeof(returns));
		__builtin___clear_cache(p, p + WALK_BYTES);
		if (mprotect(p, WALK_BYTES, PROT_READ | PROT_EXEC)) {
			munmap(p, WALK_BYTES);
			return NULL;
		}
	}
#if defined(__x86_64__)
	for (size_t i = 0; i < WALK_STEPS; i++)
		__builtin_ia32_clflush(p + i * WALK_STEP);
	__builtin_ia32_mfence();
#elif defined(__aarch64__)
	for (size_t i = 0; i < WALK_STEPS; i++)
		__asm__ volatile("dc civac, %0" : : "r"(p + i * WALK_STEP) : "memory");
	__asm__ volatile("dsb sy" : : : "memory");
#endif
	return p;
}

static void walk(const volatile char *p)
{
	for (size_t i = 0; i < WALK_STEPS; i++)
		(void)p[i * WALK_STEP];
}

static void spread(volatile char *p)
{
	for (size_t i = 0; i < WALK_STEPS; i++)
		p[i * WALK_STEP] = 2;
}

static void calls(const char *p)
{
	for (size_t i = 0; i < WALK_STEPS; i++)
		((void (*)(void))(uintptr_t)(p + i * WALK_STEP))();
}

static void linger(const volatile char *p)
{
	for (unsigned round = 0; round < LINGER_ROUNDS; round++)
		for (size_t i = 0; i < LINGER_BYTES; i += LINGER_STEP)
			(void)p[i];
}

static void run_loop(enum loop loop, char *buffer)
{
	static void (*const fixed[])(
		void) = { [LOOP_WORK] = work, [LOOP_STORE] = store, [LOOP_VECTOR] = vector, [LOOP_TOSS] = toss };

	if (loop == LOOP_WALK)
		walk(buffer);
	else if (loop == LOOP_SPREAD)
		spread(buffer);
	else if (loop == LOOP_CALLS)
		calls(buffer);
	else if (loop == LOOP_LINGER)
		linger(buffer);
	else
		fixed[loop]();
}

/* Count @loop with nothing but @event in a set of its own. */
static int count(const struct assay_counter_context *ctx, const char *event, enum loop loop, char *buffer, double *out,
		 struct assay_err *err)
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
		run_loop(loop, buffer);
		if (assay_papi_set_read(set, &after))
			rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "it cannot be read");
	}
	assay_papi_set_close(set);
	*out = (double)(after - before) / loops[loop].turns;
	return rc;
}

static bool judge(const struct expectation *e, double got, char *what, size_t size)
{
	bool exact = e->least == e->most;
	double off = exact ? ASSAY_SELFTEST_TOLERANCE_FRAC * e->least : 0;
	char want[32];

	if (exact)
		snprintf(want, sizeof(want), "%g", e->least);
	else
		snprintf(want, sizeof(want), "%g to %g", e->least, e->most);
	if (got == 0)
		snprintf(what, size, "it reads zero in a loop that must count %s a %s", want, loops[e->loop].turn);
	else
		snprintf(what, size, "it counts %.4g a %s, which has %s", got, loops[e->loop].turn, want);
	return got >= e->least - off && got <= e->most + off;
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
	if (e->loop >= LOOP_WALK) {
		buffer = walk_buffer(e->loop == LOOP_CALLS);
		if (!buffer) {
			snprintf(what, size, "not enough memory for its test");
			return false;
		}
	}
	rc = count(ctx, event, e->loop, buffer, &got, &err);
	if (buffer)
		munmap(buffer, WALK_BYTES);
	if (rc) {
		snprintf(what, size, "%s", err.text);
		return false;
	}
	return judge(e, got, what, size);
}

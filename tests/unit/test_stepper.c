/* SPDX-License-Identifier: Apache-2.0 */
/* Code that lies outside of this program, stepped: what is counted of it, and what is refused. */
#include "unit.h"

#include <sys/mman.h>

#include "counters/branch_model.h"
#include "counters/step_replay.h"

#if defined(__x86_64__)

#define LOOPS 100

/* mov ecx, 100; 1: add rax, [rdi]; add rdi, 64; dec ecx; jnz 1b; ret */
static const unsigned char read_lines[] = { 0xb9, LOOPS, 0,    0,    0,    0x48, 0x03, 0x07, 0x48,
					    0x83, 0xc7,  0x40, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };

static unsigned char memory[LOOPS * 64] __attribute__((aligned(64)));

static unsigned char *place(const unsigned char *code, size_t n)
{
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	memcpy(at, code, n);
	return at;
}

static void call(const unsigned char *code, const void *argument)
{
	((void (*)(const void *))(uintptr_t)code)(argument);
}

static struct assay_stepper *open_stepper(unsigned threads)
{
	const struct assay_stepper_options o = { .threads = threads, .max_steps = 10000 };
	struct assay_stepper *s;
	struct assay_err err = { 0 };

	if (assay_stepper_open(&s, &o, &err)) {
		print_message("%s\n", err.text);
		skip();
	}
	return s;
}

static void step(struct assay_stepper *s, unsigned thread, const unsigned char *code, const void *argument)
{
	assay_stepper_enter(s, thread);
	call(code, argument);
	assert_int_equal(assay_stepper_leave(s), thread);
}

static struct assay_exact_counts sum(const struct assay_step_replay *r, unsigned thread)
{
	struct assay_exact_counts out = { { 0 } };
	size_t n;
	const struct assay_step_counts *v = assay_step_replay_counts(r, thread, &n);

	for (size_t i = 0; i < n; i++)
		for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
			out.v[e] += v[i].counts.v[e];
	return out;
}

static struct assay_step_replay *open_replay(unsigned threads)
{
	struct assay_cache_model canon;
	struct assay_step_replay *r;

	assert_true(assay_cache_model_find("canon", &canon));
	assert_int_equal(assay_step_replay_new(&r, &canon, threads, NULL), 0);
	assay_step_replay_empty(r);
	return r;
}

TEST(a_loop_is_counted_to_the_instruction)
{
	unsigned char *code = place(read_lines, sizeof(read_lines));
	struct assay_stepper *s = open_stepper(1);
	struct assay_step_replay *r = open_replay(1);
	/* the return reads the stack; the last turn of the loop and the first of the next pass are mispredicted */
	static const uint64_t cold[ASSAY_N_EXACT_EVENTS] = { 4 * LOOPS + 2, LOOPS + 1,     0,     1,
							     LOOPS + 1,     LOOPS + 1 + 1, LOOPS, 0 };

	for (int pass = 0; pass < 3; pass++) {
		struct assay_exact_counts c;
		uint64_t at;
		char why[64];

		assay_stepper_begin(s, 0);
		step(s, 0, code, memory);
		assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_WHOLE);
		assert_int_equal(assay_stepper_trace(s, 0).steps, 4 * LOOPS + 2);
		assert_int_equal(assay_step_replay_run(r, s, NULL), 0);
		c = sum(r, 0);
		for (unsigned e = 0; e < ASSAY_EXACT_MISPREDICTIONS; e++) {
			const bool warm = pass > 0 && (e == ASSAY_EXACT_I1_MISSES || e == ASSAY_EXACT_D1_MISSES ||
						       e == ASSAY_EXACT_LL_MISSES);

			assert_int_equal(c.v[e], warm ? 0 : cold[e]);
		}
		assert_in_range(c.v[ASSAY_EXACT_MISPREDICTIONS], 1, 12);
	}
	assay_step_replay_free(r);
	assay_stepper_close(s);
	munmap(code, 4096);
}

/* As two threads do in a region, with a barrier in it; number 1 runs when number 0 is done, which must not matter. */
TEST(threads_share_the_last_level_alone)
{
	unsigned char *code = place(read_lines, sizeof(read_lines));
	struct assay_stepper *s = open_stepper(2);
	struct assay_step_replay *r = open_replay(2);
	struct assay_exact_counts c[2];
	uint64_t at;
	char why[64];

	assay_stepper_begin(s, 0);
	step(s, 0, code, memory);
	for (unsigned i = 2; i--;) {
		assay_stepper_mark(s, i, ASSAY_STEPPER_FORK);
		step(s, i, code, memory);
		assay_stepper_mark(s, i, ASSAY_STEPPER_BARRIER);
		step(s, i, code, memory);
		assay_stepper_mark(s, i, ASSAY_STEPPER_JOIN);
	}
	assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_WHOLE);
	assert_int_equal(assay_step_replay_run(r, s, NULL), 0);
	for (unsigned i = 0; i < 2; i++)
		c[i] = sum(r, i);
	assert_int_equal(c[0].v[ASSAY_EXACT_INSTRUCTIONS], 3 * (4 * LOOPS + 2));
	assert_int_equal(c[1].v[ASSAY_EXACT_INSTRUCTIONS], 2 * (4 * LOOPS + 2));
	assert_int_equal(c[0].v[ASSAY_EXACT_D1_MISSES], LOOPS + 1);
	assert_int_equal(c[1].v[ASSAY_EXACT_D1_MISSES], LOOPS + 1);
	assert_in_range(c[0].v[ASSAY_EXACT_LL_MISSES] + c[1].v[ASSAY_EXACT_LL_MISSES], LOOPS + 2, LOOPS + 3);

	/* one that does not come to the barrier */
	assay_stepper_begin(s, 0);
	assay_stepper_mark(s, 0, ASSAY_STEPPER_FORK);
	assay_stepper_mark(s, 0, ASSAY_STEPPER_BARRIER);
	assay_stepper_mark(s, 0, ASSAY_STEPPER_JOIN);
	assay_stepper_mark(s, 1, ASSAY_STEPPER_FORK);
	assay_stepper_mark(s, 1, ASSAY_STEPPER_JOIN);
	assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_WHOLE);
	assert_int_equal(assay_step_replay_run(r, s, NULL), ASSAY_EIO);
	assay_step_replay_free(r);
	assay_stepper_close(s);
	munmap(code, 4096);
}

TEST(what_cannot_be_stepped_is_said_and_runs_to_its_end)
{
	static const struct {
		const char *name, *reason;
		unsigned char code[24];
		unsigned at;
		uint64_t steps;
	} cases[] = {
		/* pushf; popf; ret */
		{ "the trap flag", "flags", { 0x9c, 0x9d, 0xc3 }, 0, 0 },
		/* nop; int3; ret */
		{ "SIGTRAP", "raises SIGTRAP", { 0x90, 0xcc, 0xc3 }, 1, 1 },
		/* xor edi, edi; xor esi, esi; mov eax, 435 (clone3); syscall; ret */
		{ "a thread",
		  "starts threads",
		  { 0x31, 0xff, 0x31, 0xf6, 0xb8, 0xb3, 1, 0, 0, 0x0f, 0x05, 0xc3 },
		  9,
		  3 },
		/* mov edi, -1; mov eax, 13 (rt_sigaction); syscall; ret */
		{ "a handler",
		  "changes or sends signals",
		  { 0xbf, 0xff, 0xff, 0xff, 0xff, 0xb8, 13, 0, 0, 0, 0x0f, 0x05, 0xc3 },
		  10,
		  2 },
		/* mov ecx, 2; 1: mov eax, 1; inc dword [rdi + 6]; dec ecx; jnz 1b; ret */
		{ "code that changes itself",
		  "changed while it ran",
		  { 0xb9, 2, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0xff, 0x47, 6, 0xff, 0xc9, 0x75, 0xf4, 0xc3 },
		  5,
		  5 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		unsigned char *code = place(cases[i].code, sizeof(cases[i].code));
		struct assay_stepper *s = open_stepper(1);
		enum assay_stepper_end end;
		uint64_t at;
		char why[256];

		assay_stepper_begin(s, 0);
		step(s, 0, code, code);
		end = assay_stepper_end(s, &at, why, sizeof(why));
		if (end != ASSAY_STEPPER_REFUSED || !strstr(why, cases[i].reason) ||
		    at != (uintptr_t)code + cases[i].at || assay_stepper_trace(s, 0).steps != cases[i].steps)
			fail_msg("%s: end %d, '%s' at +%lld after %llu steps", cases[i].name, end, why,
				 (long long)(at - (uintptr_t)code),
				 (unsigned long long)assay_stepper_trace(s, 0).steps);
		assay_stepper_close(s);
		munmap(code, 4096);
	}
}

/* mov eax, 39 (getpid); syscall; ret: the instruction behind a system call runs before the next trap. */
TEST(a_system_call_costs_no_instruction)
{
	static const unsigned char getpid_code[] = { 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x90, 0xc3 };
	unsigned char *code = place(getpid_code, sizeof(getpid_code));
	struct assay_stepper *s = open_stepper(1);
	uint64_t at;
	char why[64];

	assay_stepper_begin(s, 0);
	step(s, 0, code, NULL);
	assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_WHOLE);
	assert_int_equal(assay_stepper_trace(s, 0).steps, 4);
	assay_stepper_close(s);
	munmap(code, 4096);
}

TEST(no_more_steps_than_allowed)
{
	unsigned char *code = place(read_lines, sizeof(read_lines));
	struct assay_stepper *s = open_stepper(1);
	uint64_t at;
	char why[64];

	assay_stepper_begin(s, 50);
	step(s, 0, code, memory);
	assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_LIMIT);
	assert_int_equal(assay_stepper_trace(s, 0).steps, 50);
	assay_stepper_close(s);
	munmap(code, 4096);
}

#endif

TEST(what_a_step_costs_is_told_or_why_not)
{
	struct assay_err err = { 0 };
	double ns = 0;

	if (assay_stepper_try(&ns, &err))
		assert_true(err.text[0] != '\0');
	else
		assert_true(ns > 0);
}

/* Against the counters by hand: a branch is predicted by its last outcomes with the same history. */
TEST(branches_train_their_predictors)
{
	static struct assay_branch_model m;

	/* 0 to 1 to 2 with history 0, 1, 11, …: each new history has an untrained counter */
	for (unsigned i = 0; i < 8; i++)
		assert_false(assay_branch_conditional(&m, 64, true));
	assert_false(assay_branch_conditional(&m, 64, true)); /* the second with seven times taken */
	assert_true(assay_branch_conditional(&m, 64, true));
	assert_false(assay_branch_conditional(&m, 64, false));
	assert_true(assay_branch_conditional(&m, 65, false)); /* another address knows nothing: not taken */
	assert_false(assay_branch_indirect(&m, 64, 1000));
	assert_true(assay_branch_indirect(&m, 64, 1000));
	assert_false(assay_branch_indirect(&m, 64, 2000));
}

UNIT_MAIN(NULL, NULL)

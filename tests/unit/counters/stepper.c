/* SPDX-License-Identifier: Apache-2.0 */
/* Code that lies outside of this program, stepped: what is counted of it, and what is refused. */
#include "unit.h"

#include <sys/mman.h>

#include "counters/callgrind/cache_model.h"
#include "counters/step/stepper.h"

#if defined(__x86_64__)
#include <errno.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

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

static struct assay_stepper *open_with(const struct assay_stepper_options *o)
{
	struct assay_stepper *s;
	struct assay_err err = { 0 };

	if (assay_stepper_open(&s, o, &err)) {
		print_message("%s\n", err.text);
		if (err.code != ASSAY_EUNAVAILABLE)
			fail();
		skip();
	}
	return s;
}

static struct assay_stepper *open_stepper(unsigned threads)
{
	return open_with(&(struct assay_stepper_options){ .threads = threads, .max_steps = 10000 });
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

/* One pass of two threads, in each of which @code runs once with @memory: in a region, then behind a barrier. */
static void step_region(struct assay_stepper *s, const unsigned char *const code[2][2])
{
	/* number 1 runs before number 0, which must not matter */
	for (unsigned i = 2; i--;) {
		assay_stepper_mark(s, i, ASSAY_STEPPER_FORK);
		for (unsigned part = 0; part < 2; part++) {
			if (part)
				assay_stepper_mark(s, i, ASSAY_STEPPER_BARRIER);
			if (code[i][part])
				step(s, i, code[i][part], memory);
		}
		assay_stepper_mark(s, i, ASSAY_STEPPER_JOIN);
	}
}

static void end_whole(struct assay_stepper *s)
{
	uint64_t at;
	char why[64];

	assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_WHOLE);
}

TEST(threads_share_the_last_level_alone)
{
	unsigned char *code = place(read_lines, sizeof(read_lines));
	const unsigned char *const both[2][2] = { { code, code }, { code, code } };
	struct assay_stepper *s = open_stepper(2);
	struct assay_step_replay *r = open_replay(2);
	struct assay_exact_counts c[2];

	assay_stepper_begin(s, 0);
	step(s, 0, code, memory);
	step_region(s, both);
	end_whole(s);
	assert_int_equal(assay_step_replay_run(r, s, NULL), 0);
	for (unsigned i = 0; i < 2; i++)
		c[i] = sum(r, i);
	assert_int_equal(c[0].v[ASSAY_EXACT_INSTRUCTIONS], 3 * (4 * LOOPS + 2));
	assert_int_equal(c[1].v[ASSAY_EXACT_INSTRUCTIONS], 2 * (4 * LOOPS + 2));
	/* a line or two of the stack */
	assert_in_range(c[0].v[ASSAY_EXACT_D1_MISSES], LOOPS + 1, LOOPS + 2);
	assert_int_equal(c[1].v[ASSAY_EXACT_D1_MISSES], LOOPS + 1);
	assert_in_range(c[0].v[ASSAY_EXACT_LL_MISSES] + c[1].v[ASSAY_EXACT_LL_MISSES], LOOPS + 2, LOOPS + 3);

	/* one that does not come to the barrier */
	assay_stepper_begin(s, 0);
	assay_stepper_mark(s, 0, ASSAY_STEPPER_FORK);
	assay_stepper_mark(s, 0, ASSAY_STEPPER_BARRIER);
	assay_stepper_mark(s, 0, ASSAY_STEPPER_JOIN);
	assay_stepper_mark(s, 1, ASSAY_STEPPER_FORK);
	assay_stepper_mark(s, 1, ASSAY_STEPPER_JOIN);
	end_whole(s);
	assert_int_equal(assay_step_replay_run(r, s, NULL), ASSAY_EIO);
	assay_step_replay_free(r);
	assay_stepper_close(s);
	munmap(code, 4096);
}

/* Number 0 has read all lines; number 1 writes to them; number 0 reads again and finds them in the last level. */
TEST(what_a_thread_writes_the_others_lose)
{
	unsigned char adds[sizeof(read_lines)], *reader, *writer;
	struct assay_stepper *s = open_stepper(2);
	struct assay_step_replay *r = open_replay(2);
	struct assay_exact_counts c[2];

	memcpy(adds, read_lines, sizeof(adds));
	adds[6] = 0x01; /* add [rdi], rax: a write, as callgrind has it */
	reader = place(read_lines, sizeof(read_lines));
	writer = place(adds, sizeof(adds));
	assay_stepper_begin(s, 0);
	step(s, 0, reader, memory);
	step_region(s, (const unsigned char *const[2][2]){ { NULL, reader }, { writer, NULL } });
	end_whole(s);
	assert_int_equal(assay_step_replay_run(r, s, NULL), 0);
	for (unsigned i = 0; i < 2; i++)
		c[i] = sum(r, i);
	assert_int_equal(c[0].v[ASSAY_EXACT_DATA_WRITES], 0);
	assert_int_equal(c[1].v[ASSAY_EXACT_DATA_WRITES], LOOPS);
	assert_int_equal(c[1].v[ASSAY_EXACT_DATA_READS], 1);
	assert_in_range(c[0].v[ASSAY_EXACT_D1_MISSES], 2 * LOOPS + 1, 2 * LOOPS + 2);
	assert_in_range(c[0].v[ASSAY_EXACT_LL_MISSES], LOOPS + 1, LOOPS + 3);
	assay_step_replay_free(r);
	assay_stepper_close(s);
	munmap(reader, 4096);
	munmap(writer, 4096);
}

static uint64_t l2_misses(const struct assay_step_replay *r, unsigned thread)
{
	uint64_t out = 0;
	size_t n;
	const struct assay_step_counts *v = assay_step_replay_counts(r, thread, &n);

	for (size_t i = 0; i < n; i++)
		out += v[i].l2_misses;
	return out;
}

/* Lines that D1 cannot hold come from the own L2 of the thread where there are several, from the last level else. */
TEST(each_of_several_threads_has_an_l2)
{
	static const struct assay_cache_model model = {
		.i1 = { 1024, 2, 64 }, .d1 = { 1024, 2, 64 }, .l2 = { 16384, 4, 64 }, .ll = { 1 << 20, 16, 64 }
	};
	unsigned char *code = place(read_lines, sizeof(read_lines));

	for (unsigned threads = 1; threads <= 2; threads++) {
		struct assay_stepper *s = open_stepper(threads);
		struct assay_step_replay *r;

		assert_int_equal(assay_step_replay_new(&r, &model, threads, NULL), 0);
		assay_step_replay_empty(r);
		assay_stepper_begin(s, 0);
		step(s, 0, code, memory);
		step(s, 0, code, memory);
		end_whole(s);
		assert_int_equal(assay_step_replay_run(r, s, NULL), 0);
		assert_in_range(sum(r, 0).v[ASSAY_EXACT_D1_MISSES], 2 * LOOPS + 1, 2 * LOOPS + 2);
		assert_int_equal(sum(r, 0).v[ASSAY_EXACT_LL_MISSES], LOOPS + 2);
		assert_int_equal(l2_misses(r, 0), threads > 1 ? LOOPS + 2 : 0);
		assay_step_replay_free(r);
		assay_stepper_close(s);
	}
	munmap(code, 4096);
}

/* How code of the tests ended: after how many steps, why, and how far into it. */
struct end {
	enum assay_stepper_end how;
	uint64_t steps;
	long long at;
	char why[256];
};

/* Step @n bytes of code with their own address as the argument, or @argument. */
static struct end step_code(const unsigned char *bytes, size_t n, uint64_t max_steps, const void *argument)
{
	unsigned char *code = place(bytes, n);
	struct assay_stepper *s = open_stepper(1);
	struct end end;
	uint64_t at;

	assay_stepper_begin(s, max_steps);
	step(s, 0, code, argument ? argument : code);
	end.how = assay_stepper_end(s, &at, end.why, sizeof(end.why));
	end.at = (long long)(at - (uintptr_t)code);
	end.steps = assay_stepper_trace(s, 0).steps;
	assay_stepper_close(s);
	munmap(code, 4096);
	return end;
}

/* The handler of an expected signal: it goes on behind the two bytes that raised it. */
static void skip_two(int number, siginfo_t *info, void *ucontext)
{
	(void)number;
	(void)info;
	((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP] += 2;
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
		{ "the trap flag", "reads or writes the processor's flags", { 0x9c, 0x9d, 0xc3 }, 0, 0 },
		/* nop; int3; ret */
		{ "SIGTRAP", "raises SIGTRAP", { 0x90, 0xcc, 0xc3 }, 1, 1 },
		/* mov eax, 20 (getpid of 32 bits); int 0x80; ret */
		{ "an old call",
		  "calls the system as programs of 32 bits do",
		  { 0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3 },
		  5,
		  1 },
		/* xor edi, edi; xor esi, esi; mov eax, 435 (clone3); syscall; ret */
		{ "a thread",
		  "starts threads",
		  { 0x31, 0xff, 0x31, 0xf6, 0xb8, 0xb3, 1, 0, 0, 0x0f, 0x05, 0xc3 },
		  9,
		  3 },
		/* mov edi, -1; mov eax, 13 (rt_sigaction); syscall; ret */
		{ "a handler",
		  "changes or sends signals, as starting a thread does",
		  { 0xbf, 0xff, 0xff, 0xff, 0xff, 0xb8, 13, 0, 0, 0, 0x0f, 0x05, 0xc3 },
		  10,
		  2 },
		/* mov ecx, 2; 1: mov eax, 1; inc dword [rdi + 6]; dec ecx; jnz 1b; ret */
		{ "code that changes itself",
		  "changed while it ran: b8 01 00 00 00",
		  { 0xb9, 2, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0xff, 0x47, 6, 0xff, 0xc9, 0x75, 0xf4, 0xc3 },
		  5,
		  5 },
		/* nop; an opcode that is none; ret */
		{ "an unknown instruction", "is not a known instruction: 0f 04", { 0x90, 0x0f, 0x04, 0xc3 }, 1, 1 },
		/* movd mm0, eax; maskmovq mm0, mm0; emms; ret */
		{ "an instruction of unknown reach",
		  "is an instruction whose memory accesses are not known: 0f f7 c0",
		  { 0x0f, 0x6e, 0xc0, 0x0f, 0xf7, 0xc0, 0x0f, 0x77, 0xc3 },
		  3,
		  1 },
		/* xor eax, eax; mov al, [rax], whose signal is foreseen; nop; ret */
		{ "a handler that goes on elsewhere",
		  "is not where the instruction before it leads",
		  { 0x31, 0xc0, 0x8a, 0x00, 0x90, 0xc3 },
		  5,
		  2 },
	};
	const struct sigaction on_fault = { .sa_sigaction = skip_two, .sa_flags = SA_SIGINFO };
	struct sigaction segv, ill;

	sigaction(SIGSEGV, &on_fault, &segv);
	sigaction(SIGILL, &on_fault, &ill);
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct end end = step_code(cases[i].code, sizeof(cases[i].code), 0, NULL);

		if (end.how != ASSAY_STEPPER_REFUSED || strncmp(end.why, cases[i].reason, strlen(cases[i].reason)) ||
		    end.at != cases[i].at || end.steps != cases[i].steps)
			fail_msg("%s: end %d, '%s' at +%lld after %llu steps", cases[i].name, end.how, end.why, end.at,
				 (unsigned long long)end.steps);
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGILL, &ill, NULL);
}

TEST(what_may_not_be_is_told_apart_from_what_follows)
{
	const uint64_t stack[1] = { 0x3000 };
	const struct assay_step_regs before = { .gpr = { [ASSAY_STEP_RSP] = (uintptr_t)stack } };
	static const struct {
		enum assay_step_flow flow;
		enum assay_step_rep rep;
		uint64_t rip;
		bool follows;
	} cases[] = {
		{ ASSAY_STEP_NEXT, ASSAY_STEP_NO_REP, 0x1002, true },
		{ ASSAY_STEP_NEXT, ASSAY_STEP_NO_REP, 0x1000, false },
		{ ASSAY_STEP_NEXT, ASSAY_STEP_REP, 0x1000, true },
		{ ASSAY_STEP_NEXT, ASSAY_STEP_NO_REP, 0x1004, false },
		{ ASSAY_STEP_CONDITIONAL, ASSAY_STEP_NO_REP, 0x1002, true },
		{ ASSAY_STEP_CONDITIONAL, ASSAY_STEP_NO_REP, 0x2000, true },
		{ ASSAY_STEP_CONDITIONAL, ASSAY_STEP_NO_REP, 0x2001, false },
		{ ASSAY_STEP_JUMP, ASSAY_STEP_NO_REP, 0x2000, true },
		{ ASSAY_STEP_CALL, ASSAY_STEP_NO_REP, 0x1002, false },
		{ ASSAY_STEP_JUMP_INDIRECT, ASSAY_STEP_NO_REP, 0x5000, true },
		{ ASSAY_STEP_RETURN, ASSAY_STEP_NO_REP, 0x3000, true },
		{ ASSAY_STEP_RETURN, ASSAY_STEP_NO_REP, 0x1002, false },
		{ ASSAY_STEP_SYSCALL, ASSAY_STEP_NO_REP, 0x1002, true },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_step_insn insn = {
			.address = 0x1000, .length = 2, .target = 0x2000, .flow = cases[i].flow, .rep = cases[i].rep
		};
		const struct assay_step_regs now = { .rip = cases[i].rip };

		if (assay_step_follows(&insn, &before, &now) != cases[i].follows)
			fail_msg("case %zu", i);
	}
}

/* Code after a system call is stepped like any other, and finds the value that the call returned. */
TEST(a_system_call_is_one_step)
{
	static struct {
		uint64_t pid, rcx, r11;
	} got;
	/* mov rdx, rdi; mov eax, 39 (getpid); syscall; mov [rdx], rax; mov [rdx + 8], rcx; mov [rdx + 16], r11;
	 * mov eax, 39; syscall; mov eax, 39; syscall; ret */
	static const unsigned char code[] = { 0x48, 0x89, 0xfa, 0xb8, 39,   0,    0,    0,    0x0f, 0x05, 0x48, 0x89,
					      0x02, 0x48, 0x89, 0x4a, 8,    0x4c, 0x89, 0x5a, 16,   0xb8, 39,   0,
					      0,    0,    0x0f, 0x05, 0xb8, 39,   0,    0,    0,    0x0f, 0x05, 0xc3 };
	const struct end end = step_code(code, sizeof(code), 0, &got);

	if (end.how != ASSAY_STEPPER_WHOLE)
		fail_msg("'%s' at +%lld", end.why, end.at);
	assert_int_equal(end.steps, 11);
	assert_int_equal(got.pid, getpid());
	assert_int_equal(got.rcx & 0xfff, 10);
	assert_false(got.r11 & 0x100);
}

TEST(no_more_steps_than_allowed)
{
	const struct end end = step_code(read_lines, sizeof(read_lines), 50, memory);

	assert_int_equal(end.how, ASSAY_STEPPER_LIMIT);
	assert_int_equal(end.steps, 50);
}

#endif

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

UNIT_GROUP(NULL, NULL)

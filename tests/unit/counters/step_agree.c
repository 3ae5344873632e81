/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding and caches against callgrind: this program does some work under valgrind, then steps through the same work
 * itself. Instructions, reads and writes are equal; misses differ by what surrounds the work.
 */
#include "unit.h"
#include "base/file.h"
#include "base/process.h"
#include "counters/callgrind/cache_model.h"
#include "counters/callgrind/callgrind.h"
#include "counters/step/decode.h"

#if defined(__x86_64__) && ASSAY_ZYDIS
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define WORK      __attribute__((noinline, section("step_work"), used))
#define INNER     "under-valgrind"
#define TRAP_FLAG 0x100

/* The linker's: where the section begins and ends. */
extern const uint8_t __start_step_work[], __stop_step_work[];

/* ---- the work; its functions begin with work_ ---- */

#define ROOM (UINT64_C(1) << 20)

static uint8_t *room; /* on a boundary of 128 KiB, so that both runs use the same sets */

/* Words that cross lines, more of them than D1 holds, and the same again. */
WORK static uint64_t work_strides(const uint8_t *from)
{
	uint64_t sum = 0;

	for (unsigned turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < 1200; i++) {
			uint64_t word;

			memcpy(&word, from + i * 60, sizeof(word));
			sum += word ^ i;
			__asm__ volatile("" : "+r"(sum));
		}
	return sum;
}

/* Reads and writes that follow no line. */
WORK static void work_scatter(uint32_t *at)
{
	uint32_t n = 1;

	for (unsigned i = 0; i < 600; i++) {
		n = n * 1103515245u + 12345;
		at[n >> 15] += i;
		if (n & 0x10000)
			at[n >> 16] = i;
	}
}

WORK static unsigned work_calls(unsigned n)
{
	return n < 2 ? n : work_calls(n - 1) + work_calls(n - 2);
}

/* Counts come from memory: valgrind leaves out what it can work out beforehand. */
WORK static void work_strings(volatile uint64_t *counts, uint8_t *to)
{
	uint64_t n = counts[0];
	uint8_t *from = to + 8192, *end = to;

	__asm__ volatile("rep movsq" : "+c"(n), "+S"(from), "+D"(end) : : "memory");
	n = counts[1];
	__asm__ volatile("rep stosb" : "+c"(n), "+D"(end) : "a"(7) : "memory");
	n = counts[2];
	end = to + 16384;
	__asm__ volatile("repne scasb" : "+c"(n), "+D"(end) : "a"(1) : "memory", "cc");
	n = counts[3];
	end = to + 16384;
	from = to + 32768;
	__asm__ volatile("repe cmpsb" : "+c"(n), "+D"(end), "+S"(from) : : "memory", "cc");
	n = counts[4];
	__asm__ volatile("rep movsb" : "+c"(n), "+S"(from), "+D"(end) : : "memory");
}

WORK static void work_locked(uint64_t *at)
{
	uint64_t old = 5;

	for (unsigned i = 0; i < 20; i++)
		__asm__ volatile("lock addq $1, (%1)\n\t"
				 "addq $1, 8(%1)\n\t"
				 "xchg %0, 16(%1)\n\t"
				 "lock cmpxchg %0, 24(%1)\n\t"
				 "xadd %0, 32(%1)\n\t"
				 "lock xadd %0, 40(%1)\n\t"
				 "btsq $5, 48(%1)\n\t"
				 "push 56(%1)\n\t"
				 "pop 64(%1)\n\t"
				 "prefetcht0 4096(%1)\n\t"
				 "movnti %0, 72(%1)\n\t"
				 "notl 80(%1)"
				 : "+r"(old)
				 : "r"(at)
				 : "rax", "memory", "cc");
}

WORK static void work_vectors(uint8_t *at)
{
	for (unsigned i = 0; i < 100; i++)
		__asm__ volatile("vmovdqu (%0), %%ymm0\n\t"
				 "vpaddd 40(%0), %%ymm0, %%ymm1\n\t"
				 "vpbroadcastw 2(%0), %%ymm2\n\t"
				 "vpmovzxbd 8(%0), %%ymm3\n\t"
				 "vfmadd231ps 4096(%0), %%ymm0, %%ymm1\n\t"
				 "vfmadd231sd 64(%0), %%xmm0, %%xmm1\n\t"
				 "vmovddup 80(%0), %%ymm4\n\t"
				 "vinserti128 $1, 96(%0), %%ymm4, %%ymm4\n\t"
				 "vmovntps %%ymm3, 8192(%1)\n\t"
				 "vmovdqu %%ymm1, 100(%0)\n\t"
				 "vextracti128 $1, %%ymm2, 140(%0)\n\t"
				 "vpsrld 16(%0), %%ymm1, %%ymm1\n\t"
				 "movhps %%xmm3, 160(%0)\n\t"
				 "vzeroupper"
				 :
				 : "r"(at + (size_t)i * 36), "r"(at + (size_t)i * 64)
				 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4");
}

static bool has_vectors(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

WORK static void work_all(bool vectors)
{
	uint64_t counts[5] = { 40, 30, 20, 10, 0 };

	work_strides(room + 24);
	work_scatter((uint32_t *)(void *)room);
	work_calls(9);
	work_strings(counts, room);
	work_locked((uint64_t *)(void *)room);
	if (vectors)
		work_vectors(room + 65536);
}

static void make_room(void)
{
	const uint64_t boundary = UINT64_C(1) << 17;
	uint8_t *all = mmap(NULL, ROOM + boundary, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		abort();
	room = all + (-(uintptr_t)all & (boundary - 1));
	for (uint64_t i = 0; i < ROOM; i += 4096)
		room[i] = 1;
}

static int inner(void)
{
	make_room();
	assay_callgrind_start();
	work_all(has_vectors());
	assay_callgrind_dump(false);
	assay_callgrind_stop();
	return 0;
}

/* ---- stepping ---- */

static struct {
	struct assay_step_table *table;
	struct assay_cache_sim i1, d1, ll;
	struct assay_step_regs regs, before;
	const struct assay_step_insn *last;
	struct assay_step_refusal why;
	struct assay_exact_counts counts;
	bool refused;
} stepped;

static void count_access(struct assay_cache_sim *first, uint64_t address, uint32_t bytes, enum assay_exact_event miss)
{
	const enum assay_cache_found found = assay_cache_sim_access(first, NULL, &stepped.ll, address, bytes);

	stepped.counts.v[miss] += found != ASSAY_CACHE_L1;
	stepped.counts.v[ASSAY_EXACT_LL_MISSES] += found == ASSAY_CACHE_MEMORY;
}

static void step(void)
{
	const struct assay_step_insn *insn = assay_step_table_get(stepped.table, stepped.regs.rip, &stepped.why);
	struct assay_step_accesses acc;

	if (!insn || assay_step_accesses(insn, &stepped.regs, &acc)) {
		stepped.refused = true;
		return;
	}
	count_access(&stepped.i1, insn->address, insn->length, ASSAY_EXACT_I1_MISSES);
	for (unsigned i = 0; i < acc.n; i++) {
		if (acc.a[i].kind == ASSAY_STEP_PREFETCH)
			continue;
		stepped.counts.v[acc.a[i].kind == ASSAY_STEP_READ ? ASSAY_EXACT_DATA_READS : ASSAY_EXACT_DATA_WRITES]++;
		count_access(&stepped.d1, acc.a[i].address, acc.a[i].bytes, ASSAY_EXACT_D1_MISSES);
	}
	stepped.last = insn;
	stepped.before = stepped.regs;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	assay_step_regs_take(&stepped.regs, context);
	if (stepped.last) {
		const struct assay_step_outcome o = assay_step_outcome(stepped.last, &stepped.before, &stepped.regs);

		stepped.counts.v[ASSAY_EXACT_INSTRUCTIONS] += o.instructions;
		stepped.counts.v[ASSAY_EXACT_BRANCHES] += o.branches;
		stepped.last = NULL;
	}
	if (stepped.regs.rip >= (uintptr_t)__start_step_work && stepped.regs.rip < (uintptr_t)__stop_step_work)
		step();
}

static void step_through(const struct assay_cache_model *model)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const bool vectors = has_vectors();

	assert_int_equal(assay_step_table_new(&stepped.table, 4096, NULL), 0);
	assert_int_equal(assay_cache_sim_init(&stepped.i1, &model->i1, NULL), 0);
	assert_int_equal(assay_cache_sim_init(&stepped.d1, &model->d1, NULL), 0);
	assert_int_equal(assay_cache_sim_init(&stepped.ll, &model->ll, NULL), 0);
	assay_step_regs_bases(&stepped.regs);
	make_room();
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	__asm__ volatile("sub $128, %%rsp; pushf; orq %0, (%%rsp); popf; add $128, %%rsp"
			 :
			 : "i"(TRAP_FLAG)
			 : "memory", "cc");
	work_all(vectors);
	__asm__ volatile("sub $128, %%rsp; pushf; andq %0, (%%rsp); popf; add $128, %%rsp"
			 :
			 : "i"(~TRAP_FLAG)
			 : "memory", "cc");
	if (stepped.refused)
		fail_msg("status %d at 0x%llx", stepped.why.status, (unsigned long long)stepped.why.address);
}

static void count_by_callgrind(const struct assay_cache_model *model, struct assay_exact_counts *out)
{
	struct assay_callgrind_command command;
	const char *argv[N_OF(command.prefix) + 3];
	char folder[] = "/tmp/step-agree-XXXXXX", file[64], log[64], self[4096], *text = NULL;
	struct assay_exact_case c = { .key = "" };
	struct assay_err err = { 0 };
	size_t n = 0, len;
	const ssize_t got = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(got > 0);
	self[got] = '\0';
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/out", folder);
	snprintf(log, sizeof(log), "%s/log", folder);
	assay_callgrind_command(&command, model, file, log);
	for (; command.prefix[n]; n++)
		argv[n] = command.prefix[n];
	argv[n++] = self;
	argv[n++] = INNER;
	argv[n] = NULL;
	if (assay_process_capture(&(struct assay_capture){ .argv = argv, .timeout_ns = 120000000000u }, &text, &err))
		fail_msg("%s", err.text);
	free(text);
	if (assay_file_read(file, &text, &len, &err) ||
	    assay_callgrind_parse(text, ASSAY_CALLGRIND_RUN, NULL, &c, &err))
		fail_msg("%s", err.text);
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < c.n_functions; i++)
		for (size_t e = 0; e < ASSAY_N_EXACT_EVENTS && !strncmp(c.functions[i].name, "work_", 5); e++)
			out->v[e] += c.functions[i].counts.v[e];
	free(text);
	assay_exact_case_release(&c);
	unlink(file);
	unlink(log);
	rmdir(folder);
}

TEST(counts_are_those_of_callgrind)
{
	struct assay_exact_counts counts;
	struct assay_cache_model model;
	struct assay_err err = { 0 };
	char version[64];

	if (assay_callgrind_probe(version, sizeof(version), &err)) {
		print_message("%s\n", err.text);
		skip();
	}
	assert_true(assay_cache_model_find("canon", &model));
	count_by_callgrind(&model, &counts);
	step_through(&model);
	for (size_t e = 0; e < ASSAY_N_EXACT_EVENTS; e++) {
		const uint64_t a = counts.v[e], b = stepped.counts.v[e];
		/* The code around the work leaves a few lines in the caches. */
		const uint64_t allowed = e < ASSAY_EXACT_I1_MISSES ? 0 : a / 100 + 4;

		if (e == ASSAY_EXACT_BRANCHES || e == ASSAY_EXACT_MISPREDICTIONS)
			continue;
		if (a + allowed < b || b + allowed < a)
			fail_msg("%s: callgrind %llu, stepped %llu", assay_exact_event_name(e), (unsigned long long)a,
				 (unsigned long long)b);
	}
	assert_true(counts.v[ASSAY_EXACT_D1_MISSES] > 2000);
	assay_step_table_free(stepped.table);
	assay_cache_sim_release(&stepped.i1);
	assay_cache_sim_release(&stepped.d1);
	assay_cache_sim_release(&stepped.ll);
}

static bool is_inner(int argc, char **argv, int *status)
{
	const bool is = argc == 2 && !strcmp(argv[1], INNER);

	if (is)
		*status = inner();
	return is;
}

UNIT_GROUP_WITH(NULL, NULL, NULL, is_inner)
#else
TEST(is_for_x86_64_with_zydis)
{
	assert_int_equal(assay_step_probe(NULL), ASSAY_EUNAVAILABLE);
}

UNIT_GROUP(NULL, NULL)
#endif

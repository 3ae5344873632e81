/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that an instruction is said to reach, against what the processor does: between pages that cannot be
 * touched it must run where the accesses just fit, fault where they are moved by a byte, and fault for writes where
 * memory is read-only.
 */
#include "unit.h"
#include "counters/step/decode.h"

#if defined(__x86_64__) && ASSAY_ZYDIS
#include <signal.h>
#include <sys/mman.h>

#include "step_probes.h"

/* clang-format off */
STEP_PROBES(STEP_PROBE_ASSEMBLE)
STEP_PROBES(STEP_PROBE_DECLARE)
/* clang-format on */

static const struct step_probe probes[] = { STEP_PROBES(STEP_PROBE_ROW) };

#define PAGE 4096

/* Two pages amid forbidden ones. */
static uint8_t *room, *elsewhere;
static uint8_t area[STEP_AREA_BYTES] __attribute__((aligned(64)));
static sigjmp_buf back;

static void on_fault(int signal)
{
	siglongjmp(back, signal);
}

/* Call the probe with rdi, rsi, rcx 1, rax 0 and the vector registers of the area. */
static __attribute__((noinline)) void call(const struct step_probe *p, const uint8_t *rdi, const uint8_t *rsi)
{
	register const uint8_t *const code __asm__("r8") = p->code;
	register const uint8_t *const registers __asm__("r9") = area;

	/* The red zone below rsp may hold variables of this function. */
	__asm__ volatile("sub $256, %%rsp\n\t"
			 "mov $0xe6, %%eax\n\t"
			 "xor %%edx, %%edx\n\t"
			 "xrstor (%%r9)\n\t"
			 "mov $1, %%ecx\n\t"
			 "xor %%eax, %%eax\n\t"
			 "call *%%r8\n\t"
			 "add $256, %%rsp"
			 : "+D"(rdi), "+S"(rsi)
			 : "r"(code), "r"(registers)
			 : "rax", "rcx", "rdx", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
			   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/* 0, or the signal that it raised. */
static int run(const struct step_probe *p, const uint8_t *rdi, const uint8_t *rsi)
{
	const int signal = sigsetjmp(back, 1);

	if (!signal)
		call(p, rdi, rsi);
	return signal;
}

/* The memory reported for the probe with rdi at @at: the first byte, and the one behind the last, around there. */
struct reach {
	struct assay_step_insn insn;
	struct assay_step_accesses acc;
	uint64_t begin, end;
	uint32_t bytes; /* of the largest access */
	bool writes, elsewhere, hints;
	bool unknown; /* it depends on a mask register, and this processor has none */
};

static struct reach reach_of(const struct step_probe *p, const uint8_t *at)
{
	struct assay_step_regs r = { .xsave = area, .xsave_bytes = sizeof(area) };
	struct reach out = { .begin = UINT64_MAX };
	enum assay_step_status status;
	unsigned offset;

	r.gpr[ASSAY_STEP_RDI] = (uintptr_t)at;
	r.gpr[ASSAY_STEP_RSI] = (uintptr_t)elsewhere;
	r.gpr[ASSAY_STEP_RCX] = 1;
	step_area_fill(area, p->mask);
	assert_int_equal(assay_step_decode(p->code, ASSAY_STEP_LENGTH_MAX, (uintptr_t)p->code, &out.insn),
			 ASSAY_STEP_OK);
	status = assay_step_accesses(&out.insn, &r, &out.acc);
	out.unknown = status == ASSAY_STEP_NO_VECTORS && !step_part(5, &offset);
	if (out.unknown)
		return out;
	assert_int_equal(status, ASSAY_STEP_OK);
	for (unsigned i = 0; i < out.acc.n; i++) {
		const struct assay_step_access *a = &out.acc.a[i];

		if (a->address == (uintptr_t)elsewhere)
			continue;
		out.hints = out.hints || a->kind == ASSAY_STEP_PREFETCH;
		out.writes = out.writes || a->kind == ASSAY_STEP_WRITE || a->kind == ASSAY_STEP_MODIFY;
		out.elsewhere = out.elsewhere || a->address - (uintptr_t)at + PAGE > 2 * PAGE;
		out.begin = out.begin < a->address ? out.begin : a->address;
		out.end = out.end > a->address + a->bytes ? out.end : a->address + a->bytes;
		out.bytes = out.bytes > a->bytes ? out.bytes : a->bytes;
	}
	return out;
}

/*
 * Not the stack, other segments and what goes elsewhere. clflush asks for a page of which it touches nothing, and
 * maskmovdqu for all 16 bytes whatever it writes.
 */
static bool is_tried(const struct step_probe *p, const struct reach *r)
{
	return !r->unknown && r->insn.flow == ASSAY_STEP_NEXT && !r->elsewhere && (!r->acc.n || r->end) &&
	       !strstr(p->accesses ? p->accesses : "rsp", "rsp") && !strstr(p->accesses, "rbx") &&
	       !strstr(p->accesses, "rbp") && !strstr(p->accesses, "fs") && strcmp(p->name, "load_other_segment") &&
	       strcmp(p->name, "flush") && strcmp(p->name, "signed_bytes");
}

/* Faults unless the whole lies where a multiple of its size is. */
static bool is_aligned(const struct reach *r)
{
	return (r->insn.operands[0].non_temporal && r->bytes >= 16) ||
	       (r->insn.operands[0].access == ASSAY_STEP_MODIFY && r->bytes == 16);
}

static void set_room(int protection)
{
	assert_int_equal(mprotect(room, 2 * (size_t)PAGE, protection), 0);
}

/* Nothing or SIGSEGV is expected; SIGILL is a processor without the instruction. */
static bool try_at(const struct step_probe *p, const uint8_t *at, bool faults, const char *what)
{
	int signal;

	step_area_fill(area, p->mask);
	signal = run(p, at, elsewhere);
	if (signal == SIGILL)
		return false;
	if ((signal == SIGSEGV) != faults)
		fail_msg("%s: %s: signal %d", p->name, what, signal);
	return true;
}

static unsigned check(const struct step_probe *p)
{
	uint8_t *const middle = room + PAGE;
	const struct reach r = reach_of(p, middle);
	const uint64_t at = (uintptr_t)middle;
	const unsigned step = is_aligned(&r) ? r.bytes : 1;
	uint8_t *first, *last;

	if (!is_tried(p, &r))
		return 0;
	if (!r.acc.n || r.hints)
		return try_at(p, room - PAGE / 2, false, "nothing is touched");
	first = room + (ptrdiff_t)(at - r.begin);
	last = middle + PAGE - (ptrdiff_t)(r.end - at);
	set_room(PROT_READ | PROT_WRITE);
	if (!try_at(p, first, false, "begins with the room") || !try_at(p, first - step, true, "begins before it") ||
	    !try_at(p, last, false, "ends with the room") || !try_at(p, last + step, true, "ends behind it"))
		return 0;
	set_room(PROT_READ);
	return try_at(p, middle, r.writes, "writes");
}

static void make_room(void)
{
	const struct sigaction action = { .sa_handler = on_fault };
	uint8_t *all = mmap(NULL, 12 * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(all != MAP_FAILED);
	room = all + 4 * (size_t)PAGE;
	elsewhere = all + 10 * (size_t)PAGE;
	assert_int_equal(mprotect(elsewhere, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	assert_int_equal(sigaction(SIGILL, &action, NULL), 0);
}

TEST(memory_is_what_the_processor_touches)
{
	unsigned tried = 0, offset;

	make_room();
	for (size_t i = 0; i < N_OF(probes); i++)
		tried += check(&probes[i]);
	assert_true(tried > 30);
	if (step_part(5, &offset))
		assert_true(tried > 70);
}

UNIT_GROUP(NULL, NULL)
#else
TEST(is_for_x86_64_with_zydis)
{
	assert_int_equal(assay_step_probe(NULL), ASSAY_EUNAVAILABLE);
}

UNIT_GROUP(NULL, NULL)
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory an instruction reaches and what it calculates, from made-up registers; the table of instructions. */
#include "unit.h"
#include "counters/step/decode.h"

#if defined(__x86_64__) && ASSAY_ZYDIS
#include <sys/mman.h>
#include <unistd.h>

#include "step_probes.h"

/* clang-format off */
STEP_PROBES(STEP_PROBE_ASSEMBLE)
STEP_PROBES(STEP_PROBE_DECLARE)
/* clang-format on */

static const struct step_probe probes[] = { STEP_PROBES(STEP_PROBE_ROW) };

/* Where registers point; far enough apart that an address tells which one it came from. */
#define BASE(n) ((n) << 34)
static const struct {
	const char *name;
	uint64_t at;
} bases[] = {
	{ "rdi", 0x40000000 }, { "rsi", BASE(1ull) }, { "rsp", BASE(2ull) },
	{ "rbp", BASE(3ull) }, { "rbx", BASE(4ull) }, { "fs", BASE(5ull) },
};

static uint8_t area[STEP_AREA_BYTES] __attribute__((aligned(64)));

static struct assay_step_regs registers(uint64_t mask)
{
	struct assay_step_regs r = {
		.fs_base = bases[5].at, .gs_base = 65536, .xsave = area, .xsave_bytes = sizeof(area)
	};

	step_area_fill(area, mask);
	r.gpr[ASSAY_STEP_RDI] = bases[0].at;
	r.gpr[ASSAY_STEP_RSI] = bases[1].at;
	r.gpr[ASSAY_STEP_RSP] = bases[2].at;
	r.gpr[ASSAY_STEP_RBP] = bases[3].at;
	r.gpr[ASSAY_STEP_RBX] = bases[4].at;
	r.gpr[ASSAY_STEP_RCX] = 3;
	r.gpr[ASSAY_STEP_RAX] = 0x12345602;
	return r;
}

static void accesses_text(const struct assay_step_accesses *acc, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < acc->n && at < size; i++) {
		const struct assay_step_access *a = &acc->a[i];
		size_t near = 0;

		for (size_t b = 1; b < N_OF(bases); b++)
			if (llabs((long long)(a->address - bases[b].at)) <
			    llabs((long long)(a->address - bases[near].at)))
				near = b;
		at += (size_t)snprintf(buf + at, size - at, "%s%c%s %s%+lld %u", i ? ", " : "", "rwmp"[a->kind],
				       a -> non_temporal ? "n" : "", bases[near].name,
				       (long long)(a->address - bases[near].at), a->bytes);
	}
}

/* Does this processor save the registers that the probe needs? Only then are they known. */
static bool has_upper_registers(void)
{
	unsigned offset;

	return step_part(7, &offset);
}

TEST(memory_follows_from_registers)
{
	for (size_t i = 0; i < N_OF(probes); i++) {
		const struct step_probe *p = &probes[i];
		const struct assay_step_regs r = registers(p->mask);
		struct assay_step_accesses acc;
		struct assay_step_insn insn;
		enum assay_step_status rc;
		char text[1024];

		rc = assay_step_decode(p->code, ASSAY_STEP_LENGTH_MAX, (uintptr_t)p->code, &insn);
		if (rc)
			fail_msg("%s: %d", p->name, rc);
		rc = assay_step_accesses(&insn, &r, &acc);
		if (rc == ASSAY_STEP_NO_VECTORS && !has_upper_registers())
			continue;
		assert_int_equal(rc, ASSAY_STEP_OK);
		if (!p->accesses) {
			assert_int_equal(acc.a[0].address, (uintptr_t)step_probe_load);
			continue;
		}
		accesses_text(&acc, text, sizeof(text));
		if (strcmp(text, p->accesses))
			fail_msg("%s: '%s', expected '%s'", p->name, text, p->accesses);
	}
}

TEST(what_needs_vectors_is_refused_without)
{
	struct assay_step_regs r = registers(1);
	struct assay_step_accesses acc;
	struct assay_step_insn insn;

	r.xsave = NULL;
	assert_int_equal(assay_step_decode(step_probe_masked, ASSAY_STEP_LENGTH_MAX, 0, &insn), ASSAY_STEP_OK);
	assert_int_equal(assay_step_accesses(&insn, &r, &acc), ASSAY_STEP_NO_VECTORS);
	assert_int_equal(assay_step_decode(step_probe_signed_load, ASSAY_STEP_LENGTH_MAX, 0, &insn), ASSAY_STEP_OK);
	assert_int_equal(assay_step_accesses(&insn, &r, &acc), ASSAY_STEP_NO_VECTORS);
	assert_int_equal(assay_step_decode(step_probe_gather, ASSAY_STEP_LENGTH_MAX, 0, &insn), ASSAY_STEP_OK);
	assert_int_equal(assay_step_accesses(&insn, &r, &acc), ASSAY_STEP_NO_VECTORS);
	assert_int_equal(assay_step_decode(step_probe_load, ASSAY_STEP_LENGTH_MAX, 0, &insn), ASSAY_STEP_OK);
	assert_int_equal(assay_step_accesses(&insn, &r, &acc), ASSAY_STEP_OK);
}

/* A part that XSAVE left out holds zeros, here: a mask that turns all off. */
TEST(registers_in_their_first_state_are_zero)
{
	struct assay_step_regs r = registers(UINT64_MAX);
	struct assay_step_accesses acc;
	struct assay_step_insn insn;
	const uint64_t none = 0;

	memcpy(area + 512, &none, sizeof(none));
	assert_int_equal(assay_step_decode(step_probe_signed_load, ASSAY_STEP_LENGTH_MAX, 0, &insn), ASSAY_STEP_OK);
	assert_int_equal(assay_step_accesses(&insn, &r, &acc), ASSAY_STEP_OK);
	assert_int_equal(acc.n, 0);
}

/* ---- strings ---- */

TEST(repeats_count_the_test_that_ends_them)
{
	static const struct {
		const uint8_t *code;
		uint64_t before, after;
		bool stays, equal;
		unsigned instructions, accesses;
	} cases[] = {
		{ step_probe_copy_repeat, 3, 2, true, false, 1, 2 },
		{ step_probe_copy_repeat, 1, 0, false, false, 2, 2 },
		{ step_probe_copy_repeat, 0, 0, false, false, 1, 0 },
		{ step_probe_fill_repeat, 1, 0, false, true, 2, 1 },
		/* all were equal; they differ before the end, and at it */
		{ step_probe_compare_repeat, 1, 0, false, true, 2, 2 },
		{ step_probe_compare_repeat, 2, 1, false, false, 1, 2 },
		{ step_probe_compare_repeat, 1, 0, false, false, 1, 2 },
		{ step_probe_scan_repeat, 1, 0, false, false, 2, 1 },
		{ step_probe_scan_repeat, 1, 0, false, true, 1, 1 },
		{ step_probe_copy, 1, 1, false, false, 1, 2 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_step_regs before = registers(0), after = before;
		struct assay_step_accesses acc;
		struct assay_step_outcome o;
		struct assay_step_insn insn;

		assert_int_equal(assay_step_decode(cases[i].code, ASSAY_STEP_LENGTH_MAX, 0x1000, &insn), ASSAY_STEP_OK);
		before.gpr[ASSAY_STEP_RCX] = cases[i].before;
		after.gpr[ASSAY_STEP_RCX] = cases[i].after;
		after.rip = cases[i].stays ? 0x1000 : 0x1000u + insn.length;
		after.rflags = cases[i].equal ? 0x40 : 0;
		o = assay_step_outcome(&insn, &before, &after);
		if (o.instructions != cases[i].instructions || o.branches)
			fail_msg("case %zu: %u instructions, %u branches", i, o.instructions, o.branches);
		assert_int_equal(assay_step_accesses(&insn, &before, &acc), ASSAY_STEP_OK);
		assert_int_equal(acc.n, cases[i].accesses);
	}
}

/* ---- branches and calculations ---- */

/* clang-format off */
#define CALCULATIONS(row) \
	row(add, "add %rax, %rcx", 0, INTEGER, SCALAR, 1) \
	row(lea, "lea (%rax,%rcx), %rdx", 0, DATA, SCALAR, 0) \
	row( multiply, "imul %rax, %rcx", 0, INTEGER, SCALAR, 1) \
	row(move, "mov %rax, %rcx", 0, DATA, SCALAR, 0) \
	row(count, "popcnt %rax, %rcx", 0, INTEGER, SCALAR, 1) \
	row(choose, "cmovne %rax, %rcx", 0, DATA, SCALAR, 0) \
	row(clear, "vzeroupper", 0, REST, SCALAR, 0) \
	row(wait, "pause", 0, REST, SCALAR, 0) \
	row(load, "vmovups (%rdi), %ymm0", 0, DATA, 256, 0) \
	row(move_512, "vmovdqa64 %zmm0, %zmm1", 0, DATA, 512, 0) \
	row(add_bytes, "paddb %xmm0, %xmm1", 0, INTEGER, 128, 16) \
	row(dot_2, "vpmaddwd %ymm0, %ymm0, %ymm0", 0, INTEGER, 256, 24) \
	row(dot_pairs, "vpmaddubsw %zmm0, %zmm0, %zmm0", 0, INTEGER, 512, 96) \
	row(dot_4, "vpdpbusd %zmm0, %zmm0, %zmm0", 0, INTEGER, 512, 128) \
	row(dot_4_256, "{vex} vpdpbusd %ymm0, %ymm0, %ymm0", 0, INTEGER, 256, 64) \
	row( dot_4_masked, "vpdpbusd %zmm0, %zmm0, %zmm0{%k1}", 0xfff1000f, INTEGER, 512, 32) \
	row(dot_words, "vpdpwssd %zmm0, %zmm0, %zmm0", 0, INTEGER, 512, 64) \
	row(differences, "vpsadbw %ymm0, %ymm0, %ymm0", 0, INTEGER, 256, 92) \
	row(logic, "vpxor %ymm0, %ymm0, %ymm0", 0, INTEGER, 256, 8) \
	row( logic_q, "vpandq %zmm0, %zmm0, %zmm0", 0, INTEGER, 512, 8) \
	row(three, "vpternlogd $1, %zmm0, %zmm0, %zmm0", 0, INTEGER, 512, 16) \
	row(shift, "vpsrlw $4, %ymm0, %ymm0", 0, INTEGER, 256, 16) \
	row(shift_all, "vpsrldq $4, %ymm0, %ymm0", 0, DATA, 256, 0) \
	row(shuffle, "vpshufb %zmm0, %zmm0, %zmm0", 0, DATA, 512, 0) \
	row(convert, "vcvtdq2ps %zmm0, %zmm0", 0, DATA, 512, 0) \
	row(compare, "vpcmpd $1, %zmm0, %zmm0, %k2", 0, INTEGER, 512, 16) \
	row(class, "vfpclasspsz $1, (%rdi), %k2", 0, FLOAT, 512, 16) \
	row(bits, "vpmultishiftqb %zmm0, %zmm0, %zmm0", 0, DATA, 512, 0) \
	row(wide_product, "vpmuludq %ymm0, %ymm0, %ymm0", 0, INTEGER, 256, 4) \
	row(product, "vpmulld %ymm0, %ymm0, %ymm0", 0, INTEGER, 256, 8) \
	row(product_add, "vpmadd52luq %zmm0, %zmm0, %zmm0", 0, INTEGER, 512, 16) \
	row(add_float, "addss %xmm0, %xmm1", 0, FLOAT, SCALAR, 1) \
	row(add_double, "vaddpd %ymm0, %ymm0, %ymm0", 0, FLOAT, 256, 4) \
	row(fma, "vfmadd231ps %zmm0, %zmm0, %zmm0", 0, FLOAT, 512, 32) \
	row(fma_scalar, "vfmadd132sd %xmm0, %xmm0, " "%xmm0", 0, FLOAT, SCALAR, 2) \
	row(fma_masked, "vfmadd231pd %zmm0, " "%zmm0, " "%zmm0{%k1}", 0x103, FLOAT, 512, 4) \
	row(fma_one, "vfmadd231ss %xmm0, %xmm0, " "%xmm0{%k1}", 2, FLOAT, SCALAR, 0) \
	row(dot_bf16, "vdpbf16ps %zmm0, %zmm0, %zmm0", 0, FLOAT, 512, 64) \
	row(root, "vsqrtps %xmm0, %xmm0", 0, FLOAT, 128, 4) \
	row(maximum, "maxps %xmm0, %xmm0", 0, FLOAT, 128, 4) \
	row(compare_float, "vucomiss %xmm0, %xmm0", 0, FLOAT, SCALAR, 1) \
	row(logic_float, "andps %xmm0, " "%xmm0", 0, INTEGER, 128, 4) \
	row(halves, "vaddph " "%zmm0, " "%zmm0, " "%zmm0", 0, FLOAT, 512, 32) \
	row(masks, "kandw %k1, %k1, " "%k1", 0, INTEGER, SCALAR, 1) \
	row(masks_move, "kmovw %k1, %eax", 0, DATA, SCALAR, 0) \
	row(stack_add, "faddp", 0, FLOAT, SCALAR, 1) \
	row(stack_load, "fld" "1", 0, DATA, SCALAR, 0) \
	row(scan, "scasb", 0, INTEGER, SCALAR, 1) \
	row(copy, "mo" "vs" "b", 0, DATA, SCALAR, 0) \
	row(jump, "jmp " "*%rax", 0, CONTROL, SCALAR, 0) \
	row(call_far_away, "c" "a" "l" "l" " " "*" "%" "r" "a" "x", 0, CONTROL, SCALAR, 0)
/* clang-format on */

#define ASSEMBLE(name, text, mask, kind, width, operations) STEP_PROBE_ASSEMBLE(calculation_##name, text, mask, "")
#define DECLARE(name, text, mask, kind, width, operations)  STEP_PROBE_DECLARE(calculation_##name, text, mask, "")
/* clang-format off */
CALCULATIONS(ASSEMBLE)
CALCULATIONS(DECLARE)
/* clang-format on */

TEST(operations_are_what_is_calculated)
{
	static const struct {
		const char *name;
		const uint8_t *code;
		uint64_t mask;
		enum assay_step_kind kind;
		enum assay_step_width width;
		unsigned operations;
	} cases[] = {
#define ROW(name, text, mask, kind, width, operations)                                                                 \
	{ #name, step_probe_calculation_##name, mask, ASSAY_STEP_##kind, ASSAY_STEP_WIDTH_##width, operations },
		CALCULATIONS(ROW)
#undef ROW
	};
	struct assay_step_mix mix = { 0 };
	uint64_t integer_512 = 0;

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_step_regs r = registers(cases[i].mask);
		struct assay_step_accesses acc = { 0 };
		struct assay_step_insn insn;
		unsigned operations;

		if (assay_step_decode(cases[i].code, ASSAY_STEP_LENGTH_MAX, 0, &insn))
			fail_msg("%s is not decoded", cases[i].name);
		if (cases[i].mask && !has_upper_registers())
			continue;
		assert_int_equal(assay_step_operations(&insn, &r, &operations), ASSAY_STEP_OK);
		if (insn.kind != cases[i].kind || insn.width != cases[i].width || operations != cases[i].operations)
			fail_msg("%s: %s, %s, %u operations", cases[i].name, assay_step_kind_name(insn.kind),
				 assay_step_width_name(insn.width), operations);
		assert_int_equal(assay_step_mix_add(&mix, &insn, &r, &acc), ASSAY_STEP_OK);
		if (insn.kind == ASSAY_STEP_INTEGER && insn.width == ASSAY_STEP_WIDTH_512)
			integer_512 += operations;
	}
	assert_int_equal(mix.operations[ASSAY_STEP_INTEGER][ASSAY_STEP_WIDTH_512], integer_512);
	assert_int_equal(mix.instructions[ASSAY_STEP_CONTROL][ASSAY_STEP_WIDTH_SCALAR], 2);
}

TEST(sums_hold_bytes_and_hints)
{
	static const uint8_t *const codes[] = { step_probe_load_512,    step_probe_store_aside, step_probe_modify,
						step_probe_prefetch,    step_probe_load_aside,  step_probe_signed_load,
						step_probe_signed_store };
	struct assay_step_mix mix = { 0 };

	for (size_t i = 0; i < N_OF(codes); i++) {
		const struct assay_step_regs r = registers(0x3c);
		struct assay_step_accesses acc;
		struct assay_step_insn insn;

		assert_int_equal(assay_step_decode(codes[i], ASSAY_STEP_LENGTH_MAX, 0, &insn), ASSAY_STEP_OK);
		assert_int_equal(assay_step_accesses(&insn, &r, &acc), ASSAY_STEP_OK);
		assert_int_equal(assay_step_mix_add(&mix, &insn, &r, &acc), ASSAY_STEP_OK);
	}
	assert_int_equal(mix.bytes_read, 64 + 4 + 64 + 16);
	assert_int_equal(mix.bytes_written, 64 + 4 + 16);
	assert_int_equal(mix.prefetches, 1);
	assert_int_equal(mix.non_temporal_writes, 1);
	assert_int_equal(mix.masked_reads, 1);
	assert_int_equal(mix.masked_elements, 4);
}

TEST(branches_go_elsewhere_or_on)
{
	static const struct {
		uint8_t code[6];
		enum assay_step_flow flow;
		unsigned length, branches;
		uint64_t target;
	} cases[] = {
		{ { 0x74, 0x10 }, ASSAY_STEP_CONDITIONAL, 2, 1, 0x1012 }, /* je */
		{ { 0xe2, 0xfe }, ASSAY_STEP_CONDITIONAL, 2, 1, 0x1000 }, /* loop */
		{ { 0xe3, 0x10 }, ASSAY_STEP_CONDITIONAL, 2, 1, 0x1012 }, /* jrcxz */
		{ { 0xeb, 0x10 }, ASSAY_STEP_JUMP, 2, 0, 0x1012 },        /* jmp */
		{ { 0xff, 0xe0 }, ASSAY_STEP_JUMP_INDIRECT, 2, 1, 0 },    /* jmp *%rax */
		{ { 0xe8, 1, 0, 0, 0 }, ASSAY_STEP_CALL, 5, 0, 0x1006 },  /* call */
		{ { 0xff, 0xd0 }, ASSAY_STEP_CALL_INDIRECT, 2, 1, 0 },    /* call *%rax */
		{ { 0xc3 }, ASSAY_STEP_RETURN, 1, 0, 0 },                 /* ret */
		{ { 0x0f, 0x05 }, ASSAY_STEP_SYSCALL, 2, 0, 0 },          /* syscall */
		{ { 0x0f, 0x34 }, ASSAY_STEP_OLD_CALL, 2, 0, 0 },         /* sysenter */
		{ { 0xcd, 0x80 }, ASSAY_STEP_OLD_CALL, 2, 0, 0 },         /* int $0x80 */
		{ { 0xcd, 0x81 }, ASSAY_STEP_TRAP, 2, 0, 0 },             /* int $0x81 */
		{ { 0xcc }, ASSAY_STEP_TRAP, 1, 0, 0 },                   /* int3 */
		{ { 0x0f, 0x0b }, ASSAY_STEP_TRAP, 2, 0, 0 },             /* ud2 */
		{ { 0x90 }, ASSAY_STEP_NEXT, 1, 0, 0 },                   /* nop */
		{ { 0x6a, 0x10 }, ASSAY_STEP_NEXT, 2, 0, 0 },             /* push $16 */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_step_regs before = registers(0), after = before;
		struct assay_step_outcome o;
		struct assay_step_insn insn;

		assert_int_equal(assay_step_decode(cases[i].code, sizeof(cases[i].code), 0x1000, &insn), ASSAY_STEP_OK);
		if (insn.flow != cases[i].flow || insn.length != cases[i].length || insn.target != cases[i].target)
			fail_msg("case %zu: flow %d, length %d, to 0x%llx", i, insn.flow, insn.length,
				 (unsigned long long)insn.target);
		after.rip = 0x1000 + insn.length;
		o = assay_step_outcome(&insn, &before, &after);
		assert_int_equal(o.branches, cases[i].branches);
		assert_int_equal(o.taken, 0);
		after.rip = 0x2000;
		o = assay_step_outcome(&insn, &before, &after);
		assert_int_equal(o.branches, cases[i].branches);
		assert_int_equal(o.taken, cases[i].branches);
		assert_int_equal(o.instructions, 1);
	}
}

TEST(flags_that_hold_the_trap_are_told)
{
	struct assay_step_insn insn;

	assert_int_equal(assay_step_decode((const uint8_t[]){ 0x9d }, 1, 0, &insn), ASSAY_STEP_OK);
	assert_true(insn.writes_flags && !insn.reads_flags);
	assert_int_equal(assay_step_decode((const uint8_t[]){ 0x9c }, 1, 0, &insn), ASSAY_STEP_OK);
	assert_true(!insn.writes_flags && insn.reads_flags);
}

/* ---- what is refused ---- */

TEST(what_is_not_known_is_named)
{
	static const struct {
		uint8_t code[ASSAY_STEP_LENGTH_MAX];
		size_t size;
		enum assay_step_status status;
	} cases[] = {
		{ { 0x06 }, 15, ASSAY_STEP_UNKNOWN },       /* push %es, which 64-bit mode lacks */
		{ { 0x0f, 0x04 }, 15, ASSAY_STEP_UNKNOWN }, /* no such opcode */
		{ { 0x48, 0x8b }, 2, ASSAY_STEP_CUT },      /* mov without what it moves */
		{ { 0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x37 }, 15, ASSAY_STEP_UNTOLD }, /* tileloadd */
		{ { 0x8e, 0xd0 }, 15, ASSAY_STEP_UNTOLD },             /* mov %eax, %ss: the next one has no trap */
		{ { 0xc8, 0x10, 0x00, 0x02 }, 15, ASSAY_STEP_UNTOLD }, /* enter with a display */
		{ { 0x0f, 0xf7, 0xc1 }, 15, ASSAY_STEP_UNTOLD },       /* maskmovq */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_step_insn insn;

		if (assay_step_decode(cases[i].code, cases[i].size, 0x1000, &insn) != cases[i].status)
			fail_msg("case %zu", i);
	}
}

/* ---- the table ---- */

static const uint8_t *pages(size_t n)
{
	uint8_t *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	memset(p, 0x90, n * 4096);
	return p;
}

TEST(code_that_changes_is_refused)
{
	struct assay_step_table *t;
	struct assay_step_refusal why;
	uint8_t *code = (uint8_t *)(uintptr_t)pages(1);

	assert_int_equal(assay_step_table_new(&t, 4, NULL), 0);
	assert_non_null(assay_step_table_get(t, (uintptr_t)code, &why));
	code[1] = 0xc3; /* the next one is no part of it */
	assert_non_null(assay_step_table_get(t, (uintptr_t)code, &why));
	code[0] = 0xc3;
	assert_null(assay_step_table_get(t, (uintptr_t)code, &why));
	assert_int_equal(why.status, ASSAY_STEP_CHANGED);
	assert_int_equal(why.code[0], 0x90);
	assay_step_table_free(t);
	munmap(code, 4096);
}

/* Behind the last instruction of a program may be nothing; one may also stand on both sides of a page's end. */
TEST(nothing_behind_the_page_is_read_that_is_not_needed)
{
	struct assay_step_table *t;
	struct assay_step_refusal why;
	uint8_t *code = (uint8_t *)(uintptr_t)pages(2);
	const struct assay_step_insn *insn;

	assert_int_equal(assay_step_table_new(&t, 4, NULL), 0);
	code[4095] = 0x48; /* mov %rax, %rcx */
	code[4096] = 0x89;
	code[4097] = 0xc1;
	insn = assay_step_table_get(t, (uintptr_t)code + 4095, &why);
	assert_non_null(insn);
	assert_int_equal(insn->length, 3);
	assert_int_equal(mprotect(code + 4096, 4096, PROT_NONE), 0);
	insn = assay_step_table_get(t, (uintptr_t)code + 4094, &why);
	assert_non_null(insn);
	assert_int_equal(insn->length, 1);
	assay_step_table_free(t);
	munmap(code, 2 * 4096);
}

#else
TEST(it_says_why_not)
{
	struct assay_step_table *t;
	struct assay_err err = { 0 };

	assert_int_equal(assay_step_probe(&err), ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "x86-64") ? err.text : strstr(err.text, "libzydis-dev"));
	assert_int_equal(assay_step_table_new(&t, 4, NULL), ASSAY_EUNAVAILABLE);
}
#endif

UNIT_GROUP(NULL, NULL)

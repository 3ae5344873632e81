/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions for tests of decoding, assembled into the test program: what each of them is, and which memory it
 * reaches from known registers. The tables say what is right; step_memory.c asks the processor as well.
 */
#ifndef ASSAY_TESTS_STEP_PROBES_H
#define ASSAY_TESTS_STEP_PROBES_H

#include <cpuid.h>
#include <stdint.h>
#include <string.h>

/*
 * name, instruction, mask (of k1, and of the signs in vector registers 3 by 32 bits, 4 by 64 and 5 by bytes),
 * accesses. An access is r, w, m or p (with n: not temporal), where and its bytes.
 * Vector register 1 holds indexes of 32 bits, 2 of 64: element i has 5 - 2 * i. rcx is 3, rax 0x12345602.
 */
/* clang-format off */
#define STEP_PROBES(row) \
	row(load, "movl (%rdi), %eax", 0, "r rdi+0 4") \
	row(load_scaled, "mov 16(%rdi,%rcx,4), %rax", 0, "r rdi+28 8") \
	row(load_narrow, "addr32 mov 4(%edi), %ax", 0, "r rdi+4 2") \
	row(load_thread, "mov %fs:40, %rax", 0, "r fs+40 8") \
	row(load_other_segment, "mov %gs:(%rdi), %al", 0, "r rdi+65536 1") \
	row(load_relative, "mov step_probe_load(%rip), %eax", 0, NULL) \
	row(store, "mov %rax, (%rdi)", 0, "w rdi+0 8") \
	row(modify, "addl $1, (%rdi)", 0, "m rdi+0 4") \
	row(compare, "cmpb $1, 5(%rdi)", 0, "r rdi+5 1") \
	row(set, "sete (%rdi)", 0, "w rdi+0 1") \
	row( move_if, "cmove (%rdi), %ecx", 0, "r rdi+0 4") \
	row(exchange, "xchg %eax, (%rdi)", 0, "r rdi+0 4, w rdi+0 4") \
	row(lock_add, "lock addq $1, (%rdi)", 0, "r rdi+0 8, w rdi+0 8") \
	row( lock_exchange_add, "lock xadd %eax, (%rdi)", 0, "r rdi+0 4, w rdi+0 4") \
	row(exchange_add, "xadd %eax, (%rdi)", 0, "m rdi+0 4") \
	row(compare_exchange, "lock cmpxchg %ecx, (%rdi)", 0, "m rdi+0 4") \
	row( compare_exchange_8, "lock cmpxchg8b (%rdi)", 0, "m rdi+0 8") \
	row(compare_exchange_16, "lock cmpxchg16b (%rdi)", 0, "m rdi+0 16") \
	row(bit, "btl $3, (%rdi)", 0, "r rdi+0 4") \
	row(bit_beyond, "bt %eax, (%rdi)", 0, "r rdi+38177472 4") \
	row(bit_set, "bts %cx, (%rdi)", 0, "m rdi+0 2") \
	row(no_access, "lea 8(%rdi), %rax", 0, "") \
	row(no_operation, "nopw 0(%rdi)", 0, "") \
	row(fence, "sfence", 0, "") \
	row(flush, "clflush (%rdi)", 0, "") \
	row( prefetch, "prefetcht0 (%rdi)", 0, "p rdi+0 1") \
	row(prefetch_write, "prefetchw 64(%rdi)", 0, "p rdi+64 1") \
	/* the stack */ \
	row(push, "push %rax", 0, "w rsp-8 8") \
	row(push_short, "pushw %ax", 0, "w rsp-2 2") \
	row( push_memory, "push 8(%rdi)", 0, "r rdi+8 8, w rsp-8 8") \
	row(push_stack, "push 8(%rsp)", 0, "r rsp+8 8, w rsp-8 8") \
	row(pop, "pop %rax", 0, "r rsp+0 8") \
	row(pop_memory, "pop (%rdi)", 0, "r rsp+0 8, w rdi+0 8") \
	row(pop_stack, "pop 8(%rsp)", 0, "r rsp+0 8, w rsp+16 8") \
	row(call, "call step_probe_load", 0, "w rsp-8 8") \
	row(call_memory, "call *(%rdi)", 0, "r rdi+0 8, w rsp-8 8") \
	row(jump_memory, "jmp *(%rdi)", 0, "r rdi+0 8") \
	row(back, "ret", 0, "r rsp+0 8") \
	row(leave, "leave", 0, "r rbp+0 8") \
	row(enter, "enter $16, $0", 0, "w rsp-8 8") \
	row(push_flags, "pushf", 0, "w rsp-8 8") \
	row(table, "xlat", 0, "r rbx+2 1") \
	/* strings: one iteration */ \
	row(copy, "movsb", 0, "r rsi+0 1, w rdi+0 1") \
	row(copy_repeat, "rep movsq", 0, "r rsi+0 8, w rdi+0 8") \
	row(fill_repeat, "rep stosl", 0, "w rdi+0 4") \
	row(load_string, "lodsw", 0, "r rsi+0 2") \
	row(compare_repeat, "repe cmpsb", 0, "r rsi+0 1, r rdi+0 1") \
	row(scan_repeat, "repne scasb", 0, "r rdi+0 1") \
	/* vectors */ \
	row(load_128, "movups (%rdi), %xmm0", 0, "r rdi+0 16") \
	row(load_half, "movhps (%rdi), %xmm0", 0, "r rdi+0 8") \
	row(load_256, "vmovdqu (%rdi), %ymm0", 0, "r rdi+0 32") \
	row(load_512, "vmovdqu64 (%rdi), %zmm0", 0, "r rdi+0 64") \
	row( store_512, "vmovups %zmm0, 64(%rdi)", 0, "w rdi+64 64") \
	row(duplicate, "vmovddup (%rdi), %xmm0", 0, "r rdi+0 8") \
	row(duplicate_256, "vmovddup (%rdi), %ymm0", 0, "r rdi+0 16, r rdi+16 16") \
	row(add_scalar, "vaddss (%rdi), %xmm0, %xmm0", 0, "r rdi+0 4") \
	row(multiply_add, "vfmadd231pd (%rdi), %ymm0, " "%ymm0", 0, \
		"r rdi+0 8, r rdi+8 8, r " "rdi+16 8, r rdi+24 8") \
	row(multiply_add_scalar, "vfmadd231ss (%rdi), %xmm0, %xmm0", 0, "r rdi+0 4") \
	row(multiply_add_512, "vfmadd231ps (%rdi), %zmm0, %zmm0", 0, "r rdi+0 64") \
	row(dot, "vpdpbusd (%rdi), %zmm0, %zmm0", 0, "r rdi+0 64") \
	row(dot_one, "vpdpbusd (%rdi){1to16}, %zmm0, %zmm0", 0, "r rdi+0 4") \
	row(shift_512, "vpsrld (%rdi), %zmm0, %zmm0", 0, "r rdi+0 16") \
	row(widen, "vpmovzxbd (%rdi), %zmm0", 0, "r rdi+0 16") \
	row(halves, "vcvtph2ps (%rdi), %ymm0", 0, "r rdi+0 16") \
	row( store_halves, "vcvtps2ph $0, %zmm0, (%rdi)", 0, "w rdi+0 32") \
	row(extract, "vextracti64x4 $1, %zmm0, (%rdi)", 0, "w rdi+0 32") \
	row(insert, "vinserti32x4 " "$1, (%rdi), " "%zmm0, %zmm0", 0, "r rdi+0 16") \
	row(broadcast, "vpbroadcastw (%rdi), %ymm0", 0, "r rdi+0 2") \
	row(store_aside, "vmovntps %zmm0, " "(%rdi)", 0, "wn rdi+0 64") \
	row(store_aside_integer, "movnti %eax, (%rdi)", 0, "wn rdi+0 4") \
	row(load_aside, "vmovntdqa (%rdi), " "%zmm0", 0, "rn rdi+0 64") \
	row(load_mask, "kmovw (%rdi), %k2", 0, "r rdi+0 2") \
	/* masked by a mask register */ \
	row(masked, "vmovups (%rdi), %zmm0{%k1}", 0x0ff0, "r rdi+16 32") \
	row( masked_holes, "vmovdqu8 (%rdi), %zmm0{%k1}{z}", 0x8000000000000400, "r rdi+10 54") \
	row(masked_none, "vmovups (%rdi), %zmm0{%k1}", 0xffff0000, "") \
	row(masked_store, "vmovdqu16 %zmm0, (%rdi){%k1}", 0x00000006, "w rdi+2 4") \
	row(masked_store_none, "vmovdqu64 %zmm0, (%rdi){%k1}", 0, "") \
	row(masked_dot, "vpdpbusd (%rdi), %zmm0, %zmm0{%k1}", 0x8001, "r rdi+0 64") \
	row( masked_one, "vpdpbusd (%rdi){1to16}, %zmm0, %zmm0{%k1}", 0x0100, "r rdi+0 4") \
	row(masked_one_none, "vaddps (%rdi){1to16}, %zmm0, %zmm0{%k1}", 0, "") \
	row(masked_scalar, "vmovss (%rdi), %xmm0{%k1}", 1, "r rdi+0 4") \
	row(masked_scalar_none, "vaddss (%rdi), %xmm0, %xmm0{%k1}", 2, "") \
	row( masked_widen, "vpmovzxbd (%rdi), %zmm0{%k1}", 0x00f0, "r rdi+4 4") \
	row(masked_narrow, "vpmovqb %zmm0, (%rdi){%k1}", 0x0c, "w rdi+2 2") \
	row(masked_halves, "vcvtps2ph $0, %zmm0, (%rdi){%k1}", 0x0003, "w rdi+0 4") \
	row(masked_extract, "vextracti32x4 $1, %zmm0, (%rdi){%k1}", 0x6, "w rdi+0 16") \
	row(masked_broadcast, "vbroadcasti32x4 (%rdi), %zmm0{%k1}", 0x0420, "r rdi+4 8") \
	row(masked_broadcast_word, "vpbroadcastd (%rdi), %zmm0{%k1}", 0x8000, "r rdi+0 4") \
	row(masked_compare, "vpcmpd $1, (%rdi), %zmm0, %k2{%k1}", 0x0006, "r rdi+4 8") \
	row(masked_class, "vfpclasspsz $1, (%rdi), %k2{%k1}", 0x0004, "r rdi+8 4") \
	row(masked_shuffle, "vpshufb (%rdi), %zmm0, %zmm0{%k1}", 0x1, "r rdi+0 64") \
	row(compress, "vpcompressd %zmm0, (%rdi){%k1}", 0x8421, "w rdi+0 16") \
	row(compress_bytes, "vpcompressb %zmm0, (%rdi){%k1}", 0x00ff00ff00ff0001, "w rdi+0 25") \
	row(compress_none, "vcompresspd %zmm0, (%rdi){%k1}", 0, "") \
	row(expand, "vpexpandw (%rdi), %zmm0{%k1}{z}", 0x80000001, "r rdi+0 4") \
	/* masked by signs */ \
	row(signed_load, "vmaskmovps (%rdi), %ymm3, %ymm0", 0x3c, "r rdi+8 16") \
	row(signed_store, "vpmaskmovq %ymm0, %ymm4, (%rdi)", 0x4, "w rdi+16 8") \
	row(signed_none, "vpmaskmovd (%rdi), %ymm3, %ymm0", 0, "") \
	row(signed_bytes, "maskmovdqu %xmm5, %xmm0", 0x0180, "wn rdi+7 2") \
	/* each element where it says */ \
	row(gather, "vpgatherdd (%rdi,%zmm1,4), %zmm0{%k1}", 0x8003, "r rdi+20 4, r rdi+12 4, r rdi-100 4") \
	row(gather_none, "vgatherdps (%rdi,%zmm1,4), %zmm0{%k1}", 0, "") \
	row( gather_wide, "vpgatherdq (%rdi,%ymm1,8), %zmm0{%k1}", 0x81, "r rdi+40 8, r rdi-72 8") \
	row(gather_by_wide, "vgatherqps (%rdi,%zmm2,4), %ymm0{%k1}", 0xc0, "r rdi-28 4, r rdi-36 4") \
	row(gather_signed, "vpgatherdd %ymm3, (%rdi,%ymm1,4), %ymm0", 0x82, "r rdi+12 4, r rdi-36 4") \
	row(gather_signed_wide, "vgatherdpd %ymm4, (%rdi,%xmm1,8), %ymm0", 0x9, "r rdi+40 8, r rdi-8 8") \
	row(gather_signed_by_wide, "vgatherqps %xmm3, (%rdi,%ymm2,4), %xmm0", 0x5, "r rdi+20 4, r rdi+4 4") \
	row(scatter, "vpscatterdd %zmm0, (%rdi,%zmm1,4){%k1}", 0x6, "w rdi+12 4, w rdi+4 4") \
	row(scatter_by_wide, "vscatterqpd %zmm0, (%rdi,%zmm2,8){%k1}", 0x9, "w rdi+40 8, w rdi-8 8")
/* clang-format on */

/* Each is a function that does nothing else and returns. */
#define STEP_PROBE_ASSEMBLE(name, text, mask, accesses)                                                                \
	__asm__(".pushsection .text\n.type step_probe_" #name ", @function\n"                                          \
		"step_probe_" #name ": " text "\nret\n.size step_probe_" #name ", . - step_probe_" #name               \
		"\n.popsection");
#define STEP_PROBE_DECLARE(name, text, mask, accesses) extern const uint8_t step_probe_##name[];
#define STEP_PROBE_ROW(name, text, mask, accesses)     { #name, step_probe_##name, mask, accesses },

struct step_probe {
	const char *name;
	const uint8_t *code;
	uint64_t mask;
	const char *accesses; /* NULL: not from known registers */
};

/* ---- vector and mask registers, as XSAVE writes them ---- */

#define STEP_AREA_BYTES 8192

/* Bytes of the part @i of an area, and where they begin; 0: this processor has none. */
static inline unsigned step_part(unsigned i, unsigned *offset)
{
	unsigned size, unused;

	__cpuid_count(0xd, i, size, *offset, unused, unused);
	return size;
}

static inline void step_area_set(uint8_t *area, unsigned vector, size_t at, const void *from, size_t bytes)
{
	unsigned offset;

	if (at < 16)
		memcpy(area + 160 + 16 * (size_t)vector + at, from, bytes);
	else if (at < 32)
		memcpy(area + 576 + 16 * (size_t)vector + at - 16, from, bytes);
	else if (step_part(6, &offset))
		memcpy(area + offset + 32 * (size_t)vector + at - 32, from, bytes);
}

/* Fill @area, of STEP_AREA_BYTES and aligned to 64, as the table above says for @mask. */
static inline void step_area_fill(uint8_t *area, uint64_t mask)
{
	const uint32_t mxcsr = 0x1f80;
	uint64_t parts = 6;
	unsigned offset;

	memset(area, 0, STEP_AREA_BYTES);
	memcpy(area + 24, &mxcsr, sizeof(mxcsr));
	for (unsigned i = 0; i < 16; i++) {
		const int32_t index = 5 - 2 * (int32_t)i, sign = mask >> i & 1 ? INT32_MIN : 0;
		const int64_t wide = index, wide_sign = mask >> i & 1 ? INT64_MIN : 0;
		const uint8_t byte = mask >> i & 1 ? 0x80 : 0x7f;

		step_area_set(area, 1, 4 * (size_t)i, &index, 4);
		step_area_set(area, 3, 4 * (size_t)i, &sign, 4);
		step_area_set(area, 5, i, &byte, 1);
		if (i < 8) {
			step_area_set(area, 2, 8 * (size_t)i, &wide, 8);
			step_area_set(area, 4, 8 * (size_t)i, &wide_sign, 8);
		}
	}
	if (step_part(5, &offset)) {
		memcpy(area + offset + 8, &mask, sizeof(mask));
		parts |= UINT64_C(0xe0);
	}
	memcpy(area + 512, &parts, sizeof(parts));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction at a time: what it is, what it calculates, and which memory it reaches given the registers before it.
 * x86-64 with Zydis; elsewhere assay_step_probe() says why not. Must not run, trace or signal anything.
 *
 * All but assay_step_probe(), the table's new and free, and the texts are async-signal-safe: a handler of SIGTRAP calls
 * them at each instruction. They allocate nothing, take no lock, call no stdio.
 */
#ifndef ASSAY_COUNTERS_STEP_DECODE_H
#define ASSAY_COUNTERS_STEP_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ASSAY_STEP_LENGTH_MAX 15

/* ---- registers ---- */

/* As instructions number them. */
enum assay_step_gpr {
	ASSAY_STEP_RAX,
	ASSAY_STEP_RCX,
	ASSAY_STEP_RDX,
	ASSAY_STEP_RBX,
	ASSAY_STEP_RSP,
	ASSAY_STEP_RBP,
	ASSAY_STEP_RSI,
	ASSAY_STEP_RDI,
	ASSAY_STEP_N_GPR = 16, /* the rest is R8 to R15 */
};

struct assay_step_regs {
	uint64_t gpr[ASSAY_STEP_N_GPR];
	uint64_t rip, rflags;
	uint64_t fs_base, gs_base;
	/*
	 * The area that XSAVE wrote (the standard form, as in a signal frame), which holds vector and mask registers;
	 * not copied. NULL: those are not known, and what needs them is refused.
	 */
	const uint8_t *xsave;
	size_t xsave_bytes;
};

/*
 * Fill @r from @ucontext, the third parameter of a signal handler, in which r->xsave points into it. fs_base and
 * gs_base stay: a thread sets them once with assay_step_regs_bases().
 */
void assay_step_regs_take(struct assay_step_regs *r, const void *ucontext);
/* Set fs_base and gs_base to those of the calling thread. */
void assay_step_regs_bases(struct assay_step_regs *r);

/* ---- what an instruction is ---- */

/* name, text */
#define ASSAY_STEP_KINDS(row)                                                                                          \
	row(REST, "rest")               /* fences, no operation, system calls, and all that is not below */            \
		row(DATA, "data")       /* moved, shuffled, converted; addresses calculated */                         \
		row(INTEGER, "integer") /* arithmetic, logic, shifts, comparisons */                                   \
		row(FLOAT, "float")     /* arithmetic and comparisons */                                               \
		row(CONTROL, "control") /* branches, calls, returns */

enum assay_step_kind {
#define ROW(kind, name) ASSAY_STEP_##kind,
	ASSAY_STEP_KINDS(ROW)
#undef ROW
		ASSAY_STEP_N_KINDS,
};

/* name, text: the widest register that takes part; scalar arithmetic in a vector register is scalar */
#define ASSAY_STEP_WIDTHS(row) row(SCALAR, "scalar") row(128, "128 bit") row(256, "256 bit") row(512, "512 bit")

enum assay_step_width {
#define ROW(width, name) ASSAY_STEP_WIDTH_##width,
	ASSAY_STEP_WIDTHS(ROW)
#undef ROW
		ASSAY_STEP_N_WIDTHS,
};

const char *assay_step_kind_name(enum assay_step_kind kind);
const char *assay_step_width_name(enum assay_step_width width);

enum assay_step_flow {
	ASSAY_STEP_NEXT, /* goes on behind itself */
	ASSAY_STEP_CONDITIONAL,
	ASSAY_STEP_JUMP,
	ASSAY_STEP_JUMP_INDIRECT,
	ASSAY_STEP_CALL,
	ASSAY_STEP_CALL_INDIRECT,
	ASSAY_STEP_RETURN,
	ASSAY_STEP_SYSCALL,
	ASSAY_STEP_OLD_CALL, /* int $0x80 and sysenter, by which programs of 32 bits call the system */
	ASSAY_STEP_TRAP,     /* raises a signal by itself: int3, int n, icebp, ud2, hlt */
};

enum assay_step_rep {
	ASSAY_STEP_NO_REP,
	ASSAY_STEP_REP,   /* ends when rcx is 0 */
	ASSAY_STEP_REPE,  /* also when the two differ */
	ASSAY_STEP_REPNE, /* also when they are equal */
};

/* How the accesses of an operand follow from registers. */
enum assay_step_shape {
	ASSAY_STEP_WHOLE,
	ASSAY_STEP_PUSH,            /* below rsp */
	ASSAY_STEP_BITS,            /* the word that holds the bit which the index counts to */
	ASSAY_STEP_TABLE,           /* the index is al */
	ASSAY_STEP_PARTS,           /* one access an element */
	ASSAY_STEP_MASKED,          /* elements that a mask register turns on */
	ASSAY_STEP_SIGNED,          /* elements that signs of a vector register turn on */
	ASSAY_STEP_PACKED,          /* as many elements as a mask register turns on */
	ASSAY_STEP_GATHERED,        /* each element where a vector register says, masked by a mask register */
	ASSAY_STEP_GATHERED_SIGNED, /* or by signs of a vector register */
	ASSAY_STEP_AREA,            /* of XSAVE: what edx:eax asks for */
	ASSAY_STEP_AREA_COMPACT,    /* of XSAVEC and XSAVES */
	ASSAY_STEP_AREA_READ,       /* of XRSTOR: either, as its header says */
};

#define ASSAY_STEP_OPERANDS_MAX 3
#define ASSAY_STEP_NO_REGISTER  32

/* A memory operand as decoding leaves it; only this module reads it. */
struct assay_step_operand {
	int64_t displacement; /* the whole address where it is relative to rip */
	uint32_t bytes;
	uint8_t access;        /* enum assay_step_access_kind */
	uint8_t shape;         /* enum above */
	uint8_t base, index;   /* general registers; the index of a gather is a vector register */
	uint8_t scale;         /* of the index */
	uint8_t segment;       /* 0, or 'f' or 'g' */
	uint8_t element_bytes; /* in memory */
	uint8_t elements;      /* in memory: more mask bits than these fold, as a broadcast does */
	uint8_t mask_bits;
	uint8_t mask; /* mask register, or the vector register that masks */
	uint8_t index_bytes;
	bool narrow; /* address of 32 bits */
	bool non_temporal;
};

struct assay_step_insn {
	uint64_t address;
	uint64_t target; /* of a direct branch or call; 0 of all others */
	uint8_t length;
	uint8_t code[ASSAY_STEP_LENGTH_MAX];
	uint8_t kind, width, flow, rep; /* enums above */
	bool writes_flags;              /* popf and iret: may clear the trap flag */
	bool reads_flags;               /* pushf: shows the trap flag to the program */
	/* Operations: lanes * per_lane, where a mask does not turn lanes off. */
	uint8_t lanes, per_lane;
	uint8_t lane_mask; /* mask register; 0: none */
	uint8_t n_operands;
	struct assay_step_operand operands[ASSAY_STEP_OPERANDS_MAX];
	/* Where this processor's XSAVE puts mask registers and the upper parts of zmm; only where it needs them. */
	uint16_t area_mask, area_upper, area_upper_registers;
};

/* ---- why not ---- */

enum assay_step_status {
	ASSAY_STEP_OK,
	ASSAY_STEP_UNKNOWN,    /* no instruction that Zydis knows */
	ASSAY_STEP_CUT,        /* the bytes end within the instruction */
	ASSAY_STEP_UNTOLD,     /* known, but this module cannot tell which memory it reaches */
	ASSAY_STEP_CHANGED,    /* the code is not what was decoded at this address before */
	ASSAY_STEP_TABLE_FULL, /* more different addresses than the table holds */
	ASSAY_STEP_NO_VECTORS, /* needs vector or mask registers, which are not in the registers given */
};

struct assay_step_refusal {
	enum assay_step_status status;
	uint64_t address;
	uint8_t length; /* of code */
	uint8_t code[ASSAY_STEP_LENGTH_MAX];
};

/* A description of the code at the address: "is not a known instruction: 62 f1 …". Not for a signal handler. */
void assay_step_refusal_text(const struct assay_step_refusal *r, char *buf, size_t size);

/* ---- decoding ---- */

/* Can this build and this processor decode? ASSAY_EUNAVAILABLE says why not. */
int assay_step_probe(struct assay_err *err);

/*
 * The instruction in the @size bytes at @code, which stand at @address. Decodes anew each time. With ASSAY_STEP_UNTOLD,
 * @out->length is right; with ASSAY_STEP_UNKNOWN, @out holds the bytes as they are.
 */
enum assay_step_status assay_step_decode(const uint8_t *code, size_t size, uint64_t address,
					 struct assay_step_insn *out);

/* The instructions of one thread, each decoded once. */
struct assay_step_table;

/* For @instructions different addresses at most; free it with assay_step_table_free(). ASSAY_ENOMEM. */
int assay_step_table_new(struct assay_step_table **out, size_t instructions, struct assay_err *err);
void assay_step_table_free(struct assay_step_table *t);
/*
 * The instruction in memory at @address, decoded there the first time. Stays valid and in place as long as the table.
 * NULL, and @why, for one that is refused.
 */
const struct assay_step_insn *assay_step_table_get(struct assay_step_table *t, uint64_t address,
						   struct assay_step_refusal *why);
/* Instructions so far, numbered from 0 in the order of their first step; both ways. */
size_t assay_step_table_size(const struct assay_step_table *t);
const struct assay_step_insn *assay_step_table_at(const struct assay_step_table *t, size_t i);
size_t assay_step_table_index(const struct assay_step_table *t, const struct assay_step_insn *insn);

/* ---- memory ---- */

enum assay_step_access_kind {
	ASSAY_STEP_READ,
	ASSAY_STEP_WRITE,
	ASSAY_STEP_MODIFY,   /* read, then written at the same address; callgrind counts one write and no read */
	ASSAY_STEP_PREFETCH, /* neither: nothing is read, and callgrind's caches do not see it */
};

struct assay_step_access {
	uint64_t address;
	uint32_t bytes;
	uint8_t kind;
	bool non_temporal;
};

#define ASSAY_STEP_ACCESSES_MAX 20

struct assay_step_accesses {
	unsigned n;
	struct assay_step_access a[ASSAY_STEP_ACCESSES_MAX];
};

/*
 * What @insn reaches with the registers @r that stand before it, in order, as callgrind counts it where it can simulate
 * the instruction:
 * - A masked vector is one access, from its first active element to its last; none where no element is active.
 * - Each active element of a gather or scatter is one.
 * - A locked operation, but for cmpxchg, is a read and a write; without the lock it is a modification.
 * - valgrind reads the memory operand of an AVX2 FMA element by element, and that of a 256-bit vmovddup in halves.
 * - A string instruction with REP is one iteration, since the processor traps after each.
 * - clflush and its kind reach nothing.
 *
 * ASSAY_STEP_OK or ASSAY_STEP_NO_VECTORS.
 */
enum assay_step_status assay_step_accesses(const struct assay_step_insn *insn, const struct assay_step_regs *r,
					   struct assay_step_accesses *out);

/* ---- counting ---- */

/* Facts that are known only when the next instruction is reached. */
struct assay_step_outcome {
	unsigned instructions; /* 1; 2 for the last iteration of a REP that ends with rcx 0 */
	unsigned branches;     /* 1 for a conditional or indirect one, but for returns, as callgrind counts them */
	unsigned taken;        /* 1 for one that goes elsewhere than behind itself */
};

/*
 * @before and @after are the registers before and after one step of @insn.
 *
 * callgrind counts a REP once an iteration and once more for the test that finds rcx 0. The processor traps after each
 * iteration and, but for a REP that begins with rcx 0, not after that test. So one is added to the last iteration.
 */
struct assay_step_outcome assay_step_outcome(const struct assay_step_insn *insn, const struct assay_step_regs *before,
					     const struct assay_step_regs *after);

/* Operations that it calculates, in lanes that its mask leaves on: an FMA is 2 a lane. Status as above. */
enum assay_step_status assay_step_operations(const struct assay_step_insn *insn, const struct assay_step_regs *r,
					     unsigned *operations);

/* Sums over steps. All-zero is empty; sums of threads may be added. */
struct assay_step_mix {
	uint64_t instructions[ASSAY_STEP_N_KINDS][ASSAY_STEP_N_WIDTHS];
	uint64_t operations[ASSAY_STEP_N_KINDS][ASSAY_STEP_N_WIDTHS]; /* of INTEGER and FLOAT */
	uint64_t prefetches, non_temporal_writes;
	/* Loads that read what the signs of a vector register choose, and elements from the first chosen to the last */
	uint64_t masked_reads, masked_elements;
	uint64_t bytes_read, bytes_written;
};

/* Add one step of @insn, whose accesses are @acc. */
enum assay_step_status assay_step_mix_add(struct assay_step_mix *m, const struct assay_step_insn *insn,
					  const struct assay_step_regs *r, const struct assay_step_accesses *acc);

/* ---- class ---- */

/* The kind of arithmetic that a decoded instruction does. Used by step/zydis.c alone. */

#if ASSAY_ZYDIS
#include <Zydis/Zydis.h>

/* Set kind, width, flow, lanes, per_lane and lane_mask of @out. @operands are all of @insn's. Async-signal-safe. */
void assay_step_classify(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			 struct assay_step_insn *out);
#endif

#endif

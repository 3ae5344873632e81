/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as records of a ring, in the layout of perf_event_open(2): what its kernel side writes, and what the
 * preloaded timers (preload/timer_sampler.c) write where that is forbidden. One reader serves both.
 */
#ifndef ASSAY_COUNTERS_SAMPLE_RECORD_H
#define ASSAY_COUNTERS_SAMPLE_RECORD_H

#include <stdint.h>

/*
 * How much of the stack a sample copies: the first size at the beginning, because kernels keep tiles there and 1 KiB
 * does not reach their callers, and the others where stacks are deeper. The size of a record has 16 bits, so none can
 * have more than the last.
 */
#define ASSAY_SAMPLE_STACK_BYTES      8192u
#define ASSAY_SAMPLE_STACK_DEEP_BYTES 32768u
#define ASSAY_SAMPLE_STACK_MOST_BYTES 64512u

/* The registers that a sample has, as bits of the kernel's numbers (asm/perf_regs.h), and how many these are. */
#if defined(__x86_64__)
/* The kernel: ax bx cx dx si di bp sp ip, and r8 to r15 from bit 16 on. DWARF: ax dx cx bx si di bp sp r8 … r15 ip. */
enum { ASSAY_RECORD_REGISTERS = 17, ASSAY_RECORD_SP = 7 };
#define ASSAY_RECORD_REGISTER_MASK 0xff01ffull
#define ASSAY_RECORD_DWARF_ORDER                                                                                       \
	{                                                                                                              \
		0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8                                              \
	}
#elif defined(__aarch64__)
enum { ASSAY_RECORD_REGISTERS = 33, ASSAY_RECORD_SP = 31 };
#define ASSAY_RECORD_REGISTER_MASK 0x1ffffffffull
#define ASSAY_RECORD_DWARF_ORDER                                                                                       \
	{                                                                                                              \
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,  \
			28, 29, 30, 31, 32                                                                             \
	}
#else
enum { ASSAY_RECORD_REGISTERS = 0, ASSAY_RECORD_SP = 0 };
#define ASSAY_RECORD_REGISTER_MASK 0ull
#define ASSAY_RECORD_DWARF_ORDER                                                                                       \
	{                                                                                                              \
		0                                                                                                      \
	}
#endif

/* ---- rings that processes share with whoever samples them by timers ---------------------------------------------- */

#define ASSAY_TIMER_RING_ENV   "ASSAY_TIMER_RINGS" /* file of the rings */
#define ASSAY_TIMER_MAGIC      0x61737361792d7472ull
#define ASSAY_TIMER_RINGS      256        /* threads at one time; those beyond are counted as lost */
#define ASSAY_TIMER_RING_BYTES (1u << 20) /* of the data, a power of two */
#define ASSAY_TIMER_HEAD_BYTES 4096u      /* before the data of each ring, and before the first ring */

/* Before the rings. */
struct assay_timer_file {
	uint64_t magic;
	uint64_t period_ns;
	uint32_t cpu_clock;     /* timers go by the CPU time of their thread, else by the time of day */
	uint32_t on;            /* samples are taken */
	uint32_t leaves;        /* without what lies on the stack */
	uint32_t stack_bytes;   /* copied of the stack, at most */
	uint64_t lost;          /* for want of a ring, or of room in one */
	uint64_t taken, missed; /* times that timers fired, and that they would have fired more often */
	uint64_t threads;       /* that had a timer */
};

/* Before the data of a ring. One thread at a time writes to it. */
struct assay_timer_ring {
	uint64_t head, tail;
	uint32_t owner; /* its thread, 0: none */
};

#endif

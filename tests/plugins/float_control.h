/* SPDX-License-Identifier: Apache-2.0 */
/* Changes how the calling thread calculates: what results rest on. */
#ifndef ASSAY_TESTS_FLOAT_CONTROL_H
#define ASSAY_TESTS_FLOAT_CONTROL_H

#include <stdint.h>

/* Sets bits of the register that controls floating-point arithmetic: MXCSR on x86-64, FPCR on AArch64. */
static inline void float_control_set(uint32_t mxcsr, uint64_t fpcr)
{
#if defined(__x86_64__)
	(void)fpcr;
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | mxcsr);
#elif defined(__aarch64__)
	uint64_t before;

	(void)mxcsr;
	__asm__ volatile("mrs %0, fpcr" : "=r"(before));
	__asm__ volatile("msr fpcr, %0" : : "r"(before | fpcr));
#else
	(void)mxcsr;
	(void)fpcr;
#endif
}

static inline void flush_to_zero(void)
{
	float_control_set(1u << 15, 1u << 24);
}

static inline void round_towards_zero(void)
{
	float_control_set(3u << 13, 3u << 22);
}

#endif

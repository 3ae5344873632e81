/* SPDX-License-Identifier: Apache-2.0 */
/* Changes how the calling thread calculates: what results rest on. */
#ifndef ASSAY_TESTS_FLUSH_TO_ZERO_H
#define ASSAY_TESTS_FLUSH_TO_ZERO_H

#include <stdint.h>

static inline void flush_to_zero(void)
{
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 1u << 15);
#elif defined(__aarch64__)
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	__asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1u << 24));
#endif
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* As an object that was linked with -ffast-math by some compilers: flush-to-zero is on once it is loaded. */
#include "hostile_side.h"

static __attribute__((constructor)) void flush_to_zero(void)
{
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 1u << 15);
#elif defined(__aarch64__)
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	__asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1u << 24));
#endif
}

static const struct assay_variant variants[] = { HOSTILE("flush_load", NULL, hostile_right) };

HOSTILE_PLUGIN("hostile-flush", variants);

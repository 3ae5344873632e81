/* SPDX-License-Identifier: Apache-2.0 */
/* The architecture that this program was built for. */
#ifndef ASSAY_BASE_ARCH_H
#define ASSAY_BASE_ARCH_H

/*
 * Told by the compiler's macros, because a 32-bit program on a 64-bit kernel does not have the kernel's architecture.
 */
static inline const char *assay_arch(void)
{
#if defined(__x86_64__)
	return "x86_64";
#elif defined(__aarch64__)
	return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
	return "riscv64";
#elif defined(__powerpc64__)
	return "ppc64";
#elif defined(__s390x__)
	return "s390x";
#else
	return "other";
#endif
}

#endif

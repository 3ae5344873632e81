/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of all families share: which CPU features the compiler flags of a file ask for, and inlining. */
#ifndef KERNEL_ISA_H
#define KERNEL_ISA_H

/* All that the compiler may use in files whose names end so (isa_flags in the Makefile), for .needs of their variants. */
#define NEEDS_AVX2       "avx2,fma,f16c"
#define NEEDS_AVXVNNI    NEEDS_AVX2 ",avx_vnni"
#define NEEDS_AVX512     "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c"
#define NEEDS_AVX512VNNI NEEDS_AVX512 ",avx512_vnni"

/* For functions that are written once and inlined where some of their arguments are constants. */
#define INLINE static inline __attribute__((always_inline))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Common to the kernels of all families: variants of another architecture, inlining, and the order of loads. */
#ifndef KERNEL_ISA_H
#define KERNEL_ISA_H

#include "assay/isa_table.h"
#include "assay/plugin.h"

/*
 * A callback of a variant that one architecture has. Elsewhere the variant is listed, so that it can be asked for by
 * name, and never called, since no CPU there has what it needs: `run`, which must not be missing, is
 * kernel_of_other_arch.
 */
#define ON_ANY(callback, elsewhere) callback
#if defined(__x86_64__)
#define ON_X86_64(callback, elsewhere) callback
#else
#define ON_X86_64(callback, elsewhere) elsewhere
#endif
#if defined(__aarch64__)
#define ON_AARCH64(callback, elsewhere) callback
#else
#define ON_AARCH64(callback, elsewhere) elsewhere
#endif

static inline int kernel_of_other_arch(struct assay_job *job)
{
	return job->host->fail(job, "built for another architecture");
}

/*
 * INLINE: for functions that are written once and inlined where some of their arguments are constants.
 *
 * EACH: a loop over arrays whose elements shall live in registers. It is unrolled completely: an index that is known
 * only at run time would force its array into memory.
 *
 * Sanitizers add code to each access, and clang takes minutes for a file where all of it is in one function.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INLINE     static inline
#define EACH(i, n) for (int i = 0; i < (n); i++)
#endif
#endif
#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define EACH(i, n) _Pragma("clang loop unroll(full)") for (int i = 0; i < (n); i++)
#else
#define EACH(i, n) _Pragma("GCC unroll 32") for (int i = 0; i < (n); i++)
#endif
#endif

/*
 * Vectors that are named so are made in this order. Compilers move loads as they like, and the prefetchers of CPUs lose
 * a sequential read whose lines are touched far out of order.
 */
#if defined(__x86_64__)
#define IN_SOURCE_ORDER(v) __asm__ volatile("" : "+v"(v))
#endif

/*
 * Types and intrinsics of x86 by the widest vectors that the file is compiled for, where the same code serves both
 * widths: WIDE(mul_ps) is _mm512_mul_ps or _mm256_mul_ps, WIDE_BITS(and) is _mm512_and_si512 or _mm256_and_si256.
 */
#if defined(__AVX512F__)
#define WIDE_FLOATS     16
#define WIDE_INTS       __m512i
#define WIDE_FLOAT      __m512
#define WIDE_DOUBLE     __m512d
#define WIDE(f)         _mm512_##f
#define WIDE_BITS(f)    _mm512_##f##_si512
#define WIDE_SET1_64(v) _mm512_set1_epi64(v)
#elif defined(__AVX2__)
#define WIDE_FLOATS     8
#define WIDE_INTS       __m256i
#define WIDE_FLOAT      __m256
#define WIDE_DOUBLE     __m256d
#define WIDE(f)         _mm256_##f
#define WIDE_BITS(f)    _mm256_##f##_si256
#define WIDE_SET1_64(v) _mm256_set1_epi64x(v)
#endif

#endif

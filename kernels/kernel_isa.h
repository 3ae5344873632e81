/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of all families share: variants of another architecture, inlining, and the order of loads. */
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

/* For functions that are written once and inlined where some of their arguments are constants. */
#define INLINE static inline __attribute__((always_inline))

/*
 * A loop over arrays whose elements shall live in registers. It is unrolled completely: an index that is known only at
 * run time would force its array into memory.
 */
#if defined(__clang__)
#define EACH(i, n) _Pragma("clang loop unroll(full)") for (int i = 0; i < (n); i++)
#else
#define EACH(i, n) _Pragma("GCC unroll 32") for (int i = 0; i < (n); i++)
#endif

/*
 * Vectors that are named so are made in this order. Compilers move loads as they like, and the prefetchers of CPUs lose
 * a sequential read whose lines are touched far out of order.
 */
#if defined(__x86_64__)
#define IN_SOURCE_ORDER(v) __asm__ volatile("" : "+v"(v))
#endif

#endif

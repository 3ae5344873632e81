/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with the 512-bit VPDPBUSD of AVX-512 VNNI. Masks, broadcasts and products are volatile assembly to
 * keep their order: compilers gather them by kind otherwise, and spill sums for it.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#define VEC         __m512i
#define ACC         __m512i
#define VEC_LOAD(p) _mm512_loadu_si512((const void *)(p))
#define VEC_CODES(c, v, p, t)                                                                                          \
	__asm__ volatile("vpandd %2, %1, %0" : "=v"(c) : "v"(v), "v"(_mm512_set1_epi8((char)(3 << 2 * (p)))))
#define CODES_SHIFT(p, t)         (2 * (p))
#define CODES_TOP                 1
#define VEC_QUAD(v, q)            __asm__ volatile("vpbroadcastd %1, %0" : "=v"(v) : "m"(*(q)))
#define ACC_ZERO                  _mm512_setzero_si512()
#define ACC_DOT(acc, codes, x)    __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(codes), "v"(x))
#define ACC_ADD(a, b)             _mm512_add_epi32(a, b)
#define ACC_SUB(a, b)             _mm512_sub_epi32(a, b)
#define ACC_TOTAL(total, acc, sh) _mm512_add_epi32(total, _mm512_srai_epi32(acc, sh))
#define ACC_STORE(sums, total)    _mm512_storeu_si512(sums, total)

#define TILE_TOKENS    12
#define TILE_CODES(t)  ((t) <= 6 ? 4 : 2)
#define TILE_STEP(t)   ((t) <= 2 ? 4 : 2)
#define TILE_PHASES(t) ((t) == 1 ? 4 : (t) <= 2 ? 2 : 1)
/* whole bytes are multiplied, up to 170 (four codes 2): a lane gets at most 170 · 128 · 4 a line */
#define TILE_LINES(t)    16384
#define TILE_PREFETCH(t) ((t) <= 4 ? 8192 : 4096)

#define PAIR_PHASES 2

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_avx512vnni(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

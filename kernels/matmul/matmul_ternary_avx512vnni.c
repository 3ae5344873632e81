/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with the 512-bit VPDPBUSD of AVX-512 VNNI. Broadcasts and products are volatile assembly to keep their
 * order: compilers gather the loads otherwise, and spill sums for them.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#define VEC         __m512i
#define ACC         __m512i
#define VEC_LOAD(p) _mm512_loadu_si512((const void *)(p))
#define VEC_CODES(v, sh, mask)                                                                                         \
	_mm512_and_si512((sh) > 0 ? _mm512_srli_epi16(v, sh) : (v), _mm512_set1_epi8((char)(mask)))
#define VEC_QUAD(v, q)         __asm__ volatile("vpbroadcastd %1, %0" : "=v"(v) : "m"(*(q)))
#define ACC_ZERO               _mm512_setzero_si512()
#define ACC_DOT(acc, codes, x) __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(codes), "v"(x))
#define ACC_FLUSH(sums, acc, sh)                                                                                       \
	_mm512_storeu_si512(sums, _mm512_add_epi32(_mm512_loadu_si512(sums), _mm512_srai_epi32(acc, sh)))

/* ten sums at least hide the latency of five cycles at two instructions a cycle */
#define TILE_TOKENS    12
#define TILE_VECS(t)   2
#define TILE_SCALES(t) ((t) <= 2 ? 4 : (t) <= 5 ? 2 : 1)
/* a lane gets at most 64 · 2 · 128 · 4 a line */
#define TILE_LINES(s) ((s) == 1 ? INT64_MAX : 16384)
#define TILE_PREFETCH 8192

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_avx512vnni(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

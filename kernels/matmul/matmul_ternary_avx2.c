/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with AVX2: VPMADDUBSW multiplies unsigned codes by signed activations and adds pairs in 16 bits. A
 * pair is at most 2·2·127 = 508 and at least 2·2·−128 = −512, so a 16-bit lane takes 64 of them before it is widened,
 * or 16 where codes count four times: exact for all inputs.
 */
#if defined(__x86_64__)
#include "matmul_ternary_256.h"

/* one token: fewer shifts; more share them, and widen their sums less often */
#define CODES_SHIFT(p, t) ((t) == 1 ? (p) % 2 * 2 : 0)
#define CODES_DOWN(p, t)  (2 * (p)-CODES_SHIFT(p, t))
#define CODES_TOP         0
#define VEC_CODES(c, v, p, t)                                                                                          \
	((c) = _mm256_and_si256(CODES_DOWN(p, t) ? _mm256_srli_epi16(v, CODES_DOWN(p, t)) : (v),                       \
				_mm256_set1_epi8((char)(3 << CODES_SHIFT(p, t)))))
#define ACC_DOT(acc, codes, x)                                                                                         \
	do {                                                                                                           \
		acc = _mm256_add_epi16(acc, _mm256_maddubs_epi16(codes, x));                                           \
		__asm__ volatile("" : "+x"(acc));                                                                      \
	} while (0)
#define ACC_ADD(a, b) _mm256_add_epi16(a, b)
#define ACC_SUB(a, b) _mm256_sub_epi16(a, b)
/* pairs of 16 bits, added to 32 */
#define ACC_TOTAL(total, acc, sh)                                                                                      \
	_mm256_add_epi32(total, _mm256_srai_epi32(_mm256_madd_epi16(acc, _mm256_set1_epi16(1)), sh))

#define TILE_TOKENS      4
#define TILE_CODES(t)    ((t) == 1 ? 4 : 2)
#define TILE_STEP(t)     8
#define TILE_PHASES(t)   1
#define TILE_LINES(t)    ((t) == 1 ? 16 : 64)
#define TILE_PREFETCH(t) ((t) <= 2 ? 8192 : 2048)

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_avx2(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

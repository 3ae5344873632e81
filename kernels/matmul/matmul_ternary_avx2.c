/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with AVX2: VPMADDUBSW multiplies unsigned codes by signed activations and adds pairs in 16 bits. A
 * pair is at most 2·2·127 = 508 and at least 2·2·−128 = −512, so a 16-bit lane takes 64 of them before it is widened,
 * or 16 where codes count four times: exact for all inputs.
 */
#if defined(__x86_64__)
#include "matmul_ternary_256.h"

#define ACC_DOT(acc, codes, x)                                                                                         \
	do {                                                                                                           \
		acc = _mm256_add_epi16(acc, _mm256_maddubs_epi16(codes, x));                                           \
		__asm__ volatile("" : "+x"(acc));                                                                      \
	} while (0)
#define ACC_WIDE(acc) _mm256_madd_epi16(acc, _mm256_set1_epi16(1))

#define TILE_TOKENS    4
#define TILE_VECS(t)   ((t) == 1 ? 4 : 2)
#define TILE_SCALES(t) ((t) == 1 ? 2 : 1)
/* of the four codes of a line, each of s sums takes 4 / s */
#define TILE_LINES(s) ((s) == 1 ? 16 : 8)
#define TILE_PREFETCH 8192

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_avx2(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.ternary with the 256-bit VPDPBUSD of AVX-VNNI. */
#if defined(__x86_64__)
#include "matmul_ternary_256.h"

/* the mask of code 0 in a register, others where the compiler has room: all from memory would wait for the load units
 */
#define VEC_CODES(c, v, p, t)                                                                                          \
	do {                                                                                                           \
		if (p)                                                                                                 \
			MASK(c, v, p, "xm");                                                                           \
		else                                                                                                   \
			MASK(c, v, p, "x");                                                                            \
	} while (0)
#define MASK(c, v, p, where)                                                                                           \
	__asm__ volatile("vpand %2, %1, %0" : "=x"(c) : "x"(v), where(_mm256_set1_epi8((char)(3 << 2 * (p)))))
#define CODES_SHIFT(p, t)         (2 * (p))
#define CODES_TOP                 1
#define ACC_DOT(acc, codes, x)    __asm__ volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(codes), "x"(x))
#define ACC_ADD(a, b)             _mm256_add_epi32(a, b)
#define ACC_SUB(a, b)             _mm256_sub_epi32(a, b)
#define ACC_TOTAL(total, acc, sh) _mm256_add_epi32(total, _mm256_srai_epi32(acc, sh))

#define TILE_TOKENS    5
#define TILE_CODES(t)  ((t) <= 2 ? 4 : 2)
#define TILE_STEP(t)   ((t) == 1 ? 3 : 2)
#define TILE_PHASES(t) ((t) == 1 ? 3 : (t) == 3 ? 2 : 1)
/* whole bytes are multiplied, up to 170 (four codes 2): a lane gets at most 170 · 128 · 4 a line */
#define TILE_LINES(t)    16384
#define TILE_PREFETCH(t) ((t) <= 2 ? 8192 : 2048)

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_avxvnni(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

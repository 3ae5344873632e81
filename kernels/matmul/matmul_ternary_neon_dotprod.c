/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with the SDOT of Armv8.2. It takes both factors signed, so codes may count 16 times at most: the
 * topmost are shifted down, which needs no mask.
 */
#if defined(__aarch64__)
#include <arm_neon.h>

#define VEC                       uint8x16_t
#define ACC                       int32x4_t
#define VEC_LOAD(p)               vld1q_u8(p)
#define VEC_CODES(c, v, p, t)     ((c) = (p) == 3 ? vshrq_n_u8(v, 6) : vandq_u8(v, vdupq_n_u8((uint8_t)(3 << 2 * (p)))))
#define CODES_SHIFT(p, t)         ((p) == 3 ? 0 : 2 * (p))
#define CODES_TOP                 0
#define VEC_QUAD(v, q)            ((v) = vreinterpretq_u8_s32(vdupq_n_s32(*(q))))
#define ACC_ZERO                  vdupq_n_s32(0)
#define ACC_DOT(acc, codes, x)    ((acc) = vdotq_s32(acc, vreinterpretq_s8_u8(codes), vreinterpretq_s8_u8(x)))
#define ACC_ADD(a, b)             vaddq_s32(a, b)
#define ACC_SUB(a, b)             vsubq_s32(a, b)
#define ACC_TOTAL(total, acc, sh) vaddq_s32(total, (sh) > 0 ? vshrq_n_s32(acc, (sh) > 0 ? (sh) : 1) : (acc))
#define ACC_STORE(sums, total)    vst1q_s32(sums, total)

/* 16 sums of the 32 registers: a core of four vector units has a latency of four cycles to hide */
#define TILE_TOKENS    4
#define TILE_CODES(t)  4
#define TILE_STEP(t)   4
#define TILE_PHASES(t) ((t) == 1 ? 4 : (t) == 2 ? 2 : 1)
/* a lane gets at most 16 · 2 · 128 · 4 a line */
#define TILE_LINES(t)    65536
#define TILE_PREFETCH(t) 2048

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_neon_dotprod(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with the SDOT of Armv8.2. It takes both factors signed, so codes may count 16 times at most: those of
 * the upper half of a byte are shifted down.
 */
#if defined(__aarch64__)
#include <arm_neon.h>

#define VEC                    uint8x16_t
#define ACC                    int32x4_t
#define VEC_LOAD(p)            vld1q_u8(p)
#define VEC_CODES(v, sh, mask) vandq_u8((sh) > 0 ? vshrq_n_u8(v, (sh) > 0 ? (sh) : 1) : (v), vdupq_n_u8(mask))
#define VEC_QUAD(v, q)         ((v) = vreinterpretq_u8_s32(vdupq_n_s32(*(q))))
#define ACC_ZERO               vdupq_n_s32(0)
#define ACC_DOT(acc, codes, x) ((acc) = vdotq_s32(acc, vreinterpretq_s8_u8(codes), vreinterpretq_s8_u8(x)))
#define ACC_FLUSH(sums, acc, sh)                                                                                       \
	vst1q_s32(sums, vaddq_s32(vld1q_s32(sums), (sh) > 0 ? vshrq_n_s32(acc, (sh) > 0 ? (sh) : 1) : (acc)))

/* 16 sums of the 32 registers: a core of four vector units has a latency of four cycles to hide */
#define TILE_TOKENS    4
#define TILE_VECS(t)   ((t) == 1 ? 8 : 4)
#define TILE_SCALES(t) ((t) == 1 ? 2 : 1)
/* a lane gets at most 5 · 2 · 2 · 128 · 4 a line */
#define TILE_LINES(s) ((s) == 1 ? INT64_MAX : 65536)
#define TILE_PREFETCH 2048

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_neon_dotprod(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

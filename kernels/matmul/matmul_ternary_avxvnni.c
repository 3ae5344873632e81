/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.ternary with the 256-bit VPDPBUSD of AVX-VNNI. */
#if defined(__x86_64__)
#include "matmul_ternary_256.h"

#define ACC_DOT(acc, codes, x) __asm__ volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(codes), "x"(x))
#define ACC_WIDE(acc)          (acc)

/* ten sums at least hide the latency of five cycles at two instructions a cycle, where the registers suffice */
#define TILE_TOKENS    5
#define TILE_VECS(t)   ((t) == 1 ? 4 : 2)
#define TILE_SCALES(t) ((t) <= 2 ? 2 : 1)
/* a lane gets at most 64 · 2 · 128 · 4 a line */
#define TILE_LINES(s) ((s) == 1 ? INT64_MAX : 16384)
#define TILE_PREFETCH 8192

#include "matmul_ternary_tile.h"

int assay_matmul_ternary_avxvnni(struct assay_job *job)
{
	return matmul_run(job, packed_rows);
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* peak.i8_dot and peak.ternary_dot with the 256-bit VPDPBUSD of AVX-VNNI. */
#if defined(__x86_64__)
#include <immintrin.h>

typedef __m256i vec;

/* two steps a cycle times a latency of up to five, and they leave registers for the operands */
#define PEAK_CHAINS 12
#define PEAK_RUN    assay_peak_dot_avxvnni

static inline vec step(vec acc, vec a, vec b)
{
	return _mm256_dpbusd_avx_epi32(acc, a, b);
}

#include "peak_body.h"
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* peak.i8_dot and peak.ternary_dot with the 512-bit VPDPBUSD of AVX-512 VNNI. */
#if defined(__x86_64__)
#include <immintrin.h>

typedef __m512i vec;

/* ten hide a latency of five at two steps a cycle; more keep both ports busy while the loop is counted */
#define PEAK_CHAINS 24
#define PEAK_RUN    assay_peak_dot_avx512vnni

static inline vec step(vec acc, vec a, vec b)
{
	return _mm512_dpbusd_epi32(acc, a, b);
}

#include "peak_body.h"
#endif

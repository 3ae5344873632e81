/* SPDX-License-Identifier: Apache-2.0 */
/* peak.i8_dot with AVX2: three instructions make an 8-bit dot product. */
#if defined(__x86_64__)
#include <immintrin.h>

typedef __m256i vec;

#define PEAK_CHAINS 6 /* only the sum is a chain, of latency one; the rest of the registers hold products */
#define PEAK_RUN    assay_peak_dot_avx2

static inline vec step(vec acc, vec a, vec b)
{
	return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
}

#include "peak_body.h"
#endif

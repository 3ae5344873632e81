/* SPDX-License-Identifier: Apache-2.0 */
/* peak.f32_fma with 512-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

typedef __m512 vec;

/* ten hide a latency of five at two steps a cycle; more keep both ports busy while the loop is counted */
#define PEAK_CHAINS 24
#define PEAK_RUN    assay_peak_fma_avx512

static inline vec step(vec acc, vec a, vec b)
{
	return _mm512_fmadd_ps(acc, a, b);
}

#include "peak_body.h"
#endif

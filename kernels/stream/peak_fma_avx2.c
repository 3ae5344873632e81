/* SPDX-License-Identifier: Apache-2.0 */
/* peak.f32_fma with 256-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

typedef __m256 vec;

/* two steps a cycle times a latency of up to five, and they leave registers for the operands */
#define PEAK_CHAINS 12
#define PEAK_RUN    assay_peak_fma_avx2

static inline vec step(vec acc, vec a, vec b)
{
	return _mm256_fmadd_ps(acc, a, b);
}

#include "peak_body.h"
#endif

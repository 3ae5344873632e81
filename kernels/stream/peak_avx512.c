/* SPDX-License-Identifier: Apache-2.0 */
/* peak.f32_fma with 512-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "stream_variants.h"

#define CHAINS 12 /* two a cycle times a latency of up to five, and they leave registers for the operands */
#define GROUP  (CHAINS * 16)

static void fma_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const float *x = (const float *)job->tensors[ASSAY_PEAK_FMA_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	float *y = (float *)job->tensors[ASSAY_PEAK_FMA_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	const __m512 a = _mm512_broadcast_f32x8(_mm256_loadu_ps(job->tensors[ASSAY_PEAK_FMA_A].data));
	const __m512 b = _mm512_broadcast_f32x8(_mm256_loadu_ps(job->tensors[ASSAY_PEAK_FMA_B].data));
	__m512 acc[CHAINS];

	(void)n_threads;
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += GROUP) {
		for (unsigned i = 0; i < CHAINS; i++)
			acc[i] = _mm512_loadu_ps(x + g + 16 * i);
		for (unsigned step = 0; step < ASSAY_PEAK_STEPS; step++)
			for (unsigned i = 0; i < CHAINS; i++)
				acc[i] = _mm512_fmadd_ps(acc[i], a, b);
		for (unsigned i = 0; i < CHAINS; i++)
			_mm512_storeu_ps(y + g + 16 * i, acc[i]);
	}
}

int assay_peak_fma_avx512(struct assay_job *job)
{
	job->host->parallel(job, fma_lanes, job);
	return 0;
}
#endif

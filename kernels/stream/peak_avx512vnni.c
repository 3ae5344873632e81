/* SPDX-License-Identifier: Apache-2.0 */
/* peak.i8_dot with the 512-bit VPDPBUSD of AVX-512 VNNI. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "stream_variants.h"

#define CHAINS 12 /* two a cycle times a latency of up to five, and they leave registers for the operands */
#define GROUP  (CHAINS * 16)

static void dot_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const int32_t *x = (const int32_t *)job->tensors[ASSAY_PEAK_DOT_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	int32_t *y = (int32_t *)job->tensors[ASSAY_PEAK_DOT_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	const __m512i a = _mm512_broadcast_i64x4(_mm256_loadu_si256(job->tensors[ASSAY_PEAK_DOT_A].data));
	const __m512i w = _mm512_broadcast_i64x4(_mm256_loadu_si256(job->tensors[ASSAY_PEAK_DOT_W].data));
	__m512i acc[CHAINS];

	(void)n_threads;
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += GROUP) {
		for (unsigned i = 0; i < CHAINS; i++)
			acc[i] = _mm512_loadu_si512((const void *)(x + g + 16 * i));
		for (unsigned step = 0; step < ASSAY_PEAK_STEPS; step++)
			for (unsigned i = 0; i < CHAINS; i++)
				acc[i] = _mm512_dpbusd_epi32(acc[i], a, w);
		for (unsigned i = 0; i < CHAINS; i++)
			_mm512_storeu_si512((void *)(y + g + 16 * i), acc[i]);
	}
}

int assay_peak_dot_avx512vnni(struct assay_job *job)
{
	job->host->parallel(job, dot_lanes, job);
	return 0;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* peak.* with 256-bit vectors: fused multiply-add, and the three instructions that make an 8-bit dot product. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "stream_variants.h"

#define FMA_CHAINS 12 /* two a cycle times a latency of up to five, and they leave registers for the operands */
#define DOT_CHAINS 6  /* only the sum is a chain, of latency one; the rest of the registers hold products */

static void fma_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const float *x = (const float *)job->tensors[ASSAY_PEAK_FMA_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	float *y = (float *)job->tensors[ASSAY_PEAK_FMA_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	const __m256 a = _mm256_loadu_ps(job->tensors[ASSAY_PEAK_FMA_A].data);
	const __m256 b = _mm256_loadu_ps(job->tensors[ASSAY_PEAK_FMA_B].data);
	__m256 acc[FMA_CHAINS];

	(void)n_threads;
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += FMA_CHAINS * 8) {
		for (unsigned i = 0; i < FMA_CHAINS; i++)
			acc[i] = _mm256_loadu_ps(x + g + 8 * i);
		for (unsigned step = 0; step < ASSAY_PEAK_STEPS; step++)
			for (unsigned i = 0; i < FMA_CHAINS; i++)
				acc[i] = _mm256_fmadd_ps(acc[i], a, b);
		for (unsigned i = 0; i < FMA_CHAINS; i++)
			_mm256_storeu_ps(y + g + 8 * i, acc[i]);
	}
}

int assay_peak_fma_avx2(struct assay_job *job)
{
	job->host->parallel(job, fma_lanes, job);
	return 0;
}

static void dot_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const int32_t *x = (const int32_t *)job->tensors[ASSAY_PEAK_DOT_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	int32_t *y = (int32_t *)job->tensors[ASSAY_PEAK_DOT_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	__m256i a = _mm256_loadu_si256(job->tensors[ASSAY_PEAK_DOT_A].data);
	const __m256i w = _mm256_loadu_si256(job->tensors[ASSAY_PEAK_DOT_W].data);
	const __m256i ones = _mm256_set1_epi16(1);
	__m256i acc[DOT_CHAINS];

	(void)n_threads;
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += DOT_CHAINS * 8) {
		for (unsigned i = 0; i < DOT_CHAINS; i++)
			acc[i] = _mm256_loadu_si256((const void *)(x + g + 8 * i));
		for (unsigned step = 0; step < ASSAY_PEAK_STEPS; step++) {
			for (unsigned i = 0; i < DOT_CHAINS; i++) {
				/* opaque to the compiler: without it all chains would share one product */
				__asm__ volatile("" : "+x"(a));
				acc[i] = _mm256_add_epi32(acc[i], _mm256_madd_epi16(_mm256_maddubs_epi16(a, w), ones));
			}
		}
		for (unsigned i = 0; i < DOT_CHAINS; i++)
			_mm256_storeu_si256((void *)(y + g + 8 * i), acc[i]);
	}
}

int assay_peak_dot_avx2(struct assay_job *job)
{
	job->host->parallel(job, dot_lanes, job);
	return 0;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak.ternary_dot with AVX2: of codes 0, 1 and 2 a pair of products is at most 508, so that 16 bits hold the sums of
 * 64 steps before they are widened; two instructions a step instead of the three of peak.i8_dot.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "../kernel_isa.h"
#include "stream_variants.h"

#define CHAINS    12 /* registers of 8 lanes */
#define STEPS     64 /* between two widenings */
#define VEC_LANES 8

_Static_assert(ASSAY_PEAK_LANES % (CHAINS * VEC_LANES) == 0, "groups of chains fill the lanes");
_Static_assert(ASSAY_PEAK_STRIDE % STEPS == 0 && STEPS <= 64, "sums are widened before they overflow");

static void ternary_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const int32_t *x = (const int32_t *)job->tensors[ASSAY_PEAK_DOT_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	int32_t *y = (int32_t *)job->tensors[ASSAY_PEAK_DOT_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	const __m256i a = _mm256_loadu_si256(job->tensors[ASSAY_PEAK_DOT_A].data);
	const __m256i w = _mm256_loadu_si256(job->tensors[ASSAY_PEAK_DOT_W].data);
	const uint32_t steps = assay_peak_steps(job->shape);
	__m256i sums[CHAINS], totals[CHAINS];

	(void)n_threads;
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += CHAINS * VEC_LANES) {
		EACH (i, CHAINS)
			totals[i] = _mm256_loadu_si256((const void *)(x + g + i * VEC_LANES));
		for (unsigned n = 0; n < steps; n += STEPS) {
			EACH (i, CHAINS)
				sums[i] = _mm256_setzero_si256();
			for (unsigned s = 0; s < STEPS; s++)
				EACH (i, CHAINS) {
					__m256i products;

					/* opaque, or they would be computed once for all chains */
					__asm__ volatile("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
							 : "+x"(sums[i]), "=&x"(products)
							 : "x"(a), "x"(w));
				}
			EACH (i, CHAINS)
				totals[i] =
					_mm256_add_epi32(totals[i], _mm256_madd_epi16(sums[i], _mm256_set1_epi16(1)));
		}
		EACH (i, CHAINS)
			_mm256_storeu_si256((void *)(y + g + i * VEC_LANES), totals[i]);
	}
}

int assay_peak_ternary_avx2(struct assay_job *job)
{
	job->host->parallel(job, ternary_lanes, job);
	return 0;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stream.* with 256-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "stream_variants.h"

typedef __m256i vec_words;
typedef __m256 vec_floats;

static inline vec_words zero_words(void)
{
	return _mm256_setzero_si256();
}

static inline vec_words load_words(const void *p)
{
	return _mm256_loadu_si256(p);
}

static inline vec_words add_words(vec_words a, vec_words b)
{
	return _mm256_add_epi64(a, b);
}

static inline vec_floats load_floats(const float *p)
{
	return _mm256_loadu_ps(p);
}

static inline vec_floats triad_floats(const float *b, const float *c)
{
	return _mm256_add_ps(_mm256_loadu_ps(b), _mm256_mul_ps(_mm256_set1_ps(ASSAY_STREAM_SCALE), _mm256_loadu_ps(c)));
}

static inline void store_floats(float *p, vec_floats v)
{
	_mm256_storeu_ps(p, v);
}

static inline void stream_floats(float *p, vec_floats v)
{
	_mm256_stream_ps(p, v);
}

#define STREAM_ISA avx2
#include "stream_body.h"
#endif

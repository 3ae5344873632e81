/* SPDX-License-Identifier: Apache-2.0 */
/* stream.* with 512-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "stream_variants.h"

typedef __m512i vec_words;
typedef __m512 vec_floats;

static inline vec_words zero_words(void)
{
	return _mm512_setzero_si512();
}

static inline vec_words load_words(const void *p)
{
	return _mm512_loadu_si512(p);
}

static inline vec_words add_words(vec_words a, vec_words b)
{
	return _mm512_add_epi64(a, b);
}

static inline vec_floats load_floats(const float *p)
{
	return _mm512_loadu_ps(p);
}

static inline vec_floats triad_floats(const float *b, const float *c)
{
	return _mm512_add_ps(_mm512_loadu_ps(b), _mm512_mul_ps(_mm512_set1_ps(ASSAY_STREAM_SCALE), _mm512_loadu_ps(c)));
}

static inline void store_floats(float *p, vec_floats v)
{
	_mm512_storeu_ps(p, v);
}

static inline void stream_floats(float *p, vec_floats v)
{
	_mm512_stream_ps(p, v);
}

#define STREAM_ISA avx512
#include "stream_body.h"
#endif

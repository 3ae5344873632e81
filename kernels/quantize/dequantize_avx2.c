/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h back to floats with AVX2 and F16C. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "quantize_half.h"

#define FLOATS 8

typedef __m256 vec;
typedef __m256i packed;
typedef __m256 table;

static inline vec canonical_all(vec y)
{
	const vec nan = _mm256_castsi256_ps(_mm256_set1_epi32(QUANTIZE_FLOAT_NAN));

	return _mm256_blendv_ps(y, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
}

static inline void store_floats_around(float *p, vec v)
{
	_mm256_stream_ps(p, v);
}

static inline void stores_done(void)
{
	_mm_sfence();
}

static inline vec floats_of(const int8_t *q)
{
	return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)q)));
}

static inline packed load_packed(const uint8_t *q)
{
	return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)q));
}

static inline table table_of(float v0, float v1, float v2, float v3)
{
	return _mm256_setr_ps(v0, v1, v2, v3, v0, v1, v2, v3);
}

/* permutevar reads the two lowest bits of an index and ignores the rest */
static inline vec look_up(table t, packed codes, int shift)
{
	return _mm256_permutevar_ps(t, _mm256_srli_epi32(codes, shift));
}

static inline float float_of_half(uint16_t half)
{
	return _cvtsh_ss(half);
}

#define DEQUANTIZE_ISA avx2
#include "dequantize_body.h"
#endif

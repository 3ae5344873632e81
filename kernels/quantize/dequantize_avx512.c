/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h back to floats with AVX-512. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "quantize_half.h"

#define FLOATS 16

typedef __m512 vec;
typedef __m512i packed;
typedef __m512 table;

static inline vec canonical_all(vec y)
{
	const vec nan = _mm512_castsi512_ps(_mm512_set1_epi32(QUANTIZE_FLOAT_NAN));

	return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), nan);
}

static inline void store_floats_around(float *p, vec v)
{
	_mm512_stream_ps(p, v);
}

static inline void stores_done(void)
{
	_mm_sfence();
}

static inline vec floats_of(const int8_t *q)
{
	return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)q)));
}

static inline packed load_packed(const uint8_t *q)
{
	return _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)q));
}

static inline table table_of(float v0, float v1, float v2, float v3)
{
	return _mm512_broadcast_f32x4(_mm_setr_ps(v0, v1, v2, v3));
}

/* permutevar reads the two lowest bits of an index and ignores the rest */
static inline vec look_up(table t, packed codes, int shift)
{
	return _mm512_permutevar_ps(t, _mm512_srli_epi32(codes, (unsigned)shift));
}

static inline float float_of_half(uint16_t half)
{
	return _cvtsh_ss(half);
}

#define DEQUANTIZE_ISA avx512
#include "dequantize_body.h"
#endif

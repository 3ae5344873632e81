/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dequantize_body.h asks for on x86, with the widest vectors that the file is compiled for: AVX-512, or AVX2 and
 * F16C.
 */
#ifndef DEQUANTIZE_X86_H
#define DEQUANTIZE_X86_H

#include <immintrin.h>

#include "../kernel_isa.h"
#include "quantize_half.h"

#define FLOATS WIDE_FLOATS

typedef WIDE_FLOAT vec;
typedef WIDE_INTS packed;
typedef WIDE_FLOAT table;

#if defined(__AVX512F__)
#define FLOATS_BYTES(q) _mm_loadu_si128((const void *)(q))

static inline vec canonical_all(vec y)
{
	const vec nan = _mm512_castsi512_ps(_mm512_set1_epi32(QUANTIZE_FLOAT_NAN));

	return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), nan);
}

static inline table table_of(float v0, float v1, float v2, float v3)
{
	return _mm512_broadcast_f32x4(_mm_setr_ps(v0, v1, v2, v3));
}
#else
#define FLOATS_BYTES(q) _mm_loadl_epi64((const void *)(q))

static inline vec canonical_all(vec y)
{
	const vec nan = _mm256_castsi256_ps(_mm256_set1_epi32(QUANTIZE_FLOAT_NAN));

	return _mm256_blendv_ps(y, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
}

static inline table table_of(float v0, float v1, float v2, float v3)
{
	return _mm256_setr_ps(v0, v1, v2, v3, v0, v1, v2, v3);
}
#endif

static inline void store_floats_around(float *p, vec v)
{
	WIDE(stream_ps)(p, v);
}

static inline void stores_done(void)
{
	_mm_sfence();
}

static inline vec floats_of(const int8_t *q)
{
	return WIDE(cvtepi32_ps)(WIDE(cvtepi8_epi32)(FLOATS_BYTES(q)));
}

static inline packed load_packed(const uint8_t *q)
{
	return WIDE(cvtepu8_epi32)(FLOATS_BYTES(q));
}

/* permutevar reads the two lowest bits of an index and ignores the rest */
static inline vec look_up(table t, packed codes, int shift)
{
	return WIDE(permutevar_ps)(t, WIDE(srli_epi32)(codes, (unsigned)shift));
}

static inline float float_of_half(uint16_t half)
{
	return _cvtsh_ss(half);
}

#endif

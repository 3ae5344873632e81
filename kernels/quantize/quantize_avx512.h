/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the formats ask for with AVX-512, 16 floats at a time, for a file that includes this after it has defined
 *
 * 	in_order_64(a, b)          the words of a, then those of b, as 64 bytes in the order of the values: packing two
 * 	                           vectors of dwords has left these in turn by 128 bits. Of words outside -128 to 127,
 * 	                           which only blocks that are corrected later have, any byte
 */
#ifndef QUANTIZE_AVX512_H
#define QUANTIZE_AVX512_H

#include <immintrin.h>
#include <stdbool.h>

#include "../kernel_isa.h"
#include "quantize_half.h"
#include "quantize_rounding.h"

#define FLOATS 16

typedef __m512i mags;

static inline mags zero_mags(void)
{
	return _mm512_setzero_si512();
}

static inline mags load_mags(const float *x)
{
	mags m = _mm512_and_si512(_mm512_loadu_si512(x), _mm512_set1_epi32(MAG_MASK));

	IN_SOURCE_ORDER(m);
	return m;
}

static inline mags larger(mags a, mags b)
{
	return _mm512_max_epi32(a, b);
}

static inline uint32_t largest(mags m)
{
	return (uint32_t)_mm512_reduce_max_epi32(m);
}

static inline bool any_set(mags m)
{
	return _mm512_test_epi32_mask(m, m) != 0;
}

/* Vectors are merged, two by two, instead of each being reduced. */
static inline mags largest_each(const mags m[16], int n)
{
	mags v[8];

	EACH (i, n / 2)
		v[i] = larger(_mm512_unpacklo_epi32(m[2 * i], m[2 * i + 1]),
			      _mm512_unpackhi_epi32(m[2 * i], m[2 * i + 1]));
	EACH (i, n / 4)
		v[i] = larger(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
			      _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
	if (n == 4) {
		v[0] = larger(v[0], _mm512_shuffle_i32x4(v[0], v[0], 0x4e));
		return larger(v[0], _mm512_shuffle_i32x4(v[0], v[0], 0xb1));
	}
	EACH (i, n / 8)
		v[i] = larger(_mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0x88),
			      _mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0xdd));
	return larger(_mm512_shuffle_i32x4(v[0], v[1], 0x88), _mm512_shuffle_i32x4(v[0], v[1], 0xdd));
}

static inline void halves_of(__m512 d, uint16_t h[16])
{
	_mm256_storeu_si256((void *)h, _mm512_cvtps_ph(d, _MM_FROUND_TO_NEAREST_INT));
}

static inline void store_line_around(uint8_t *dst, const uint8_t *src)
{
	_mm512_stream_si512((void *)dst, _mm512_loadu_si512(src));
}

static inline void stores_done(void)
{
	_mm_sfence();
}

static inline void put_64(void *p, __m512i v, bool around)
{
	if (around)
		_mm512_stream_si512(p, v);
	else
		_mm512_storeu_si512(p, v);
}

/* ---- q8_0 ---- */

static inline __m512i cut_off_16(const float *x, __m512 by)
{
	return _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), by));
}

static inline __m512i half_away_16(__m512i t)
{
	return _mm512_mulhrs_epi16(t, _mm512_set1_epi16(HALF_AWAY_FACTOR));
}

static inline __m512i q8_codes_32(const float *x, float by)
{
	const __m512 m = _mm512_set1_ps(by);

	return half_away_16(_mm512_packs_epi32(cut_off_16(x, m), cut_off_16(x + 16, m)));
}

static inline void q8_codes(const float *x, const float by[2], uint8_t *q0, uint8_t *q1)
{
	__m512i codes = in_order_64(q8_codes_32(x, by[0]), q8_codes_32(x + 32, by[1]));

	_mm256_storeu_si256((void *)q0, _mm512_castsi512_si256(codes));
	_mm256_storeu_si256((void *)q1, _mm512_extracti64x4_epi64(codes, 1));
}

/* ---- i8_token ---- */

static inline __m512i token_codes_16(const float *x, __m512 s)
{
	return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), s));
}

static inline __m512i token_codes_32(const float *x, __m512 s)
{
	return _mm512_packs_epi32(token_codes_16(x, s), token_codes_16(x + 16, s));
}

static inline void token_codes(const float *x, float s, int8_t *q, bool around)
{
	const __m512 m = _mm512_set1_ps(s);

	put_64(q, in_order_64(token_codes_32(x, m), token_codes_32(x + 32, m)), around);
}

#endif

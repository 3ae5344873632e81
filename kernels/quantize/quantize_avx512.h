/* SPDX-License-Identifier: Apache-2.0 */
/* What quantize_groups.h asks for, and stores, with AVX-512, 16 floats at a time. */
#ifndef QUANTIZE_AVX512_H
#define QUANTIZE_AVX512_H

#include <immintrin.h>
#include <stdbool.h>

#include "../kernel_isa.h"
#include "quantize_half.h"

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

#endif

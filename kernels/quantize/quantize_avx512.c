/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats with AVX-512, 16 at a time. Ternary codes are counted up under masks
 * of comparisons.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#include "assay/op_quantize.h"
#include "quantize_half.h"

#define FLOATS 16

typedef __m512i mags;

static inline mags zero_mags(void)
{
	return _mm512_setzero_si512();
}

static inline mags load_mags(const float *x)
{
	return _mm512_and_si512(_mm512_loadu_si512(x), _mm512_set1_epi32(MAG_MASK));
}

static inline mags larger(mags a, mags b)
{
	return _mm512_max_epi32(a, b);
}

static inline uint32_t largest(mags m)
{
	return (uint32_t)_mm512_reduce_max_epi32(m);
}

/* 15 vectors are merged, two by two, instead of 16 reduced. */
static inline mags largest_each(const mags m[16])
{
	mags v[8];

	for (int i = 0; i < 8; i++)
		v[i] = larger(_mm512_unpacklo_epi32(m[2 * i], m[2 * i + 1]),
			      _mm512_unpackhi_epi32(m[2 * i], m[2 * i + 1]));
	for (int i = 0; i < 4; i++)
		v[i] = larger(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
			      _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
	for (int i = 0; i < 2; i++)
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

/* In order, what packing has left by quarters. */
static inline __m512i in_order(__m512i v)
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

/* 64 int32 in −128 … 127, as int8 in order. */
static inline __m512i pack_i8(__m512i a, __m512i b, __m512i c, __m512i d)
{
	return in_order(_mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d)));
}

/* ---- q8_0 ---- */

/*
 * Round to nearest, ties away from zero, for |y| < 2^22: adding the float just below one half with y's sign and cutting
 * off the fraction. One half itself would round 0.5 − 2^-25 up.
 */
static inline __m512i round_away(__m512 y)
{
	const __m512i below_half = _mm512_castps_si512(_mm512_set1_ps(0x1.fffffep-2f));
	const __m512i sign = _mm512_set1_epi32(INT32_MIN);
	__m512i h = _mm512_ternarylogic_epi32(_mm512_castps_si512(y), sign, below_half, 0xea); /* (y & sign) | half */

	return _mm512_cvttps_epi32(_mm512_add_ps(y, _mm512_castsi512_ps(h)));
}

static inline __m512i q8_codes_16(const float *x, __m512 id)
{
	return round_away(_mm512_mul_ps(_mm512_loadu_ps(x), id));
}

static inline void q8_codes(const float *x, float id, uint8_t *q)
{
	__m512 m = _mm512_set1_ps(id);

	_mm_storeu_si128((void *)q, _mm512_cvtepi32_epi8(q8_codes_16(x, m)));
	_mm_storeu_si128((void *)(q + 16), _mm512_cvtepi32_epi8(q8_codes_16(x + 16, m)));
}

/* ---- tq2_0 and i2_s ---- */

/* Bytes of codes, each in a lane of its own: all ones of zero, then one up from the limit on and one down from −limit.
 */
static inline __m512i ternary_16(const float *x, __m512 limit, int first, int step)
{
	const __m512 below = _mm512_xor_ps(limit, _mm512_set1_ps(-0.0f));
	__m512i codes = _mm512_set1_epi32(0x55);

	for (int i = 0; i < 4; i++) {
		__m512i one = _mm512_set1_epi32(1 << (first + i * step));
		__m512 v = _mm512_loadu_ps(x + 32 * i);

		codes = _mm512_mask_add_epi32(codes, _mm512_cmp_ps_mask(v, limit, _CMP_GE_OQ), codes, one);
		codes = _mm512_mask_sub_epi32(codes, _mm512_cmp_ps_mask(v, below, _CMP_LE_OQ), codes, one);
	}
	return codes;
}

static inline void ternary_256(const float *x, float limit, int first, int step, uint8_t *q, bool around)
{
	const __m512 t = _mm512_set1_ps(limit);
	__m512i a = _mm512_packus_epi32(ternary_16(x, t, first, step), ternary_16(x + 16, t, first, step));
	__m512i b = _mm512_packus_epi32(ternary_16(x + 128, t, first, step), ternary_16(x + 144, t, first, step));

	put_64(q, in_order(_mm512_packus_epi16(a, b)), around);
}

static inline void ternary_128(const float *x, float limit, int first, int step, uint8_t *q)
{
	const __m512 t = _mm512_set1_ps(limit);

	_mm_storeu_si128((void *)q, _mm512_cvtepi32_epi8(ternary_16(x, t, first, step)));
	_mm_storeu_si128((void *)(q + 16), _mm512_cvtepi32_epi8(ternary_16(x + 16, t, first, step)));
}

typedef struct {
	__m512d l0, l8;
} lanes;

static inline lanes zero_lanes(void)
{
	return (lanes){ _mm512_setzero_pd(), _mm512_setzero_pd() };
}

static inline void add_lanes(lanes *l, const float *x)
{
	l->l0 = _mm512_add_pd(l->l0, _mm512_abs_pd(_mm512_cvtps_pd(_mm256_loadu_ps(x))));
	l->l8 = _mm512_add_pd(l->l8, _mm512_abs_pd(_mm512_cvtps_pd(_mm256_loadu_ps(x + 8))));
}

static inline double sum_of_lanes(lanes l)
{
	__m512d s = _mm512_add_pd(l.l0, l.l8);
	__m256d h = _mm256_add_pd(_mm512_castpd512_pd256(s), _mm512_extractf64x4_pd(s, 1));
	__m128d p = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));

	return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

/* ---- i8_token ---- */

static inline __m512i token_codes_16(const float *x, __m512 s)
{
	return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), s));
}

static inline void token_codes(const float *x, float s, int8_t *q, bool around)
{
	const __m512 m = _mm512_set1_ps(s);

	put_64(q,
	       pack_i8(token_codes_16(x, m), token_codes_16(x + 16, m), token_codes_16(x + 32, m),
		       token_codes_16(x + 48, m)),
	       around);
}

#define QUANTIZE_ISA avx512
#include "quantize_body.h"
#endif

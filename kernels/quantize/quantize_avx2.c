/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h from floats with AVX2 and F16C, 8 at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#include "assay/op_quantize.h"
#include "../kernel_isa.h"
#include "quantize_half.h"
#include "quantize_rounding.h"
#include "quantize_sums.h"

#define FLOATS      8
#define SUM_STREAMS 2

typedef __m256i mags;

static inline mags zero_mags(void)
{
	return _mm256_setzero_si256();
}

static inline mags load_mags(const float *x)
{
	mags m = _mm256_and_si256(_mm256_loadu_si256((const void *)x), _mm256_set1_epi32(MAG_MASK));

	IN_SOURCE_ORDER(m);
	return m;
}

static inline mags larger(mags a, mags b)
{
	return _mm256_max_epi32(a, b);
}

static inline uint32_t largest(mags v)
{
	__m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(m);
}

static inline bool any_set(mags m)
{
	return !_mm256_testz_si256(m, m);
}

/* Vectors are merged, two by two, instead of each being reduced. */
static inline mags largest_each(const mags m[8], int n)
{
	mags v[4];

	EACH (i, n / 2)
		v[i] = larger(_mm256_unpacklo_epi32(m[2 * i], m[2 * i + 1]),
			      _mm256_unpackhi_epi32(m[2 * i], m[2 * i + 1]));
	EACH (i, n / 4)
		v[i] = larger(_mm256_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
			      _mm256_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
	if (n == 4)
		return larger(v[0], _mm256_permute2x128_si256(v[0], v[0], 0x01));
	return larger(_mm256_permute2x128_si256(v[0], v[1], 0x20), _mm256_permute2x128_si256(v[0], v[1], 0x31));
}

static inline void halves_of(__m256 d, uint16_t h[8])
{
	_mm_storeu_si128((void *)h, _mm256_cvtps_ph(d, _MM_FROUND_TO_NEAREST_INT));
}

static inline void put_32(void *p, __m256i v, bool around)
{
	if (around)
		_mm256_stream_si256(p, v);
	else
		_mm256_storeu_si256(p, v);
}

static inline void store_line_around(uint8_t *dst, const uint8_t *src)
{
	put_32(dst, _mm256_loadu_si256((const void *)src), true);
	put_32(dst + 32, _mm256_loadu_si256((const void *)(src + 32)), true);
}

static inline void stores_done(void)
{
	_mm_sfence();
}

/* In order, what packing has left by halves. */
static inline __m256i in_order(__m256i v)
{
	return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* ---- q8_0 ---- */

static inline __m256i half_away_16(__m256i t)
{
	return _mm256_mulhrs_epi16(t, _mm256_set1_epi16(HALF_AWAY_FACTOR));
}

static inline __m256i cut_off_8(const float *x, __m256 by)
{
	return _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), by));
}

static inline __m256i q8_codes_16(const float *x, __m256 by)
{
	return half_away_16(_mm256_packs_epi32(cut_off_8(x, by), cut_off_8(x + 8, by)));
}

static inline __m256i q8_codes_32(const float *x, float by)
{
	const __m256 m = _mm256_set1_ps(by);

	return in_order(_mm256_packs_epi16(q8_codes_16(x, m), q8_codes_16(x + 16, m)));
}

static inline void q8_codes(const float *x, const float by[2], uint8_t *q0, uint8_t *q1)
{
	_mm256_storeu_si256((void *)q0, q8_codes_32(x, by[0]));
	_mm256_storeu_si256((void *)q1, q8_codes_32(x + 32, by[1]));
}

/* ---- tq2_0 and i2_s ---- */

static inline __m256i rounded_8(const float *x, __m256 m, enum rounding rounding)
{
	__m256 y = _mm256_mul_ps(_mm256_loadu_ps(x), m);

	return rounding == TO_EVEN ? _mm256_cvtps_epi32(y) : _mm256_cvttps_epi32(y);
}

/* 16 integers of a line, saturated to 16 bits. */
static inline __m256i rounded_16(const float *x, __m256 m, enum rounding rounding)
{
	__m256i v = _mm256_packs_epi32(rounded_8(x, m, rounding), rounded_8(x + 8, m, rounding));

	IN_SOURCE_ORDER(v);
	return v;
}

/*
 * 32 codes, @shift bits up, of the integers in a and b, 16 each, in the order that packing leaves them in. The look-up
 * reads 0 where the sign bit is set, else what the four lowest bits say. Nothing that was cut off is above 2.
 */
static inline __m256i ternary_32(__m256i a, __m256i b, enum rounding rounding, int shift)
{
	const __m256i up = _mm256_broadcastsi128_si256(_mm_cvtsi32_si128(0x020201 << shift));
	__m256i v = _mm256_packs_epi16(a, b);

	return _mm256_shuffle_epi8(up, rounding == TO_EVEN ? _mm256_min_epi8(v, _mm256_set1_epi8(1)) : v);
}

static inline __m256i ternary_128(const float *x, __m256 m, enum rounding rounding, int first, int step)
{
	__m256i v[8], ab, cd;

	EACH (i, 8)
		v[i] = rounded_16(x + 16 * i, m, rounding);
	ab = _mm256_or_si256(ternary_32(v[0], v[1], rounding, first), ternary_32(v[2], v[3], rounding, first + step));
	cd = _mm256_or_si256(ternary_32(v[4], v[5], rounding, first + 2 * step),
			     ternary_32(v[6], v[7], rounding, first + 3 * step));
	return in_order(_mm256_or_si256(ab, cd));
}

static inline void ternary_256(const float *x, float m, enum rounding rounding, int first, int step, uint8_t *q,
			       bool around)
{
	const __m256 by = _mm256_set1_ps(m);

	put_32(q, ternary_128(x, by, rounding, first, step), around);
	put_32(q + 32, ternary_128(x + 128, by, rounding, first, step), around);
}

/* Even and odd lanes from each half, of floats made doubles by MOVED_BITS, see quantize_sums.h. */
typedef struct {
	__m256d even[2], odd[2];
} lanes;

static inline lanes zero_lanes(void)
{
	const __m256d zero = _mm256_setzero_pd();

	return (lanes){ { zero, zero }, { zero, zero } };
}

/*
 * A product and a shift, which do the same, since two shifts would take the units of the additions. A compiler that
 * knew the factor would make a shift of the product.
 */
static inline void add_lanes(lanes *l, const float *x)
{
	__m256i up = _mm256_set1_epi64x(1 << MOVED_BITS);

	__asm__("" : "+x"(up));
	for (int k = 0; k < 2; k++) {
		const __m256i v = _mm256_loadu_si256((const void *)(x + 8 * k));
		const __m256i even = _mm256_mul_epu32(_mm256_and_si256(v, _mm256_set1_epi64x(MAG_MASK)), up);
		const __m256i odd = _mm256_srli_epi64(_mm256_and_si256(v, _mm256_set1_epi64x((int64_t)MAG_MASK << 32)),
						      32 - MOVED_BITS);

		l->even[k] = _mm256_add_pd(l->even[k], _mm256_castsi256_pd(even));
		l->odd[k] = _mm256_add_pd(l->odd[k], _mm256_castsi256_pd(odd));
	}
}

/* Lane i takes in lane i + 2, then i + 1. */
static inline double sum_of_4(__m256d v)
{
	__m128d p = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

	return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

static inline double sum_of_lanes(lanes l, const float *x, int64_t n)
{
	const __m256d even = _mm256_add_pd(l.even[0], l.even[1]), odd = _mm256_add_pd(l.odd[0], l.odd[1]);

	return sum_of_moved(sum_of_4(even) + sum_of_4(odd), x, n);
}

/* ---- i8_token ---- */

static inline __m256i token_codes_8(const float *x, __m256 s)
{
	return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), s));
}

static inline __m256i token_codes_16(const float *x, __m256 s)
{
	return _mm256_packs_epi32(token_codes_8(x, s), token_codes_8(x + 8, s));
}

static inline void token_codes(const float *x, float s, int8_t *q, bool around)
{
	const __m256 m = _mm256_set1_ps(s);

	for (int i = 0; i < 64; i += 32)
		put_32(q + i, in_order(_mm256_packs_epi16(token_codes_16(x + i, m), token_codes_16(x + i + 16, m))),
		       around);
}

#define QUANTIZE_ISA avx2
#include "quantize_body.h"
#endif
